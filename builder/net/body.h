/**
 * body.h - what a request sends: texts and parts of files, one after the other
 *
 * A file is read while it is sent, so its size does not matter to memory; a request that is
 * repeated reads it again. Nothing is encoded here.
 */
#ifndef WS_NET_BODY_H
#define WS_NET_BODY_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ws_hasher;

/** Bytes in memory, or a part of a file. */
struct ws_piece {
	const void *bytes;     /**< NULL: they are in the file */
	const char *path;      /**< of that file */
	uint64_t offset;       /**< in the file */
	uint64_t length_bytes; /**< a file that is shorter is an error */
	/** Of the bytes, 64 digits: where they are others, the last of them are not given. NULL: not
	 * checked. */
	const char *sha256;
};

/** Borrowed by whoever sends it. */
struct ws_body {
	const struct ws_piece *pieces;
	size_t count;
};

uint64_t ws_body_length(const struct ws_body *body);

/** A position in a body that is read. fd is -1 at first. */
struct ws_body_reader {
	const struct ws_body *body;
	size_t number;            /**< of the piece */
	uint64_t done;            /**< bytes of it */
	int fd;                   /**< of the piece, when it is a file */
	struct ws_hasher *hasher; /**< of the piece, where it is checked; else NULL */
};

/** The next bytes, at most @a room. 0 at the end; -1: a file cannot be read, or is not what it
 * was. */
ptrdiff_t ws_body_read(struct ws_body_reader *r, void *to, size_t room);

/** Back to the start; closes the file: for whoever does not read to the end, too. */
void ws_body_rewind(struct ws_body_reader *r);

#endif
