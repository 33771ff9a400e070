/**
 * http_cache.h - a cache server that speaks Bazel's HTTP cache
 *
 * GET and PUT of ENDPOINT/ac/KEY and ENDPOINT/cas/SHA256. nginx with WebDAV is such a server, and
 * so is bazel-remote.
 */
#ifndef WS_REMOTE_HTTP_CACHE_H
#define WS_REMOTE_HTTP_CACHE_H

#include "net/http.h"
#include "remote/cache.h"

struct ws_http_cache_config {
	const char *endpoint;       /**< URL, without a slash at its end */
	const char *const *headers; /**< "Name: value", with every request */
	size_t header_count;        /**< at most WS_REQUEST_HEADERS */
	const char *ca_path, *netrc_path;
	struct ws_stop *stop;
};

/** Asks nobody yet. All of @a config is borrowed. NULL: WS_ERR_CONFIG. */
struct ws_remote_cache *ws_http_cache_open(
	const struct ws_http_cache_config *config, struct ws_arena *a, struct ws_err *err);

#endif
