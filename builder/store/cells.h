/**
 * cells.h - which wheel was built for a cell key
 *
 * One line under the cell's key, in results.h. Planning asks; building writes after delivery. A
 * record whose wheel is missing or damaged counts as none. The name of a cell has a record as well,
 * of its last wheel, whatever its key was.
 */
#ifndef WS_STORE_CELLS_H
#define WS_STORE_CELLS_H

#include "base/digest.h"
#include "store/store.h"

struct ws_cell_record {
	const char *file;        /**< name of the wheel */
	struct ws_digest digest; /**< of it, in the cas */
	int64_t built_s;         /**< seconds since 1970 */
	uint64_t wheel_bytes;
	uint64_t installed_bytes; /**< of all its files, unpacked */
};

/** The key of the last wheel of the cell @a name. */
struct ws_digest ws_cells_last_key(const char *name);

/** False when there is no record, or its wheel is missing or damaged. */
bool ws_cells_get(const struct ws_store *store, const char *key, struct ws_arena *a,
	struct ws_cell_record *record);

bool ws_cells_put(const struct ws_store *store, const char *key,
	const struct ws_cell_record *record, struct ws_err *err);

#endif
