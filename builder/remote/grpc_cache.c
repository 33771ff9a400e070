/* grpc_cache.c - capabilities and records; blobs.c transfers files. */
#include "remote/grpc_cache.h"

#include "remote/blobs.h"
#include "remote/reapi_call.h"

#define REAPI "/build.bazel.remote.execution.v2."
#define SHA256 1 /* DigestFunction.Value */

static const char *
name_version(const Reapi__SemVer *version, struct ws_arena *a)
{
	return version ? ws_arena_printf(a, "%d.%d", (int)version->major, (int)version->minor) : NULL;
}

static void
read_cache(const Reapi__CacheCapabilities *cache, struct ws_capabilities *can, struct ws_arena *a)
{
	static const char *const names[] = {NULL, "SHA-256", "SHA-1", "MD5", "VSO", "SHA-384",
		"SHA-512", "MurmurHash3", "SHA-256 tree", "BLAKE3"};
	const char **digests = WS_NEW_N(a, const char *, cache->n_digest_functions);
	can->has_cache = true;
	can->has_sha256 = cache->n_digest_functions == 0;
	for (size_t i = 0; i < cache->n_digest_functions; i++) {
		int function = cache->digest_functions[i];
		can->has_sha256 = can->has_sha256 || function == SHA256;
		digests[i] = function > 0 && function < (int)WS_LEN(names)
			? names[function]
			: ws_arena_printf(a, "%d", function);
	}
	can->digests = digests;
	can->digest_count = cache->n_digest_functions;
	can->takes_records = cache->action_cache_update_capabilities
		&& cache->action_cache_update_capabilities->update_enabled;
	can->batch_bytes =
		cache->max_batch_total_size_bytes > 0 ? (uint64_t)cache->max_batch_total_size_bytes : 0;
}

bool
ws_capabilities_ask(struct ws_rpc *rpc, const char *instance, struct ws_capabilities *can,
	struct ws_item *how, struct ws_arena *a)
{
	Reapi__GetCapabilitiesRequest request;
	const Reapi__ServerCapabilities *said = NULL;
	reapi__get_capabilities_request__init(&request);
	request.instance_name = ws_protobuf_borrow(instance);
	struct ws_call unary = ws_unary_make(REAPI "Capabilities/GetCapabilities", &request, a);
	bool ran = ws_unary_run(rpc, &unary, 1, 0, a);
	*can =
		(struct ws_capabilities){.status = unary.status, .words = ws_arena_strdup(a, unary.text)};
	if (ran) {
		said = ws_unary_read(&unary, &reapi__server_capabilities__descriptor, how, a);
		can->status = said || unary.status != WS_RPC_OK ? unary.status : WS_RPC_INTERNAL;
	}
	ws_buf_release(&unary.reply);
	if (said && said->cache_capabilities) {
		read_cache(said->cache_capabilities, can, a);
	}
	if (said && said->execution_capabilities) {
		const Reapi__ExecutionCapabilities *execution = said->execution_capabilities;
		can->executes = execution->exec_enabled;
		can->executes_sha256 = execution->digest_function == SHA256
			|| (execution->digest_function == 0 && execution->n_digest_functions == 0);
		for (size_t i = 0; i < execution->n_digest_functions; i++) {
			can->executes_sha256 = can->executes_sha256 || execution->digest_functions[i] == SHA256;
		}
	}
	can->lowest = said ? name_version(said->low_api_version, a) : NULL;
	can->highest = said ? name_version(said->high_api_version, a) : NULL;
	return ran;
}

/* ---- the cache ---- */

#define LARGEST_MESSAGE ((size_t)1 << 20)

struct grpc_cache {
	struct ws_remote_cache cache; /* first */
	const struct ws_wire_peer *peer;
	struct ws_blobs blobs;
	bool asked, fit;
	struct ws_item unfit; /* state of all items if the server is unfit */
};

/* ---- fitness of the server ---- */

