/**
 * candidates.h - which prebuilt wheels might serve a product, by their names
 *
 * Wheels that folders and indexes were found to have (handed in), and those whose names follow from the
 * recipe's templates and the matrix that was published. Labels are read many-to-one: "cu12" and "cu123" serve
 * every CUDA 12 build of torch. A name that was never published is not a candidate; it is reported beside them.
 */
#ifndef WS_PLAN_CANDIDATES_H
#define WS_PLAN_CANDIDATES_H

#include "model/candidate.h"
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

/** What of @a wheels is a wheel of this recipe; whoever has many products to ask for reads them once. */
struct ws_offers ws_offers_read(const struct ws_recipe *recipe,
	const struct ws_offered_wheel *wheels, size_t count, struct ws_arena *a);

/**
 * In the order in which they are tried: wheels for the product's torch minor before others (which are
 * candidates where @a window only, the nearest first); folders, indexes, then the recipe's templates; the CUDA of
 * the product before others of its major; the more specific tags. Those that are known to
 * be bad, and those whose architectures cannot serve, are refused; the others are unopened. What fits not every
 * Python that the product's cells have is not a candidate. Texts live in @a a.
 */
struct ws_candidates ws_candidates_of(const struct ws_product *product, bool window,
	const struct ws_offers *offers, struct ws_arena *a);

#endif
