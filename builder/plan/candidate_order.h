/**
 * candidate_order.h - which prebuilt wheels might serve a product, by their names
 *
 * Wheels that folders and indexes were found to have (handed in), and those whose names follow from
 * the recipe's templates and the matrix that was published. Labels are read many-to-one: "cu12" and
 * "cu123" serve every CUDA 12 build of torch. A name that was never published is not a candidate;
 * it is reported beside them.
 */
#ifndef WS_PLAN_CANDIDATE_ORDER_H
#define WS_PLAN_CANDIDATE_ORDER_H

#include "model/candidate.h"
#include "model/wheel_name.h"
#include "plan/plan.h"

/** One wheel of a package, its name taken apart. */
struct ws_offer {
	const struct ws_offered_wheel *wheel;
	struct ws_wheel_name name;
	struct ws_wheel_label label;
};

/** Those of one recipe: of its package and version. */
struct ws_offers {
	const struct ws_offer *at;
	size_t count;
};

/** What of @a wheels is a wheel of this recipe; whoever has many products to ask for reads them
 * once. */
struct ws_offers ws_offers_read(const struct ws_recipe *recipe,
	const struct ws_offered_wheel *wheels, size_t count, struct ws_arena *a);

/**
 * In the order in which they are tried: wheels for the product's torch minor before others (which
 * are candidates where @a window only, the nearest first); folders, indexes, then the recipe's
 * templates; the CUDA of the product before others of its major; the more specific tags. Those that
 * are known to be bad, and those whose architectures cannot serve, are refused; the others are
 * unopened. What fits not every Python that the product's cells have is not a candidate. Texts live
 * in @a a.
 */
struct ws_candidates ws_candidates_of(const struct ws_product *product, bool window,
	const struct ws_offers *offers, struct ws_arena *a);

/* ---- whether what a wheel's label says fits a product ----
 * Labels are read many-to-one: "cu12" and "cu123" fit every CUDA 12 build of torch; what is not
 * said fits. Names alone: whether the claim is true is the judge's business. */

/**
 * How many minors the label's torch is behind (> 0) or ahead of (< 0) the product's; 0: the same,
 * not said, or the product is not bound to torch.
 */
long ws_claim_distance(const struct ws_product *product, const struct ws_wheel_label *label);

/**
 * @a other: it names another torch minor than the product's, which fits where @a window only.
 * Modules of the stable ABI fit the torch that they were built for and all later ones.
 */
bool ws_claim_fits(
	const struct ws_product *product, const struct ws_wheel_label *label, bool window, bool *other);

/**
 * False when code for the architectures that the label names surely does not run on one of the
 * product's, which is @a lacking then. A label that names none may.
 */
bool ws_claim_runs(const struct ws_product *product, const struct ws_wheel_label *label,
	const struct ws_arch **lacking);

/* ---- wheels that a recipe says were published, for one product ----
 * Names made of the recipe's templates, for those values alone that were published; and the names
 * that one would guess for the product and that were not, with the reason. */

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
