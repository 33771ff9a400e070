/* recipe_parts.c - extensions, the Python part, metadata, published wheels. Whether files exist is
 * seen when the sources are there. */
#include "config/recipe_parts.h"

#include "config/recipe.h"
#include "config/values.h"
#include "recipe/recipe_files.h"

/* A file that a compiler takes, by its ending. */
static bool
check_source(struct ws_reader *r, const struct ws_json *value, const char *path)
{
	enum ws_unit_kind kind;
	if (ws_unit_kind_of(path, &kind)) {
		return true;
	}
	ws_json_err(r->doc, value, r->err, "'%s' is not compiled (" WS_UNIT_ENDINGS " are)", path);
	return ws_err_cure(r->err, "for headers, write their folder into 'include'");
}

static bool
read_glob(struct ws_reader *r, const struct ws_json *value, void *into)
{
	const char **glob = into;
	if (!ws_type_inside.read(r, value, glob)) {
		return false;
	}
	const char *first = strpbrk(*glob, "*?");
	if (!first || strchr(first, '/')) {
		ws_json_err(r->doc, value, r->err, "'%s' is not a pattern within one folder", *glob);
		return ws_err_cure(r->err, "write '*' and '?' in the file name: \"csrc/kernels/*.cu\"");
	}
	return check_source(r, value, *glob);
}

static const struct ws_type type_glob = WS_VALUES(char *, "a pattern", "patterns", read_glob);

static const struct ws_field glob_fields[] = {
	{WS_ONE(struct ws_source_list, glob, "glob", type_glob), .flags = WS_FIELD_REQUIRED},
	{WS_ONE(struct ws_source_list, expected, "count", ws_type_number), .flags = WS_FIELD_REQUIRED,
		.example = "80"},
};
static const struct ws_table glob_table = {"a pattern", glob_fields, WS_LEN(glob_fields)};

static bool
read_source_list(struct ws_reader *r, const struct ws_json *value, void *into)
{
	struct ws_source_list *list = into;
	if (value->kind == WS_JSON_OBJECT) {
		return ws_object_read(r, value, &glob_table, list);
	}
	const char **path = WS_NEW(r->a, const char *);
	list->paths = path;
	list->path_count = 1;
	if (!ws_type_inside.read(r, value, path)) {
		return false;
	}
	if (strpbrk(*path, "*?")) {
		ws_json_err(r->doc, value, r->err, "'%s' is a pattern", *path);
		return ws_err_cure(r->err, "write {\"glob\": \"%s\", \"count\": N}", *path);
	}
	return check_source(r, value, *path);
}

/* Flags of setup.py files that a recipe must not have: another key decides them. Keep in step
 * with draft/reader/flags.py. */
static const struct {
	const char *start, *cure;
} refused[] = {
	{"-std=", "write \"cxx_std\": 17; a newer torch may ask for more"},
	{"--std", "write \"cxx_std\": 17; a newer torch may ask for more"},
	{"-gencode", "the matrix's 'arch' decides"},
	{"--generate-code", "the matrix's 'arch' decides"},
	{"-arch", "the matrix's 'arch' decides"},
	{"--gpu-architecture", "the matrix's 'arch' decides"},
	{"-code", "the matrix's 'arch' decides"},
	{"--gpu-code", "the matrix's 'arch' decides"},
	{"--threads", "leave it and its number out: architectures are compiled side by side anyway"},
	{"-I", "write the folder into 'include'"},
	{"-isystem", "write the folder into 'include'"},
	{"-ccbin", "the host compiler is chosen for each toolkit"},
	{"--compiler-bindir", "the host compiler is chosen for each toolkit"},
	{"-D_GLIBCXX_USE_CXX11_ABI", "the torch release decides"},
	{"-DTORCH_EXTENSION_NAME", "it follows from 'module'"},
};

