/**
 * plan_footer.h - what stands below a plan's table: exclusions by reason, and the total
 */
#ifndef WS_REPORT_PLAN_FOOTER_H
#define WS_REPORT_PLAN_FOOTER_H

#include "base/buf.h"
#include "plan/plan.h"

/** Reasons stand on one line where they fit into @a width (0: always), else each on its own. */
void ws_plan_footer_write(const struct ws_plan *plan, unsigned width, struct ws_buf *out);

#endif
