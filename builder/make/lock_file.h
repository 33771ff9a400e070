/**
 * lock_file.h - the lock of a selection, which other processes may be extending too
 *
 * Read once, written when pins were made. Two shards of one matrix side by side both keep their pins:
 * what is written is the file as it is by then, with what this process did to its own.
 */
#ifndef WS_MAKE_LOCK_FILE_H
#define WS_MAKE_LOCK_FILE_H

#include "make/context.h"

/**
 * Reads the pins at @a path into @a lock, and from the store those that it lacks and that could not be
 * written there. @a ctx borrows both from then on.
 */
bool ws_lock_file_read(
	struct ws_context *ctx, const char *path, struct ws_lock *lock, struct ws_err *err);

/** The pins of toolkits and torch releases that locks of this store ever had. Never fails: none. */
const struct ws_lock *ws_lock_file_known(const struct ws_context *ctx);

/**
 * Writes the lock if it changed; of one in a read-only folder what it lacks goes to the store, with a
 * warning, until it can be written.
 * WS_ERR_CONFIG when the file can no longer be read as a lock: then it is left alone.
 */
bool ws_lock_file_save(struct ws_context *ctx, struct ws_err *err);

#endif
