/**
 * shared_tree.h - trees that were made of downloads, for every host once
 *
 * What is downloaded is a tree in the end: sources, kits, export lists. The store remembers each by
 * a key over all that determined it; other hosts that share (store/shared_entries.h) are asked by
 * the same key before anything is downloaded, and told after it. Their record is what the store
 * remembers, and names the tree's listing; the files come by their digests. A record that nobody
 * trusted has signed, a listing that is not the tree's, a file that is not there: a miss. What was
 * made of a folder of this host is not told to anybody: who calls knows that.
 */
#ifndef WS_FETCH_SHARED_DOWNLOADS_H
#define WS_FETCH_SHARED_DOWNLOADS_H

#include "fetch/fetch.h"
#include "store/tree.h"

/** After ws_tree_recall: brings the tree into the store and remembers it. False: nobody has it. */
bool ws_shared_tree_get(
	const struct ws_fetch *fetch, const char *key, struct ws_arena *a, struct ws_tree *tree);

/** As ws_tree_remember; others are told where they are to be. */
bool ws_shared_tree_remember(
	const struct ws_fetch *fetch, const char *key, const struct ws_tree *tree, struct ws_err *err);

/* ---- files ---- */

/** Brings the file into the store (cas.h). @a size_bytes 0: not known. False: nobody has it. */
bool ws_shared_file_get(const struct ws_fetch *fetch, const char *sha256, uint64_t size_bytes);

/** Tells others of a file that the store has, where they are to be told. */
void ws_shared_file_tell(const struct ws_fetch *fetch, const char *sha256);

#endif
