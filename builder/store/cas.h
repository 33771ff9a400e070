/**
 * cas.h - files by the SHA-256 of their bytes
 *
 * Files are 0444 and never change. They come in by rename on one file system, and go out as hard
 * links into work folders or as copies where a user looks. Where they lie is known here alone, and
 * whatever goes out is what its name says: a file that is not is removed with a warning and
 * missing.
 */
#ifndef WS_STORE_CAS_H
#define WS_STORE_CAS_H

#include "base/arena.h"
#include "base/crypto.h"
#include "base/text.h"
#include "store/store.h"
#include "store/tree.h"

/** Zeroed but for the arena, nothing was taken. */
struct ws_used_entries {
	struct ws_arena *a;
	struct ws_map trees; /**< by path: const struct ws_tree * */
	struct ws_map files; /**< digests of cas.h */
};

/** Each does nothing where @a store does not note what is taken. */
void ws_used_entries_add_tree(const struct ws_store *store, const struct ws_tree *tree);
void ws_used_entries_add_file(const struct ws_store *store, const char *digest);

/* ---- files ---- */

/** The file is there and whole: one that is not what its name says is removed, with a warning. */
bool ws_cas_has(const struct ws_store *store, const char *digest);

/** As ws_cas_has, by the bytes alone: what was noted of the file does not count. */
bool ws_cas_verify(const struct ws_store *store, const char *digest);

/* ---- in ---- */

/** Moves the file at @a path in, synced, and says what it was. */
bool ws_cas_take(const struct ws_store *store, const char *path, struct ws_digest *digest,
	uint64_t *size, struct ws_err *err);

/** Stores bytes. */
bool ws_cas_put(const struct ws_store *store, const void *bytes, size_t len,
	struct ws_digest *digest, struct ws_err *err);

/** A file whose digest is known before it comes: what a download needs to know. */
struct ws_cas_incoming {
	const char *digest;
	const char *partial; /**< where it grows; a later run continues there */
	const char *path;    /**< where it is put, in one step, once its digest was right */
};

/** Prepares the way for a file; nothing of it is seen before it is whole. */
bool ws_cas_begin(const struct ws_store *store, const char *digest, struct ws_arena *a,
	struct ws_cas_incoming *incoming, struct ws_err *err);

/** The file is at its path, and whoever put it there has checked its digest. */
bool ws_cas_commit(
	const struct ws_store *store, const struct ws_cas_incoming *incoming, struct ws_err *err);

/* ---- out ---- */

/** The path of the file, which is whole, for readers that want one; NULL on failure. */
const char *ws_cas_open(
	const struct ws_store *store, const char *digest, struct ws_arena *a, struct ws_err *err);

/** Appends the file's bytes to @a b. A missing file is WS_ERR_IO. */
bool ws_cas_read(
	const struct ws_store *store, const char *digest, struct ws_buf *b, struct ws_err *err);

/** Copies the file to where a user looks, in one step, hashing it on the way; @a to is replaced. */
bool ws_cas_copy_to(const struct ws_store *store, const char *digest, const char *to, mode_t mode,
	struct ws_err *err);

/**
 * Makes the file appear at @a to, below a work folder: a hard link where possible, read-only. One
 * that shall be executable is a copy, because all users of a stored file share its mode.
 */
bool ws_cas_link_into(const struct ws_store *store, const char *digest, const char *to,
	bool executable, struct ws_err *err);

/**
 * Removes what ws_cas_link_into made. Removed by other means, a link costs hashing the file when it
 * is used next: its ctime has moved.
 */
void ws_cas_unlink(const struct ws_store *store, const char *digest, const char *to);

#endif
