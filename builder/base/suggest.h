/**
 * suggest.h - "did you mean ...?"
 */
#ifndef WS_BASE_SUGGEST_H
#define WS_BASE_SUGGEST_H

#include <stddef.h>

/**
 * The candidate nearest to @a word by edit distance (insert, delete, replace, swap of
 * neighbours), ASCII case ignored; NULL when none is within a third of the word's length.
 * Borrowed from @a candidates. The first of equals wins.
 */
const char *ws_suggest(const char *word, const char *const *candidates, size_t count);

#endif
