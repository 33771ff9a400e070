/**
 * range_source.h - parts of a file on a server, by range requests
 *
 * A struct ws_byte_source for the zip reader. Opening requests the last bytes; the reply has length
 * and version. HEAD is not used, because signed URLs refuse it. Every reply must be for exactly the
 * requested bytes of the same file. The file's digest does not cover such bytes: callers check
 * members against RECORD. Whole files: download.h.
 */
#ifndef WS_NET_RANGE_SOURCE_H
#define WS_NET_RANGE_SOURCE_H

#include "base/byte_source.h"
#include "net/http.h"

enum ws_range_source_result {
	WS_RANGES_OPEN,
	WS_RANGES_NO_RANGES, /**< the server sends whole files only, so download it; err is set */
	WS_RANGES_FAILED,
};

struct ws_range_source {
	struct ws_byte_source source; /**< first */
	struct ws_http *http;
	const char *url;
	char version[200];    /**< strong ETag, else Last-Modified; "": neither */
	struct ws_buf tail;   /**< the last bytes of the file */
	uint64_t tail_offset; /**< in the file */
	bool no_ranges;       /**< a read failed because the server stopped to serve ranges */
	unsigned status;      /**< of the last reply while opening; 0: no reply */
	bool is_absent;       /**< ws_reply_is_absent of that reply */
	unsigned requests;    /**< sent so far */
	uint64_t wire_bytes;  /**< received so far */
};

/**
 * Requests the last @a tail_bytes (the whole file if it is shorter). @a r is in @a a and needs
 * ws_range_source_close only after WS_RANGES_OPEN. Reads are served from the tail where possible;
 * the rest is one range request per span, up to three at once.
 */
enum ws_range_source_result ws_range_source_open(struct ws_http *http, const char *url,
	uint64_t tail_bytes, struct ws_arena *a, struct ws_range_source *r, struct ws_err *err);

void ws_range_source_close(struct ws_range_source *r);

#endif
