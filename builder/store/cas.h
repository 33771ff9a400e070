/**
 * cas.h - content-addressed storage: files by the SHA-256 of their bytes
 *
 * Files are 0444 and never change. They enter by a rename on one file system and leave as hard
 * links into work folders or as copies. Paths are private to cas.c. Whatever leaves is
 * verified: a damaged file is removed with a warning and counts as missing.
 *
 * While ws_store.used is set, cas.h and tree.h note every file and tree that they return, so
 * that an export contains exactly what a build uses.
 */
#ifndef WS_STORE_CAS_H
#define WS_STORE_CAS_H

#include "store/tree.h"

/** Zeroed except for the arena, it is empty. */
struct ws_used_entries {
	struct ws_arena *a;
	struct ws_map trees; /**< by path: const struct ws_tree * */
	struct ws_map files; /**< digests of files */
};

/** Notes a tree; does nothing while ws_store.used is NULL. */
void ws_used_entries_add_tree(const struct ws_store *store, const struct ws_tree *tree);

/* ---- files ---- */

/** True if the file exists and is whole. A damaged one is removed with a warning. */
bool ws_cas_has(const struct ws_store *store, const char *digest);

/** The same by the bytes alone, without the ledger's notes. */
bool ws_cas_verify(const struct ws_store *store, const char *digest);

/* ---- in ---- */

/** Moves the file at @a path in, synced, and returns its digest and size. */
bool ws_cas_take(const struct ws_store *store, const char *path, struct ws_digest *digest,
	uint64_t *size, struct ws_err *err);

/** Stores bytes. */
bool ws_cas_put(const struct ws_store *store, const void *bytes, size_t len,
	struct ws_digest *digest, struct ws_err *err);

/** A file whose digest is known in advance: the paths of a download. */
struct ws_cas_incoming {
	const char *digest;
	const char *partial; /**< partial file; a later run resumes it */
	const char *path;    /**< final path, for a rename once the digest was checked */
};

/** Creates the folders for a file, which becomes visible when it is whole. */
bool ws_cas_begin(const struct ws_store *store, const char *digest, struct ws_arena *a,
	struct ws_cas_incoming *incoming, struct ws_err *err);

/** Called when the file is at its path and its digest was checked. */
bool ws_cas_commit(
	const struct ws_store *store, const struct ws_cas_incoming *incoming, struct ws_err *err);

/* ---- out ---- */

/** The path of the file, verified; NULL on failure. */
const char *ws_cas_open(
	const struct ws_store *store, const char *digest, struct ws_arena *a, struct ws_err *err);

/** Appends the file's bytes to @a b. A missing file is WS_ERR_IO. */
bool ws_cas_read(
	const struct ws_store *store, const char *digest, struct ws_buf *b, struct ws_err *err);

/** Copies the file to a path outside, hashing it on the way; @a to is replaced in one step. */
bool ws_cas_copy_to(const struct ws_store *store, const char *digest, const char *to, mode_t mode,
	struct ws_err *err);

/**
 * Places the file at @a to, below a work folder: read-only, as a hard link if possible. An
 * executable file is a copy, since links share the mode.
 */
bool ws_cas_link_into(const struct ws_store *store, const char *digest, const char *to,
	bool executable, struct ws_err *err);

/**
 * Removes such a link. A link that is removed by other means changes the file's ctime, so that
 * it is hashed again.
 */
void ws_cas_unlink(const struct ws_store *store, const char *digest, const char *to);

#endif
