/**
 * shared.h - what was built, in one file
 *
 * * A tar archive of the results of a store, for another store: its builds then find what was
 * compiled here. Sources and kits are in bundle.h. Members:
 *
 * *   cache/1        the mark, empty   blobs/<sha256> objects, wheels, manifests, logs: what a
 * result names   results/<key>  a text of results.h, its sum first
 *
 * * Files are held against their digests, texts against their sums, which shows damage alone: that
 * a result is true is not shown. Take a file from whom you would take a compiler.
 */
#ifndef WS_BUNDLE_SHARED_H
#define WS_BUNDLE_SHARED_H

#include "store/inventory.h"
#include "sys/stop.h"

struct ws_shared_count {
	unsigned results, files;
	uint64_t bytes; /**< of these, unpacked */
};

/** Writes @a path in one step. */
bool ws_shared_export(const struct ws_store *store, const struct ws_inventory *inventory,
	const char *path, struct ws_stop *stop, struct ws_shared_count *count, struct ws_err *err);

/** Takes what the file holds, as it comes. WS_ERR_FETCH: it is not such a file, is cut, or was
 * changed. */
bool ws_shared_import(const struct ws_store *store, const char *path, struct ws_stop *stop,
	struct ws_arena *a, struct ws_shared_count *count, struct ws_err *err);

#endif
