/**
 * store.h - the folder that holds everything worth keeping
 *
 *   VERSION  cas/aa/<sha256>  ac/aa/<key>  cells/  trees/<name>-<digest>/  git/  partial/
 *   locks/  work/  work/locks/<key>  ledger.db  LOCK
 *
 * Anything in it may be deleted while nothing runs; the next run restores it. Builds share LOCK;
 * nothing takes it alone yet, a collection of garbage would. This header is the folder itself;
 * cas.h, results.h, cells.h, tree.h and ledger.h are what lies in it.
 */
#ifndef WS_STORE_STORE_H
#define WS_STORE_STORE_H

#include "base/arena.h"
#include "base/err.h"

struct ws_store {
	const char *path; /**< absolute, without a link at its end */
	int lock_fd;      /**< holds LOCK */
};

/** --store, WHEELSMITH_STORE, $XDG_CACHE_HOME/wheelsmith, ~/.cache/wheelsmith; @a option may be NULL. */
char *ws_store_default_path(const char *option, struct ws_arena *a);

/**
 * Opens or makes the store and takes LOCK, shared. A store of another VERSION is refused with what
 * to do. Close with ws_store_close.
 */
bool ws_store_open(
	const char *path, struct ws_arena *a, struct ws_store *store, struct ws_err *err);

void ws_store_close(struct ws_store *store);

/** The folder is no store yet, or one that this program can use. Changes nothing. */
bool ws_store_check(const char *path, struct ws_err *err);

/** A path below the store, "partial/x". */
char *ws_store_path(const struct ws_store *store, struct ws_arena *a, const char *below);

#endif
