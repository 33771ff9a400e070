/* values.c - checks of single values; each says what a right one looks like. */
#include "config/values.h"

#include "base/fs.h"

#include <limits.h>

#define DIGITS "0123456789"
#define HEX DIGITS "abcdef"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

const char *
ws_text_of(struct ws_reader *r, const struct ws_json *value, const char *name)
{
	if (!ws_expect(r, value, WS_JSON_STRING, name)) {
		return NULL;
	}
	if (value->text[0] == '\0') {
		ws_json_err(r->doc, value, r->err, "'%s' is empty", r->key);
		return NULL;
	}
	for (const unsigned char *c = (const unsigned char *)value->text; *c; c++) {
		if ((*c < ' ' && *c != '\n' && *c != '\t') || *c == 0x7f) {
			ws_json_err(r->doc, value, r->err, "control character in '%s'", r->key);
			return NULL;
		}
	}
	return value->text;
}

static bool
read_text(struct ws_reader *r, const struct ws_json *value, void *into)
{
	return (*(const char **)into = ws_text_of(r, value, "a string"));
}

static bool
read_line(struct ws_reader *r, const struct ws_json *value, void *into)
{
	const char *text = ws_text_of(r, value, "a string");
	if (text && strpbrk(text, "\n\t")) {
		return ws_json_err(r->doc, value, r->err, "'%s' must be one line", r->key);
	}
	return (*(const char **)into = text);
}

static bool
read_inside(struct ws_reader *r, const struct ws_json *value, void *into)
{
	const char *text = ws_text_of(r, value, "a path");
	if (text && !ws_path_is_inside(text)) {
		ws_json_err(r->doc, value, r->err, "'%s' leaves its folder", text);
		return ws_err_cure(r->err, "write a relative path without '..', like \"csrc/a.cu\"");
	}
	return (*(const char **)into = text);
}

static bool
read_folder(struct ws_reader *r, const struct ws_json *value, void *into)
{
	if (value->kind == WS_JSON_STRING && strcmp(value->text, ".") == 0) {
		return (*(const char **)into = value->text);
	}
	return read_inside(r, value, into);
}

const char *
ws_path_from(const struct ws_reader *r, const char *path)
{
	if (r->home && path[0] == '~' && path[1] == '/') {
		return ws_path_join(r->a, r->home, path + 2, NULL);
	}
	return ws_path_normal(r->a, ws_path_join(r->a, r->folder, path, NULL));
}

static bool
read_path(struct ws_reader *r, const struct ws_json *value, void *into)
{
	const char *text = ws_text_of(r, value, "a path");
	return text && (*(const char **)into = ws_path_from(r, text));
}

/* Exactly @a len lower-case hexadecimal digits. */
static bool
read_hex(struct ws_reader *r, const struct ws_json *value, size_t len, const char *name, void *into)
{
	const char *text = ws_text_of(r, value, name);
	if (text && (strlen(text) != len || strspn(text, HEX) != len)) {
		return ws_json_err(
			r->doc, value, r->err, "'%s' takes %s: %zu lower-case hex digits", r->key, name, len);
	}
	return (*(const char **)into = text);
}

static bool
read_sha256(struct ws_reader *r, const struct ws_json *value, void *into)
{
	return read_hex(r, value, 64, "a sha256", into);
}

static bool
read_commit(struct ws_reader *r, const struct ws_json *value, void *into)
{
	return read_hex(r, value, 40, "a git object id", into);
}

static bool
read_url(struct ws_reader *r, const struct ws_json *value, void *into)
{
	const char *text = ws_text_of(r, value, "a URL");
	if (!text) {
		return false;
	}
	const char *host = strstr(text, "://");
	bool known = ws_starts_with(text, "https://") || ws_starts_with(text, "http://");
	if (!known || !host || strpbrk(text, " \t\n") || strlen(host) < 4) {
		ws_json_err(r->doc, value, r->err, "'%s' takes a URL", r->key);
		return ws_err_cure(r->err, "one starts with https:// or http://");
	}
	host += 3;
	if (memchr(host, '@', strcspn(host, "/?#"))) {
		ws_json_err(r->doc, value, r->err, "credentials in the URL of '%s'", r->key);
		return ws_err_cure(r->err, "keep them in ~/.netrc, by host name");
	}
	return (*(const char **)into = text);
}

bool
ws_is_module_name(const char *name)
{
	static const char letters[] = "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	for (;; name++) {
		size_t len = strspn(name, letters);
		if (len == 0 || ws_is_digit(*name) || (name[len] && name[len] != '.')) {
			return false;
		}
		name += len;
		if (*name == '\0') {
			return true;
		}
	}
}

bool
ws_is_package_name(const char *name)
{
	size_t len = strlen(name);
	return len > 0 && strspn(name, LETTERS DIGITS "-_.") == len && strchr(LETTERS DIGITS, name[0])
		&& strchr(LETTERS DIGITS, name[len - 1]);
}

