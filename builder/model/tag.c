/* tag.c - a wheel's file name taken apart, and the names of packages and interpreters. Which wheel
 * fits best is fit.c's. */
#include "model/tag.h"

#include "base/str.h"
#include "base/vec.h"

#include <string.h>

/* NAME_MAX of Linux: a longer name cannot be a file's. */
#define LONGEST_NAME 255

static bool
refuse(const char **why, const char *line)
{
	*why = line;
	return false;
}

static char *
squash(const char *name, char separator, struct ws_arena *a)
{
	char *normal = ws_arena_alloc(a, strlen(name) + 1);
	size_t len = 0;
	for (const char *c = name; *c; c++) {
		if (*c != '-' && *c != '_' && *c != '.') {
			normal[len++] = ws_lower(*c);
		} else if (len == 0 || normal[len - 1] != separator) {
			normal[len++] = separator;
		}
	}
	return normal;
}

char *
ws_package_normal(const char *name, struct ws_arena *a)
{
	return squash(name, '-', a);
}

char *
ws_package_file_part(const char *name, struct ws_arena *a)
{
	return squash(name, '_', a);
}

/* Letters, digits, '_' and '.', but no two underscores together: PEP 427's escaped name. */
static bool
read_distribution(struct ws_str part, struct ws_arena *a, struct ws_wheel_name *name)
{
	for (size_t i = 0; i < part.n; i++) {
		char c = part.s[i];
		if (!ws_is_digit(c) && !ws_is_letter(c) && c != '_' && c != '.') {
			return false;
		}
		if (c == '_' && i > 0 && part.s[i - 1] == '_') {
			return false;
		}
	}
	name->distribution = ws_package_normal(ws_str_copy(part, a), a);
	return part.n > 0;
}

/* The members of a compressed set: "py2.py3". NULL when one is empty. */
static const char *const *
read_set(struct ws_str part, struct ws_arena *a, size_t *count)
{
	WS_VEC(const char *) members = {0};
	while (part.s) {
		struct ws_str member = ws_str_cut(&part, '.');
		if (member.n == 0) {
			return NULL;
		}
		*ws_vec_push(&members, a) = ws_lower_all(ws_str_copy(member, a));
	}
	*count = members.len;
	return members.at;
}

static bool
are_identifiers(const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (ws_is_digit(words[i][0])) {
			return false;
		}
		for (const char *c = words[i]; *c; c++) {
			if (!ws_is_digit(*c) && !ws_is_letter(*c) && *c != '_') {
				return false;
			}
		}
	}
	return true;
}

static bool
is_plain(struct ws_str text)
{
	for (size_t i = 0; i < text.n; i++) {
		if (text.s[i] < ' ' || text.s[i] > '~' || text.s[i] == '/' || text.s[i] == '\\') {
			return false;
		}
	}
	return text.n <= LONGEST_NAME;
}

static bool
read_tags(
	const struct ws_str parts[3], struct ws_arena *a, struct ws_wheel_name *name, const char **why)
{
	name->pythons = read_set(parts[0], a, &name->python_count);
	name->abis = read_set(parts[1], a, &name->abi_count);
	name->platforms = read_set(parts[2], a, &name->platform_count);
	if (!name->pythons || !name->abis || !name->platforms) {
		return refuse(why, "it has an empty tag");
	}
	if (!are_identifiers(name->pythons, name->python_count)) {
		return refuse(why, "its python tag is not an identifier");
	}
	return true;
}

bool
ws_wheel_name_parse(
	const char *filename, struct ws_arena *a, struct ws_wheel_name *name, const char **why)
{
	struct ws_str rest = ws_str_of(filename);
	*name = (struct ws_wheel_name){0};
	if (!is_plain(rest)) {
		return refuse(why, "it is too long, or has characters that no wheel's name should have");
	}
	if (!ws_ends_with(filename, ".whl")) {
		return refuse(why, "it does not end in .whl");
	}
	rest.n -= strlen(".whl");
	struct ws_str parts[6];
	size_t count = 0;
	while (rest.s && count < WS_LEN(parts)) {
		parts[count++] = ws_str_cut(&rest, '-');
	}
	if (rest.s || count < 5) {
		return refuse(why, "it has not five or six parts between dashes");
	}
	if (!read_distribution(parts[0], a, name)) {
		return refuse(why, "its first part is not a package's name");
	}
	if (!ws_version_parse(ws_str_copy(parts[1], a), a, &name->version)) {
		return refuse(why, "its second part is not a version");
	}
	if (count == 6) {
		if (parts[2].n == 0 || !ws_is_digit(parts[2].s[0])) {
			return refuse(why, "its build tag does not start with a digit");
		}
		name->build = ws_str_copy(parts[2], a);
	}
	return read_tags(parts + count - 3, a, name, why);
}

/* Up to three digits without a leading zero; @a at moves behind them. */
static bool
read_small(const char **at, unsigned *number)
{
	const char *start = *at;
	*number = 0;
	while (ws_is_digit(**at) && *at - start < 3) {
		*number = *number * 10 + (unsigned)(**at - '0');
		++*at;
	}
	return *at > start && !(*start == '0' && *at - start > 1) && !ws_is_digit(**at);
}

bool
ws_python_tag_parse(const char *text, struct ws_python_tag *tag)
{
	bool joined = ws_starts_with(text, "cp"); /* "cp311" */
	const char *at = text + (joined ? 2 : 0);
	struct ws_python_tag read = {.major = 3};
	unsigned patch;
	if (*at++ != '3' || (!joined && *at++ != '.') || !read_small(&at, &read.minor)) {
		return false;
	}
	if (*at == 't') {
		read.free_threaded = true;
		at++;
	} else if (!joined && *at == '.') {
		at++;
		if (!read_small(&at, &patch)) {
			return false;
		}
	}
	if (*at || (read.free_threaded && read.minor < 13)) {
		return false;
	}
	*tag = read;
	return true;
}

const char *
ws_python_tag_text(const struct ws_python_tag *tag, bool abi, struct ws_arena *a)
{
	const char *threads = abi && tag->free_threaded ? "t" : "";
	return ws_arena_printf(a, "cp%u%u%s", tag->major, tag->minor, threads);
}

const char *
ws_python_version_text(const struct ws_python_tag *tag, struct ws_arena *a)
{
	return ws_arena_printf(a, "%u.%u%s", tag->major, tag->minor, tag->free_threaded ? "t" : "");
}
