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

/** Replaces what @a text held; @a there is false, and that is no error, where there is no such object. */
bool ws_bucket_get(const struct ws_bucket *b, const char *key, size_t limit, struct ws_buf *text,
	bool *there, struct ws_err *err);

/** What the store has under a key. */
enum ws_object_there {
	WS_OBJECT_NONE,
	WS_OBJECT_SAME,    /**< the bytes of the file */
	WS_OBJECT_OTHER,   /**< other bytes */
	WS_OBJECT_UNKNOWN, /**< err is set */
};

/** Reads all of the object under @a object's key. */
enum ws_object_there ws_bucket_compare(
	const struct ws_bucket *b, const struct ws_object *object, struct ws_err *err);

/** What ws_bucket_create found. */
enum ws_created {
	WS_CREATED,
	WS_CREATED_BY_ANOTHER, /**< there is another object under the key, which stays */
	WS_CREATED_UNKNOWN,    /**< the server knows no conditional requests: nothing was put */
	WS_CREATED_FAILED,     /**< err is set */
};

/**
 * Puts an object where there is none, in one step of the server's (If-None-Match: *). One with the same
 * bytes counts as created: it may be ours, put by an attempt whose answer was lost. A large one in a store
 * that does not know the condition is put if none was there before: WS_CREATED.
 */
enum ws_created ws_bucket_create(
	const struct ws_bucket *b, const struct ws_object *object, struct ws_err *err);

/** What was there under the key is replaced, as a whole. */
bool ws_bucket_put(const struct ws_bucket *b, const struct ws_object *object, struct ws_err *err);

/** An object that is not there is fine. */
bool ws_bucket_remove(const struct ws_bucket *b, const char *key, struct ws_err *err);

#endif
