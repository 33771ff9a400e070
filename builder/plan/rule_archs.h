/**
 * rule_archs.h - the rules about architectures
 *
 * ws_rule_ask_* are for rule.c's table: each returns why the cell is excluded, or NULL.
 */
#ifndef WS_PLAN_RULE_ARCHS_H
#define WS_PLAN_RULE_ARCHS_H

#include "plan/axis.h"
#include "plan/plan.h"

/** False for packages of Python files alone, which no toolkit and no architecture concerns. */
bool ws_rule_is_compiled(const struct ws_cell *cell);

/** The toolkit must have every target of the set, PTX aside. */
const char *ws_rule_ask_target(const struct ws_axes *axes, struct ws_cell *cell);

/** Takes out what the recipe cannot be built for and what is known to be bad; excludes when all is. */
const char *ws_rule_ask_archs(const struct ws_axes *axes, struct ws_cell *cell);

/** "7.0, 7.5: demo 1.0 has no kernels for it; 10.3: wrong results" of a cell that lost some. */
const char *ws_rule_dropped_text(const struct ws_cell *cell, struct ws_arena *a);

#endif
