/**
 * stored.h - an index in an object store
 *
 * The same tree as in a folder (publish.h), without its links: pages under PATH/simple/, wheels
 * under files/, and of each snapshot its index.json and manifest. The protocol, whole:
 *
 *   read the manifest and index.json; make the new index from them in a folder
 *   try what the store can (lock.h); put each wheel where none of its name is
 *   take the lock; if the manifest is another one by now, let it go and begin anew
 *   put the pages that changed, then index.json, then the manifest in place of the one that was
 *   read let the lock go
 *
 * A publisher that dies before the pages leaves the old index; one that dies among them leaves
 * pages that are each old or new, all of whose wheels are there, and its lock, for which the next
 * publisher puts all pages again.
 */
#ifndef WS_PUBLISH_BUCKET_STORED_H
#define WS_PUBLISH_BUCKET_STORED_H

#include "publish/bucket/bucket.h"
#include "publish/folder/publish.h"

/**
 * As ws_index_publish. order->target is a name for messages; @a work an empty folder, which is used
 * up. What only a folder has is not looked at: retention of snapshots, what lies beside them.
 */
bool ws_index_publish_stored(const struct ws_bucket *b, const struct ws_index_order *order,
	const char *work, struct ws_arena *a, struct ws_index_outcome *outcome, struct ws_err *err);

#endif
