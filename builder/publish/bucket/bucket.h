/**
 * bucket.h - objects in an S3 store
 *
 * Addressed by path (ENDPOINT/BUCKET/KEY), which all S3 servers support. libcurl signs requests
 * (SigV4). A file is streamed, and sent in parts if it is large. Retries are net/http.h's. Errors
 * are WS_ERR_PUBLISH and quote the server. Independent of indexes.
 */
#ifndef WS_PUBLISH_BUCKET_BUCKET_H
#define WS_PUBLISH_BUCKET_BUCKET_H

#include "net/http.h"

struct ws_bucket {
	struct ws_http *http; /**< has key and secret of endpoint (ws_http_login) */
	const char *endpoint; /**< "https://s3.example", without a slash at the end */
	const char *name;     /**< bucket and prefix of all keys: "wheels/team/", "wheels/" */
	const char *region;   /**< "us-east-1" */
	const char *token;    /**< session token; NULL: none */
	struct ws_arena *a;
};

/** An object to put. */
struct ws_object {
	const char *key;   /**< below name: "files/demo-1.0-py3-none-any.whl" */
	const char *path;  /**< file with the contents; NULL: text */
	const char *type;  /**< Content-Type */
	const char *cache; /**< Cache-Control */
	const char *text;  /**< the contents of a small object */
};

#define WS_ETAG_BYTES sizeof(((struct ws_reply *)0)->etag)

/** An object in the store. */
struct ws_stored {
	struct ws_buf text; /**< released by the caller */
	char etag[WS_ETAG_BYTES];
	bool there;
};

/** Reads an object. A missing object is not an error. The contents of @a object are replaced. */
bool ws_bucket_get(const struct ws_bucket *b, const char *key, size_t limit,
	struct ws_stored *object, struct ws_err *err);

/** Result of a put with a condition. */
enum ws_put {
	WS_PUT_DONE,
	WS_PUT_REFUSED,     /**< refused: the store has other bytes, which stay */
	WS_PUT_UNSUPPORTED, /**< the store does not support the condition; it is unchanged */
	WS_PUT_FAILED,      /**< err is set */
};

/**
 * Puts an object unless one exists (If-None-Match: *). An existing object with the same bytes
 * counts as done, because it may be from an attempt whose reply was lost. @a etag gets that of the
 * object, unless it is large; may be NULL.
 */
enum ws_put ws_bucket_create(
	const struct ws_bucket *b, const struct ws_object *object, char *etag, struct ws_err *err);

/**
 * Replaces the object whose ETag is @a etag (If-Match), which gets the new one. Not for large
 * objects.
 */
enum ws_put ws_bucket_replace(
	const struct ws_bucket *b, const struct ws_object *object, char *etag, struct ws_err *err);

/** Replaces any object under the key, in one request. Not for large objects. */
bool ws_bucket_put(const struct ws_bucket *b, const struct ws_object *object, struct ws_err *err);

/**
 * The first 200 bytes of the text of an answer (XML, HTML or plain), in printable ASCII. "" where
 * the answer contains the session's @a token (may be NULL), plain or as HTML or a URL has it.
 */
const char *ws_bucket_error_text(
	const struct ws_buf *answer, const char *token, struct ws_arena *a);

/** A missing object is not an error. */
bool ws_bucket_remove(const struct ws_bucket *b, const char *key, struct ws_err *err);

#endif
