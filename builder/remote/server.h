/**
 * server.h - the server of the user's configuration: where it is and what goes with every request
 *
 * Results are shared through it (shared_results.h), and actions run by it (execution.h).
 */
#ifndef WS_REMOTE_SERVER_H
#define WS_REMOTE_SERVER_H

#include "base/attr.h"
#include "base/err.h"
#include "base/text.h"
#include "net/http.h"
#include "net/rpc.h"

#include <stdbool.h>
#include <stdint.h>

/** All borrowed. */
struct ws_server_config {
	const char *endpoint; /**< http or https URL, without a slash at its end; grpc(s)://HOST:PORT */
	const char *instance; /**< of a gRPC server; NULL */
	const char *certificate, *certificate_key; /**< for TLS by gRPC; NULL */
	const char *https_proxy;                   /**< for the same; NULL: none */
	const char *headers; /**< file with "Name: value" lines that go with every request; NULL */
	const char *ca_path, *netrc_path;
	struct ws_stop *stop;
};

struct ws_server {
	const char *endpoint;
	const char *shown; /**< the endpoint, for people */
	bool is_grpc;
	const char *headers[WS_REQUEST_HEADERS]; /**< "Name: value" */
	size_t header_count;
	const char *ca_path, *netrc_path;
	struct ws_stop *stop;
	/* By gRPC: */
	struct ws_rpc_config rpc;
	const char *instance; /**< "": none */
};

/** Reads the headers, and asks nobody. NULL: WS_ERR_CONFIG. Lives in @a a. */
struct ws_server *ws_server_open(
	const struct ws_server_config *config, struct ws_arena *a, struct ws_err *err);

/* ---- items of a cache server ---- */

enum ws_came {
	WS_CAME_NOT,     /**< it is not there, or was not asked for; what was put was not taken */
	WS_CAME_WHOLE,   /**< it is here, or there; a file has the bytes of its digest */
	WS_CAME_WRONG,   /**< too long, or a file with other bytes than its digest says */
	WS_CAME_REFUSED, /**< the server will not, or broke off */
	WS_CAME_SILENT,  /**< the server gave no answer */
};

/** A message or a file. */
struct ws_item {
	const char *key;     /**< 64 digits */
	struct ws_buf bytes; /**< of a message, or of a file to put that has no path; its owner's */
	const char *path;    /**< of a file: where it is, or where it goes */
	uint64_t size_bytes; /**< of the file, or of the Action; of a file to get, 0: not known */
	enum ws_came came;
	bool ours;         /**< REFUSED: by this host, which could not write the file */
	char failure[200]; /**< why, where that is known */
};

/** How it fared, and why. */
void ws_item_say(struct ws_item *item, enum ws_came came, const char *format, ...) WS_PRINTF(3, 4);

/** A file of unknown size is not larger: a manifest, a log. */
#define WS_LARGEST_UNKNOWN ((uint64_t)64 << 20)

/** First member of its own struct. Each function brings all items to their end; false: the run is
 * to stop. */
struct ws_remote_cache {
	bool (*get_messages)(struct ws_remote_cache *self, struct ws_item *items, size_t count);
	bool (*get_files)(struct ws_remote_cache *self, struct ws_item *items, size_t count);
	bool (*put_files)(struct ws_remote_cache *self, struct ws_item *items, size_t count);
	bool (*put_messages)(struct ws_remote_cache *self, struct ws_item *items, size_t count);
	void (*close)(struct ws_remote_cache *self);
	bool wants_actions; /**< a message is put after the files of its Action */
};

/** put_files of what must all be there. False: WS_ERR_FETCH says what @a server, for people, did
 * not take, or the run is to stop, which is then for the caller to say. */
bool ws_cache_put_all(struct ws_remote_cache *cache, struct ws_item *items, size_t count,
	const char *server, struct ws_err *err);

/** Asks nobody yet. @a server is borrowed. NULL: WS_ERR_CONFIG. */
struct ws_remote_cache *ws_http_cache_open(
	const struct ws_server *server, struct ws_arena *a, struct ws_err *err);

#endif
