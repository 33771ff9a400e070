/**
 * stored.h - an index in an object store
 *
 * The same tree as in a folder (publish.h), without its links: pages under PATH/simple/, wheels
 * under files/, and index.json and the manifest of each snapshot. The protocol:
 *
 * 1. Read the manifest and index.json; make the new index from them in a folder.
 * 2. Test the conditions of the store (publish_lock.h). Put each wheel unless its name exists.
 * 3. Take the lock. If the manifest has changed, release it and begin again.
 * 4. Put the changed pages, then index.json. Replace the manifest that was read. Release the lock.
 *
 * A publisher that dies before step 4 leaves the old index. A publisher that dies in step 4 leaves
 * a mixture of old and new pages whose wheels all exist, and its lock; the next publisher puts all
 * pages again.
 */
#ifndef WS_PUBLISH_BUCKET_STORED_H
#define WS_PUBLISH_BUCKET_STORED_H

#include "publish/bucket/bucket.h"
#include "publish/folder/publish.h"

/**
 * As ws_index_publish. order->target is a name for messages; @a work is an empty folder. Does not
 * remove old snapshots and does not search for strays.
 */
bool ws_index_publish_stored(const struct ws_bucket *b, const struct ws_index_order *order,
	const char *work, struct ws_arena *a, struct ws_index_outcome *outcome, struct ws_err *err);

#endif
