/**
 * results.h - small texts by key, and the wheel of each cell
 *
 * ac/aa/<key>. The engine stores results and lists of manifests, trees their definitions, cells
 * their wheels. A text is replaced as a whole and starts with a checksum over itself and its
 * key: a damaged text, or one under another key, is removed and counts as missing. Its mtime is
 * the time of the last lookup. The format of a text is its writer's.
 */
#ifndef WS_STORE_RESULTS_H
#define WS_STORE_RESULTS_H

#include "base/crypto.h"
#include "store/store.h"

/** Appends the text; false, without an error: there is none. */
bool ws_results_get(const struct ws_store *store, const char *key, struct ws_buf *b);

bool ws_results_put(
	const struct ws_store *store, const char *key, const struct ws_buf *text, struct ws_err *err);

/** The whole stored text with its checksum, for an export. */
bool ws_results_export(
	const struct ws_store *store, const char *key, struct ws_buf *whole, struct ws_err *err);

/** Cuts off the checksum of the stored text that begins at @a start; false: it does not match
 * @a key and the text. */
bool ws_results_is_whole(const char *key, size_t start, struct ws_buf *whole);

/* ---- cells ----
 * One line under the key of a cell, read by plans and written after delivery. A record whose
 * wheel is missing or damaged counts as missing. The name of a cell has a record, too: its last
 * wheel, under whatever key. */

struct ws_cell_record {
	const char *file;        /**< name of the wheel */
	struct ws_digest digest; /**< of the wheel, in the cas */
	int64_t built_s;         /**< seconds since 1970 */
	uint64_t wheel_bytes;
	uint64_t installed_bytes; /**< of all its files, unpacked */
};

/** The key of the last wheel of the cell @a name. */
struct ws_digest ws_cells_last_key(const char *name);

/** False: no record, or its wheel is missing or damaged. */
bool ws_cells_get(const struct ws_store *store, const char *key, struct ws_arena *a,
	struct ws_cell_record *record);

bool ws_cells_put(const struct ws_store *store, const char *key,
	const struct ws_cell_record *record, struct ws_err *err);

#endif
