/**
 * candidate_memory.h - what is known of prebuilt wheels: the one place of a candidate's state
 *
 * A candidate is a name and bytes. What came of those that were tried in this run is kept for the
 * run; of the others the store is asked for the verdict of the very action that would judge them
 * now (judge/order.h), so that another torch, Python, driver or libc asks anew, and what was no
 * verdict (killed, timed out, no answer) is tried again by the next run. Also behind plan's
 * look-ups. Asks no server and judges nothing: candidates.h.
 */
#ifndef WS_PREBUILT_CANDIDATE_MEMORY_H
#define WS_PREBUILT_CANDIDATE_MEMORY_H

#include "base/arena.h"
#include "engine/action_cache.h"
#include "judge/order.h"
#include "make/context.h"
#include "make/resolve.h"
#include "plan/candidate_order.h"
#include "prebuilt/offers.h"

struct ws_matrix;

/** A package and the wheels that places have of it. */
struct ws_package_offers {
	struct ws_offer_places places;
	struct ws_offered offered;
	struct ws_offers offers; /**< the same, read */
	bool asked;              /**< in this run */
};

struct ws_candidate_memory {
	const struct ws_context *ctx;
	struct ws_pins *pins;
	struct ws_arena *a;
	const struct ws_matrix *matrix;
	struct ws_resolver *resolver; /**< that knows what is here already, and brings nothing */
	struct ws_cache verdicts;     /**< the store's */
	struct ws_map packages;       /**< by name and version */
	struct ws_map ends;           /**< of this run: struct ws_candidate by product and URL */
	struct ws_map warned;         /**< servers that were reported as silent */
	ws_name_list libraries;       /**< of this host; none: not listed yet */
};

/** All are borrowed; ctx->indexes says which places there are. */
struct ws_candidate_memory *ws_candidate_memory_open(
	const struct ws_context *ctx, struct ws_pins *pins, const struct ws_matrix *matrix);

/* ---- for plan ---- */

/**
 * The wheels of a package that folders and indexes have, as far as is known; asks no server.
 */
size_t ws_candidates_offered(struct ws_candidate_memory *m, const struct ws_recipe *recipe,
	const struct ws_offered_wheel **wheels, enum ws_indexes_asked *asked);

/**
 * Fills what is known of a candidate of @a product: state, why, digest. One that could not be had
 * stays unopened, with the reason, where the product cannot be built or the lock says that this
 * wheel serves it.
 */
void ws_candidate_see(struct ws_candidate_memory *m, const struct ws_product *product,
	struct ws_candidate *candidate);

/* ---- which candidates there are ---- */

/** What places have of a recipe's package, filled with what is known. */
struct ws_package_offers *ws_package_offers_of(
	struct ws_candidate_memory *m, const struct ws_recipe *recipe);

/** Puts what places were found to have on it, and what the lock pins. */
void ws_package_offers_fill(struct ws_candidate_memory *m, struct ws_package_offers *package,
	const struct ws_recipe *recipe, const struct ws_offered *found);

/** Is what places had when they were last asked enough for @a product, because a build serves as
 * well? */
bool ws_package_offers_are_enough(struct ws_candidate_memory *m, const struct ws_product *product);

/** Its candidates in the order in which they are tried, with what is known of each. */
struct ws_candidates ws_candidate_list(
	struct ws_candidate_memory *m, const struct ws_product *product);

/** The first of @a list that is known to load; NULL: none is. */
const struct ws_candidate *ws_candidate_that_loads(const struct ws_candidates *list);

/**
 * The lock's pin of it: of its bytes, else of what came from there, which is an error when it is
 * opened. NULL: none.
 */
const struct ws_pin_prebuilt *ws_candidate_pin(const struct ws_candidate_memory *m,
	const struct ws_product *product, const struct ws_candidate *candidate);

/* ---- what came of one ---- */

/**
 * The order by which @a candidate, whose digest is known, is judged in every place that the
 * product's cells have. False when what a torch exports cannot be had by @a r.
 */
bool ws_candidate_order(struct ws_candidate_memory *m, struct ws_resolver *r,
	const struct ws_product *product, const struct ws_candidate *candidate,
	struct ws_judge_order *order, struct ws_err *err);

/** What a verdict makes of a candidate, and its reason with the first evidence; NULL: it loads. */
enum ws_candidate_state ws_candidate_state_of(const struct ws_wheel_verdict *verdict);
const char *ws_candidate_reason_of(const struct ws_wheel_verdict *verdict, struct ws_arena *a);

/** Gives @a candidate its state, and keeps it for this run. */
void ws_candidate_end(struct ws_candidate_memory *m, const struct ws_product *product,
	struct ws_candidate *candidate, enum ws_candidate_state state, const char *why);

/** What it says of itself rules it out for these Pythons: remembered, as it is not fetched to be
 * judged. */
void ws_candidate_rule_out(struct ws_candidate_memory *m, const struct ws_product *product,
	const struct ws_candidate *candidate, const char *why);

#endif
