/**
 * shared_downloads.h - downloads that hosts share, so that each is made once
 *
 * Sources, kits and export lists become trees. The store remembers each under a key over all its
 * inputs. Before a download the same key is looked up among the shared results
 * (store/shared_entries.h), afterwards the tree is added there. The record names the tree's
 * listing; files are fetched by their digests. A record without a trusted signature, another
 * listing or a missing file is a miss. Callers must not share trees of a local folder. Prebuilt
 * wheels are shared as files.
 */
#ifndef WS_FETCH_SHARED_DOWNLOADS_H
#define WS_FETCH_SHARED_DOWNLOADS_H

#include "fetch/fetch.h"
#include "store/tree.h"

/** After ws_tree_recall: brings the tree into the store and remembers it. False: a miss. */
bool ws_shared_tree_get(
	const struct ws_fetch *fetch, const char *key, struct ws_arena *a, struct ws_tree *tree);

/** As ws_tree_remember; adds the tree to the shared results, if they are writable. */
bool ws_shared_tree_remember(
	const struct ws_fetch *fetch, const char *key, const struct ws_tree *tree, struct ws_err *err);

/* ---- files ---- */

/** Brings the file into the store (cas.h). @a size_bytes 0: not known. False: a miss. */
bool ws_shared_file_get(const struct ws_fetch *fetch, const char *sha256, uint64_t size_bytes);

/** Adds a file of the store to the shared results, if they are writable. */
void ws_shared_file_tell(const struct ws_fetch *fetch, const char *sha256);

#endif
