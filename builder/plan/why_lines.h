/**
 * why_lines.h - what the two halves of a cell's story share
 */
#ifndef WS_PLAN_WHY_LINES_H
#define WS_PLAN_WHY_LINES_H

#include "base/buf.h"
#include "plan/plan.h"

/** Adds "  title     text"; an empty title goes on below the one before. */
void ws_why_line(struct ws_buf *out, const char *title, const char *format, ...) WS_PRINTF(3, 4);

/** The product of @a cell: whom it serves, its pins, its units and their cost. */
void ws_why_product(const struct ws_plan_input *in, const struct ws_cell *cell, struct ws_buf *out);

#endif
