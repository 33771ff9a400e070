/**
 * grpc_cache.h - a cache server that speaks the Remote Execution API (v2)
 *
 * ActionCache, ContentAddressableStorage and ByteStream over gRPC: BuildGrid, buildbox-casd,
 * Buildbarn, bazel-remote and their like. What the server can is asked before the first item.
 */
#ifndef WS_REMOTE_GRPC_CACHE_H
#define WS_REMOTE_GRPC_CACHE_H

#include "net/rpc.h"
#include "remote/server.h"

struct ws_capabilities {
	enum ws_rpc_status status; /**< of the call; nothing else is known unless WS_RPC_OK */
	const char *words;         /**< the server's, or what broke */
	bool has_cache, executes;
	bool has_sha256;            /**< of the cache; one that names no function has it */
	bool takes_records;         /**< whoever asks may put records there */
	bool executes_sha256;       /**< whoever runs actions knows it, too */
	uint64_t batch_bytes;       /**< 0: no limit is said */
	const char *const *digests; /**< names of functions that the cache knows; "9" without one */
	size_t digest_count;
	const char *lowest, *highest; /**< versions of the API, "2.0"; NULL: not said */
};

/** Fills @a can, in @a a, or says in @a how why nothing is known; WS_CAME_WHOLE: it is. False: the
 * run is to stop. */
bool ws_capabilities_ask(struct ws_rpc *rpc, const char *instance, struct ws_capabilities *can,
	struct ws_item *how, struct ws_arena *a);

/* ---- the cache ---- */

struct ws_grpc_cache_config {
	struct ws_rpc_config rpc;
	const char *instance; /**< "": none */
};

/** Asks nobody yet. All of @a config is borrowed. */
struct ws_remote_cache *ws_grpc_cache_open(
	const struct ws_grpc_cache_config *config, struct ws_arena *a);

#endif
