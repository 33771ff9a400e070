/**
 * zst.h - zstd frames: packed at once, unpacked at once or as a stream
 *
 * The only door to libzstd. The size in a frame's header is not trusted: the caller limits what
 * it reads.
 */
#ifndef WS_BASE_ZST_H
#define WS_BASE_ZST_H

#include "base/err.h"
#include "base/text.h"

#define WS_ZST_SMALL 19 /**< for what is packed once and shipped */
#define WS_ZST_FAST 3

/** Appends @a bytes, packed at @a level with a content checksum, to @a out. */
bool ws_zst_pack(struct ws_str bytes, int level, struct ws_buf *out, struct ws_err *err);

/** True when @a bytes begin with the magic number of a frame. */
bool ws_zst_is_frame(struct ws_str bytes);

/**
 * Appends the contents of the frame @a bytes to @a out. A damaged or cut frame, or more than @a
 * most bytes, is WS_ERR_IO.
 */
bool ws_zst_unpack(struct ws_str bytes, size_t most, struct ws_buf *out, struct ws_err *err);

/** A file that is being unpacked. */
struct ws_zst;

/** NULL when it cannot be opened. A window over 8 MiB is refused when it is read. */
struct ws_zst *ws_zst_open(const char *path, struct ws_arena *a, struct ws_err *err);

/**
 * Adds the next piece, up to 128 KiB, to @a out. At the end of the frame nothing is added; an
 * unfinished or damaged frame is WS_ERR_IO.
 */
bool ws_zst_read(struct ws_zst *z, struct ws_buf *out, struct ws_err *err);

/** Releases the file and the decoder. NULL is fine. */
void ws_zst_close(struct ws_zst *z);

#endif
