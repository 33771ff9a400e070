/**
 * key.h - the cell key: under which name a product's wheel is known to the store
 *
 * SHA-256 over digests of the recipe, of the kits and of the source, from the lock, and the
 * product's axes. Equal keys: the wheel that was built serves. It says nothing about the host
 * compiler and Python's headers; a build that finds others there builds again, whatever the plan
 * said.
 */
#ifndef WS_PLAN_KEY_H
#define WS_PLAN_KEY_H

#include "plan/plan.h"

/**
 * Fills key, or missing_pin when @a lock does not pin everything that is needed; what @a known pins
 * of toolkits and torch serves where @a lock has nothing. Both may be NULL.
 */
void ws_key_fill(struct ws_product *product, const struct ws_lock *lock,
	const struct ws_lock *known, struct ws_arena *a);

#endif
