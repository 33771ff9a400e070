/**
 * alone.h - one publisher at a time, in a store of objects that has no locks
 *
 * Of two publishers that begin with the same index the lists of one would be lost. Whoever puts the manifest of the
 * new snapshot first has claimed it (ws_bucket_create), and the other is refused. A store that knows no conditional
 * requests (Swift) has no sound way; there each publisher puts its name into one object (".publisher"), waits for as
 * long as the put of another may take that saw none there, and goes on if its own name is still in it. A publisher
 * may be paused at any moment for any time, and a store may give old bytes: so what was written is read again at the end.
 */
#ifndef WS_INDEX_ALONE_H
#define WS_INDEX_ALONE_H

#include "index/bucket.h"
#include "index/publish.h"

struct ws_index_alone {
	const struct ws_bucket *b;
	const struct ws_index_order
		*order;                    /**< whom to tell of waiting; stop, and the name for messages */
	const char *work;              /**< a folder for files */
	const struct ws_buf *manifest; /**< of the index as it was; empty: there is none */
	bool was_begun;                /**< another is among the pages, or died there */
	const char *name;              /**< of this publisher, where no request is conditional */
	bool lost;                     /**< another changes the index, or has */
	struct ws_arena *a;
};

/** The index is still as it was; else WS_ERR_PUBLISH, as for all that follow. */
bool ws_index_alone_check(struct ws_index_alone *alone, struct ws_err *err);

/**
 * Claims the snapshot that @a manifest is of, an object under its own name for ever. Where another is among the
 * pages, waits for its end, ten seconds at most, after telling so; then it is taken for dead.
 */
bool ws_index_alone_claim(
	struct ws_index_alone *alone, const struct ws_object *manifest, struct ws_err *err);

/** Before the lists are put: the index is as it was, and nobody else has come. */
bool ws_index_alone_check_turn(struct ws_index_alone *alone, struct ws_err *err);

/** After that: the store has, under each key, the bytes of the file at the path beside it. */
bool ws_index_alone_check_written(
	struct ws_index_alone *alone, const char *const (*lists)[2], size_t count, struct ws_err *err);

/** Takes this publisher's name away, where it is there. */
bool ws_index_alone_leave(const struct ws_index_alone *alone, struct ws_err *err);

#endif
