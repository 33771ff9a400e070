/* recipe.c - the table of a recipe's keys. Its larger parts have files of their own. */
#include "config/recipe.h"

#include "base/fs.h"
#include "config/document.h"
#include "config/recipe_parts.h"
#include "config/values.h"
#include "model/git_url.h"

/* A file name of the index: no folders, an ending of source distributions (PEP 625, PEP 517). */
static bool
read_sdist(struct ws_reader *r, const struct ws_json *value, void *into)
{
	const char *text = ws_text_of(r, value, "a file name");
	if (text
		&& (strchr(text, '/') || (!ws_ends_with(text, ".tar.gz") && !ws_ends_with(text, ".zip")))) {
		ws_json_err(r->doc, value, r->err, "'%s' is not a source distribution", text);
		return ws_err_cure(r->err, "write its file name on the index: \"demo-1.0.tar.gz\"");
	}
	return (*(const char **)into = text);
}

static const struct ws_type type_sdist = WS_VALUES(char *, "a file name", "file names", read_sdist);

static const struct ws_field sdist_fields[] = {
	{WS_ONE(struct ws_source_spec, file, "sdist", type_sdist), .flags = WS_FIELD_REQUIRED},
	{WS_ONE(struct ws_source_spec, sha256, "sha256", ws_type_sha256), .flags = WS_FIELD_REQUIRED},
	{WS_ONE(struct ws_source_spec, package, "package", ws_type_package)},
	{WS_ONE(struct ws_source_spec, strip, "strip", ws_type_inside)},
};

/* Uses fetch's own rule, because here the message can point to a place. */
static bool
read_git(struct ws_reader *r, const struct ws_json *value, void *into)
{
	struct ws_err why = {0};
	if (!ws_type_url.read(r, value, into)) {
		return false;
	}
	if (ws_git_url_check(*(const char **)into, false, &why)) {
		return true;
	}
	struct ws_str cure = ws_str_trim(ws_str_of(why.cure));
	ws_json_err(r->doc, value, r->err, "%s", why.text);
	return cure.n > 0 && ws_err_cure(r->err, "%.*s", WS_STR_ARGS(cure));
}

static const struct ws_type type_git = WS_VALUES(char *, "a URL", "URLs", read_git);

static const struct ws_field git_fields[] = {
	{WS_ONE(struct ws_source_spec, url, "git", type_git), .flags = WS_FIELD_REQUIRED},
	{WS_ONE(struct ws_source_spec, commit, "commit", ws_type_commit), .flags = WS_FIELD_REQUIRED},
	{WS_ONE(struct ws_source_spec, tree, "tree", ws_type_commit)},
	{WS_MANY(struct ws_source_spec, submodules, submodule_count, "submodules", ws_type_inside),
		.flags = WS_FIELD_LIST | WS_FIELD_UNIQUE, .example = "[\"csrc/cutlass\"]"},
};

static const struct ws_field folder_fields[] = {
	{WS_ONE(struct ws_source_spec, path, "folder", ws_type_path), .flags = WS_FIELD_REQUIRED},
};

/* The key that selects the kind of source, and its other fields. */
static const struct {
	const char *key;
	enum ws_source_kind kind;
	struct ws_table table;
} kinds[] = {
	{"sdist", WS_SOURCE_SDIST, {"an sdist", sdist_fields, WS_LEN(sdist_fields)}},
	{"git", WS_SOURCE_GIT, {"a git source", git_fields, WS_LEN(git_fields)}},
	{"folder", WS_SOURCE_FOLDER, {"a local folder", folder_fields, WS_LEN(folder_fields)}},
};

static bool
read_source(struct ws_reader *r, const struct ws_json *value, void *into)
{
	struct ws_source_spec *source = into;
	if (!ws_expect(r, value, WS_JSON_OBJECT, "an object")) {
		return false;
	}
	for (size_t i = 0; i < WS_LEN(kinds); i++) {
		if (ws_json_find(value, kinds[i].key)) {
			source->kind = kinds[i].kind;
			return ws_object_read(r, value, &kinds[i].table, source);
		}
	}
	ws_json_err(r->doc, value, r->err, "a source needs 'sdist', 'git' or 'folder'");
	return ws_err_cure(r->err, "like this: {\"sdist\": \"demo-1.0.tar.gz\", \"sha256\": \"...\"}");
}

