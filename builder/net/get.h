/**
 * get.h - small texts from servers: index pages, manifests, metadata
 *
 * Whole, in memory, at most as long as the caller allows. Asked for with gzip. Files: download.h.
 */
#ifndef WS_NET_GET_H
#define WS_NET_GET_H

#include "base/text.h"
#include "net/http.h"

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
