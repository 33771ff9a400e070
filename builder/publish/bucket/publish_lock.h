/**
 * publish_lock.h - a lock in an object store: one publisher at a time writes the pages of an index
 *
 * The lock is the object ".publishing". A publisher creates it with If-None-Match: * and renews it
 * every few seconds with If-Match. Its text ends with the seconds in which it will be renewed: 10,
 * and more before a large object is sent. Another publisher waits while the lock changes in that
 * time. After that it replaces the lock (If-Match) and puts all pages again, because the old holder
 * may have left some. An old holder that was only paused notices at its next renewal.
 *
 * All of this needs the two conditions, so each store is tested for them first.
 */
#ifndef WS_PUBLISH_BUCKET_PUBLISH_LOCK_H
#define WS_PUBLISH_BUCKET_PUBLISH_LOCK_H

#include "publish/bucket/bucket.h"
#include "publish/folder/publish.h"

#define WS_INDEX_LOCK ".publishing"

struct ws_publish_lock {
	const struct ws_bucket *b;
	const struct ws_index_order *order; /**< wait, stop, and the target for messages */
	bool interrupted; /**< another publisher was interrupted while it wrote pages */
	/* Private: */
	const char *name; /**< of this publisher */
	char etag[WS_ETAG_BYTES];
	unsigned renewals;
	int64_t renewed_ms;
	unsigned allowance_s; /**< until the next renewal, as the lock's text has it */
	bool lost;            /**< another publisher has the lock */
	struct ws_arena *a;
};

/** Tests the conditions with an object that is removed afterwards. Errors of all functions are
 * WS_ERR_PUBLISH. */
bool ws_publish_lock_try_store(struct ws_publish_lock *lock, struct ws_err *err);

/** Waits for another publisher; reports that once. */
bool ws_publish_lock_acquire(struct ws_publish_lock *lock, struct ws_err *err);

/** To be called before an object of @a bytes is sent. Renews the lock if it is time to, or if the
 * object may need longer than the current allowance. */
bool ws_publish_lock_renew(struct ws_publish_lock *lock, uint64_t bytes, struct ws_err *err);

/** Another publisher changed the index: sets lock->lost and @a err. Returns false. */
bool ws_publish_lock_lose(struct ws_publish_lock *lock, struct ws_err *err);

/** @a whole: all pages were written. Else the next publisher puts all of them. */
void ws_publish_lock_release(struct ws_publish_lock *lock, bool whole);

#endif
