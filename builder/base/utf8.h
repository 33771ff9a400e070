/**
 * utf8.h - what is UTF-8 and what is not
 *
 * RFC 3629: shortest form only, no surrogates, nothing above U+10FFFF.
 */
#ifndef WS_BASE_UTF8_H
#define WS_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/** Bytes (1 to 4) of the well-formed sequence at @a s, of which @a n may be read; 0 when none
 * is. */
size_t ws_utf8_len(const char *s, size_t n);

/**
 * Columns of a terminal that @a n bytes take: two for a wide character (UAX 11: W and F), none for
 * a combining mark, one for any other and for each byte that is not UTF-8.
 */
unsigned ws_utf8_columns(const char *s, size_t n);

/**
 * Replaces what a terminal would obey (C0, DEL, C1; line separators; marks that turn the order of
 * what follows, UAX 9) and what is not UTF-8 by '?', in place: for names and answers of strangers.
 * With @a lines newlines and tabs stay.
 */
void ws_utf8_make_plain(char *text, bool lines);

#endif
