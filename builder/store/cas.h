/**
 * cas.h - files by the SHA-256 of their bytes
 *
 * Files are 0444 and never change. They come in by rename on one file system, and go out as hard
 * links into work folders or as copies where a user looks.
 */
#ifndef WS_STORE_CAS_H
#define WS_STORE_CAS_H

#include "base/buf.h"
#include "base/digest.h"
#include "store/store.h"

/** Where the file of this digest is or would be. */
char *ws_cas_path(const struct ws_store *store, const char *digest, struct ws_arena *a);

bool ws_cas_has(const struct ws_store *store, const char *digest);

/** Takes the file at @a path in (it is moved and synced) and says what it was. */
bool ws_cas_take(const struct ws_store *store, const char *path, struct ws_digest *digest,
	uint64_t *size, struct ws_err *err);

/** Stores bytes. */
bool ws_cas_put(const struct ws_store *store, const void *bytes, size_t len,
	struct ws_digest *digest, struct ws_err *err);

/** Appends the file's bytes to @a b. A missing file is WS_ERR_IO. */
bool ws_cas_read(
	const struct ws_store *store, const char *digest, struct ws_buf *b, struct ws_err *err);

/** Makes the file appear at @a to, read-only, without copying where possible. */
bool ws_cas_link(
	const struct ws_store *store, const char *digest, const char *to, struct ws_err *err);

#endif
