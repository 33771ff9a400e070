/**
 * http_cache.h - a cache server that speaks Bazel's HTTP cache
 *
 * GET and PUT of ENDPOINT/ac/KEY and ENDPOINT/cas/SHA256. nginx with WebDAV is such a server, and
 * so is bazel-remote.
 */
#ifndef WS_REMOTE_HTTP_CACHE_H
#define WS_REMOTE_HTTP_CACHE_H

#include "remote/cache_server.h"
#include "remote/server.h"

/** Asks nobody yet. @a server is borrowed. NULL: WS_ERR_CONFIG. */
struct ws_remote_cache *ws_http_cache_open(
	const struct ws_server *server, struct ws_arena *a, struct ws_err *err);

#endif
