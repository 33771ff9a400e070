/**
 * lacks.h - all that an offline run would have to fetch, told at once
 *
 * A person who carries a store to a host without a network wants the whole list, not its first line.
 * Knows nothing of what the host itself lacks (a compiler, a Python): no fetching brings that.
 */
#ifndef WS_PRODUCE_LACKS_H
#define WS_PRODUCE_LACKS_H

#include "base/map.h"
#include "produce/resolve.h"

/** Names, each once. Zeroed, nothing is lacking. */
struct ws_lacks {
	struct ws_map torch;   /**< releases whose kits are not in the store: "2.11.0" */
	struct ws_map exports; /**< releases whose export lists neither ship nor are in the store */
	struct ws_map cuda;    /**< toolkits: "13.0" */
	struct ws_map sources; /**< "tiny 1.0" */
};

/** Adds what @a product lacks; true when that is anything. For runs that are offline. */
bool ws_lacks_add(struct ws_lacks *lacks, struct ws_resolver *r, const struct ws_product *product,
	struct ws_arena *a);

/** WS_ERR_FETCH with a line for each kind. */
bool ws_lacks_tell(const struct ws_lacks *lacks, struct ws_err *err);

#endif
