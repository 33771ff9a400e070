/**
 * claim.h - whether what a wheel's label says fits a product
 *
 * Labels are read many-to-one: "cu12" and "cu123" fit every CUDA 12 build of torch; what is not said fits. Names
 * alone: whether the claim is true is the judge's business.
 */
#ifndef WS_PLAN_CLAIM_H
#define WS_PLAN_CLAIM_H

#include "model/wheel_label.h"
#include "plan/plan.h"

/**
 * How many minors the label's torch is behind (> 0) or ahead of (< 0) the product's; 0: the same, not said, or
 * the product is not bound to torch.
 */
long ws_claim_distance(const struct ws_product *product, const struct ws_wheel_label *label);

/**
 * @a other: it names another torch minor than the product's, which fits where @a window only. Modules of the
 * stable ABI fit the torch that they were built for and all later ones.
 */
bool ws_claim_fits(
	const struct ws_product *product, const struct ws_wheel_label *label, bool window, bool *other);

/**
 * False when code for the architectures that the label names surely does not run on one of the product's, which
 * is @a lacking then. A label that names none may.
 */
bool ws_claim_runs(const struct ws_product *product, const struct ws_wheel_label *label,
	const struct ws_arch **lacking);

#endif