static bool
read_flag(struct ws_reader *r, const struct ws_json *value, void *into)
{
	const char *text = ws_text_of(r, value, "a compiler flag");
	if (!text) {
		return false;
	}
	for (size_t i = 0; i < WS_LEN(refused); i++) {
		if (ws_starts_with(text, refused[i].start)) {
			ws_json_err(r->doc, value, r->err, "'%s' does not belong in a recipe", text);
			return ws_err_cure(r->err, "%s", refused[i].cure);
		}
	}
	const char *second = strstr(text, " -");
	if (second) {
		ws_json_err(r->doc, value, r->err, "'%s' is more than one word", text);
		return ws_err_cure(
			r->err, "write \"%.*s\", \"%s\"", (int)(second - text), text, second + 1);
	}
	*(const char **)into = text;
	return true;
}

static const struct ws_type type_flag = WS_VALUES(char *, "a compiler flag", "strings", read_flag);

#define FLAGS(owner, member, json_key) \
	{ \
		WS_MANY(owner, member, member##_count, json_key, type_flag), \
			.flags = WS_FIELD_LIST, .example = "[\"-O3\", \"-DNDEBUG\"]" \
	}

static bool
read_binding(struct ws_reader *r, const struct ws_json *value, void *into)
{
	static const char *const words[] = {"pybind", "torch-library", "stable-abi", "c-abi", NULL};
	return ws_word_read(r, value, "a kind of binding", words, into)
		|| (ws_same(value->text, "none")
			&& ws_err_cure(r->err, "a package of Python files alone has no 'extensions'"));
}

static bool
read_module(struct ws_reader *r, const struct ws_json *value, void *into)
{
	const char *text = ws_text_of(r, value, "a module name");
	*(const char **)into = text;
	if (text && !ws_is_module_name(text)) {
		ws_json_err(r->doc, value, r->err, "'%s' cannot be imported", text);
		return ws_err_cure(r->err, "write a dotted module name, like \"demo._C\"");
	}
	return text != NULL;
}

static const struct ws_type type_source_list =
	WS_VALUES(struct ws_source_list, "a path", "paths", read_source_list);
const struct ws_type ws_type_binding =
	WS_VALUES(enum ws_binding, "a kind of binding", "kinds of binding", read_binding);
const struct ws_type ws_type_module =
	WS_VALUES(char *, "a module name", "module names", read_module);

static const char *const suffixes[] = {".so", ".abi3.so", NULL};
static const struct ws_type type_suffix = {
	.name = "a suffix of a module's file name", .kind = WS_KIND_TEXT, .words = suffixes};

#define SHARED_FIELDS \
	{WS_ONE(struct ws_extension, binding, "binding", ws_type_binding), .example = "\"pybind\""}, \
		{WS_ONE(struct ws_extension, suffix, "suffix", type_suffix)}, \
		{WS_MANY(struct ws_extension, include, include_count, "include", ws_type_folder), \
			.flags = WS_FIELD_LIST | WS_FIELD_UNIQUE, .example = "[\"csrc\"]"}, \
		FLAGS(struct ws_extension, flags.c, "c_flags"), \
		FLAGS(struct ws_extension, flags.cxx, "cxx_flags"), \
		FLAGS(struct ws_extension, flags.nvcc, "nvcc_flags"), \
		FLAGS(struct ws_extension, flags.link, "link_flags")

static const struct ws_field fields[] = {
	{WS_ONE(struct ws_extension, module, "module", ws_type_module), .flags = WS_FIELD_REQUIRED,
		.example = "\"demo_cuda\""},
	{WS_MANY(struct ws_extension, sources, source_list_count, "sources", type_source_list),
		.flags = WS_FIELD_LIST | WS_FIELD_UNIQUE | WS_FIELD_REQUIRED,
		.example = "[\"csrc/demo.cpp\", {\"glob\": \"csrc/*.cu\", \"count\": 4}]"},
	{WS_MANY(struct ws_extension, device, device_list_count, "device", type_source_list),
		.flags = WS_FIELD_LIST | WS_FIELD_UNIQUE, .example = "[\"device/demo.cu\"]"},
	SHARED_FIELDS,
};
static const struct ws_table table = {"an extension", fields, WS_LEN(fields)};

static const struct ws_field shared_fields[] = {SHARED_FIELDS};
static const struct ws_table shared_table = {
	"'every_extension'", shared_fields, WS_LEN(shared_fields)};

const struct ws_type ws_type_extension = WS_BY_TABLE(struct ws_extension, table);

/* Makes of @a list of @a count texts one that begins with @a first. */
static const char *const *
prepend(struct ws_arena *a, const char *const *first, size_t first_count, const char *const *list,
	size_t *count)
{
	const char **joined = WS_NEW_N(a, const char *, first_count + *count);
	for (size_t i = 0; i < first_count + *count; i++) {
		joined[i] = i < first_count ? first[i] : list[i - first_count];
	}
	*count += first_count;
	return joined;
}

/* Adds the members of 'every_extension': lists come before its own, other members fill gaps. */
static bool
complete(struct ws_reader *r, const struct ws_json *item, const struct ws_json *every,
	const struct ws_extension *shared, struct ws_extension *extension)
{
	if (!ws_json_find(item, "binding") && !ws_json_find(every, "binding")) {
		ws_json_err(r->doc, item, r->err, "an extension needs 'binding'");
		return ws_err_cure(r->err, "like this: \"binding\": \"pybind\"");
	}
	if (!ws_json_find(item, "binding")) {
		extension->binding = shared->binding;
	}
	if (!extension->suffix) {
		extension->suffix = shared->suffix;
	}
	struct ws_flags *own = &extension->flags;
	const struct ws_flags *all = &shared->flags;
	extension->include = prepend(r->a, shared->include, shared->include_count, extension->include,
		&extension->include_count);
	own->c = prepend(r->a, all->c, all->c_count, own->c, &own->c_count);
	own->cxx = prepend(r->a, all->cxx, all->cxx_count, own->cxx, &own->cxx_count);
	own->nvcc = prepend(r->a, all->nvcc, all->nvcc_count, own->nvcc, &own->nvcc_count);
	own->link = prepend(r->a, all->link, all->link_count, own->link, &own->link_count);
	extension->compiles_cuda = extension->device_list_count > 0;
	for (size_t i = 0; i < extension->source_list_count; i++) {
		const struct ws_source_list *list = &extension->sources[i];
		extension->compiles_cuda = extension->compiles_cuda
			|| ws_ends_with(list->glob ? list->glob : list->paths[0], ".cu");
	}
	return true;
}

bool
ws_extensions_complete(struct ws_reader *r, struct ws_recipe *recipe)
{
	const struct ws_json *every = ws_json_find(r->doc->root, "every_extension");
	const struct ws_json *list = ws_json_find(r->doc->root, "extensions");
	struct ws_extension shared = {0}, *extension = recipe->extensions;
	if (every && !ws_object_read(r, every, &shared_table, &shared)) {
		return false;
	}
	if (every && !list) {
		return ws_json_err_key(r->doc, every, r->err, "'every_extension' needs 'extensions'");
	}
	for (WS_JSON_EACH(item, list)) {
		if (!complete(r, item, every, &shared, extension)) {
			return false;
		}
		for (const struct ws_extension *other = recipe->extensions; other < extension; other++) {
			if (strcmp(extension->module, other->module) == 0) {
				return ws_json_err(r->doc, ws_json_find(item, "module"), r->err,
					"module '%s' is listed twice", other->module);
			}
		}
		extension++;
	}
	return true;
}

const struct ws_json *
ws_recipe_value_at(const struct ws_json *root, const char *where, struct ws_arena *a)
{
	unsigned extension;
	size_t index;
	char list[16];
	int end = 0;
	const struct ws_json *every = ws_json_find(root, "every_extension");
	if (every
		&& sscanf(where, "extensions/%u/%15[a-z_]/%zu%n", &extension, list, &index, &end) == 3) {
		const struct ws_json *shared = ws_json_find(every, list);
		size_t count = shared ? shared->count : 0;
		where = index < count
			? ws_arena_printf(a, "every_extension/%s/%zu%s", list, index, where + end)
			: ws_arena_printf(
				a, "extensions/%u/%s/%zu%s", extension, list, index - count, where + end);
	}
	return ws_json_at(root, where);
}

/* ---- Python files and METADATA ---- */

static bool
read_python_file(struct ws_reader *r, const struct ws_json *value, void *into)
{
	const char **path = into;
	if (!ws_type_inside.read(r, value, path)) {
		return false;
	}
	return ws_ends_with(*path, ".py")
		|| ws_json_err(r->doc, value, r->err, "'%s' is not a .py file", *path);
}

static const struct ws_type type_python_file =
	WS_VALUES(char *, "a path", "paths", read_python_file);

#define PATHS(owner, member, json_key, value_type) \
	{ \
		WS_MANY(owner, member##s, member##_count, json_key, value_type), \
			.flags = WS_FIELD_LIST | WS_FIELD_UNIQUE \
	}

static const struct ws_field part_fields[] = {
	{WS_ONE(struct ws_python_part, root, "root", ws_type_folder)},
	PATHS(struct ws_python_part, package, "packages", ws_type_inside),
	PATHS(struct ws_python_part, module, "modules", type_python_file),
	{WS_MANY(struct ws_python_part, data, data_count, "data", ws_type_inside),
		.flags = WS_FIELD_LIST | WS_FIELD_UNIQUE},
	{WS_MANY(struct ws_python_part, exclude, exclude_count, "exclude", ws_type_inside),
		.flags = WS_FIELD_LIST | WS_FIELD_UNIQUE},
};
static const struct ws_table part_table = {"the Python part", part_fields, WS_LEN(part_fields)};

static bool
read_python_part(struct ws_reader *r, const struct ws_json *value, void *into)
{
	struct ws_python_part *part = into;
	if (!ws_object_read(r, value, &part_table, part)) {
		return false;
	}
	if (strcmp(part->root, ".") == 0) {
		part->root = "";
	}
	return part->package_count + part->module_count > 0
		|| ws_json_err(r->doc, value, r->err, "the Python part needs 'packages' or 'modules'");
}

/* PEP 508: a name, then anything; what follows is checked where it is used. */
static bool
read_requirement(struct ws_reader *r, const struct ws_json *value, void *into)
{
	if (!ws_type_line.read(r, value, into)) {
		return false;
	}
	size_t len = strcspn(value->text, " <>=!~;[(@");
	const char *name = ws_arena_copy(r->a, value->text, len);
	return ws_is_package_name(name)
		|| ws_json_err(r->doc, value, r->err, "'%s' is not a requirement", value->text);
}

static const struct ws_type type_requirement =
	WS_VALUES(char *, "a requirement", "requirements", read_requirement);

/* Into the whole metadata: {"dev": ["pytest"]} as "dev", "pytest". */
static bool
read_extras(struct ws_reader *r, const struct ws_json *value, void *into)
{
	struct ws_metadata *metadata = into;
	if (!ws_expect(r, value, WS_JSON_OBJECT, "an object like {\"dev\": [\"pytest\"]}")) {
		return false;
	}
	size_t count = 0;
	for (WS_JSON_EACH(extra, value)) {
		r->key = extra->key;
		if (!ws_is_package_name(extra->key)) {
			return ws_json_err_key(
				r->doc, extra, r->err, "'%s' is not an extra's name", extra->key);
		}
		if (!ws_expect(r, extra, WS_JSON_ARRAY, "a list of requirements")) {
			return false;
		}
		count += 2 * extra->count;
	}
	const char **pairs = WS_NEW_N(r->a, const char *, count);
	for (WS_JSON_EACH(extra, value)) {
		for (WS_JSON_EACH(item, extra)) {
			pairs[metadata->extra_count++] = ws_package_normal(extra->key, r->a);
			if (!read_requirement(r, item, &pairs[metadata->extra_count++])) {
				return false;
			}
		}
	}
	metadata->extras = pairs;
	return true;
}

static const struct ws_type type_extras = WS_OBJECTS(struct ws_metadata, read_extras);

static const struct ws_field page_fields[] = {
	{WS_ONE(struct ws_project_url, label, "", ws_type_text)},
	{WS_ONE(struct ws_project_url, url, "", ws_type_url)},
};
static const struct ws_table page_table = {"a project's URL", page_fields, WS_LEN(page_fields)};
static const struct ws_type type_project_url = WS_BY_TABLE(struct ws_project_url, page_table);

#define LINE(member) \
	{ \
		WS_ONE(struct ws_metadata, member, #member, ws_type_line) \
	}

static const struct ws_field metadata_fields[] = {
	LINE(summary),
	LINE(author),
	LINE(author_email),
	{WS_ONE(struct ws_metadata, home_page, "home_page", ws_type_url)},
	{WS_MANY(struct ws_metadata, project_urls, project_url_count, "project_urls", type_project_url),
		.flags = WS_FIELD_LIST | WS_FIELD_MAP, .example = "{\"Repository\": \"https://...\"}"},
	LINE(license),
	LINE(license_expression),
	PATHS(struct ws_metadata, license_file, "license_files", ws_type_inside),
	PATHS(struct ws_metadata, classifier, "classifiers", ws_type_line),
	PATHS(struct ws_metadata, keyword, "keywords", ws_type_line),
	PATHS(struct ws_metadata, require, "requires", type_requirement),
	{.key = "extras", .type = &type_extras},
	{WS_ONE(struct ws_metadata, description_file, "description_file", ws_type_inside)},
};
static const struct ws_table metadata_table = {
	"metadata", metadata_fields, WS_LEN(metadata_fields)};

static bool
read_metadata(struct ws_reader *r, const struct ws_json *value, void *into)
{
	const struct ws_metadata *metadata = into;
	if (!ws_object_read(r, value, &metadata_table, into)) {
		return false;
	}
	if (!metadata->license_expression) {
		return true;
	}
	/* PEP 639: with License-Expression neither License nor a license classifier may stand. */
	if (metadata->license) {
		return ws_json_err_key(r->doc, ws_json_find(value, "license"), r->err,
			"'license' and 'license_expression' exclude each other");
	}
	for (WS_JSON_EACH(item, ws_json_find(value, "classifiers"))) {
		if (ws_starts_with(item->text, "License ::")) {
			return ws_json_err(r->doc, item, r->err,
				"a license classifier and 'license_expression' exclude each other");
		}
	}
	return true;
}

const struct ws_type ws_type_python_part = WS_OBJECTS(struct ws_python_part, read_python_part);
const struct ws_type ws_type_metadata = WS_OBJECTS(struct ws_metadata, read_metadata);

/* ---- prebuilt wheels ---- */

/* ---- values that names have ---- */

static bool
read_cuda(struct ws_reader *r, const struct ws_json *value, void *into)
{
	struct ws_published *published = into;
	published->text = ws_text_of(r, value, "a CUDA version as names write it");
	if (!published->text) {
		return false;
	}
	const char *cuda = ws_wheel_label_cuda(published->text, r->a);
	if (!cuda || !ws_version_parse(cuda, r->a, &published->version)) {
		ws_json_err(r->doc, value, r->err, "'%s' is not a CUDA version", published->text);
		return ws_err_cure(r->err, "write what follows \"cu\" in the names: \"12\", \"124\"");
	}
	published->any_minor = published->version.release_count == 1;
	return true;
}

static bool
read_torch(struct ws_reader *r, const struct ws_json *value, void *into)
{
	struct ws_published *published = into;
	published->text = ws_text_of(r, value, "a minor of torch");
	if (!published->text) {
		return false;
	}
	if (!ws_version_parse(published->text, r->a, &published->version)
		|| published->version.release_count != 2
		|| strcmp(published->version.text, published->text) != 0) {
		ws_json_err(r->doc, value, r->err, "'%s' is not a minor of torch", published->text);
		return ws_err_cure(r->err, "write two numbers, as names do: \"2.5\"");
	}
	return true;
}

static bool
read_abi(struct ws_reader *r, const struct ws_json *value, void *into)
{
	static const char *const words[] = {"FALSE", "TRUE", "0", "1", "false", "true", NULL};
	struct ws_published *published = into;
	unsigned place;
	if (!ws_word_read(r, value, "a word for cxx11abi in names", words, &place)) {
		return false;
	}
	published->text = words[place];
	published->cxx11abi = (int)(place % 2);
	return true;
}

static bool
read_python(struct ws_reader *r, const struct ws_json *value, void *into)
{
	struct ws_published_python *python = into;
	struct ws_python_tag *tag = &python->tag;
	if (!ws_type_python.read(r, value, tag)) {
		return false;
	}
	if (tag->free_threaded) {
		return ws_json_err(r->doc, value, r->err,
			"'{python}' of a template stands for an interpreter with the GIL");
	}
	return ws_version_parse(
		ws_arena_printf(r->a, "%u.%u", tag->major, tag->minor), r->a, &python->version);
}

static const struct ws_type type_cuda =
	WS_VALUES(struct ws_published, "a CUDA version", "CUDA versions", read_cuda);
static const struct ws_type type_torch =
	WS_VALUES(struct ws_published, "a minor of torch", "minors of torch", read_torch);
static const struct ws_type type_abi =
	WS_VALUES(struct ws_published, "a word for cxx11abi", "words for cxx11abi", read_abi);
static const struct ws_type type_python =
	WS_VALUES(struct ws_published_python, "a Python version", "Python versions", read_python);

#define URL_EXAMPLE \
	"\"https://example.org/demo-{version}+cu{cuda}-{python}-{python}-linux_x86_64.whl\""

static const struct ws_field prebuilt_fields[] = {
	{WS_ONE(struct ws_prebuilt, from, "from", ws_type_line), .flags = WS_FIELD_REQUIRED,
		.example = "\"demo's releases\""},
	{WS_ONE(struct ws_prebuilt, url, "url", ws_type_url), .flags = WS_FIELD_REQUIRED,
		.example = URL_EXAMPLE},
	{WS_MANY(struct ws_prebuilt, cuda.at, cuda.count, "cuda", type_cuda),
		.flags = WS_FIELD_LIST | WS_FIELD_UNIQUE, .example = "[\"118\", \"124\"]"},
	{WS_MANY(struct ws_prebuilt, torch.at, torch.count, "torch", type_torch),
		.flags = WS_FIELD_LIST | WS_FIELD_UNIQUE, .example = "[\"2.5\", \"2.6\"]"},
	{WS_MANY(struct ws_prebuilt, cxx11abi.at, cxx11abi.count, "cxx11abi", type_abi),
		.flags = WS_FIELD_LIST | WS_FIELD_UNIQUE, .example = "[\"FALSE\", \"TRUE\"]"},
	{WS_MANY(struct ws_prebuilt, pythons, python_count, "python", type_python),
		.flags = WS_FIELD_LIST | WS_FIELD_UNIQUE, .example = "[\"3.11\", \"3.12\"]"},
	{WS_MANY(struct ws_prebuilt, except, except_count, "except", ws_type_condition),
		.flags = WS_FIELD_LIST, .example = "[{\"torch\": \"2.4\", \"python\": \"3.13\"}]"},
	{WS_ONE(struct ws_prebuilt, archs, "arch", ws_type_archs)},
	{WS_ONE(struct ws_prebuilt, see, "see", ws_type_line)},
};
static const struct ws_table prebuilt_table = {
	"published wheels", prebuilt_fields, WS_LEN(prebuilt_fields)};

const struct ws_type ws_type_prebuilt = WS_BY_TABLE(struct ws_prebuilt, prebuilt_table);

/* ---- the template ---- */

static const char *const placeholders[] = {"version", "cuda", "torch", "cxx11abi", "python"};

/* The template's URL with the first of each list; NULL with an error at @a url. */
static const char *
expand_sample(struct ws_reader *r, const struct ws_json *url, const struct ws_recipe *recipe,
	const struct ws_prebuilt *prebuilt, unsigned *used)
{
	/* By placeholder; NULL: its list is missing. */
	const char *const values[] = {recipe->version.text,
		prebuilt->cuda.count > 0 ? prebuilt->cuda.at[0].text : NULL,
		prebuilt->torch.count > 0 ? prebuilt->torch.at[0].text : NULL,
		prebuilt->cxx11abi.count > 0 ? prebuilt->cxx11abi.at[0].text : NULL,
		prebuilt->python_count > 0 ? "cp310" : NULL};
	WS_AUTO_BUF struct ws_buf out = {0};
	for (const char *c = prebuilt->url; *c; c++) {
		const char *end = *c == '{' ? strchr(c, '}') : NULL;
		if (!end) {
			ws_buf_putc(&out, *c);
			continue;
		}
		struct ws_str name = {c + 1, (size_t)(end - c - 1)};
		size_t i = 0;
		while (i < WS_LEN(placeholders) && !ws_str_is(name, placeholders[i])) {
			i++;
		}
		if (i == WS_LEN(placeholders)) {
			ws_json_err(r->doc, url, r->err, "'{%.*s}' is not a placeholder", WS_STR_ARGS(name));
			ws_err_cure(r->err, "write {version}, {cuda}, {torch}, {cxx11abi}, {python}");
			return NULL;
		}
		if (!values[i]) {
			ws_json_err(r->doc, url, r->err, "'{%s}' is in the URL, and '%s' is not listed",
				placeholders[i], placeholders[i]);
			return NULL;
		}
		*used |= 1u << i;
		ws_buf_puts(&out, values[i]);
		c = end;
	}
	return ws_buf_copy(&out, r->a);
}

bool
ws_prebuilt_check(struct ws_reader *r, const struct ws_json *item, const struct ws_recipe *recipe,
	const struct ws_prebuilt *prebuilt)
{
	const struct ws_json *url = ws_json_find(item, "url");
	unsigned used = 0;
	const char *sample = expand_sample(r, url, recipe, prebuilt, &used);
	if (!sample) {
		return false;
	}
	struct ws_wheel_name name;
	const char *file = strrchr(sample, '/') + 1, *why;
	if (!ws_wheel_name_parse(file, r->a, &name, &why)) {
		return ws_json_err(
			r->doc, url, r->err, "the URL does not end in a wheel's name: '%s': %s", file, why);
	}
	if (!ws_same(name.distribution, recipe->name)
		|| ws_version_cmp_public(&name.version, &recipe->version) != 0) {
		return ws_json_err(r->doc, url, r->err, "'%s' is not a wheel of %s %s", file, recipe->name,
			recipe->version.text);
	}
	for (size_t i = 1; i < WS_LEN(placeholders); i++) {
		const struct ws_json *list = ws_json_find(item, placeholders[i]);
		if (list && !(used & 1u << i)) {
			return ws_json_err_key(r->doc, list, r->err,
				"'%s' is listed, and '{%s}' is missing in the URL", placeholders[i],
				placeholders[i]);
		}
	}
	return true;
}
