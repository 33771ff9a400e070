/**
 * lock.h - one publisher at a time writes the pages of an index in an object store
 *
 * The lock is an object, ".publishing". Who puts it where none is (If-None-Match: *) holds it and
 * renews it every few seconds (If-Match). While it changes, another waits; ten seconds without a
 * change, and its holder is taken for dead: of those who wait one replaces it (If-Match), and puts
 * all pages, as the dead one may have left some. Who is paused for longer and comes back finds that
 * out at its next renewal.
 *
 * All of it stands on the two conditions. A store may not know them, or not heed them; so they are
 * tried first, and a store without them is refused.
 */
#ifndef WS_PUBLISH_BUCKET_PUBLISH_LOCK_H
#define WS_PUBLISH_BUCKET_PUBLISH_LOCK_H

#include "publish/bucket/bucket.h"
#include "publish/folder/publish.h"

#define WS_INDEX_LOCK ".publishing"

struct ws_publish_lock {
	const struct ws_bucket *b;
	const struct ws_index_order
		*order;       /**< whom to tell of waiting; stop, and the name for messages */
	const char *work; /**< a folder for files */
	bool interrupted; /**< another publisher was interrupted while it wrote pages */
	/* Its own. */
	const char *name; /**< of this publisher */
	char etag[WS_ETAG_BYTES];
	unsigned renewals;
	int64_t renewed_ms;
	bool lost; /**< another has it */
	struct ws_arena *a;
};

/** Tries the conditions with an object that is gone afterwards. WS_ERR_PUBLISH, as for all that
 * follow. */
bool ws_publish_lock_try_store(struct ws_publish_lock *lock, struct ws_err *err);

/** Waits for another publisher, after telling so once. */
bool ws_publish_lock_acquire(struct ws_publish_lock *lock, struct ws_err *err);

/** Where it is time to. */
bool ws_publish_lock_renew(struct ws_publish_lock *lock, struct ws_err *err);

/** The index was changed by somebody who did not have the lock, or has it now: lock->lost is set.
 * Returns false. */
bool ws_publish_lock_lose(struct ws_publish_lock *lock, struct ws_err *err);

/** Afterwards; @a whole: no page was left half done, else the next publisher puts all. */
void ws_publish_lock_release(struct ws_publish_lock *lock, bool whole);

#endif
