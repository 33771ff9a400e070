/**
 * download.h - files from servers, several at a time, checked; and small texts
 *
 * A file grows at its partial path, where a later attempt or run resumes it. It is hashed as it
 * comes and gets its final name only when digest and size are right. If two processes want the same
 * file, one downloads it and the other waits. http.h has the retries and the time limits;
 * range_source.h reads parts of a file.
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
	/* Results. */
	struct ws_digest digest;
	uint64_t got_bytes;    /**< length of the file */
	uint64_t wire_bytes;   /**< what came over the network for it in this run */
	unsigned status;       /**< of the last reply, also after a failure; 0: no reply */
	bool is_absent;        /**< ws_reply_is_absent of that reply */
	struct ws_err failure; /**< ws_download_each: why the file failed; kind NONE: it is there */
};

/**
 * Downloads all, or returns the first failure; received bytes stay for a later run. After a wrong
 * digest the partial file is removed, and the error has both digests.
 */
bool ws_download_all(
	struct ws_http *http, struct ws_download *files, size_t count, struct ws_err *err);

/**
 * Downloads as many as possible: a failure of the network or a server is the `failure` of its file.
 * False for failures of this host, and when the run is to stop.
 */
bool ws_download_each(
	struct ws_http *http, struct ws_download *files, size_t count, struct ws_err *err);

/** A small text: an index page, a manifest. */
struct ws_get {
	const char *url;     /**< what to get */
	const char *subject; /**< for messages; NULL: the URL */
	const char *accept;  /**< NULL: anything */
	size_t limit_bytes;  /**< of the text, after decompression */
	/* Results. */
	bool is_too_long;      /**< it failed because of limit_bytes */
	struct ws_reply reply; /**< also after a failure; status 0: no reply */
	const char *final_url; /**< after redirects, without user and password, in the arena */
};

/** Replaces what @a text held. */
bool ws_get_text(struct ws_http *http, struct ws_get *get, struct ws_arena *a, struct ws_buf *text,
	struct ws_err *err);

#endif
