/* recipe_source.c - where a recipe's sources come from, and patches to them. Fetching is fetch/. */
#include "base/fs.h"
#include "base/text.h"
#include "config/condition.h"
#include "config/recipe_parts.h"
#include "config/values.h"
#include "model/git_url.h"
#include "model/recipe.h"

#include <string.h>

/* A file name of the index: no folders, an ending of source distributions (PEP 625, PEP 517). */
static bool
read_sdist(struct ws_reader *r, const struct ws_json *value, void *into)
{
	const char *text = ws_text_of(r, value, "a file name");
	if (!text) {
		return false;
	}
	if (strchr(text, '/') || (!ws_ends_with(text, ".tar.gz") && !ws_ends_with(text, ".zip"))) {
		ws_json_err(r->doc, value, r->err, "'%s' is not a source distribution", text);
		return ws_err_cure(r->err, "write its file name on the index: \"demo-1.0.tar.gz\"");
	}
	*(const char **)into = text;
	return true;
}

static const struct ws_type type_sdist = WS_VALUES(char *, "a file name", "file names", read_sdist);

static const struct ws_field sdist_fields[] = {
	{WS_ONE(struct ws_source_spec, file, "sdist", type_sdist), .flags = WS_FIELD_REQUIRED},
	{WS_ONE(struct ws_source_spec, sha256, "sha256", ws_type_sha256), .flags = WS_FIELD_REQUIRED},
	{WS_ONE(struct ws_source_spec, package, "package", ws_type_package)},
	{WS_ONE(struct ws_source_spec, strip, "strip", ws_type_inside)},
};

/* By the rule that fetching has: what it refuses is said here, where there is a place to point
 * to. */
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

/* The key that says which kind of source it is, and what else goes with it. */
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

/* The file is there and is the one that was meant. */
static bool
check_patch(struct ws_reader *r, const struct ws_json *value, const struct ws_patch *patch)
{
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
	return check_patch(r, value, patch);
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

void
ws_patches_complete(struct ws_recipe *recipe, struct ws_arena *a)
{
	struct ws_patch *all = WS_NEW_N(a, struct ws_patch, recipe->patch_count + 1);
	for (size_t i = 0; i < recipe->patch_count; i++) {
		all[i] = recipe->patches[i];
		if (all[i].text) {
			all[i].text = fill_in(recipe, all[i].text, a);
			struct ws_hasher *h = ws_hasher_make();
			ws_hasher_add_field(h, "wheelsmith.new-file/1");
			ws_hasher_add_field(h, all[i].name);
			ws_hasher_add_field(h, all[i].text);
			struct ws_digest digest = ws_hasher_finish(h);
			all[i].sha256 = ws_arena_strdup(a, digest.hex);
		}
	}
	recipe->patches = all;
}

const struct ws_type ws_type_source = WS_OBJECTS(struct ws_source_spec, read_source);
const struct ws_type ws_type_patch = WS_OBJECTS(struct ws_patch, read_patch);
