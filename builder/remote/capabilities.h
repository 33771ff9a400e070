/**
 * capabilities.h - what a server of the Remote Execution API says that it can
 */
#ifndef WS_REMOTE_CAPABILITIES_H
#define WS_REMOTE_CAPABILITIES_H

#include "net/rpc.h"
#include "remote/cache_server.h"

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

#endif
