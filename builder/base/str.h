/**
 * str.h - text that another owns
 *
 * A struct ws_str is a view: a pointer and a length, not NUL-terminated. It is what parsers
 * cut text into; it lives as long as the text does. Building text: buf.h and arena.h.
 */
#ifndef WS_BASE_STR_H
#define WS_BASE_STR_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ws_str {
	const char *s; /**< not terminated; may be NULL when n is 0 */
	size_t n;      /**< bytes */
};

/** For printf: `"%.*s", WS_STR_ARGS(view)`. */
#define WS_STR_ARGS(str) (int)(str).n, (str).s

/** The whole of a C string; NULL gives an empty view. */
struct ws_str ws_str_of(const char *text);

bool ws_str_is(struct ws_str str, const char *text);
bool ws_str_eq(struct ws_str x, struct ws_str y);

/** Byte order, a prefix before what it is a prefix of: <0, 0, >0. */
int ws_str_cmp(struct ws_str x, struct ws_str y);

/** Without spaces, tabs, CR and LF at both ends. */
struct ws_str ws_str_trim(struct ws_str str);

/**
 * Cuts the part before the first @a separator off @a rest and returns it; all of it, leaving
 * rest->s NULL, when there is no separator. Loop: `while (rest.s) { part = ws_str_cut(...) }`.
 */
struct ws_str ws_str_cut(struct ws_str *rest, char separator);

/** Decimal digits only, no sign, no overflow. */
bool ws_str_to_u64(struct ws_str str, uint64_t *value);

char *ws_str_copy(struct ws_str str, struct ws_arena *a);

/* Of ASCII, whatever the locale. */
static inline bool
ws_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline char
ws_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static inline bool
ws_is_letter(char c)
{
	return ws_lower(c) >= 'a' && ws_lower(c) <= 'z';
}

/** 0 to 15; -1: it is not a hexadecimal digit. */
static inline int
ws_hex_digit(char c)
{
	c = ws_lower(c);
	return ws_is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/** Is there a control character, such as the end of a line? */
bool ws_has_control(const char *text);

/** Makes @a text lower case, in place; returns it. */
char *ws_lower_all(char *text);

bool ws_starts_with(const char *text, const char *prefix);
bool ws_ends_with(const char *text, const char *suffix);

/** strcmp that takes NULL: NULL equals only NULL. */
bool ws_same(const char *x, const char *y);

/** One of the @a count texts of @a list is @a text; either may be NULL. */
bool ws_is_among(const char *text, const char *const *list, size_t count);

/** qsort/bsearch comparison of `const char *` elements, by bytes. */
int ws_cmp_strings(const void *x, const void *y);

/** Sorts texts by bytes and keeps each once, in place; how many are left. @a list may be NULL where
 * @a count is 0. */
size_t ws_sort_once(const char **list, size_t count);

#endif
