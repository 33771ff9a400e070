/**
 * candidate_wheel.h - the bytes of prebuilt wheels, from wherever they lie into the store
 *
 * From a server that gives parts of files, WHEEL and METADATA come first: a wheel that contradicts
 * its own name is not downloaded. What is used comes whole, with the size and digest that its index
 * promises, and is known by its digest from then on. Which wheel to open, and whether it loads, is
 * candidates.h's.
 */
#ifndef WS_PREBUILT_CANDIDATE_WHEEL_H
#define WS_PREBUILT_CANDIDATE_WHEEL_H

#include "fetch/fetch.h"
#include "model/lock.h"
#include "plan/plan.h"

/** A candidate that is wanted. */
struct ws_candidate_wish {
	const struct ws_product *product;
	const struct ws_pin_prebuilt *pin; /**< NULL: it may have any bytes that its index promises */
	const char *likely; /**< digest that it had when it was last fetched; NULL: not known */
	const struct ws_candidate *candidate;
	/* Filled in. */
	const char *sha256;            /**< it is in the store; NULL: it is not */
	enum ws_candidate_state state; /**< what kept it from there; UNOPENED: nothing did */
	const char *why;               /**< of the state */
	bool ruled_out;                /**< by what it says of itself */
};

/**
 * Brings the wheels, those of servers together. False: one is not what is pinned (WS_ERR_FETCH), or
 * this host failed. @a fetch's http should be impatient.
 */
bool ws_candidate_wheels_get(const struct ws_fetch *fetch, struct ws_candidate_wish *wishes,
	size_t count, struct ws_arena *a, struct ws_err *err);

#endif
