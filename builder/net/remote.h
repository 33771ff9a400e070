/**
 * remote.h - parts of a file on a server, by range requests
 *
 * A struct ws_source for the zip reader. Opened by asking for the last bytes, which tell length
 * and version; never by HEAD, which signed URLs refuse. Every answer must be for exactly the bytes
 * asked, of the same file. What is read this way is not covered by the file's digest: whoever uses
 * it checks members against RECORD. A run that was broken off starts anew. Whole files: download.h.
 */
#ifndef WS_NET_REMOTE_H
#define WS_NET_REMOTE_H

#include "base/source.h"
#include "base/text.h"
#include "net/http.h"

enum ws_remote_result {
	WS_REMOTE_OPEN,
	WS_REMOTE_NO_RANGES, /**< the server gives whole files only: download it instead; err says so */
	WS_REMOTE_FAILED,
};

struct ws_remote {
	struct ws_source source; /**< first */
	struct ws_http *http;
	const char *url;
	char version[200];    /**< strong ETag, else Last-Modified; "": the server tells neither */
	struct ws_buf tail;   /**< the last bytes of the file */
	uint64_t tail_offset; /**< where they start */
	bool no_ranges;       /**< a read failed because the server stopped to serve ranges */
	unsigned status;      /**< of the last reply to its opening; 0: none came */
	bool is_absent;       /**< by that reply: reply.h */
	unsigned requests;    /**< sent so far */
	uint64_t wire_bytes;  /**< received so far */
};

/**
 * Asks for the last @a tail_bytes (the whole file when it is shorter). @a r is in @a a and needs
 * ws_remote_close unless the result is not WS_REMOTE_OPEN. Reads come from the tail where they can;
 * the rest is one range request a span, up to three under way at once.
 */
enum ws_remote_result ws_remote_open(struct ws_http *http, const char *url, uint64_t tail_bytes,
	struct ws_arena *a, struct ws_remote *r, struct ws_err *err);

void ws_remote_close(struct ws_remote *r);

#endif