/* ---- patches ---- */

static const struct ws_field patch_fields[] = {
	{WS_ONE(struct ws_patch, name, "file", ws_type_inside), .flags = WS_FIELD_REQUIRED},
	{WS_ONE(struct ws_patch, sha256, "sha256", ws_type_sha256), .flags = WS_FIELD_REQUIRED},
	{WS_ONE(struct ws_patch, when, "when", ws_type_condition)},
};
static const struct ws_table patch_table = {"a patch", patch_fields, WS_LEN(patch_fields)};

static const struct ws_field file_fields[] = {
	{WS_ONE(struct ws_patch, name, "create", ws_type_inside), .flags = WS_FIELD_REQUIRED},
	{WS_ONE(struct ws_patch, text, "text", ws_type_text), .flags = WS_FIELD_REQUIRED,
		.example = "\"__version__ = '{version}'\\n\""},
	{WS_ONE(struct ws_patch, when, "when", ws_type_condition)},
};
static const struct ws_table file_table = {"a new file", file_fields, WS_LEN(file_fields)};

static bool
read_patch(struct ws_reader *r, const struct ws_json *value, void *into)
{
	struct ws_patch *patch = into;
	patch->when = WS_CONDITION_ANY;
	if (value->kind == WS_JSON_OBJECT && ws_json_find(value, "create")) {
		return ws_object_read(r, value, &file_table, patch);
	}
	if (!ws_object_read(r, value, &patch_table, patch)) {
		return false;
	}
	patch->file = ws_path_join(r->a, r->folder, patch->name, NULL);
	struct ws_digest digest;
	if (!ws_digest_file(patch->file, &digest, NULL, r->err)) {
		return ws_json_err(
			r->doc, ws_json_find(value, "file"), r->err, "cannot read the patch '%s'", patch->file);
	}
	if (!ws_digest_is(&digest, patch->sha256)) {
		ws_json_err(r->doc, ws_json_find(value, "sha256"), r->err,
			"the patch has another sha256 than this");
		return ws_err_cure(r->err, "'%s' has %s", patch->file, digest.hex);
	}
	return true;
}

/* {name} and {version}; other braces are the file's own. */
static const char *
fill_in(const struct ws_recipe *recipe, const char *text, struct ws_arena *a)
{
	const struct {
		const char *word, *value;
	} values[] = {{"{name}", recipe->distribution}, {"{version}", recipe->version.text}};
	WS_AUTO_BUF struct ws_buf b = {0};
	while (*text) {
		size_t i = 0;
		while (i < WS_LEN(values) && !ws_starts_with(text, values[i].word)) {
			i++;
		}
		const char *value = i < WS_LEN(values) ? values[i].value : NULL;
		ws_buf_add(&b, value ? value : text, value ? strlen(value) : 1);
		text += value ? strlen(values[i].word) : 1;
	}
	return ws_buf_copy(&b, a);
}

static const struct ws_type type_source = WS_OBJECTS(struct ws_source_spec, read_source);
static const struct ws_type type_patch = WS_OBJECTS(struct ws_patch, read_patch);

/* ---- a recipe ---- */

static bool
read_distribution(struct ws_reader *r, const struct ws_json *value, void *into)
{
	const char *normal;
	*(const char **)into = value->text;
	return ws_type_package.read(r, value, &normal);
}

/* Into the whole recipe. The Python range is also METADATA's Requires-Python. */
static bool
read_requires(struct ws_reader *r, const struct ws_json *value, void *into)
{
	static const struct ws_field fields[] = {
		{WS_ONE(struct ws_recipe, needs_torch, "torch", ws_type_range)},
		{WS_ONE(struct ws_recipe, needs_cuda, "cuda", ws_type_range)},
		{WS_ONE(struct ws_recipe, needs_python, "python", ws_type_range)},
	};
	static const struct ws_table table = {"'requires'", fields, WS_LEN(fields)};
	struct ws_recipe *recipe = into;
	if (!ws_object_read(r, value, &table, recipe)) {
		return false;
	}
	if (recipe->needs_python) {
		recipe->metadata.requires_python = ws_specifiers_text(recipe->needs_python);
	}
	return true;
}

