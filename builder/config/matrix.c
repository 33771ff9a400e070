#include "config/matrix.h"

#include "config/document.h"
#include "config/values.h"

#include <strings.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyz"
#define LARGE "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"

static struct ws_place
place_of(const struct ws_json *value)
{
	return (struct ws_place){value->offset, value->len};
}

static bool
is_word(const struct ws_json *value, const char *word)
{
	return value->kind == WS_JSON_STRING && strcmp(value->text, word) == 0;
}

static bool
read_wanted(struct ws_reader *r, const struct ws_json *value, void *into)
{
	struct ws_wanted *wanted = into;
	const char *text = ws_text_of(r, value, "a package like \"NAME==VERSION\"");
	if (!text) {
		return false;
	}
	const char *equals = strstr(text, "==");
	const char *name = ws_arena_copy(r->a, text, equals ? (size_t)(equals - text) : 0);
	if (!ws_is_package_name(name) || !ws_version_parse(equals + 2, r->a, &wanted->version)) {
		int end = (int)strcspn(text, " =<>!~;[@");
		ws_json_err(r->doc, value, r->err, "'%s' is not a package with its version", text);
		return ws_err_cure(r->err, "write \"%.*s==VERSION\", one exact version", end, text);
	}
	wanted->name = ws_package_normal(name, r->a);
	wanted->place = place_of(value);
	return true;
}

static bool
read_torch_value(struct ws_reader *r, const struct ws_json *value, void *into)
{
	struct ws_torch_value *torch = into;
	torch->place = place_of(value);
	torch->installed = is_word(value, "installed");
	const char *text = ws_text_of(r, value, "a torch version");
	if (!text || torch->installed || ws_version_parse(text, r->a, &torch->version)) {
		return text;
	}
	ws_json_err(r->doc, value, r->err, "'%s' is not a torch version", text);
	return ws_err_cure(r->err, "they look like \"2.5.1\" or \"2.5.1+cu121\"");
}

static bool
read_cuda_value(struct ws_reader *r, const struct ws_json *value, void *into)
{
	struct ws_cuda_value *cuda = into;
	cuda->place = place_of(value);
	cuda->automatic = is_word(value, "auto");
	const char *text = ws_text_of(r, value, "a CUDA version");
	if (!text || cuda->automatic || ws_cuda_version_parse(text, r->a, &cuda->version)) {
		return text;
	}
	ws_json_err(r->doc, value, r->err, "'%s' is not a CUDA version", text);
	return ws_err_cure(r->err, "write major and minor, like \"12.4\", or \"auto\"");
}

static bool
read_python_value(struct ws_reader *r, const struct ws_json *value, void *into)
{
	struct ws_python_value *python = into;
	python->place = place_of(value);
	python->host = is_word(value, "host");
	const char *text = ws_text_of(r, value, "a Python version");
	python->path = text && strchr(text, '/') ? ws_path_from(r, text) : NULL;
	if (!text || python->host || python->path || ws_python_tag_parse(text, &python->tag)) {
		return text;
	}
	ws_json_err(r->doc, value, r->err, "'%s' is not a Python version", text);
	return ws_err_cure(
		r->err, "write \"3.11\", \"3.13t\", \"host\", or the path of an interpreter");
}

/* "hopper", "h100", and not "sm_90". Which names there are, the facts know. */
static bool
begins_set_name(const char *text)
{
	return ws_is_letter(text[0]) && strncasecmp(text, "sm", 2) != 0;
}

/* "host", "h100", "RTX 4090". */
static bool
is_set_name(const struct ws_json *value)
{
	const char *text = value->kind == WS_JSON_STRING ? value->text : "";
	return begins_set_name(text) && text[strspn(text, LETTERS LARGE DIGITS "- ")] == '\0';
}

