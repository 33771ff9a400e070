/* values.c - checks of single values; each says what a right one looks like. */
#include "config/values.h"

#include "base/fs.h"
#include "model/version.h"
#include "model/wheel_name.h"

#include <limits.h>
#include <string.h>

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
read_truth(struct ws_reader *r, const struct ws_json *value, void *into)
{
	*(bool *)into = value->truth;
	return ws_expect(r, value, WS_JSON_BOOL, "true or false");
}

/* A bare "12.4" means its series, "==12.4.*": "==12.4" alone would not hold for 12.4.1. */
static const char *
range_text(const char *text, struct ws_arena *a)
{
	if (!strchr(DIGITS, text[0])) {
		return text;
	}
	bool plain = text[strspn(text, DIGITS ".")] == '\0';
	return ws_arena_printf(a, plain ? "==%s.*" : "==%s", text);
}

static bool
read_range(struct ws_reader *r, const struct ws_json *value, void *into)
{
	const struct ws_specifiers **range = into;
	const char *text = ws_text_of(r, value, "a version range");
	if (!text) {
		return false;
	}
	*range = ws_specifiers_parse(range_text(text, r->a), r->a);
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
TYPE(truth, bool, WS_KIND_BOOL, "true or false", "booleans");
TYPE(range, const struct ws_specifiers *, WS_KIND_OTHER, "a version range", "version ranges");
TYPE(version, struct ws_version, WS_KIND_OTHER, "a version", "versions");
TYPE(python, struct ws_python_tag, WS_KIND_OTHER, "a Python version", "Python versions");
TYPE(ignored, char, WS_KIND_OTHER, "a string", "strings");