static bool
read_recipe_archs(struct ws_reader *r, const struct ws_json *value, void *into)
{
	struct ws_arch_set *set = into;
	if (!ws_type_archs.read(r, value, set)) {
		return false;
	}
	for (size_t i = 0; i < set->count; i++) {
		if (set->at[i].ptx) {
			ws_json_err(r->doc, value, r->err, "'archs' says what can be built, without +PTX");
			return ws_err_cure(r->err, "write \"%s\"", ws_arch_text(&set->at[i], r->a));
		}
	}
	return true;
}

static bool
read_recipe_version(struct ws_reader *r, const struct ws_json *value, void *into)
{
	struct ws_version *version = into;
	if (!ws_type_version.read(r, value, version)) {
		return false;
	}
	/* The rest of a wheel's label is ours, and each part of that has a number. */
	size_t letters = version->local ? strspn(version->local, "abcdefghijklmnopqrstuvwxyz") : 0;
	return !version->local || version->local[letters] == '\0'
		|| ws_json_err(r->doc, value, r->err, "a recipe's local label is letters alone")
		|| ws_err_cure(r->err, "write \"%s\", or a word like \"%s+any\"", version->public_text,
			version->public_text);
}

static bool
read_cxx_std(struct ws_reader *r, const struct ws_json *value, void *into)
{
	unsigned *std = into;
	if (value->kind == WS_JSON_STRING) {
		ws_type_err(r, value, "a number");
		return ws_err_cure(r->err, "write 17 for C++17");
	}
	if (!ws_type_number.read(r, value, std)) {
		return false;
	}
	return *std == 14 || *std == 17 || *std == 20 || *std == 23
		|| ws_json_err(r->doc, value, r->err, "'cxx_std' takes 14, 17, 20 or 23");
}

static const struct ws_field bad_fields[] = {
	{WS_ONE(struct ws_known_bad, when, "when", ws_type_condition), .flags = WS_FIELD_REQUIRED,
		.example = "{\"arch\": \"10.3\", \"cuda\": \">=13\"}"},
	{WS_ONE(struct ws_known_bad, gcc, "gcc", ws_type_number)},
	{WS_ONE(struct ws_known_bad, why, "why", ws_type_line), .flags = WS_FIELD_REQUIRED,
		.example = "\"wrong results\""},
	{WS_ONE(struct ws_known_bad, see, "see", ws_type_line)},
};
static const struct ws_table bad_table = {"a known-bad rule", bad_fields, WS_LEN(bad_fields)};

static const struct ws_field estimate_fields[] = {
	{WS_ONE(struct ws_estimate, match, "match", ws_type_line), .flags = WS_FIELD_REQUIRED,
		.example = "\"*_bwd*.cu\""},
	{WS_ONE(struct ws_estimate, rss_mib, "rss_mib", ws_type_number)},
	{WS_ONE(struct ws_estimate, cpu_s, "cpu_s", ws_type_number)},
};
static const struct ws_table estimate_table = {
	"an estimate", estimate_fields, WS_LEN(estimate_fields)};

static bool
read_estimate(struct ws_reader *r, const struct ws_json *value, void *into)
{
	const struct ws_estimate *estimate = into;
	return ws_object_read(r, value, &estimate_table, into)
		&& (estimate->rss_mib || estimate->cpu_s
			|| ws_json_err(r->doc, value, r->err, "an estimate needs 'rss_mib' or 'cpu_s'"));
}

static const struct ws_field check_fields[] = {
	{WS_MANY(struct ws_install_check, imports, import_count, "import", ws_type_module),
		.flags = WS_FIELD_LIST | WS_FIELD_UNIQUE, .example = "[\"demo\"]"},
};
static const struct ws_table check_table = {"a check", check_fields, WS_LEN(check_fields)};

/* ws_extensions_complete reads it after the whole recipe: keys have any order. */
static bool
ignore_every(
	struct ws_reader *r WS_UNUSED, const struct ws_json *value WS_UNUSED, void *into WS_UNUSED)
{
	return true;
}

static const struct ws_type type_every = WS_OBJECTS(struct ws_recipe, ignore_every);
static const struct ws_type type_distribution =
	WS_VALUES(char *, "a package name", "package names", read_distribution);
