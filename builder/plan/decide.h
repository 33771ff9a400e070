/**
 * decide.h - what happens to each cell that no rule excludes
 *
 * A wheel in the store serves before everything; then the matrix's policy chooses between candidates
 * and building. A candidate serves all cells of a product or none; where none loads and nothing may or can be
 * built, there is the fallback.
 */
#ifndef WS_PLAN_DECIDE_H
#define WS_PLAN_DECIDE_H

#include "plan/plan.h"

/**
 * Asks the look-ups and fills decision, why, rule and candidates. True when cells that can neither be built
 * nor be served otherwise lost their product.
 */
bool ws_decide(const struct ws_plan_input *in, struct ws_cell *const *cells, size_t count,
	struct ws_product *const *products, size_t product_count, struct ws_arena *a);

/** Gives cells that are to be built their reason, once it is known who compiles what first. */
void ws_decide_reasons(struct ws_cell *const *cells, size_t count, struct ws_arena *a);

#endif
