/**
 * scratch.h - a folder in partial/ for what is being made
 *
 * Locked while it is in use, and the lock goes with the process, however that ends: what a killed
 * one left is removed by the next that opens the store. Files of partial/ are downloads that can be
 * resumed; they stay for a week.
 */
#ifndef WS_STORE_SCRATCH_H
#define WS_STORE_SCRATCH_H

#include "base/arena.h"
#include "base/err.h"

struct ws_scratch {
	const char *path; /**< absolute; NULL: there is none */
	int fd;           /**< holds the lock; -1 where the file system has none for folders */
};

/** Makes "<prefix>XXXXXX" in @a partial, the store's folder, mode 0700. */
bool ws_scratch_make(const char *partial, const char *prefix, struct ws_arena *a,
	struct ws_scratch *s, struct ws_err *err);

/** Removes the folder, unless it was renamed away, and lets go. Twice, or without one, is fine. */
void ws_scratch_drop(struct ws_scratch *s);

/** Removes the folders in @a partial that no process holds, and files older than a week. */
void ws_scratch_sweep(const char *partial);

#define WS_AUTO_SCRATCH __attribute__((cleanup(ws_scratch_drop)))

#endif
