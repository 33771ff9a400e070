/**
 * wheel_files.h - brings the files of prebuilt wheels into the store
 *
 * A server that supports ranges sends WHEEL and METADATA first: a wheel that contradicts its own
 * name is not downloaded. A whole file must have the size and digest that its index promises.
 */
#ifndef WS_PREBUILT_WHEEL_FILES_H
#define WS_PREBUILT_WHEEL_FILES_H

#include "fetch/fetch.h"
#include "plan/plan.h"

/** A wanted candidate. */
struct ws_wheel_wish {
	const struct ws_product *product;
	const struct ws_candidate *candidate;
	const struct ws_pin_prebuilt *pin; /**< NULL: any bytes that the index promises */
	const char *likely;                /**< digest of the last download; NULL: not known */
	struct ws_download *download;      /**< used inside */
	/* Results. */
	const char *sha256;            /**< of the file in the store; NULL: it is not there */
	enum ws_candidate_state state; /**< why it is not there; UNOPENED: it is */
	const char *why;               /**< of the state */
	bool ruled_out;                /**< by its own metadata */
};

/**
 * Fetches all wishes together. False: a file is not the pinned one (WS_ERR_FETCH), or this host
 * failed. @a fetch's http should be impatient.
 */
bool ws_wheel_files_get(const struct ws_fetch *fetch, struct ws_wheel_wish *const *wishes,
	size_t count, struct ws_arena *a, struct ws_err *err);

#endif
