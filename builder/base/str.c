/* str.c - comparing and cutting views. No allocation but for ws_str_copy. */
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

struct ws_str
ws_str_of(const char *text)
{
	return (struct ws_str){text, text ? strlen(text) : 0};
}

bool
ws_str_is(struct ws_str str, const char *text)
{
	return ws_str_eq(str, ws_str_of(text));
}

bool
ws_str_eq(struct ws_str x, struct ws_str y)
{
	return x.n == y.n && (x.n == 0 || memcmp(x.s, y.s, x.n) == 0);
}

int
ws_str_cmp(struct ws_str x, struct ws_str y)
{
	size_t shared = x.n < y.n ? x.n : y.n;
	int order = shared ? memcmp(x.s, y.s, shared) : 0;
	return order ? order : (x.n > y.n) - (x.n < y.n);
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct ws_str
ws_str_trim(struct ws_str str)
{
	while (str.n > 0 && is_blank(str.s[0])) {
		str.s++;
		str.n--;
	}
	while (str.n > 0 && is_blank(str.s[str.n - 1])) {
		str.n--;
	}
	return str;
}

struct ws_str
ws_str_cut(struct ws_str *rest, char separator)
{
	const char *end = rest->n ? memchr(rest->s, separator, rest->n) : NULL;
	struct ws_str part = *rest;
	if (!end) {
		*rest = (struct ws_str){NULL, 0};
		return part;
	}
	part.n = (size_t)(end - rest->s);
	rest->s = end + 1;
	rest->n -= part.n + 1;
	return part;
}

bool
ws_str_to_u64(struct ws_str str, uint64_t *value)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < str.n; i++) {
		unsigned digit = (unsigned)(unsigned char)str.s[i] - '0';
		if (digit > 9 || __builtin_mul_overflow(sum, (uint64_t)10, &sum)
			|| __builtin_add_overflow(sum, (uint64_t)digit, &sum)) {
			return false;
		}
	}
	*value = sum;
	return str.n > 0;
}

char *
ws_str_copy(struct ws_str str, struct ws_arena *a)
{
	return ws_arena_copy(a, str.s, str.n);
}

char *
ws_lower_all(char *text)
{
	for (char *c = text; *c; c++) {
		*c = ws_lower(*c);
	}
	return text;
}

bool
ws_has_control(const char *text)
{
	for (const char *c = text; *c; c++) {
		if ((unsigned char)*c < ' ' || *c == 0x7f) {
			return true;
		}
	}
	return false;
}

bool
ws_starts_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool
ws_ends_with(const char *text, const char *suffix)
{
	size_t len = strlen(text);
	size_t tail = strlen(suffix);
	return len >= tail && memcmp(text + len - tail, suffix, tail) == 0;
}

bool
ws_same(const char *x, const char *y)
{
	return x == y || (x && y && strcmp(x, y) == 0);
}

bool
ws_is_among(const char *text, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (ws_same(text, list[i])) {
			return true;
		}
	}
	return false;
}

int
ws_cmp_strings(const void *x, const void *y)
{
	const char *const *left = x;
	const char *const *right = y;
	return strcmp(*left, *right);
}

size_t
ws_sort_once(const char **list, size_t count)
{
	size_t kept = 0;
	if (count > 1) {
		qsort(list, count, sizeof(*list), ws_cmp_strings);
	}
	for (size_t i = 0; i < count; i++) {
		if (kept == 0 || strcmp(list[i], list[kept - 1]) != 0) {
			list[kept++] = list[i];
		}
	}
	return kept;
}
