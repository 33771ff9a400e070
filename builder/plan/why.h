/**
 * why.h - the whole story of one cell
 *
 * For people: where each value came from, what the facts and the lock say, which rule excluded it,
 * which architectures left, what its wheel is and whom else it serves, what is compiled for it and
 * how much of that is known. Lines of text; the first is the cell's name.
 */
#ifndef WS_PLAN_WHY_H
#define WS_PLAN_WHY_H

#include "base/text.h"
#include "plan/plan.h"

/** @a cell is one of a plan that was made from @a in. What would help it is added to @a cures. */
void ws_why_write(const struct ws_plan_input *in, const struct ws_cell *cell, struct ws_buf *out,
	struct ws_err *cures);

#endif
