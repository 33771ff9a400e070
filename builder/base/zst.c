/* zst.c - the only file that includes <zstd.h> (RFC 8878). */
#include "base/zst.h"

#include <zstd.h>

#define WINDOW_LOG 23 /* 8 MiB: all of a list of exports, front-coded, is 4 to 7 MiB */

struct ws_zst {
	ZSTD_DStream *stream;
	FILE *file;
	const char *path;
	ZSTD_inBuffer in;
	bool ended; /* the frame is complete */
	char piece[65536];
};

bool
ws_zst_pack(struct ws_str bytes, int level, struct ws_buf *out, struct ws_err *err)
{
	ZSTD_CCtx *context = ZSTD_createCCtx();
	if (!context) {
		return ws_err_set(err, WS_ERR_INTERNAL, "zstd cannot start");
	}
	ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
	ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, WINDOW_LOG);
	ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
	size_t most = ZSTD_compressBound(bytes.n);
	size_t len = ZSTD_compress2(context, ws_buf_reserve(out, most), most, bytes.s, bytes.n);
	ZSTD_freeCCtx(context);
	if (ZSTD_isError(len)) {
		return ws_err_set(err, WS_ERR_INTERNAL, "zstd: %s", ZSTD_getErrorName(len));
	}
	out->len += len;
	out->data[out->len] = '\0';
	return true;
}

bool
ws_zst_is_frame(struct ws_str bytes)
{
	return bytes.n >= 4 && memcmp(bytes.s, "\x28\xb5\x2f\xfd", 4) == 0;
}

bool
ws_zst_unpack(struct ws_str bytes, size_t most, struct ws_buf *out, struct ws_err *err)
{
	ZSTD_DCtx *context = ZSTD_createDCtx();
	if (!context) {
		return ws_err_set(err, WS_ERR_INTERNAL, "zstd cannot start");
	}
	ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, WINDOW_LOG);
	ZSTD_inBuffer in = {.src = bytes.s, .size = bytes.n};
	size_t left = 1, start = out->len;
	while (left > 0 && !ZSTD_isError(left) && out->len - start <= most) {
		size_t room = ZSTD_DStreamOutSize();
		ZSTD_outBuffer to = {.dst = ws_buf_reserve(out, room), .size = room};
		left = ZSTD_decompressStream(context, &to, &in);
		out->len += to.pos;
		out->data[out->len] = '\0';
		if (to.pos == 0 && in.pos == in.size) {
			break;
		}
	}
	ZSTD_freeDCtx(context);
	if (left == 0 && out->len - start <= most) {
		return true;
	}
	ws_buf_cut(out, start);
	return ws_err_set(err, WS_ERR_IO, "a zstd frame is damaged, or larger than %zu bytes", most);
}

struct ws_zst *
ws_zst_open(const char *path, struct ws_arena *a, struct ws_err *err)
{
	WS_AUTO_FILE FILE *file = fopen(path, "rbe");
	if (!file) {
		ws_err_sys(err, WS_ERR_IO, "cannot open '%s'", path);
		return NULL;
	}
	ZSTD_DStream *stream = ZSTD_createDStream();
	if (!stream) {
		ws_err_set(err, WS_ERR_INTERNAL, "zstd cannot start");
		return NULL;
	}
	ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, WINDOW_LOG);
	struct ws_zst *z = WS_NEW(a, struct ws_zst);
	z->stream = stream;
	z->file = file;
	file = NULL;
	z->path = ws_arena_strdup(a, path);
	z->in.src = z->piece;
	return z;
}

bool
ws_zst_read(struct ws_zst *z, struct ws_buf *out, struct ws_err *err)
{
	size_t room = ZSTD_DStreamOutSize();
	ZSTD_outBuffer to = {.dst = ws_buf_reserve(out, room), .size = room};
	while (to.pos == 0 && !z->ended) {
		if (z->in.pos == z->in.size) {
			z->in.size = fread(z->piece, 1, sizeof(z->piece), z->file);
			z->in.pos = 0;
		}
		if (z->in.size == 0) {
			return ws_err_set(err, WS_ERR_IO, "'%s' ends too early", z->path);
		}
		size_t left = ZSTD_decompressStream(z->stream, &to, &z->in);
		if (ZSTD_isError(left)) {
			return ws_err_set(
				err, WS_ERR_IO, "'%s' is damaged: %s", z->path, ZSTD_getErrorName(left));
		}
		z->ended = left == 0;
	}
	out->len += to.pos;
	out->data[out->len] = '\0';
	return true;
}

void
ws_zst_close(struct ws_zst *z)
{
	if (!z) {
		return;
	}
	ZSTD_freeDStream(z->stream);
	fclose(z->file);
}
