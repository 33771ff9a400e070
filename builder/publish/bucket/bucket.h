/**
 * bucket.h - objects in a store that speaks S3, signed (SigV4)
 *
 * Addressed by path (ENDPOINT/BUCKET/KEY), which all such servers take. libcurl signs; a file is
 * streamed, and sent in parts when it is large. Repeating and pacing are net/http.h's. Errors are
 * WS_ERR_PUBLISH and have the words of the server. Knows no index.
 */
#ifndef WS_PUBLISH_BUCKET_BUCKET_H
#define WS_PUBLISH_BUCKET_BUCKET_H

#include "net/http.h"

struct ws_bucket {
	struct ws_http *http; /**< which knows the key and its secret for endpoint (ws_http_login) */
	const char *endpoint; /**< "https://s3.example", without a slash at the end */
	const char *name;     /**< of the bucket, and what keys begin with: "wheels/team/", "wheels/" */
	const char *region;   /**< "us-east-1" */
	const char *token;    /**< of a session; NULL: none */
	struct ws_arena *a;
};

/** What is put. */
struct ws_object {
	const char *key;   /**< below name: "files/demo-1.0-py3-none-any.whl" */
	const char *path;  /**< the file with its bytes */
	const char *type;  /**< Content-Type */
	const char *cache; /**< Cache-Control */
};

#define WS_ETAG_BYTES sizeof(((struct ws_reply *)0)->etag)

/** What the store has under a key. */
struct ws_stored {
	struct ws_buf text; /**< the caller releases it */
	char etag[WS_ETAG_BYTES];
	bool there;
};

/** That there is no such object is no error. What @a object had is replaced. */
bool ws_bucket_get(const struct ws_bucket *b, const char *key, size_t limit,
	struct ws_stored *object, struct ws_err *err);

/** What became of a put with a condition. */
enum ws_put {
	WS_PUT_DONE,
	WS_PUT_REFUSED,     /**< the condition does not hold: the store has other bytes, which stay */
	WS_PUT_UNSUPPORTED, /**< the store knows no such condition: nothing was put */
	WS_PUT_FAILED,      /**< err is set */
};

/**
 * Puts an object where there is none (If-None-Match: *). One with the same bytes counts as put: it
 * may be ours, of an attempt whose answer was lost. @a etag gets that of the object, unless it is
 * large; may be NULL.
 */
enum ws_put ws_bucket_create(
	const struct ws_bucket *b, const struct ws_object *object, char *etag, struct ws_err *err);

/** Puts an object in place of the one whose ETag is @a etag (If-Match), which gets the new one. Not
 * for large ones. */
enum ws_put ws_bucket_replace(
	const struct ws_bucket *b, const struct ws_object *object, char *etag, struct ws_err *err);

/** Whatever is there under the key is replaced, as a whole. In one request: not for large ones. */
bool ws_bucket_put(const struct ws_bucket *b, const struct ws_object *object, struct ws_err *err);

/**
 * The first 200 bytes of the text of an answer (XML, HTML or plain), in printable ASCII. "" where
 * the answer contains the session's @a token (may be NULL), plain or as HTML or a URL has it.
 */
const char *ws_bucket_error_text(
	const struct ws_buf *answer, const char *token, struct ws_arena *a);

/** An object that is not there is fine. */
bool ws_bucket_remove(const struct ws_bucket *b, const char *key, struct ws_err *err);

#endif