static bool
read_arch_value(struct ws_reader *r, const struct ws_json *value, void *into)
{
	struct ws_arch_value *arch = into;
	struct ws_arch_set set;
	const char *why;
	arch->text = ws_text_of(r, value, "a set of architectures");
	if (!arch->text) {
		return false;
	}
	arch->place = place_of(value);
	arch->host = is_word(value, "host");
	/* People write "RTX 4090"; names in the facts have no blanks. */
	if (begins_set_name(arch->text)) {
		char *copy = ws_arena_strdup(r->a, arch->text), *to = copy;
		for (const char *c = arch->text; *c; c++) {
			*to = *c;
			to += *c != ' ';
		}
		*to = '\0';
		arch->text = copy;
	}
	/* "h100;8.9": one of several is a name. */
	bool named = false;
	for (const char *at = arch->text; at; at = strchr(at, ';')) {
		at += *at == ';';
		named = named || begins_set_name(at);
	}
	if ((named && arch->text[strspn(arch->text, LETTERS LARGE DIGITS "-.+;")] == '\0')
		|| ws_arch_set_parse(arch->text, r->a, &set, &why)) {
		return true;
	}
	ws_json_err(r->doc, value, r->err, "'%s' is not a set of architectures", arch->text);
	return ws_err_cure(r->err, "%s", why);
}

static bool
is_abi(const struct ws_json *value)
{
	return value->kind != WS_JSON_ARRAY;
}

static bool
read_abi_value(struct ws_reader *r, const struct ws_json *value, void *into)
{
	*(int *)into = -1;
	return is_word(value, "auto") || ws_abi_read(r, value, "0, 1 or \"auto\"", into);
}

#define AXIS(c_type, one, many, reader, may_stand, keyword) \
	{ \
		.name = (one), .plural = (many), .size = sizeof(c_type), .read = (reader), \
		.alone = (may_stand), .word = (keyword) \
	}

static const struct ws_type type_wanted =
	AXIS(struct ws_wanted, "a package", "packages", read_wanted, NULL, NULL);
static const struct ws_type type_torch_value = AXIS(struct ws_torch_value, "a torch version",
	"torch versions", read_torch_value, NULL, "installed");
static const struct ws_type type_cuda_value =
	AXIS(struct ws_cuda_value, "a CUDA version", "CUDA versions", read_cuda_value, NULL, "auto");
static const struct ws_type type_python_value = AXIS(
	struct ws_python_value, "a Python version", "Python versions", read_python_value, NULL, "host");
static const struct ws_type type_arch_value = AXIS(struct ws_arch_value, "a set of architectures",
	"sets of architectures", read_arch_value, is_set_name, "host");
static const struct ws_type type_abi_value =
	AXIS(int, "0, 1 or \"auto\"", "0, 1 or \"auto\"", read_abi_value, is_abi, "auto");

/* ---- a matrix ---- */

static const struct ws_field exclude_fields[] = {
	WS_CONDITION_FIELDS(struct ws_exclude, when.),
	{WS_ONE(struct ws_exclude, package, "package", ws_type_package)},
	{WS_ONE(struct ws_exclude, why, "why", ws_type_line)},
};
static const struct ws_table exclude_table = {
	"an exclusion", exclude_fields, WS_LEN(exclude_fields)};

static bool
read_exclude(struct ws_reader *r, const struct ws_json *value, void *into)
{
	struct ws_exclude *exclude = into;
	exclude->when = WS_CONDITION_ANY;
	if (!ws_object_read(r, value, &exclude_table, exclude)) {
		return false;
	}
	if (value->count > (exclude->why ? 1U : 0U)) {
		return true;
	}
	ws_json_err(r->doc, value, r->err, "an exclusion that names nothing excludes everything");
	return ws_err_cure(r->err, "name an axis or a package: {\"torch\": \"<2.6\"}");
}

