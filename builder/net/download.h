/**
 * download.h - files, whole and proved, several at a time
 *
 * Each grows at its partial path, is resumed there by a later attempt or run, is hashed while it
 * comes, and appears under its final name only when digest and size are right. Two processes that
 * want the same file: one fetches, the other waits for it. Reading parts of a file: remote.h.
 */
#ifndef WS_NET_DOWNLOAD_H
#define WS_NET_DOWNLOAD_H

#include "base/crypto.h"
#include "net/http.h"

struct ws_download {
	const char *url;
	const char *path;    /**< final; a file with the right digest that is there is left alone */
	const char *partial; /**< where it grows; on the same file system, its folder exists */
	const char *sha256;  /**< 64 lower-case digits; NULL or "": any, digest says which it was */
	uint64_t size_bytes; /**< expected; 0: not known */
	/* Filled in. */
	struct ws_digest digest;
	uint64_t got_bytes;    /**< length of the file */
	uint64_t wire_bytes;   /**< what came over the network for it in this run */
	unsigned status;       /**< of the last reply, also after a failure; 0: none came */
	bool is_absent;        /**< by that reply: reply.h */
	struct ws_err failure; /**< ws_download_each: why it did not come; kind NONE: it came */
};

/**
 * All of them, or the first failure; what the others received so far stays for another time.
 * A wrong digest names both, and the partial file is removed.
 */
bool ws_download_all(
	struct ws_http *http, struct ws_download *files, size_t count, struct ws_err *err);

/**
 * As many of them as come: what the network or a server does to one is that one's `failure`. False
 * for what this host does to us, and when the run is to stop.
 */
bool ws_download_each(
	struct ws_http *http, struct ws_download *files, size_t count, struct ws_err *err);

/** A small text: an index page, a manifest. */
struct ws_get {
	const char *url;     /**< what to get */
	const char *subject; /**< for messages; NULL: the URL */
	const char *accept;  /**< NULL: anything */
	size_t limit_bytes;  /**< of the text, after decompression */
	/* Filled in. */
	bool is_too_long;      /**< it failed because of limit_bytes */
	struct ws_reply reply; /**< also after a failure: status 404, 0 when there was no answer */
	const char *final_url; /**< after redirects, without user and password, in the arena */
};

/** Replaces what @a text held. */
bool ws_get_text(struct ws_http *http, struct ws_get *get, struct ws_arena *a, struct ws_buf *text,
	struct ws_err *err);

#endif
