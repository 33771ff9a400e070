/**
 * finder.h - which signs stand in a text of any length
 *
 * The text is fed in pieces and never kept: 128 KiB are held, whatever the lines are like. Colours
 * and other control sequences of terminals are passed over. Each sign is found once, where it first
 * stands.
 */
#ifndef WS_EXPLAIN_FINDER_H
#define WS_EXPLAIN_FINDER_H

#include "base/text.h"
#include "explain/signs.h"

/** A sign that was found. Texts are copies in the finder's arena, control characters and all. */
struct ws_found_sign {
	const struct ws_sign *sign;
	size_t line;      /**< from 1 */
	size_t at, end;   /**< where it stands, bytes of the text without control sequences */
	const char *text; /**< the line, at most 300 bytes around what was found */
	const char *names[WS_CAPTURES]; /**< "cuda" */
	const char *values[WS_CAPTURES];
	size_t count;
};

struct ws_finder;

struct ws_finder *ws_finder_open(const struct ws_signs *signs, struct ws_arena *a);

void ws_finder_add(struct ws_finder *f, const char *bytes, size_t len);

/**
 * Ends the text. What was found, in the order of the table, without what says the same of the same
 * words as a sign before it; returns how many.
 */
size_t ws_finder_end(struct ws_finder *f, const struct ws_found_sign **found);

#endif
