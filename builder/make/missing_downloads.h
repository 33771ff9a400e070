/**
 * missing_downloads.h - all that an offline run would have to fetch, reported at once
 *
 * A person who carries a store to a host without a network wants the whole list, not its first
 * line. What the host itself lacks (a compiler, a Python) is not among them: no download brings
 * that.
 */
#ifndef WS_MAKE_MISSING_DOWNLOADS_H
#define WS_MAKE_MISSING_DOWNLOADS_H

#include "base/arena.h"
#include "make/resolve.h"

/** Names, each once. Zeroed, nothing is missing. */
struct ws_missing_downloads {
	struct ws_map torch;   /**< releases whose kits are not in the store: "2.11.0" */
	struct ws_map exports; /**< releases whose export lists neither ship nor are in the store */
	struct ws_map cuda;    /**< toolkits: "13.0" */
	struct ws_map sources; /**< "tiny 1.0" */
	struct ws_map wheels;  /**< prebuilt ones, by file name */
};

/** Adds what @a product needs and the store does not have; true when that is anything. For runs
 * that are offline. */
bool ws_missing_downloads_add(struct ws_missing_downloads *missing, struct ws_resolver *r,
	const struct ws_product *product, struct ws_arena *a);

/** WS_ERR_FETCH with a line for each kind. */
bool ws_missing_downloads_report(const struct ws_missing_downloads *missing, struct ws_err *err);

#endif
