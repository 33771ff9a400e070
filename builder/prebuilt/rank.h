/**
 * rank.h - which prebuilt wheels may serve a product, by their names, and in which order
 *
 * Pure. Compares parsed labels and tags with the product; the judge decides whether a label is
 * true. Wheels that the lock pins come first (candidates.h). "cu12" and "cu123" fit every CUDA 12
 * build of torch. A recipe's templates give further names, and names that one would expect and that
 * were never published.
 */
#ifndef WS_PREBUILT_RANK_H
#define WS_PREBUILT_RANK_H

#include "plan/plan.h"

/** Wheels of one package and version, in the order of their places. */
struct ws_index_wheels {
	const struct ws_candidate *at; /**< unopened; they fit no product yet */
	size_t count;
	bool complete; /**< each index was read in some run; else there may be more wheels */
};

/**
 * The wheels that fit @a product and every Python of its cells. Order: wheels for the product's
 * torch minor before others (only with @a window, the nearest first); folders, indexes, templates;
 * the product's CUDA before others of its major; the more specific tags. Wheels that are known to
 * be bad, or have code for other architectures, are refused; the others are unopened.
 */
struct ws_candidates ws_candidates_rank(const struct ws_product *product, bool window,
	const struct ws_index_wheels *wheels, struct ws_arena *a);

#endif
