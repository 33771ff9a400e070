/**
 * alone.h - one publisher at a time, in a store of objects that has no locks
 *
 * Of two publishers that begin with the same index the lists of one would be lost. Whoever puts the
 * manifest of the new snapshot first has claimed it (ws_bucket_create), and the other is refused. A
 * store that knows no conditional requests (Swift) has no sound way; there each publisher puts its name
 * into one object (".publisher"), waits for as long as the put of another may take that saw none there,
 * and goes on if its own name is still in it.
 *
 * Who is among the pages says so in an object (".publishing"), which it puts anew every few seconds:
 * while it changes, another waits; ten seconds without a change, and its publisher is taken for dead. But
 * a publisher may be paused at any moment for any time, and a store may give old bytes: so the manifest is
 * read again before the lists are put, and the lists at the end.
 */
#ifndef WS_PUBLISH_BUCKET_ALONE_H
#define WS_PUBLISH_BUCKET_ALONE_H

#include "publish/bucket/bucket.h"
#include "publish/folder/publish.h"

#define WS_INDEX_MARK ".publishing"

struct ws_index_alone {
	const struct ws_bucket *b;
	const struct ws_index_order
		*order;                    /**< whom to tell of waiting; stop, and the name for messages */
	const char *work;              /**< a folder for files */
	const struct ws_buf *manifest; /**< of the index as it was; empty: there is none */
	bool was_begun;                /**< another is among the pages, or died there */
	bool unconditional;            /**< the store knows no conditional requests */
	bool lost;                     /**< another changes the index, or has */
	/* Its own. */
	const char *name; /**< of this publisher; NULL: none yet */
	bool has_turn;    /**< the name stands in ".publisher" */
	unsigned beats;
	int64_t beaten_ms;
	struct ws_arena *a;
};

/** The index is still as it was; else WS_ERR_PUBLISH, as for all that follow. */
bool ws_index_alone_check(struct ws_index_alone *alone, struct ws_err *err);

/** Says in the store that this publisher is among the pages; ws_index_alone_beat again where it is time. */
bool ws_index_alone_mark(struct ws_index_alone *alone, struct ws_err *err);
bool ws_index_alone_beat(struct ws_index_alone *alone, struct ws_err *err);

/**
 * Marks, and claims the snapshot that @a manifest is of, an object under its own name for ever. Where
 * another is among the pages, waits for its end before, after telling so.
 */
bool ws_index_alone_claim(
	struct ws_index_alone *alone, const struct ws_object *manifest, struct ws_err *err);

/** Before the lists are put: the index is as it was, and nobody else has come. */
bool ws_index_alone_check_turn(struct ws_index_alone *alone, struct ws_err *err);

/** After that: the store has, under each key, the bytes of the file at the path beside it. */
bool ws_index_alone_check_written(
	struct ws_index_alone *alone, const char *const (*lists)[2], size_t count, struct ws_err *err);

/** After a claim that was refused: takes the mark away where nobody needs it, as the other has ended. */
void ws_index_alone_withdraw(const struct ws_index_alone *alone);

/** Takes this publisher's name away, where it is there. */
bool ws_index_alone_leave(const struct ws_index_alone *alone, struct ws_err *err);

#endif
