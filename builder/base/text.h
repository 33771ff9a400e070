/**
 * text.h - text: views (ws_str), buffers that grow (ws_buf), UTF-8, fields, spelling suggestions
 *
 * A struct ws_str is a view: a pointer and a length, not NUL-terminated. Parsers cut text into
 * views; a view lives as long as the text. A struct ws_buf owns its bytes: the one place where
 * memory is not an arena's.
 */
#ifndef WS_BASE_TEXT_H
#define WS_BASE_TEXT_H

#include "base/arena.h"

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

/** Byte order; a prefix sorts first. Below, equal to or above 0. */
int ws_str_cmp(struct ws_str x, struct ws_str y);

/** The text without spaces, tabs, CR and LF at both ends. */
struct ws_str ws_str_trim(struct ws_str str);

/**
 * Cuts the part before the first @a separator off @a rest. Without a separator returns all of it
 * and sets rest->s to NULL. Loop: `while (rest.s) { part = ws_str_cut(...) }`.
 */
struct ws_str ws_str_cut(struct ws_str *rest, char separator);

/** Decimal digits only, no sign, no overflow. */
bool ws_str_to_u64(struct ws_str str, uint64_t *value);

char *ws_str_copy(struct ws_str str, struct ws_arena *a);

/* ASCII, independent of the locale. */
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

/** 0 to 15; -1 for any other character. */
static inline int
ws_hex_digit(char c)
{
	c = ws_lower(c);
	return ws_is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/** True when @a text has a control character, such as a line end. */
bool ws_has_control(const char *text);

/** Makes @a text lower case, in place; returns it. */
char *ws_lower_all(char *text);

bool ws_starts_with(const char *text, const char *prefix);
bool ws_ends_with(const char *text, const char *suffix);

/** strcmp that takes NULL: NULL equals only NULL. */
bool ws_same(const char *x, const char *y);

/** True when @a text is in @a list; both may have NULLs. */
bool ws_is_among(const char *text, const char *const *list, size_t count);

/** The place of @a text in @a words, whose last is NULL; -1: it is not one of them, or NULL. */
int ws_word_index(const char *const *words, const char *text);

/** The texts with @a separator between them, in @a a. */
char *ws_join(const char *const *texts, size_t count, const char *separator, struct ws_arena *a);

/** qsort/bsearch comparison of `const char *` elements, by bytes. */
int ws_cmp_strings(const void *x, const void *y);

/** Sorts texts by bytes and drops duplicates, in place; returns the new count. @a list may be
 * NULL where @a count is 0. */
size_t ws_sort_once(const char **list, size_t count);

/* ---- buffers: file contents, texts under construction, response bodies ---- */

struct ws_buf {
	char *data; /**< NULL until the first add */
	size_t len; /**< bytes, without the terminator */
	size_t cap;
};

void ws_buf_add(struct ws_buf *b, const void *bytes, size_t len);
void ws_buf_puts(struct ws_buf *b, const char *text);
void ws_buf_putc(struct ws_buf *b, char c);
void ws_buf_printf(struct ws_buf *b, const char *format, ...) WS_PRINTF(2, 3);

/** Adds @a word as a POSIX shell reads it, in quotes where needed: for lines that people paste. */
void ws_buf_put_quoted(struct ws_buf *b, const char *word);

/** Makes room for @a more bytes and returns their address. The caller adds the written bytes to
 * len. */
char *ws_buf_reserve(struct ws_buf *b, size_t more);

/** Cuts the contents to their first @a len bytes. */
void ws_buf_cut(struct ws_buf *b, size_t len);

/** Empty again; keeps its memory. */
void ws_buf_clear(struct ws_buf *b);

/** The contents as a C string; "" when nothing was added. Borrowed. */
const char *ws_buf_text(const struct ws_buf *b);

/** The contents as a view. Borrowed. */
struct ws_str ws_buf_str(const struct ws_buf *b);

/** A NUL-terminated copy in @a a. */
char *ws_buf_copy(const struct ws_buf *b, struct ws_arena *a);

void ws_buf_release(struct ws_buf *b);

#define WS_AUTO_BUF __attribute__((cleanup(ws_buf_release)))

/* ---- UTF-8 ---- */

/** Bytes (1 to 4) of the well-formed sequence (RFC 3629) at @a s, which has @a n bytes; 0 for a
 * malformed one. */
size_t ws_utf8_len(const char *s, size_t n);

/**
 * Columns of a terminal that @a n bytes take: two for a wide character (UAX 11: W and F), none for
 * a combining mark, one for any other and for each byte that is not UTF-8.
 */
unsigned ws_utf8_columns(const char *s, size_t n);

/**
 * Replaces by '?', in place: control characters (C0, DEL, C1), line separators, marks that change
 * the text direction (UAX 9), and bytes that are not UTF-8. For names and answers of strangers.
 * With @a lines newlines and tabs stay.
 */
void ws_utf8_make_plain(char *text, bool lines);

/* ---- fields ---- */

/** Appends "KIND VALUE" and a NUL; nothing for a NULL value. Hosts of a farm exchange such texts:
 * values are words of command lines, a kind has no blank. */
void ws_fields_add(struct ws_buf *text, const char *kind, const char *value);

/** Appends a field with the value "FIRST SECOND"; @a first has no blank. */
void ws_fields_add_pair(
	struct ws_buf *text, const char *kind, const char *first, const char *second);

void ws_fields_add_all(
	struct ws_buf *text, const char *kind, const char *const *values, size_t count);

void ws_fields_add_number(struct ws_buf *text, const char *kind, uint64_t number);

/** Takes the next field off @a text, in @a a. False at the end and at a malformed field; then @a
 * text is not empty. */
bool ws_fields_take(struct ws_str *text, struct ws_arena *a, const char **kind, const char **value);

/** Splits the value of ws_fields_add_pair, in @a a; false without a blank. */
bool ws_fields_cut(const char *pair, struct ws_arena *a, const char **first, const char **second);

/* ---- spelling suggestions ---- */

/**
 * The candidate nearest to @a word by edit distance (insert, delete, replace, swap of
 * neighbours), ASCII case ignored; NULL when the distance of each is over a third of the word's
 * length. Borrowed from @a candidates.
 */
const char *ws_suggest(const char *word, const char *const *candidates, size_t count);

#endif
