/**
 * store.h - the folder that holds everything worth keeping
 *
 *   VERSION  cas/aa/<sha256>  ac/aa/<key>  trees/<name>-<digest>/  git/  partial/
 *   locks/  work/  work/keys  ledger.db  LOCK
 *
 * Anything in it may be deleted while nothing runs; the next run restores it. Nothing in it is
 * believed unseen: what leaves the store is held against its digest, where need be by a memory of
 * sizes and times; what is damaged is removed, and made again as if it had never been there, and
 * what cannot be read ends the run. Builds share LOCK; who makes room holds it alone (inventory.h).
 * This header is the folder itself; cas.h, results.h, results.h, tree.h and ledger.h are what lies
 * in it.
 */
#ifndef WS_STORE_STORE_H
#define WS_STORE_STORE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/user_env.h"

#include <sys/stat.h>

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

/* ---- the store ---- */

struct ws_events;
struct ws_ledger;
struct ws_map;
struct ws_used_entries;

struct ws_store {
	const char *path;               /**< absolute, without a link at its end */
	int lock_fd;                    /**< holds LOCK; -1: there is no store, nothing is kept */
	struct ws_ledger *ledger;       /**< what past runs cost, and which digests files had */
	const struct ws_events *events; /**< is warned of what is damaged; may be NULL */
	struct ws_arena *a;             /**< the one it was opened with */
	struct ws_err *unread;          /**< of an entry that may be whole; NULL: not wanted */
	struct ws_map *checked;         /**< trees that were held against their listing in this run */
	struct ws_used_entries *used;   /**< where set, what leaves the store is noted: cas.h */
};

/**
 * @a option (may be NULL), WHEELSMITH_STORE, $XDG_CACHE_HOME/wheelsmith, ~/.cache/wheelsmith. NULL:
 * HOME is not set either.
 */
char *ws_store_default_path(const struct ws_user_env *env, const char *option, struct ws_arena *a);

/**
 * Opens or makes the store and takes LOCK, shared. A store of another VERSION is refused with what
 * to do, and so is a @a path of NULL. Removes what dead processes left half-made. Close with
 * ws_store_close.
 */
bool ws_store_open(
	const char *path, struct ws_arena *a, struct ws_store *store, struct ws_err *err);

/**
 * Opens the store where there is one; where there is none, an empty one that keeps nothing, and no
 * folder is made. For who only asks.
 */
bool ws_store_look(
	const char *path, struct ws_arena *a, struct ws_store *store, struct ws_err *err);

void ws_store_close(struct ws_store *store);

/** Takes LOCK @a alone, or shares it again. WS_ERR_IO: another process has it; then it stays
 * shared. */
bool ws_store_hold(struct ws_store *store, bool alone, struct ws_err *err);

/** False: nothing that is put into it is there in the next run. */
bool ws_store_keeps(const struct ws_store *store);

/** The folder is not a store yet, or one that this program can use; NULL is neither. Changes
 * nothing. */
bool ws_store_check(const char *path, struct ws_err *err);

/** As lstat. False: it is not there, or nobody can tell. */
bool ws_store_stat(const struct ws_store *store, const char *path, struct stat *status);

/**
 * An entry was read and is not whole. One that is not what its name says is removed, with a
 * warning. One that the system did not let us read (@a why: too many open files, a failing disk,
 * another user's) may be whole: it stays, and from then on nothing is made again.
 */
void ws_store_reject(const struct ws_store *store, const char *path, const struct ws_err *why);

/** Before something is made that was not found. False, with the reason, where that may be there. */
bool ws_store_may_make(const struct ws_store *store, struct ws_err *err);

/** A path below the store, "partial/x". */
char *ws_store_path(const struct ws_store *store, struct ws_arena *a, const char *below);

#endif
