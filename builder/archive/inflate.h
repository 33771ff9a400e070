/**
 * inflate.h - raw deflate (RFC 1951) in steps, and CRC-32
 *
 * The caller passes bytes in and gets their contents a window at a time, so it can stop a
 * decompression bomb early. Knows no archive format. The only door to zlib.
 */
#ifndef WS_ARCHIVE_INFLATE_H
#define WS_ARCHIVE_INFLATE_H

#include "base/text.h"

enum ws_inflate_state {
	WS_INFLATE_MORE, /**< the input is used up and the stream continues */
	WS_INFLATE_FULL, /**< a window is full; step again with the rest of the input */
	WS_INFLATE_DONE, /**< the stream ended; the rest of the input follows it */
	WS_INFLATE_BAD,  /**< not deflate */
};

struct ws_inflate;

struct ws_inflate *ws_inflate_make(void);

/** Begins a new stream. */
void ws_inflate_start(struct ws_inflate *z);

/** Uses up bytes of @a in; @a out gets what they became, borrowed until the next step. */
enum ws_inflate_state ws_inflate_step(struct ws_inflate *z, struct ws_str *in, struct ws_str *out);

/** NULL is fine. */
void ws_inflate_drop(struct ws_inflate *z);

/** The zlib that is loaded: "1.2.13". Another one may pack to other bytes. */
const char *ws_zlib_version(void);

/** CRC-32 of zip and gzip; begin with 0. */
uint32_t ws_crc32(uint32_t crc, const void *bytes, size_t len);

#endif
