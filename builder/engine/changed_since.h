/**
 * changed_since.h - did a file change while a command ran?
 *
 * A result belongs to the files as the command read them, but digests are computed before or
 * after the run. So after the command all files outside of trees are checked once more: the
 * files, the folders and links on their paths, and the folders in which a name must be absent. A
 * change makes the result uncacheable. The check uses the kernel's ctime, since pip and tar
 * restore old mtimes.
 */
#ifndef WS_ENGINE_CHANGED_SINCE_H
#define WS_ENGINE_CHANGED_SINCE_H

#include "engine/action.h"

/** Times of the file system's clock (ws_clock_file_ns); 0: unknown, so that no file counts as
 * changed. */
struct ws_since {
	int64_t run_ns;     /**< start of the run: the age of the oldest digest */
	int64_t command_ns; /**< start of the command: absent names are checked after its end */
};

/** A canonical name of @a reads that may have changed, in @a a; NULL: none. */
const char *ws_changed_since(const struct ws_action *action, const struct ws_reads *reads,
	const struct ws_since *since, struct ws_arena *a);

#endif
