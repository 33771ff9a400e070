/* plan.c - the steps of planning, in order. */
#include "plan/plan.h"

#include "plan/select.h"
#include "plan/steps.h"

/* Tells products which cells of this plan need them, and drops those that none needs. */
static void
attach(struct ws_cell *const *cells, size_t count, ws_product_list *products, struct ws_arena *a)
{
	size_t kept = 0;
	for (size_t i = 0; i < products->len; i++) {
		products->at[i]->cell_count = 0;
	}
	for (size_t i = 0; i < count; i++) {
		if (cells[i]->product) {
			cells[i]->product->cell_count++;
		}
	}
	for (size_t i = 0; i < products->len; i++) {
		struct ws_product *product = products->at[i];
		if (product->cell_count > 0) {
			product->cells = WS_NEW_N(a, struct ws_cell *, product->cell_count);
			product->cell_count = 0;
			product->number = (unsigned)kept;
			products->at[kept++] = product;
		}
	}
	products->len = kept;
	for (size_t i = 0; i < count; i++) {
		struct ws_product *product = cells[i]->product;
		if (product) {
			product->cells[product->cell_count++] = cells[i];
		}
	}
}

bool
ws_plan_make(
	const struct ws_plan_input *input, struct ws_arena *a, struct ws_plan *plan, struct ws_err *err)
{
	struct ws_axes axes;
	ws_cell_list cells = {0};
	ws_product_list products = {0};
	struct ws_groups groups = {0};
	*plan = (struct ws_plan){0};
	ws_axes_open(&axes, input, a);
	if (!ws_expand(&axes, &cells, &groups, err)) {
		return false;
	}
	ws_products_make(input, cells.at, cells.len, a, &products);
	if (!ws_select(input, &groups, &cells, a, err)) {
		return false;
	}
	attach(cells.at, cells.len, &products, a);
	if (ws_decide(input, cells.at, cells.len, products.at, products.len, a)) {
		attach(cells.at, cells.len, &products, a);
	}
	*plan = (struct ws_plan){
		.cells = cells.at,
		.cell_count = cells.len,
		.products = products.at,
		.product_count = products.len,
		.warnings = axes.warnings.at,
		.warning_count = axes.warnings.len,
	};
	ws_cost_fill(input, plan, a);
	ws_decide_reasons(cells.at, cells.len, a);
	return true;
}
