/**
 * signs.h - the errors that are known: how each reads, what causes it, what cures it
 *
 * Data, matrix/facts/signs.json, from the most causal to the least: of several signs in one log the
 * first is the reason for the others. One table for `explain` and for the logs of failed builds.
 * Texts of causes and cures may name captures, "{cuda}", and what explain.h adds to them; a cure
 * that names something unknown is left out.
 */
#ifndef WS_EXPLAIN_SIGNS_H
#define WS_EXPLAIN_SIGNS_H

#include "base/json.h"

/* ---- patterns: a line of an error with captures for its changing parts ----
 * "The detected CUDA version ({cuda}) mismatches" has fixed text and one capture. A
 * space stands for any run of blanks and line breaks, so a message that its program breaks into
 * lines is found. A capture is the shortest run of bytes without blanks up to the text that follows
 * it; the last one ends where a word does. Each place is tried once: time grows with the length
 * of the text alone. */

#define WS_CAPTURES 4        /**< of one pattern */
#define WS_CAPTURE_MOST 8192 /**< bytes of one; a longer run does not match */

struct ws_captured {
	struct ws_str name; /**< "cuda" */
	struct ws_str text; /**< in the text that was searched */
};

struct ws_match {
	size_t at, len; /**< place in the text */
	struct ws_captured captures[WS_CAPTURES];
	size_t count;
};

/** NULL when @a pattern can be used, else what is wrong with it, in one line. */
const char *ws_pattern_fault(const char *pattern);

/** The first match at or after @a from; a capture that opens the pattern may begin before it. */
bool ws_pattern_find(const char *pattern, struct ws_str text, size_t from, struct ws_match *match);

struct ws_sign {
	const char *name;         /**< "glibc" */
	const char *const *texts; /**< patterns, the one that captures most first */
	size_t text_count;
	const char *cause; /**< one line, no full stop */
	const char *const *cures;
	size_t cure_count;
	/** In place of `cures` for who builds by a recipe; none: `cures` serve as well. */
	const char *const *build_cures;
	size_t build_cure_count;
	const char *package; /**< that it is about, normalised; NULL: the text may tell */
	bool symbol;         /**< captures a {symbol}, whose owner tells the cause */
	const char *from;    /**< where people reported it: a thread; NULL: nowhere */
};

struct ws_signs {
	const struct ws_sign *at;
	size_t count;
};

/** Reads signs.json of @a facts, the folder. */
bool ws_signs_read(
	const char *facts, struct ws_arena *a, struct ws_signs *signs, struct ws_err *err);

/* ---- a text of any length ---- */

struct ws_capture {
	const char *name;  /**< "cuda" */
	const char *value; /**< NULL: not known */
};

/** A sign that was found. Texts are copies in the finder's arena, control characters and all. */
struct ws_found_sign {
	const struct ws_sign *sign;
	size_t line;      /**< from 1 */
	size_t at, end;   /**< where it stands, bytes of the text without control sequences */
	const char *text; /**< the line, at most 300 bytes around what was found */
	struct ws_capture *captures;
	size_t count;
};

struct ws_finder;

struct ws_finder *ws_finder_open(const struct ws_signs *signs, struct ws_arena *a);

void ws_finder_add(struct ws_finder *f, const char *bytes, size_t len);

/**
 * Ends the text. Returns the number of signs in @a found, in the order of the table, without signs
 * that overlap an earlier one.
 */
size_t ws_finder_end(struct ws_finder *f, const struct ws_found_sign **found);

#endif
