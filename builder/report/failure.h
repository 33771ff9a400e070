/**
 * failure.h - the important lines in the log of a failed command, and a known cure
 */
#ifndef WS_REPORT_FAILURE_H
#define WS_REPORT_FAILURE_H

#include "explain/signs.h"

/**
 * Appends the error lines of @a log, each indented by two columns: the first errors and the lines
 * after them, at most twelve lines. A log without an error: its last lines.
 */
void ws_failure_excerpt(struct ws_str log, struct ws_buf *out);

/** Adds the cures of the most causal of @a signs that matches @a log. */
void ws_failure_cures(
	const struct ws_signs *signs, struct ws_str log, struct ws_arena *a, struct ws_err *err);

#endif
