/**
 * partial.h - a file that grows over attempts and runs, until it is whole
 *
 * Bytes are hashed as they come. What an earlier run left is hashed from its first byte before any
 * is added, so the digest always covers everything. "<path>.about" remembers which file on the
 * server the bytes belong to (its ETag or date). One process at a time has it: flock(2).
 * Knows no server.
 */
#ifndef WS_NET_PARTIAL_H
#define WS_NET_PARTIAL_H

#include "base/arena.h"
#include "base/crypto.h"

struct ws_partial {
	const char *path;
	const char *about;   /**< path of the note beside it */
	int fd;              /**< -1: not open */
	uint64_t len;        /**< bytes there, all of them hashed */
	char validator[200]; /**< an ETag or a date; "": the server gave none */
	struct ws_hasher *hasher;
};

enum ws_partial_result {
	WS_PARTIAL_OPEN,
	WS_PARTIAL_BUSY, /**< another process has it */
	WS_PARTIAL_FAILED,
};

/** Opens or makes it; its folder must exist. */
enum ws_partial_result ws_partial_open(
	struct ws_partial *p, const char *path, struct ws_arena *a, struct ws_err *err);

/** Empty again. @a validator belongs to the bytes that will follow. */
bool ws_partial_restart(struct ws_partial *p, const char *validator, struct ws_err *err);

bool ws_partial_add(struct ws_partial *p, const void *bytes, size_t len, struct ws_err *err);

/** The digest of all bytes. Afterwards only land, drop and restart are possible. */
struct ws_digest ws_partial_digest(struct ws_partial *p);

/** Synced, under its final name @a path (same file system), and closed. */
bool ws_partial_land(struct ws_partial *p, const char *path, struct ws_err *err);

/** Closed; the bytes stay for another run. Not open is fine. */
void ws_partial_close(struct ws_partial *p);

/** Closed and removed. */
void ws_partial_drop(struct ws_partial *p);

#endif