static const struct ws_field include_fields[] = {
	{WS_ONE(struct ws_include, package, "package", ws_type_package)},
	{WS_ONE(struct ws_include, torch, "torch", type_torch_value)},
	{WS_ONE(struct ws_include, cuda, "cuda", type_cuda_value)},
	{WS_ONE(struct ws_include, python, "python", type_python_value)},
	{WS_ONE(struct ws_include, arch, "arch", type_arch_value)},
	{WS_ONE(struct ws_include, cxx11abi, "cxx11abi", type_abi_value)},
};
static const struct ws_table include_table = {
	"an extra point", include_fields, WS_LEN(include_fields)};

static bool
read_include(struct ws_reader *r, const struct ws_json *value, void *into)
{
	struct ws_include *include = into;
	include->cuda.automatic = include->python.host = include->arch.host = true;
	include->arch.text = "host";
	include->cxx11abi = -1;
	return ws_object_read(r, value, &include_table, include);
}

/* Into the whole matrix. */
static bool
read_fallback_on(struct ws_reader *r, const struct ws_json *value, void *into)
{
	static const char *const words[] = {"no-candidate", "build-failed", NULL};
	struct ws_matrix *matrix = into;
	unsigned place;
	if (!ws_expect(r, value, WS_JSON_ARRAY, "a list of strings")) {
		return false;
	}
	matrix->fallback_on_no_candidate = false;
	for (WS_JSON_EACH(item, value)) {
		if (!ws_word_read(r, item, "a reason to fall back", words, &place)) {
			return false;
		}
		*(place == 0 ? &matrix->fallback_on_no_candidate : &matrix->fallback_on_build_failed) =
			true;
	}
	return true;
}

/* Segments of a local version label (PEP 440): lower-case letters and digits between dots. */
static bool
read_label(struct ws_reader *r, const struct ws_json *value, void *into)
{
	const char *text = ws_text_of(r, value, "a label");
	size_t len = text ? strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789.") : 0;
	if (text && (text[len] || strstr(text, "..") || text[0] == '.' || text[len - 1] == '.')) {
		ws_json_err(r->doc, value, r->err, "'%s' is not a label", text);
		return ws_err_cure(r->err, "write lower-case letters and digits between dots: \"acme.2\"");
	}
	return (*(const char **)into = text);
}

/* How GPU code is compressed follows from the toolkit and the driver; only whether can be said. */
static bool
read_compress(struct ws_reader *r, const struct ws_json *value, void *into)
{
	static const char *const words[] = {"none", NULL};
	unsigned place;
	*(bool *)into = true;
	return ws_word_read(r, value, "a way to compress", words, &place);
}

/* ">=550.54": the oldest driver. */
static bool
read_driver(struct ws_reader *r, const struct ws_json *value, void *into)
{
	const char *text = ws_text_of(r, value, "a range of drivers");
	if (!text) {
		return false;
	}
	if (ws_starts_with(text, ">=") && text[2 + strspn(text + 2, "0123456789. ")] == '\0'
		&& ws_version_parse(text + 2, r->a, into)) {
		return true;
	}
	ws_json_err(r->doc, value, r->err, "'%s' does not say which driver is the oldest", text);
	return ws_err_cure(r->err, "write \">=550.54\"");
}

/* "2.28": the oldest system that the wheels support. */
static bool
read_glibc(struct ws_reader *r, const struct ws_json *value, void *into)
{
	const char *text = ws_text_of(r, value, "a version of glibc");
	*(const char **)into = text;
	if (!text || ws_glibc_is_floor(text)) {
		return text;
	}
	ws_json_err(r->doc, value, r->err, "no wheels are made for glibc '%s'", text);
	const char *older = ws_glibc_floor_below(text);
	return older ? ws_err_cure(r->err, "wheels for %s run there: write \"%s\"", older, older)
				 : ws_err_cure(r->err, "take one of %s", ws_glibc_floors(r->a));
}

static const struct ws_type type_glibc =
	WS_VALUES(char *, "a version of glibc", "versions of glibc", read_glibc);