static const struct ws_type type_version =
	WS_VALUES(struct ws_version, "a version", "versions", read_recipe_version);
static const struct ws_type type_archs =
	WS_VALUES(struct ws_arch_set, "an architecture", "architectures", read_recipe_archs);
static const struct ws_type type_cxx_std = WS_VALUES(unsigned, "a number", "numbers", read_cxx_std);
static const struct ws_type type_requires = WS_OBJECTS(struct ws_recipe, read_requires);
static const struct ws_type type_known_bad = WS_BY_TABLE(struct ws_known_bad, bad_table);
static const struct ws_type type_estimate = WS_OBJECTS(struct ws_estimate, read_estimate);
static const struct ws_type type_check = WS_BY_TABLE(struct ws_install_check, check_table);

#define SOURCE_EXAMPLE "[{\"sdist\": \"demo-1.0.tar.gz\", \"sha256\": \"...\"}]"

static const struct ws_field fields[] = {
	{.key = "$schema", .type = &ws_type_ignored},
	{WS_ONE(struct ws_recipe, distribution, "name", type_distribution), .flags = WS_FIELD_REQUIRED,
		.example = "\"causal_conv1d\""},
	{WS_ONE(struct ws_recipe, version, "version", type_version), .flags = WS_FIELD_REQUIRED,
		.example = "\"1.5.3.post1\""},
	{WS_MANY(struct ws_recipe, sources, source_count, "source", type_source),
		.flags = WS_FIELD_LIST, .example = SOURCE_EXAMPLE},
	{WS_MANY(struct ws_recipe, prebuilt, prebuilt_count, "prebuilt", ws_type_prebuilt),
		.flags = WS_FIELD_LIST},
	{WS_ONE(struct ws_recipe, binding, "binding", ws_type_binding)},
	{WS_MANY(struct ws_recipe, patches, patch_count, "patches", type_patch),
		.flags = WS_FIELD_LIST},
	{.key = "every_extension", .type = &type_every},
	{WS_MANY(struct ws_recipe, extensions, extension_count, "extensions", ws_type_extension),
		.flags = WS_FIELD_LIST},
	{WS_ONE(struct ws_recipe, python, "python", ws_type_python_part)},
	{WS_ONE(struct ws_recipe, metadata, "metadata", ws_type_metadata)},
	{.key = "requires", .type = &type_requires},
	{WS_ONE(struct ws_recipe, archs, "archs", type_archs)},
	{WS_ONE(struct ws_recipe, cxx_std, "cxx_std", type_cxx_std)},
	{WS_MANY(struct ws_recipe, known_bad, known_bad_count, "known_bad", type_known_bad),
		.flags = WS_FIELD_LIST},
	{WS_MANY(struct ws_recipe, estimates, estimate_count, "estimates", type_estimate),
		.flags = WS_FIELD_LIST},
	{WS_ONE(struct ws_recipe, check, "check", type_check)},
};
static const struct ws_table table = {"a recipe", fields, WS_LEN(fields)};

/* The text as it was before `prebuilt` was written into it: without the member, and the comma
 * before it (of the first member: behind it). */
static const char *
text_without_prebuilt(const struct ws_json_doc *doc, struct ws_arena *a)
{
	const struct ws_json *before = NULL;
	const struct ws_json *member = doc->root->first;
	while (member && strcmp(member->key, "prebuilt") != 0) {
		before = member;
		member = member->next;
	}
	if (!member) {
		return doc->text;
	}
	size_t start = before ? before->offset + before->len : member->key_offset;
	size_t end = member->offset + member->len;
	end = !before && member->next ? member->next->key_offset : end;
	return ws_arena_printf(a, "%.*s%s", (int)start, doc->text, doc->text + end);
}

