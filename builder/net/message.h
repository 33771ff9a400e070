/**
 * message.h - the parts of an HTTP request and of its reply that this program uses
 *
 * The body of a request is a text or a part of a file. A file is read while it is sent, so its size
 * does not matter to memory; a repeated request reads it again. The head of a reply is filled line
 * by line as wire.c receives it. Knows no server, so tests can pass hostile heads. Sections are
 * those of RFC 9110.
 */
#ifndef WS_NET_MESSAGE_H
#define WS_NET_MESSAGE_H

#include "base/text.h"

struct ws_hasher;

/** The body of a request: bytes in memory, or a part of a file. Borrowed by its reader. */
struct ws_body {
	const void *bytes;     /**< NULL: the body is in a file */
	const char *path;      /**< of that file */
	uint64_t offset;       /**< in the file */
	uint64_t length_bytes; /**< a shorter file is an error */
	const char *sha256;    /**< expected, 64 digits; checked before the last bytes; NULL: any */
};

/** A position in a body. fd is -1 at first. */
struct ws_body_reader {
	const struct ws_body *body;
	uint64_t done_bytes;
	int fd; /**< of the file */
	struct ws_hasher *hasher;
};

/**
 * The next bytes, at most @a room; 0 at the end. -1: the file cannot be read, or its digest is not
 * the expected one.
 */
ptrdiff_t ws_body_read(struct ws_body_reader *r, void *to, size_t room);

/** Back to the start, and closes the file. Also releases a reader that did not reach the end. */
void ws_body_rewind(struct ws_body_reader *r);

/** The head of a reply. A field that is too long for its place counts as absent. */
struct ws_reply {
	unsigned status;        /**< 0: no reply came */
	bool complete;          /**< the whole head came */
	char type[100];         /**< Content-Type, lower case, without parameters */
	char encoding[32];      /**< Content-Encoding, lower case; "" for identity */
	char etag[200];         /**< ETag with its quotes, and W/ if it has one (8.8.3) */
	char modified[64];      /**< Last-Modified */
	bool has_length;        /**< Content-Length */
	uint64_t length_bytes;  /**< of this reply's body */
	bool has_range;         /**< Content-Range: bytes (14.4) */
	uint64_t range_first;   /**< offset of the first byte */
	uint64_t range_last;    /**< offset of the last byte */
	uint64_t range_total;   /**< bytes of the whole file; UINT64_MAX for '*' */
	unsigned retry_after_s; /**< Retry-After, date or seconds; 0: absent. Set when it has ended. */
	bool with_login; /**< the request had a login, also one of netrc. Set when it has ended. */
};

/** Reads one line of the head, with or without its line end. A status line starts a new head. */
void ws_reply_add(struct ws_reply *reply, struct ws_str line);

/**
 * The validator for If-Range: the strong tag (equal tags mean equal bytes, 8.8.3), else
 * Last-Modified; "" without either.
 */
const char *ws_reply_validator(const struct ws_reply *reply);

/** 2xx. */
bool ws_reply_is_good(const struct ws_reply *reply);

/** 404, 410, and a 403 without a login: object stores answer that for missing files. */
bool ws_reply_is_absent(const struct ws_reply *reply);

/** A 206 for exactly these bytes; @a total UINT64_MAX accepts any length of the whole file. */
bool ws_reply_is_range(const struct ws_reply *reply, uint64_t first, uint64_t last, uint64_t total);

#endif
