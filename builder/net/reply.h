/**
 * reply.h - what the head of an HTTP reply says
 *
 * Only the fields that something here decides by. Filled line by line as wire.c hears them; pure
 * text, so hostile heads can be tested without a server. Sections are RFC 9110's.
 */
#ifndef WS_NET_REPLY_H
#define WS_NET_REPLY_H

#include "base/text.h"

/** A field that is too long for its place counts as absent. */
struct ws_reply {
	unsigned status;        /**< 0: no reply came */
	bool complete;          /**< the head came whole */
	char type[100];         /**< Content-Type, lower case, without parameters */
	char encoding[32];      /**< Content-Encoding, lower case; "" for identity */
	char etag[200];         /**< ETag with its quotes, and W/ if it has one (8.8.3) */
	char modified[64];      /**< Last-Modified */
	bool has_length;        /**< Content-Length */
	uint64_t length_bytes;  /**< of this reply's body */
	bool has_range;         /**< Content-Range: bytes (14.4) */
	uint64_t range_first;   /**< offset of the first byte */
	uint64_t range_last;    /**< offset of the last byte */
	uint64_t range_total;   /**< bytes of the whole; UINT64_MAX when the server says '*' */
	unsigned retry_after_s; /**< Retry-After, date or seconds; 0: none. Known at the end only. */
	bool with_login;        /**< a user and password went along, netrc's too. Known at the end. */
};

/** One line of the head, line end included or not. A status line starts anew. */
void ws_reply_add(struct ws_reply *reply, struct ws_str line);

/** A strong entity tag: equal tags mean equal bytes (8.8.3). NULL: there is none. */
const char *ws_reply_strong_etag(const struct ws_reply *reply);

/** What If-Range may ask by: the strong tag, else Last-Modified; "" when there is neither. */
const char *ws_reply_validator(const struct ws_reply *reply);

/** 2xx. */
bool ws_reply_is_good(const struct ws_reply *reply);

/** 404, 410, and a 403 to somebody unknown: object stores answer that for what is not there. */
bool ws_reply_is_absent(const struct ws_reply *reply);

/** A 206 for exactly these bytes; @a total UINT64_MAX takes any length of the whole. */
bool ws_reply_is_range(const struct ws_reply *reply, uint64_t first, uint64_t last, uint64_t total);

#endif