/* A recipe has sources, or it names the binding of its prebuilt wheels. */
static bool
check_ways(struct ws_reader *r, struct ws_recipe *recipe)
{
	static const char *const of_sources[] = {"extensions", "every_extension", "python", "patches"};
	const struct ws_json *root = r->doc->root;
	const struct ws_json *binding = ws_json_find(root, "binding");
	recipe->prebuilt_only = binding && recipe->source_count == 0;
	if (binding && !recipe->prebuilt_only) {
		ws_json_err_key(r->doc, binding, r->err, "'binding' and 'source' exclude each other");
		return ws_err_cure(r->err, "it is said by each of 'extensions'");
	}
	for (size_t i = 0; recipe->prebuilt_only && i < WS_LEN(of_sources); i++) {
		const struct ws_json *member = ws_json_find(root, of_sources[i]);
		if (member) {
			return ws_json_err_key(r->doc, member, r->err, "'%s' needs 'source'", of_sources[i]);
		}
	}
	if (recipe->source_count == 0 && !recipe->prebuilt_only) {
		ws_json_err(r->doc, root, r->err, "a recipe needs 'source'");
		ws_err_cure(r->err, "like this: \"source\": " SOURCE_EXAMPLE);
		return ws_err_cure(r->err,
			"or, for wheels that others built: \"binding\": \"pybind\", \"prebuilt\": [...]");
	}
	return recipe->prebuilt_only || recipe->extension_count > 0 || recipe->python.package_count > 0
		|| recipe->python.module_count > 0
		|| ws_json_err(r->doc, root, r->err, "a recipe needs 'extensions' or 'python'");
}

static bool
parse(struct ws_reader *r, struct ws_recipe *recipe)
{
	*recipe = (struct ws_recipe){.path = r->doc->name, .python.root = ""};
	if (!ws_object_read(r, r->doc->root, &table, recipe) || !ws_extensions_complete(r, recipe)) {
		return false;
	}
	recipe->name = ws_package_normal(recipe->distribution, r->a);
	/* The digest covers the file and each patch, so that a changed patch is a changed recipe. It
	 * excludes `prebuilt`: published wheels do not change how ours are built. */
	struct ws_hasher *h = ws_hasher_make();
	ws_hasher_add_field(h, text_without_prebuilt(r->doc, r->a));
	for (size_t i = 0; i < recipe->patch_count; i++) {
		struct ws_patch *patch = &recipe->patches[i];
		if (patch->text) {
			patch->text = fill_in(recipe, patch->text, r->a);
			struct ws_hasher *of_file = ws_hasher_make();
			ws_hasher_add_field(of_file, "wheelsmith.new-file/1");
			ws_hasher_add_field(of_file, patch->name);
			ws_hasher_add_field(of_file, patch->text);
			struct ws_digest digest = ws_hasher_finish(of_file);
			patch->sha256 = ws_arena_strdup(r->a, digest.hex);
		}
		ws_hasher_add_field(h, patch->sha256);
	}
	recipe->digest = ws_hasher_finish(h);
	for (size_t i = 0; i < recipe->source_count; i++) {
		struct ws_source_spec *source = &recipe->sources[i];
		if (source->kind == WS_SOURCE_SDIST && !source->package) {
			source->package = recipe->name;
		}
	}
	if (!check_ways(r, recipe)) {
		return false;
	}
	const struct ws_prebuilt *prebuilt = recipe->prebuilt;
	for (WS_JSON_EACH(item, ws_json_find(r->doc->root, "prebuilt"))) {
		if (!ws_prebuilt_check(r, item, recipe, prebuilt++)) {
			return false;
		}
	}
	return true;
}

bool
ws_recipe_parse(const struct ws_json_doc *doc, const char *folder, struct ws_arena *a,
	struct ws_recipe *recipe, struct ws_err *err)
{
	struct ws_reader r = {.doc = doc, .folder = folder, .a = a, .err = err};
	return parse(&r, recipe);
}

bool
ws_recipe_parse_all(const struct ws_json_doc *doc, const char *folder, struct ws_arena *a,
	struct ws_recipe *recipe, void (*report)(void *self, const struct ws_err *err), void *self)
{
	struct ws_err err = {0};
	struct ws_reader r = {
		.doc = doc, .folder = folder, .a = a, .err = &err, .report = report, .self = self};
	bool good = parse(&r, recipe);
	if (err.kind != WS_ERR_NONE) {
		report(self, &err);
	}
	return good;
}

bool
ws_recipe_read(const char *path, struct ws_arena *a, struct ws_recipe *recipe, struct ws_err *err)
{
	struct ws_document document;
	return ws_document_read(path, "recipe", a, &document, err)
		&& ws_recipe_parse(document.doc, document.folder, a, recipe, err);
}
