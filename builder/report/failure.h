/**
 * failure.h - what a failed command's log says
 *
 * Finds the lines that matter in thousands, and the cure where one is known.
 */
#ifndef WS_REPORT_FAILURE_H
#define WS_REPORT_FAILURE_H

#include "base/err.h"
#include "base/text.h"
#include "explain/signs.h"

/**
 * Appends the lines of @a log that say what went wrong, each indented by two columns: the first
 * errors with what follows them, at most twelve lines; the last lines where nothing looks like an
 * error.
 */
void ws_failure_excerpt(struct ws_str log, struct ws_buf *out);

/** Adds the cures of the most causal of @a signs that stands in @a log. */
void ws_failure_cures(
	const struct ws_signs *signs, struct ws_str log, struct ws_arena *a, struct ws_err *err);

#endif
