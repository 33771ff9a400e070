/**
 * candidates.h - prebuilt wheels for the products of a plan, from a file name to a verdict
 *
 * One candidate takes this way, over plain arrays:
 * 1. index_wheels.h lists the wheels of folders and indexes and parses their names.
 * 2. rank.h keeps the wheels that fit a product, adds names from the recipe's templates, and ranks.
 *    ws_candidate_list gives each its state: from this run, from the lock, or from the store's
 *    verdict on the same bytes in the same places.
 * 3. ws_candidates_try fetches (wheel_files.h) and judges (judge/order.h) one candidate of each
 *    product per round, until one loads in every torch and Python of the product's cells. The lock
 *    pins it by name and bytes.
 *
 * A verdict counts for the action that would judge the wheel now, so another libc, driver, Python
 * or torch needs a new one. A judge that was killed or timed out leaves no verdict.
 */
#ifndef WS_PREBUILT_CANDIDATES_H
#define WS_PREBUILT_CANDIDATES_H

#include "judge/order.h"
#include "make/resolve.h"
#include "prebuilt/index_wheels.h"

/** The known wheels of a package. */
struct ws_package_wheels {
	struct ws_wheel_places places;
	struct ws_index_wheels wheels; /**< with the wheels that the lock pins */
	bool read;                     /**< its places, in this run */
	bool renewed;                  /**< `lock --update`: remembered files do not count */
};

/** The candidates of one run. */
struct ws_candidate_memory {
	const struct ws_context *ctx;
	struct ws_pins *pins;
	struct ws_arena *a;
	const struct ws_matrix *matrix;
	struct ws_cache verdicts; /**< the store's */
	struct ws_map packages;   /**< struct ws_package_wheels by name and version */
	struct ws_map ends;       /**< of this run: struct ws_candidate by product and URL */
	struct ws_map warned;     /**< servers with a warning */
	ws_name_list libraries;   /**< of this host; empty: not listed yet */
};

/** All arguments are borrowed; ctx->indexes has the places. */
struct ws_candidate_memory *ws_candidate_memory_open(
	const struct ws_context *ctx, struct ws_pins *pins, const struct ws_matrix *matrix);

/**
 * The candidates of @a product with their states. Sends no request. Order: wheels that the lock
 * pins, then by rank. A candidate that did not arrive stays unopened, with the reason, where the
 * lock pins it or no build is possible. @a for_planning: by rank alone, and when the lock pins a
 * wheel that loads, the others are refused.
 */
struct ws_candidates ws_candidate_list(
	struct ws_candidate_memory *m, const struct ws_product *product, bool for_planning);

/** The first of @a list that is known to load; NULL: none. */
const struct ws_candidate *ws_candidate_that_loads(const struct ws_candidates *list);

/**
 * Tries the candidates of each product in their order, until one loads or all were tried. A server
 * that does not answer in 5 s gets no second request. False for a wheel that differs from its pin,
 * for an error of this host, and when the run is to stop.
 */
bool ws_candidates_try(struct ws_candidate_memory *memory, const struct ws_product *const *products,
	size_t count, struct ws_err *err);

#endif
