/**
 * rule.h - may this point exist, and if not, why not
 *
 * The rules of enum ws_rule, asked in that order; the first that excludes a cell is the reason.
 * Also takes architectures out of a cell's set that the recipe cannot be built for or that are
 * known to be bad. Policy is not asked here.
 */
#ifndef WS_PLAN_RULE_H
#define WS_PLAN_RULE_H

#include "plan/axis.h"
#include "plan/plan.h"

/** Fills rule, why, see, dropped and point.archs of @a cell; @a axes says which kits there are. */
void ws_rules_ask(const struct ws_axes *axes, struct ws_cell *cell);

/**
 * True when every host excludes @a cell, to which @a point of the matrix led: by one of the rules
 * that need no host, and not for a value that the host decides ("host", "installed", "auto").
 */
bool ws_rules_hold_everywhere(
	const struct ws_axes *axes, struct ws_cell *cell, const struct ws_point *point);

/** "7.0, 7.5: demo 1.0 has no kernels for it; 10.3: wrong results" of a cell that lost some. */
const char *ws_rule_dropped_text(const struct ws_cell *cell, struct ws_arena *a);

#endif
