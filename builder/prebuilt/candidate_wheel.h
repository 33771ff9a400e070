/**
 * candidate_wheel.h - the bytes of a prebuilt wheel, from wherever they lie into the store
 *
 * From a server that gives parts of files, WHEEL and METADATA come first: a wheel that contradicts its own
 * name is not downloaded. What is used comes whole and is known by its digest from then on. Which wheel to
 * take, and whether it loads, is candidates.h's.
 */
#ifndef WS_PREBUILT_CANDIDATE_WHEEL_H
#define WS_PREBUILT_CANDIDATE_WHEEL_H

#include "fetch/fetch.h"
#include "plan/plan.h"

/** What is wanted of a candidate. */
struct ws_candidate_wish {
	const struct ws_product *product;
	const char *sha256; /**< that it must have, by the lock; NULL: any */
	const char *likely; /**< that it had when it was last seen there; NULL: not known */
};

/**
 * Brings the wheel of @a candidate. True with candidate->sha256 set and the state as it was: it is in the
 * store. True with another state, and why: what kept it from there. False: it is not the pinned one
 * (WS_ERR_FETCH), or this host failed. @a fetch's http should be impatient.
 */
bool ws_candidate_wheel_get(const struct ws_fetch *fetch, const struct ws_candidate_wish *wish,
	struct ws_arena *a, struct ws_candidate *candidate, struct ws_err *err);

#endif