static bool
read_package(struct ws_reader *r, const struct ws_json *value, void *into)
{
	const char *text = ws_text_of(r, value, "a package name");
	if (text && !ws_is_package_name(text)) {
		return ws_json_err(r->doc, value, r->err, "'%s' is not a package name", text);
	}
	return text && (*(const char **)into = ws_package_normal(text, r->a));
}

static bool
read_size(struct ws_reader *r, const struct ws_json *value, void *into)
{
	uint64_t *number = into;
	if (!ws_expect(r, value, WS_JSON_NUMBER, "a number")) {
		return false;
	}
	if (!ws_str_to_u64(ws_str_of(value->text), number) || *number == 0) {
		return ws_json_err(
			r->doc, value, r->err, "'%s' takes a whole number from 1, not %s", r->key, value->text);
	}
	return true;
}

static bool
read_number(struct ws_reader *r, const struct ws_json *value, void *into)
{
	uint64_t number = 0;
	if (!read_size(r, value, &number)) {
		return false;
	}
	if (number > UINT_MAX) {
		return ws_json_err(r->doc, value, r->err, "'%s' is too large", r->key);
	}
	*(unsigned *)into = (unsigned)number;
	return true;
}

static bool
read_range(struct ws_reader *r, const struct ws_json *value, void *into)
{
	const struct ws_specifiers **range = into;
	const char *text = ws_text_of(r, value, "a version range");
	if (!text) {
		return false;
	}
	/* A bare "12.4" means its series, "==12.4.*": "==12.4" alone would not hold for 12.4.1. */
	const char *rest = text[strspn(text, DIGITS ".")] == '\0' ? ".*" : "";
	const char *full = ws_is_digit(text[0]) ? ws_arena_printf(r->a, "==%s%s", text, rest) : text;
	*range = ws_specifiers_parse(full, r->a);
	if (!*range) {
		ws_json_err(r->doc, value, r->err, "'%s' is not a version range", text);
		return ws_err_cure(r->err, "ranges look like \">=2.3,<2.6\", \"12.*\" or \"12.4\"");
	}
	return true;
}

static bool
read_version(struct ws_reader *r, const struct ws_json *value, void *into)
{
	const char *text = ws_text_of(r, value, "a version");
	if (text && !ws_version_parse(text, r->a, into)) {
		return ws_json_err(r->doc, value, r->err, "'%s' is not a version", text);
	}
	return text;
}

static bool
read_python(struct ws_reader *r, const struct ws_json *value, void *into)
{
	const char *text = ws_text_of(r, value, "a Python version");
	if (text && !ws_python_tag_parse(text, into)) {
		ws_json_err(r->doc, value, r->err, "'%s' is not a Python version", text);
		return ws_err_cure(r->err, "they look like \"3.11\" or \"3.13t\"");
	}
	return text;
}

static bool
read_ignored(struct ws_reader *r, const struct ws_json *value, void *into WS_UNUSED)
{
	return ws_expect(r, value, WS_JSON_STRING, "a string");
}

#define TYPE(stem, c_type, its_kind, one, many) \
	const struct ws_type ws_type_##stem = {.name = (one), \
		.plural = (many), \
		.size = sizeof(c_type), \
		.read = read_##stem, \
		.kind = (its_kind)}
#define TEXT(stem, one, many) TYPE(stem, const char *, WS_KIND_TEXT, one, many)

TEXT(text, "a string", "strings");
TEXT(line, "a string", "strings");
TEXT(inside, "a path", "paths");
TEXT(folder, "a folder", "folders");
TEXT(path, "a path", "paths");
TEXT(sha256, "a sha256", "sha256s");
TEXT(commit, "a git object id", "git object ids");
TEXT(url, "a URL", "URLs");
TEXT(package, "a package name", "package names");
TYPE(number, unsigned, WS_KIND_UNSIGNED, "a number", "numbers");
TYPE(size, uint64_t, WS_KIND_UNSIGNED, "a number", "numbers");
TYPE(range, const struct ws_specifiers *, WS_KIND_OTHER, "a version range", "version ranges");
TYPE(version, struct ws_version, WS_KIND_OTHER, "a version", "versions");
TYPE(python, struct ws_python_tag, WS_KIND_OTHER, "a Python version", "Python versions");
TYPE(ignored, char, WS_KIND_OTHER, "a string", "strings");

/* ---- conditions ---- */

static bool
read_archs(struct ws_reader *r, const struct ws_json *value, void *into)
{
	WS_VEC(struct ws_arch) all = {0};
	bool list = value->kind == WS_JSON_ARRAY;
	if (list && !value->first) {
		return ws_json_err(r->doc, value, r->err, "'%s' is an empty list", r->key);
	}
	const struct ws_json *item = list ? value->first : value;
	for (; item; item = list ? item->next : NULL) {
		const char *text = ws_text_of(r, item, "an architecture"), *why;
		struct ws_arch_set set;
		if (!text) {
			return false;
		}
		if (!ws_arch_set_parse(text, r->a, &set, &why)) {
			ws_json_err(r->doc, item, r->err, "'%s' names no architecture", text);
			return ws_err_cure(r->err, "%s", why);
		}
		for (size_t i = 0; i < set.count; i++) {
			*ws_vec_push(&all, r->a) = set.at[i];
		}
	}
	*(struct ws_arch_set *)into = ws_arch_set_of(all.at, all.len);
	return true;
}

