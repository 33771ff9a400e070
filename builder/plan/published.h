/**
 * published.h - wheels that a recipe says were published, for one product
 *
 * Names made of the recipe's templates, for those values alone that were published; and the names that one
 * would guess for the product and that were not, with the reason.
 */
#ifndef WS_PLAN_PUBLISHED_H
#define WS_PLAN_PUBLISHED_H

#include "model/candidate.h"
#include "plan/plan.h"

struct ws_published_wheels {
	const struct ws_candidate *at; /**< in no order that counts */
	size_t count;
	const struct ws_unpublished *unpublished;
	size_t unpublished_count;
};

/** @a window: those for other torch minors as well. */
struct ws_published_wheels ws_published_of(
	const struct ws_product *product, bool window, struct ws_arena *a);

#endif