static const struct ws_type type_debug_info = {
	.name = "a kind of debug info", .kind = WS_KIND_WORD, .words = ws_debug_info_words};
static const struct ws_type type_compress = WS_VALUES(bool, "\"none\"", "words", read_compress);
static const struct ws_type type_driver =
	WS_VALUES(struct ws_version, "a range of drivers", "ranges of drivers", read_driver);
static const struct ws_type type_exclude =
	WS_VALUES(struct ws_exclude, "an exclusion", "exclusions", read_exclude);
static const struct ws_type type_include =
	WS_VALUES(struct ws_include, "an extra point", "extra points", read_include);
static const struct ws_field fallback_fields[] = {
	{WS_ONE(struct ws_fallback, package, "", ws_type_line)},
	{WS_ONE(struct ws_fallback, to, "", ws_type_line)},
};
static const struct ws_table fallback_table = {
	"a fallback", fallback_fields, WS_LEN(fallback_fields)};
static const struct ws_type type_fallback = WS_BY_TABLE(struct ws_fallback, fallback_table);
static const struct ws_type type_reasons = WS_OBJECTS(struct ws_matrix, read_fallback_on);
static const struct ws_type type_label = WS_VALUES(char *, "a label", "labels", read_label);

#define AXIS_FLAGS (WS_FIELD_LIST | WS_FIELD_UNIQUE)

static const struct ws_field fields[] = {
	{.key = "$schema", .type = &ws_type_ignored},
	{WS_MANY(struct ws_matrix, packages, package_count, "packages", type_wanted),
		.flags = AXIS_FLAGS | WS_FIELD_REQUIRED, .example = "[\"causal-conv1d==1.5.3.post1\"]"},
	{WS_MANY(struct ws_matrix, torch, torch_count, "torch", type_torch_value), .flags = AXIS_FLAGS,
		.example = "[\"2.5.1\", \"2.11.0\"]"},
	{WS_MANY(struct ws_matrix, cuda, cuda_count, "cuda", type_cuda_value), .flags = AXIS_FLAGS,
		.example = "[\"12.4\"] or \"auto\""},
	{WS_MANY(struct ws_matrix, python, python_count, "python", type_python_value),
		.flags = AXIS_FLAGS, .example = "[\"3.11\", \"3.12\"] or \"host\""},
	{WS_MANY(struct ws_matrix, arch, arch_count, "arch", type_arch_value), .flags = AXIS_FLAGS,
		.example = "[\"8.6\", \"8.0;9.0+PTX\"]"},
	{WS_MANY(struct ws_matrix, cxx11abi, cxx11abi_count, "cxx11abi", type_abi_value),
		.flags = AXIS_FLAGS, .example = "\"auto\" or [0, 1]"},
	{WS_MANY(struct ws_matrix, platforms, platform_count, "platform", ws_type_platform),
		.flags = AXIS_FLAGS, .example = "[\"x86_64\", \"aarch64\"]"},
	{WS_MANY(struct ws_matrix, excludes, exclude_count, "exclude", type_exclude),
		.flags = WS_FIELD_LIST, .example = "[{\"torch\": \"<2.6\", \"python\": \">=3.13\"}]"},
	{WS_MANY(struct ws_matrix, includes, include_count, "include", type_include),
		.flags = WS_FIELD_LIST, .example = "[{\"torch\": \"2.6.0+cu126\", \"arch\": \"9.0\"}]"},
	{WS_ONE(struct ws_matrix, policy, "policy", ws_type_policy)},
	{WS_MANY(struct ws_matrix, fallbacks, fallback_count, "fallback", type_fallback),
		.flags = WS_FIELD_LIST | WS_FIELD_MAP, .example = "{\"flash-attn\": \"sdpa\"}"},
	{.key = "fallback_on", .type = &type_reasons},
	{WS_ONE(struct ws_matrix, indexes, "indexes", ws_type_indexes)},
	{WS_ONE(struct ws_matrix, recipes, "recipes", ws_type_path)},
	{WS_ONE(struct ws_matrix, label, "label", type_label)},
	{WS_ONE(struct ws_matrix, debug_info, "debug_info", type_debug_info)},
	{WS_ONE(struct ws_matrix, compress_none, "compress", type_compress)},
	{WS_ONE(struct ws_matrix, driver, "driver", type_driver)},
	{WS_ONE(struct ws_matrix, glibc, "glibc", type_glibc)},
	{WS_ONE(struct ws_matrix, torch_window, "torch_window", ws_value_bool)},
};
static const struct ws_table table = {"a matrix", fields, WS_LEN(fields)};

