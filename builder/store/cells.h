/**
 * cells.h - which wheel was built for a cell key
 *
 * One line under the cell's key, in results.h. Planning asks; building writes after delivery. A record
 * whose wheel is missing or damaged counts as none.
 */
#ifndef WS_STORE_CELLS_H
#define WS_STORE_CELLS_H

#include "base/digest.h"
#include "store/store.h"

struct ws_cell_record {
	const char *file;        /**< name of the wheel */
	struct ws_digest digest; /**< of it, in the cas */
	int64_t built_s;         /**< seconds since 1970 */
};

/** False when there is no record, or its wheel is missing or damaged. */
bool ws_cells_get(const struct ws_store *store, const char *key, struct ws_arena *a,
	struct ws_cell_record *record);

bool ws_cells_put(const struct ws_store *store, const char *key,
	const struct ws_cell_record *record, struct ws_err *err);

#endif
