/**
 * plan_table.h - a plan as people read it
 *
 * One row for every cell that is not excluded, then how many are excluded for which reason, then what
 * building takes. Fits the width it is given: reasons are cut first, then packages and archs, then
 * whole columns go.
 */
#ifndef WS_REPORT_PLAN_TABLE_H
#define WS_REPORT_PLAN_TABLE_H

#include "base/buf.h"
#include "plan/plan.h"

/** @a width: columns there are; 0: as many as it takes. */
void ws_plan_table_write(const struct ws_plan *plan, unsigned width, struct ws_buf *out);

#endif
