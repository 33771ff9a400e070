/**
 * pattern.h - a line of an error with its changing parts left open
 *
 * "The detected CUDA version ({cuda}) mismatches": text that must stand there, and captures. A space
 * stands for any run of blanks and line breaks, so a message that its program breaks into lines is found.
 * A capture is the shortest run of bytes without blanks up to the text that follows it; the last one ends
 * where a word does. Nothing is ever tried twice from the same place: time grows with the text alone.
 */
#ifndef WS_EXPLAIN_PATTERN_H
#define WS_EXPLAIN_PATTERN_H

#include "base/str.h"

#define WS_CAPTURES 4        /**< of one pattern */
#define WS_CAPTURE_MOST 8192 /**< bytes of one; a longer run does not match */

struct ws_captured {
	struct ws_str name; /**< "cuda" */
	struct ws_str text; /**< in the text that was searched */
};

struct ws_match {
	size_t at, len; /**< where it stands in the text */
	struct ws_captured captures[WS_CAPTURES];
	size_t count;
};

/** NULL when @a pattern can be used, else what is wrong with it, in one line. */
const char *ws_pattern_fault(const char *pattern);

/** The first match at or after @a from; a capture that opens the pattern may begin before it. */
bool ws_pattern_find(const char *pattern, struct ws_str text, size_t from, struct ws_match *match);

#endif
