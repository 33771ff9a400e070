/* recipe_extension.c - extension modules: sources, flags, changes for some points. Whether the
 * files exist is seen when the sources are there. */
#include "config/recipe.h"
#include "config/recipe_parts.h"
#include "config/values.h"
#include "model/recipe.h"
#include "recipe/units.h"

#include <stdio.h>
#include <string.h>

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
read_source_path(struct ws_reader *r, const struct ws_json *value, void *into)
{
	const char **path = into;
	if (!ws_type_inside.read(r, value, path)) {
		return false;
	}
	if (strpbrk(*path, "*?")) {
		ws_json_err(r->doc, value, r->err, "'%s' is a pattern", *path);
		return ws_err_cure(r->err, "write {\"glob\": \"%s\", \"count\": N}", *path);
	}
	return check_source(r, value, *path);
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
		return ws_err_cure(r->err, "'*' and '?' stand in the file name: \"csrc/kernels/*.cu\"");
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
	return read_source_path(r, value, path);
}

/* What setup.py files pass and a recipe must not: something else decides it (draft/reader/flags.py
 * knows them too). */
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

static const char *
flag_refused(const char *flag)
{
	for (size_t i = 0; i < WS_LEN(refused); i++) {
		if (ws_starts_with(flag, refused[i].start)) {
			return refused[i].cure;
		}
	}
	return NULL;
}

static bool
read_flag(struct ws_reader *r, const struct ws_json *value, void *into)
{
	const char *text = ws_text_of(r, value, "a compiler flag");
	if (!text) {
		return false;
	}
	const char *cure = flag_refused(text);
	if (cure) {
		ws_json_err(r->doc, value, r->err, "'%s' does not belong in a recipe", text);
		return ws_err_cure(r->err, "%s", cure);
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
	static const char *const words[] = {"pybind", "torch-library", "stable-abi", "c-abi"};
	if (!ws_text_of(r, value, "a kind of binding")) {
		return false;
	}
	for (size_t i = 0; i < WS_LEN(words); i++) {
		if (strcmp(value->text, words[i]) == 0) {
			*(enum ws_binding *)into = (enum ws_binding)i;
			return true;
		}
	}
	ws_word_err(r, value, "kind of binding", words, WS_LEN(words));
	return strcmp(value->text, "none") == 0
		? ws_err_cure(r->err, "a package of Python files alone has no 'extensions'")
		: false;
}

static bool
read_suffix(struct ws_reader *r, const struct ws_json *value, void *into)
{
	static const char *const words[] = {".so", ".abi3.so"};
	for (size_t i = 0; i < WS_LEN(words) && value->kind == WS_JSON_STRING; i++) {
		if (strcmp(value->text, words[i]) == 0) {
			*(const char **)into = words[i];
			return true;
		}
	}
	return ws_text_of(r, value, "a file name's end")
		&& ws_word_err(r, value, "suffix of a module's file name", words, WS_LEN(words));
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

static const struct ws_type type_suffix =
	WS_VALUES(char *, "a file name's end", "file names' ends", read_suffix);

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
const struct ws_type ws_type_every_extension = WS_BY_TABLE(struct ws_extension, shared_table);

/* The items of @a size bytes of one list before those of another. */
static void
prepend(struct ws_arena *a, size_t size, const void *first, size_t first_count, const void *list,
	const void **joined, size_t *count)
{
	char *items = ws_arena_alloc(a, (first_count + *count) * size);
	if (first_count > 0) {
		memcpy(items, first, first_count * size);
	}
	if (*count > 0) {
		memcpy(items + first_count * size, list, *count * size);
	}
	*joined = items;
	*count += first_count;
}

#define PREPEND(a, shared, own, list, counter) \
	do { \
		const void *joined; \
		prepend(a, sizeof(*(own)->list), (shared)->list, (shared)->counter, (own)->list, &joined, \
			&(own)->counter); \
		(own)->list = joined; \
	} while (0)

bool
ws_extension_complete(struct ws_reader *r, const struct ws_json *item, const struct ws_json *every,
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
	PREPEND(r->a, shared, extension, include, include_count);
	PREPEND(r->a, &shared->flags, &extension->flags, c, c_count);
	PREPEND(r->a, &shared->flags, &extension->flags, cxx, cxx_count);
	PREPEND(r->a, &shared->flags, &extension->flags, nvcc, nvcc_count);
	PREPEND(r->a, &shared->flags, &extension->flags, link, link_count);
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
