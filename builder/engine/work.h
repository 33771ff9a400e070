/**
 * work.h - private folders to run in
 *
 * work/run-XXXXXX/ belongs to one process: it holds a lock there, and the sweeper kills whatever
 * still works below it when the process is gone. Each attempt of an action gets a folder in it with
 * its mounts as links, its inputs, the folders of its outputs, and tmp/. Outputs of transient
 * actions stay in files/, by digest. Folders that dead processes left are removed when the next run
 * opens.
 */
#ifndef WS_ENGINE_WORK_H
#define WS_ENGINE_WORK_H

#include "engine/action.h"

struct ws_work {
	const struct ws_store *store;
	const char *path; /**< absolute */
	int lock_fd;
	int keys_fd;  /**< work/keys: a byte of it is locked for each key that is being made */
	int sweep_fd; /**< closing it, by whatever end, sweeps */
};

/** Nothing is open: ws_work_close may be called on it. */
#define WS_WORK_CLOSED \
	{ \
		.lock_fd = -1, .keys_fd = -1, .sweep_fd = -1 \
	}

/** @a program: the wheelsmith executable, for the sweeper; NULL: none (tests). */
bool ws_work_open(const struct ws_store *store, const char *program, struct ws_arena *a,
	struct ws_work *work, struct ws_err *err);

/** Removes the folder unless @a keep, and ends the sweeper. */
void ws_work_close(struct ws_work *work, bool keep);

/** Moves an output of a transient action into the run's folder, and says what it was. */
bool ws_work_keep(const struct ws_work *work, const char *path, struct ws_digest *digest,
	uint64_t *size, struct ws_err *err);

/** Whether the run's folder has the file. */
bool ws_work_has(const struct ws_work *work, const char *digest);

/** Removes it from there. */
void ws_work_drop(const struct ws_work *work, const char *digest);

/**
 * Makes @a dir ready for @a action: afterwards its command can be run there. @a made holds the
 * digest of each input that another action makes; files of this run come before the store's.
 */
bool ws_work_prepare(const struct ws_work *work, const struct ws_action *action,
	const char *const *made, const char *dir, struct ws_err *err);

/** Removes the folder of an attempt; what the store linked into it goes back unharmed. */
void ws_work_clear(const struct ws_work *work, const struct ws_action *action,
	const char *const *made, const char *dir);

#endif
