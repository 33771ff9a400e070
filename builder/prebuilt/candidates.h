/**
 * candidates.h - prebuilt wheels, from their names to a verdict
 *
 * Plan lists the candidates of a product by their names (plan/candidate_order.h). Here they are
 * asked for in that order, brought into the store and judged by an action each (judge/order.h),
 * until one loads in every torch and every Python that the product's cells have. Verdicts are the
 * store's, by the keys of those actions (candidate_memory.h); where one is known to load, no server
 * is asked again. What the lock pins comes before what it does not, and the lock pins what is used,
 * by name and bytes.
 */
#ifndef WS_PREBUILT_CANDIDATES_H
#define WS_PREBUILT_CANDIDATES_H

#include "make/context.h"
#include "make/resolve.h"
#include "plan/candidate_order.h"

struct ws_candidate_memory;

/**
 * Tries the candidates of each product, one after the other, until one loads or all were tried:
 * afterwards ws_candidate_see tells what came of each. A server that gives no answer in 5 s is not
 * asked again. False for a wheel that is not the one that the lock pins, for what this host does to
 * us, and when the run is to stop.
 */
bool ws_candidates_try(struct ws_candidate_memory *memory, struct ws_resolver *resolver,
	const struct ws_product *const *products, size_t count, struct ws_err *err);

#endif