/* Asks once for the capabilities. False: these items are done. *ran false: a stop was requested. */
static bool
is_ready(struct grpc_cache *g, struct ws_item *items, size_t count, bool *ran)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_capabilities can;
	if (!g->asked) {
		g->asked = ws_capabilities_ask(g->blobs.rpc, g->blobs.instance, &can, &g->unfit, a);
		g->fit = g->unfit.came == WS_CAME_WHOLE && can.has_cache && can.has_sha256;
		if (g->fit && can.batch_bytes > 0 && can.batch_bytes < g->blobs.batch_bytes) {
			g->blobs.batch_bytes = can.batch_bytes;
		} else if (g->unfit.came == WS_CAME_WHOLE && !g->fit) {
			ws_item_set(&g->unfit, WS_CAME_REFUSED, "'%s:%s' %s", g->peer->host, g->peer->port,
				can.has_cache ? "does not support SHA-256" : "has no cache");
		} else if (g->unfit.came == WS_CAME_NOT) { /* the server itself is missing */
			g->unfit.came = WS_CAME_REFUSED;
		}
	}
	*ran = g->asked;
	for (size_t i = 0; i < count && *ran && !g->fit; i++) {
		ws_item_set(&items[i], g->unfit.came, "%s", g->unfit.failure);
	}
	return *ran && g->fit;
}

/* ---- records ---- */

static bool
get_messages(struct ws_remote_cache *self, struct ws_item *items, size_t count)
{
	struct grpc_cache *g = (struct grpc_cache *)self;
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_call *all = WS_NEW_N(a, struct ws_call, count);
	bool ran;
	if (!is_ready(g, items, count, &ran)) {
		return ran;
	}
	for (size_t i = 0; i < count; i++) {
		Reapi__GetActionResultRequest request;
		Reapi__Digest digest = ws_protobuf_digest(items[i].key, items[i].size_bytes);
		reapi__get_action_result_request__init(&request);
		request.instance_name = ws_protobuf_borrow(g->blobs.instance);
		request.action_digest = &digest;
		request.inline_stdout = true;
		all[i] = ws_unary_make(REAPI "ActionCache/GetActionResult", &request, a);
	}
	ran = ws_unary_run(g->blobs.rpc, all, count, 0, a);
	for (size_t i = 0; i < count; i++) {
		if (ran && ws_unary_came(&all[i], &items[i]) && all[i].reply.len > LARGEST_MESSAGE) {
			items[i].came = WS_CAME_WRONG;
		}
		items[i].bytes = all[i].reply;
	}
	return ran;
}

static bool
put_messages(struct ws_remote_cache *self, struct ws_item *items, size_t count)
{
	struct grpc_cache *g = (struct grpc_cache *)self;
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_call *all = WS_NEW_N(a, struct ws_call, count);
	bool ran;
	if (!is_ready(g, items, count, &ran)) {
		return ran;
	}
	for (size_t i = 0; i < count; i++) {
		Reapi__UpdateActionResultRequest request;
		Reapi__Digest digest = ws_protobuf_digest(items[i].key, items[i].size_bytes);
		reapi__update_action_result_request__init(&request);
		request.instance_name = ws_protobuf_borrow(g->blobs.instance);
		request.action_digest = &digest;
		request.action_result =
			ws_protobuf_unpack(&reapi__action_result__descriptor, ws_buf_str(&items[i].bytes), a);
		all[i] = ws_unary_make(REAPI "ActionCache/UpdateActionResult", &request, a);
	}
	ran = ws_unary_run(g->blobs.rpc, all, count, 0, a);
	for (size_t i = 0; i < count; i++) {
		if (ran) {
			ws_unary_came(&all[i], &items[i]);
		}
		ws_buf_release(&all[i].reply);
	}
	return ran;
}

/* ---- files ---- */

static bool
get_files(struct ws_remote_cache *self, struct ws_item *items, size_t count)
{
	struct grpc_cache *g = (struct grpc_cache *)self;
	bool ran;
	return is_ready(g, items, count, &ran) ? ws_blobs_get(&g->blobs, items, count) : ran;
}

static bool
put_files(struct ws_remote_cache *self, struct ws_item *items, size_t count)
{
	struct grpc_cache *g = (struct grpc_cache *)self;
	bool ran;
	return is_ready(g, items, count, &ran) ? ws_blobs_put(&g->blobs, items, count) : ran;
}

static void
close_cache(struct ws_remote_cache *self)
{
	ws_rpc_close(((struct grpc_cache *)self)->blobs.rpc);
}

struct ws_remote_cache *
ws_grpc_cache_open(const struct ws_rpc_config *config, const char *instance, struct ws_arena *a)
{
	struct grpc_cache *g = WS_NEW(a, struct grpc_cache);
	g->cache = (struct ws_remote_cache){
		get_messages, get_files, put_files, put_messages, close_cache, true};
	g->peer = &config->channel.peer;
	g->blobs = (struct ws_blobs){
		.rpc = ws_rpc_open(config), .instance = instance, .batch_bytes = WS_BATCH};
	return &g->cache;
}
