/**
 * work.h - private work folders of actions
 *
 * work/run-XXXXXX/ belongs to one process, which holds a lock in it. The sweeper kills whatever
 * runs below it when the process is gone. Each attempt of an action gets a folder in it with its
 * mounts as links, its inputs, the folders of its outputs, and tmp/. Outputs of transient
 * actions are in files/, by digest. Folders of dead processes are removed when the next run
 * opens.
 */
#ifndef WS_ENGINE_WORK_H
#define WS_ENGINE_WORK_H

#include "engine/action.h"

struct ws_work {
	const struct ws_store *store;
	const char *path; /**< absolute */
	int lock_fd;
	int keys_fd;  /**< work/keys: a locked byte for each key that is being built */
	int sweep_fd; /**< when it is closed, for whatever reason, the sweeper runs */
};

/** A closed folder; ws_work_close accepts it. */
#define WS_WORK_CLOSED \
	{ \
		.lock_fd = -1, .keys_fd = -1, .sweep_fd = -1 \
	}

/** @a program: the wheelsmith executable, for the sweeper; NULL: none (tests). */
bool ws_work_open(const struct ws_store *store, const char *program, struct ws_arena *a,
	struct ws_work *work, struct ws_err *err);

/** Removes the folder unless @a keep, and ends the sweeper. */
void ws_work_close(struct ws_work *work, bool keep);

/** Moves a transient output into files/, and returns its digest and size. */
bool ws_work_keep(const struct ws_work *work, const char *path, struct ws_digest *digest,
	uint64_t *size, struct ws_err *err);

/** True if files/ has the file. */
bool ws_work_has(const struct ws_work *work, const char *digest);

/** Removes the file from files/. */
void ws_work_drop(const struct ws_work *work, const char *digest);

/**
 * Prepares @a dir for the command of @a action. @a made: digest of each input that another
 * action creates; files of this run are used before the store's.
 */
bool ws_work_prepare(const struct ws_work *work, const struct ws_action *action,
	const char *const *made, const char *dir, struct ws_err *err);

/** Removes the folder of an attempt without harm to files of the store that are linked in it. */
void ws_work_clear(const struct ws_work *work, const struct ws_action *action,
	const char *const *made, const char *dir);

#endif
