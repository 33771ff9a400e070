/**
 * cost.h - what building a plan's products costs
 *
 * Every distinct unit once: a .cu unit for one package, torch, ABI, CUDA and arch set serves every
 * Python; other units serve theirs. The first cell in plan order pays. That Pythons share .cu units is
 * assumed here, for costs only; when building, keys find out. So is that the store has the objects of
 * a wheel that it has.
 */
#ifndef WS_PLAN_COST_H
#define WS_PLAN_COST_H

#include "plan/plan.h"

/** Fills payer, units, kernels and cost of products, cost of the cells that pay, and the totals. */
void ws_cost_fill(const struct ws_plan_input *in, struct ws_plan *plan, struct ws_arena *a);

#endif
