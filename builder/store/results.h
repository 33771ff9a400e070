/**
 * results.h - small texts by key: what the store knows under a key
 *
 * ac/aa/<key>. The engine keeps action results and lists of manifests there, trees remember what
 * made them, cells which wheel they have. A text is replaced whole and carries a sum over itself
 * and its key: one that is damaged, or lies under another's key, is removed and counts as missing.
 * Its mtime says when it was last found. What a text means, its writer knows.
 */
#ifndef WS_STORE_RESULTS_H
#define WS_STORE_RESULTS_H

#include "base/crypto.h"
#include "base/text.h"
#include "store/store.h"

/** Appends the text; false, without an error, when there is none. */
bool ws_results_get(const struct ws_store *store, const char *key, struct ws_buf *b);

bool ws_results_put(
	const struct ws_store *store, const char *key, const struct ws_buf *text, struct ws_err *err);

/** The whole text as it lies in a store, its sum first; for who carries it elsewhere. */
bool ws_results_export(
	const struct ws_store *store, const char *key, struct ws_buf *whole, struct ws_err *err);

/** Takes the sum off what ws_results_export gave: false where it is not that of @a key and the
 * rest. */
bool ws_results_is_whole(const char *key, struct ws_buf *whole);

/* ---- which wheel was built for a cell ---- */

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
