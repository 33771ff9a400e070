/**
 * grpc_cache.h - a cache server that speaks the Remote Execution API (v2)
 *
 * ActionCache, ContentAddressableStorage and ByteStream over gRPC: BuildGrid, buildbox-casd,
 * Buildbarn, bazel-remote and their like. What the server can is asked before the first item.
 */
#ifndef WS_REMOTE_GRPC_CACHE_H
#define WS_REMOTE_GRPC_CACHE_H

#include "net/rpc.h"
#include "remote/cache_server.h"

struct ws_grpc_cache_config {
	struct ws_rpc_config rpc;
	const char *instance; /**< "": none */
};

/** Asks nobody yet. All of @a config is borrowed. */
struct ws_remote_cache *ws_grpc_cache_open(
	const struct ws_grpc_cache_config *config, struct ws_arena *a);

#endif
