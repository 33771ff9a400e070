/**
 * changed_since.h - did anything change under a command while it ran?
 *
 * A result belongs to the files as they were when the command read them; their digests are taken
 * before or after. So what lies outside of trees and decided what was read is looked at once more
 * when the command has ended: the files, the folders and links on the way to them, and the folders
 * in which a name must be absent. What is younger than it should be makes the result uncacheable.
 * Times are the kernel's own (ctime): a file may bring an old mtime along, as pip's and tar's do.
 */
#ifndef WS_ENGINE_CHANGED_SINCE_H
#define WS_ENGINE_CHANGED_SINCE_H

#include "engine/action.h"

/** On the clock that the kernel stamps files with (ws_clock_file_ns); 0: not known, nothing is
 * young. */
struct ws_since {
	int64_t run_ns;     /**< when the run began: digests may be as old as that */
	int64_t command_ns; /**< when the command was started: absences are asked for after its end */
};

/** A canonical name of @a reads that may have been otherwise, in @a a; NULL: there is none. */
const char *ws_changed_since(const struct ws_action *action, const struct ws_reads *reads,
	const struct ws_since *since, struct ws_arena *a);

#endif
