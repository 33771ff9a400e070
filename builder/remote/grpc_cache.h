/**
 * grpc_cache.h - a cache server of the Remote Execution API (v2)
 *
 * ActionCache, ContentAddressableStorage and ByteStream over gRPC: BuildGrid, buildbox-casd,
 * Buildbarn, bazel-remote and others. Asks for the server's capabilities before the first item.
 */
#ifndef WS_REMOTE_GRPC_CACHE_H
#define WS_REMOTE_GRPC_CACHE_H

#include "remote/server.h"

struct ws_capabilities {
	enum ws_rpc_status status; /**< of the call; the other members are valid for WS_RPC_OK only */
	const char *words;         /**< the server's message, or a local error */
	bool has_cache, executes;
	bool has_sha256;            /**< of the cache; a server that lists no function has it */
	bool takes_records;         /**< this client may write records */
	bool executes_sha256;       /**< of the workers */
	uint64_t batch_bytes;       /**< 0: no limit */
	const char *const *digests; /**< names of the cache's functions; "9" for an unknown one */
	size_t digest_count;
	const char *lowest, *highest; /**< versions of the API, "2.0"; NULL: not reported */
};

/** Fills @a can, in @a a; @a how gets WS_CAME_WHOLE, or the reason for a failure. False: a stop
 * was requested. */
bool ws_capabilities_ask(struct ws_rpc *rpc, const char *instance, struct ws_capabilities *can,
	struct ws_item *how, struct ws_arena *a);

/* ---- the cache ---- */

/** Sends nothing yet. @a config and @a instance ("": none) are borrowed. */
struct ws_remote_cache *ws_grpc_cache_open(
	const struct ws_rpc_config *config, const char *instance, struct ws_arena *a);

#endif
