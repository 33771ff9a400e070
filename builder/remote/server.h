/**
 * server.h - the server of the user's configuration, and the interface of a cache on it
 *
 * Results are shared through it (shared_results.h), and actions run by it (execution.h). A cache
 * has two kinds of items, as in the Remote Execution API: messages (serialised ActionResults)
 * under the digest of an Action, and files under their own digest. http_cache.c and grpc_cache.c
 * implement two protocols. Their functions do not fail: each item has its own state.
 */
#ifndef WS_REMOTE_SERVER_H
#define WS_REMOTE_SERVER_H

#include "net/http.h"
#include "net/rpc.h"

/** All borrowed. */
struct ws_server_config {
	const char *endpoint; /**< http or https URL, without a slash at its end; grpc(s)://HOST:PORT */
	const char *instance; /**< of a gRPC server; NULL or "": none */
	const char *certificate, *certificate_key; /**< for TLS by gRPC; NULL */
	const char *https_proxy;                   /**< for the same; NULL: none */
	const char *headers; /**< file of "Name: value" lines for every request; NULL */
	const char *ca_path, *netrc_path;
	struct ws_stop *stop;
};

struct ws_server {
	struct ws_server_config config; /**< its instance is not NULL */
	const char *shown;              /**< the endpoint, for messages */
	bool is_grpc;
	const char *headers[WS_REQUEST_HEADERS]; /**< "Name: value" */
	size_t header_count;
	struct ws_rpc_config rpc; /**< for gRPC */
};

/** Reads the headers, and sends nothing. NULL: WS_ERR_CONFIG. Lives in @a a. */
struct ws_server *ws_server_open(
	const struct ws_server_config *config, struct ws_arena *a, struct ws_err *err);

/* ---- items of a cache ---- */

enum ws_came {
	WS_CAME_NOT,     /**< missing, or not requested; a put was refused */
	WS_CAME_WHOLE,   /**< fetched, or stored; the bytes of a file match its digest */
	WS_CAME_WRONG,   /**< too long, or does not match its digest */
	WS_CAME_REFUSED, /**< refused by the server, or broken off */
	WS_CAME_SILENT,  /**< the server did not answer */
};

/** A message or a file. */
struct ws_item {
	const char *key; /**< 64 digits */
	struct ws_buf
		bytes;        /**< of a message, or of a file to put without a path; owned by the caller */
	const char *path; /**< of a file: source or destination */
	uint64_t size_bytes; /**< of the file, or of the Action; of a file to get, 0: unknown */
	enum ws_came came;
	bool ours;         /**< REFUSED: by this host, which could not write the file */
	char failure[200]; /**< the reason, if known */
};

/** Sets the state of an item and the reason. */
void ws_item_set(struct ws_item *item, enum ws_came came, const char *format, ...) WS_PRINTF(3, 4);

/** Limit of a file of unknown size: a manifest, a log. */
#define WS_LARGEST_UNKNOWN ((uint64_t)64 << 20)

/** First member of its implementation's struct. Each function processes all items; false: a stop
 * was requested. */
struct ws_remote_cache {
	bool (*get_messages)(struct ws_remote_cache *self, struct ws_item *items, size_t count);
	bool (*get_files)(struct ws_remote_cache *self, struct ws_item *items, size_t count);
	bool (*put_files)(struct ws_remote_cache *self, struct ws_item *items, size_t count);
	bool (*put_messages)(struct ws_remote_cache *self, struct ws_item *items, size_t count);
	void (*close)(struct ws_remote_cache *self);
	bool wants_actions; /**< put the files of a message's Action before it */
};

/** put_files of files that must all be stored. False: WS_ERR_FETCH names the refused file of @a
 * server (for messages), or a stop was requested, which the caller reports. */
bool ws_cache_put_all(struct ws_remote_cache *cache, struct ws_item *items, size_t count,
	const char *server, struct ws_err *err);

/** Opens a cache of Bazel's HTTP protocol: GET, HEAD and PUT of ENDPOINT/ac/KEY and
 * ENDPOINT/cas/SHA256, as nginx with WebDAV and bazel-remote have it. Sends nothing yet. @a
 * server is borrowed. NULL: WS_ERR_CONFIG. */
struct ws_remote_cache *ws_http_cache_open(
	const struct ws_server *server, struct ws_arena *a, struct ws_err *err);

#endif
