/**
 * store.h - the folder of all cached data
 *
 *   VERSION  cas/aa/<sha256>  ac/aa/<key>  trees/<name>-<digest>/  git/  partial/
 *   locks/  work/  work/keys  ledger.db  LOCK
 *
 * Everything in it may be deleted while no run uses it; the next run restores it. All entries
 * are verified before use, by digest or by noted sizes and times. Damaged entries are removed
 * and created again; an unreadable entry ends the run. Builds share LOCK; a clean-up holds it
 * alone (inventory.h). This header is about the folder and its scratch folders; cas.h,
 * results.h, tree.h and ledger.h about the entries.
 */
#ifndef WS_STORE_STORE_H
#define WS_STORE_STORE_H

#include "base/err.h"
#include "base/user_env.h"

#include <sys/stat.h>

struct ws_scratch {
	const char *path; /**< absolute; NULL: none */
	int fd;           /**< holds the lock; -1: the file system cannot lock folders */
};

/** Creates "<prefix>XXXXXX" in @a partial, the store's folder, mode 0700. */
bool ws_scratch_make(const char *partial, const char *prefix, struct ws_arena *a,
	struct ws_scratch *s, struct ws_err *err);

/** Removes the folder, unless it was renamed away, and releases the lock. May be called twice. */
void ws_scratch_drop(struct ws_scratch *s);

#define WS_AUTO_SCRATCH __attribute__((cleanup(ws_scratch_drop)))

/* ---- scratch folders ----
 * A folder in partial/ for an entry that is being created, locked while in use. The lock ends
 * with its process, and the next ws_store_open removes the folder. Files in partial/ are
 * resumable downloads and stay for a week. */

struct ws_events;
struct ws_ledger;
struct ws_map;
struct ws_used_entries;

struct ws_store {
	const char *path;               /**< absolute, links resolved */
	int lock_fd;                    /**< holds LOCK; -1: no store, entries are not kept */
	struct ws_ledger *ledger;       /**< costs of past runs, and digests of files */
	const struct ws_events *events; /**< for warnings about damage; may be NULL */
	struct ws_arena *a;             /**< the arena of ws_store_open */
	struct ws_err *unread; /**< first error about an entry that may be whole; NULL: not collected */
	struct ws_map *checked;       /**< trees that were verified in this run */
	struct ws_used_entries *used; /**< if set, returned entries are noted (cas.h) */
};

/**
 * @a option (may be NULL), WHEELSMITH_STORE, $XDG_CACHE_HOME/wheelsmith, ~/.cache/wheelsmith.
 * NULL: HOME is not set either.
 */
char *ws_store_default_path(const struct ws_user_env *env, const char *option, struct ws_arena *a);

/**
 * Opens or creates the store and takes LOCK, shared. Refuses a store with a different VERSION, and
 * a @a path of NULL. Removes leftovers of dead processes. Close with ws_store_close.
 */
bool ws_store_open(
	const char *path, struct ws_arena *a, struct ws_store *store, struct ws_err *err);

/**
 * Opens an existing store; if there is none, an empty one that keeps nothing and creates no
 * folder. For commands that only read.
 */
bool ws_store_look(
	const char *path, struct ws_arena *a, struct ws_store *store, struct ws_err *err);

/** May be called twice. */
void ws_store_close(struct ws_store *store);

#define WS_AUTO_STORE __attribute__((cleanup(ws_store_close)))

/** Takes LOCK @a alone, or shares it again. WS_ERR_IO: another process has it, and it stays
 * shared. */
bool ws_store_hold(struct ws_store *store, bool alone, struct ws_err *err);

/** True if the folder is not a store yet, or one of this version; false for NULL. Changes
 * nothing. */
bool ws_store_check(const char *path, struct ws_err *err);

/** As lstat. False: it does not exist or cannot be read. */
bool ws_store_stat(const struct ws_store *store, const char *path, struct stat *status);

/**
 * Rejects an entry that was read and is damaged: removes it with a warning. If the system failed
 * to read it (@a why: too many open files, a failing disk, another user's file), it may be
 * whole: it stays, and from then on nothing is created again.
 */
void ws_store_reject(const struct ws_store *store, const char *path, const struct ws_err *why);

/** Called before a missing entry is created. False, with the reason, if it may exist. */
bool ws_store_may_make(const struct ws_store *store, struct ws_err *err);

/** A path below the store, "partial/x". */
char *ws_store_path(const struct ws_store *store, struct ws_arena *a, const char *below);

#endif