/* The package is named by @a value, or by its key. */
static bool
check_wanted(
	struct ws_reader *r, const struct ws_matrix *matrix, const struct ws_json *value, bool by_key)
{
	const char *name = by_key ? value->key : value->text;
	const char **names = WS_NEW_N(r->a, const char *, matrix->package_count);
	for (size_t i = 0; i < matrix->package_count; i++) {
		names[i] = matrix->packages[i].name;
	}
	if (ws_is_among(ws_package_normal(name, r->a), names, matrix->package_count)) {
		return true;
	}
	(by_key ? ws_json_err_key : ws_json_err)(
		r->doc, value, r->err, "'%s' is not among the packages of this matrix", name);
	const char *near = ws_suggest(name, names, matrix->package_count);
	return near && ws_err_cure(r->err, "did you mean \"%s\"?", near);
}

bool
ws_matrix_parse(const struct ws_json_doc *doc, const char *folder, const char *home,
	struct ws_arena *a, struct ws_matrix *matrix, struct ws_err *err)
{
	static const struct ws_cuda_value any_cuda = {.automatic = true};
	static const struct ws_python_value any_python = {.host = true};
	static const struct ws_arch_value any_arch = {.host = true, .text = "host"};
	static const int any_abi = -1;
	static const char *const lists[] = {"exclude", "include"};
	struct ws_reader r = {.doc = doc, .folder = folder, .home = home, .a = a, .err = err};
	const struct ws_machine **host = WS_NEW(a, const struct ws_machine *);
	*host = ws_machine_host();
	/* The defaults of the axes; torch has none. */
	*matrix = (struct ws_matrix){.doc = doc,
		.path = doc->name,
		.cuda = &any_cuda,
		.cuda_count = 1,
		.python = &any_python,
		.python_count = 1,
		.arch = &any_arch,
		.arch_count = 1,
		.cxx11abi = &any_abi,
		.cxx11abi_count = 1,
		.platforms = host,
		.platform_count = 1,
		.policy_given = ws_json_find(doc->root, "policy"),
		.fallback_on_no_candidate = true};
	if (!ws_object_read(&r, doc->root, &table, matrix)) {
		return false;
	}
	for (size_t i = 0; i < WS_LEN(lists); i++) {
		for (WS_JSON_EACH(item, ws_json_find(doc->root, lists[i]))) {
			const struct ws_json *package = ws_json_find(item, "package");
			if (package && !check_wanted(&r, matrix, package, false)) {
				return false;
			}
		}
	}
	struct ws_fallback *fallback = matrix->fallbacks;
	for (WS_JSON_EACH(member, ws_json_find(doc->root, "fallback"))) {
		fallback->package = ws_package_normal(fallback->package, a);
		fallback++;
		if (!check_wanted(&r, matrix, member, true)) {
			return false;
		}
	}
	return true;
}

bool
ws_matrix_read(const char *path, const char *home, struct ws_arena *a, struct ws_matrix *matrix,
	struct ws_err *err)
{
	struct ws_document document;
	return ws_document_read(path, "matrix", a, &document, err)
		&& ws_matrix_parse(document.doc, document.folder, home, a, matrix, err);
}