bool
ws_abi_read(struct ws_reader *r, const struct ws_json *value, const char *allowed, int *abi)
{
	const char *text = value->kind == WS_JSON_NUMBER ? value->text : "";
	*abi = text[0] - '0';
	return strcmp(text, "0") == 0 || strcmp(text, "1") == 0
		|| ws_json_err(r->doc, value, r->err, "'%s' takes %s", r->key, allowed);
}

static bool
read_abi(struct ws_reader *r, const struct ws_json *value, void *into)
{
	return ws_abi_read(r, value, "0 or 1", into);
}

static bool
read_either(struct ws_reader *r, const struct ws_json *value, void *into)
{
	*(int *)into = value->truth;
	return ws_expect(r, value, WS_JSON_BOOL, "true or false");
}

static bool
read_platform(struct ws_reader *r, const struct ws_json *value, void *into)
{
	const char *text = ws_text_of(r, value, "a platform");
	const struct ws_machine *machine = ws_machine_named(text);
	*(const struct ws_machine **)into = machine;
	if (!text || machine) {
		return machine;
	}
	ws_json_err(r->doc, value, r->err, "no wheels are made for platform '%s'", text);
	return ws_err_cure(r->err, "take " WS_MACHINES);
}

static const struct ws_field condition_fields[] = {WS_CONDITION_FIELDS(struct ws_condition, )};
static const struct ws_table condition_table = {
	"a condition", condition_fields, WS_LEN(condition_fields)};

static bool
read_condition(struct ws_reader *r, const struct ws_json *value, void *into)
{
	*(struct ws_condition *)into = WS_CONDITION_ANY;
	if (!ws_object_read(r, value, &condition_table, into)) {
		return false;
	}
	return value->first || ws_json_err(r->doc, value, r->err, "'%s' names no axis", r->key);
}

const struct ws_type ws_type_archs =
	WS_VALUES(struct ws_arch_set, "an architecture", "architectures", read_archs);
TYPE(abi, int, WS_KIND_SIGNED, "0 or 1", "0 and 1");
const struct ws_type ws_type_platform =
	WS_VALUES(struct ws_machine *, "a platform", "platforms", read_platform);
const struct ws_type ws_type_either = WS_VALUES(int, "true or false", "booleans", read_either);
const struct ws_type ws_type_condition =
	WS_VALUES(struct ws_condition, "a condition", "conditions", read_condition);

/* ---- package indexes by role ---- */

/* In the order of role_fields. */
struct by_role {
	struct {
		const char *const *urls;
		size_t count;
	} at[3];
};

static bool
is_text(const struct ws_json *value)
{
	return value->kind == WS_JSON_STRING;
}

/* A text without a scheme is the path of a folder. */
static bool
read_place(struct ws_reader *r, const struct ws_json *value, void *into)
{
	bool is_folder = is_text(value) && !strstr(value->text, "://");
	return (is_folder ? &ws_type_path : &ws_type_url)->read(r, value, into);
}

#define PLACE(one, many, reader) \
	{ \
		.name = (one), .plural = (many), .size = sizeof(const char *), .read = (reader), \
		.alone = is_text \
	}
static const struct ws_type type_place = PLACE("a URL or a folder", "URLs or folders", read_place);
static const struct ws_type type_url = PLACE("a URL", "URLs", read_url);

#define ROLE(i, key, type) \
	{ \
		WS_MANY(struct by_role, at[i].urls, at[i].count, key, type), \
			.flags = WS_FIELD_LIST | WS_FIELD_UNIQUE \
	}
static const struct ws_field role_fields[] = {
	ROLE(0, "default", type_url), ROLE(1, "torch", type_url), ROLE(2, "prebuilt", type_place)};
static const struct ws_table role_table = {"indexes by role", role_fields, WS_LEN(role_fields)};

static bool
read_indexes(struct ws_reader *r, const struct ws_json *value, void *into)
{
	struct ws_index_roles *list = into;
	struct by_role read = {0};
	if (!ws_object_read(r, value, &role_table, &read)) {
		return false;
	}
	struct ws_index_role *roles = WS_NEW_N(r->a, struct ws_index_role, WS_LEN(role_fields));
	for (size_t i = 0; i < WS_LEN(role_fields); i++) {
		if (read.at[i].urls) {
			roles[list->count++] =
				(struct ws_index_role){role_fields[i].key, read.at[i].urls, read.at[i].count};
		}
	}
	list->at = roles;
	return true;
}

const struct ws_type ws_type_indexes = WS_OBJECTS(struct ws_index_roles, read_indexes);

const struct ws_type ws_type_policy = {.name = "a policy",
	.plural = "policies",
	.size = sizeof(enum ws_policy),
	.kind = WS_KIND_WORD,
	.words = ws_policy_words};
