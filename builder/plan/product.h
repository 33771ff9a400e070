/**
 * product.h - the wheels that cells need
 *
 * Cells that differ only in axes their binding kind does not depend on share one product: patch
 * releases of torch always, Pythons unless the binding is pybind's, ABIs from the stable ABI on.
 */
#ifndef WS_PLAN_PRODUCT_H
#define WS_PLAN_PRODUCT_H

#include "base/vec.h"
#include "plan/plan.h"

typedef WS_VEC(struct ws_product *) ws_product_list;

/**
 * Gives every cell that is not excluded its product, and products what they are called. Cells that
 * are left out of the plan later count too: what a wheel is must not depend on --only.
 */
void ws_products_make(const struct ws_plan_input *in, struct ws_cell *const *cells, size_t count,
	struct ws_arena *a, ws_product_list *products);

#endif
