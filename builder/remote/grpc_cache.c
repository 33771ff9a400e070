/* grpc_cache.c - capabilities and records; the files are blobs.c's. */
#include "remote/grpc_cache.h"

#include "remote/blobs.h"
#include "remote/capabilities.h"
#include "remote/protobuf.h"
#include "remote/unary.h"

#define REAPI "/build.bazel.remote.execution.v2."
#define LARGEST_MESSAGE ((size_t)1 << 20)

struct grpc_cache {
	struct ws_remote_cache cache; /* first */
	struct ws_grpc_cache_config config;
	struct ws_blobs blobs;
	bool asked, fit;
	struct ws_item unfit; /* how all items of a server that is not fare */
};

/* ---- what the server can ---- */

static bool
is_unfit(struct grpc_cache *g, const char *why)
{
	ws_item_say(&g->unfit, WS_CAME_REFUSED, "'%s:%s' %s", g->config.rpc.channel.peer.host,
		g->config.rpc.channel.peer.port, why);
	return false;
}

static bool
is_fit(struct grpc_cache *g, const struct ws_capabilities *can)
{
	if (!can->has_cache) {
		return is_unfit(g, "has no cache");
	}
	if (!can->has_sha256) {
		return is_unfit(g, "does not know SHA-256");
	}
	if (can->batch_bytes > 0 && can->batch_bytes < g->blobs.batch_bytes) {
		g->blobs.batch_bytes = can->batch_bytes;
	}
	return true;
}

/* False: the run is to stop. */
static bool
ask(struct grpc_cache *g)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_capabilities can;
	if (g->asked) {
		return true;
	}
	g->asked = ws_capabilities_ask(g->blobs.rpc, g->config.instance, &can, &g->unfit, a);
	if (g->asked && g->unfit.came == WS_CAME_WHOLE) {
		g->fit = is_fit(g, &can);
	} else if (g->unfit.came == WS_CAME_NOT) { /* what is not there is the server */
		g->unfit.came = WS_CAME_REFUSED;
	}
	return g->asked;
}

/* False: nothing more is to be done with these items. */
static bool
begin(struct grpc_cache *g, struct ws_item *items, size_t count, bool *ran)
{
	*ran = ask(g);
	for (size_t i = 0; i < count && *ran && !g->fit; i++) {
		ws_item_say(&items[i], g->unfit.came, "%s", g->unfit.failure);
	}
	return *ran && g->fit;
}

/* ---- records ---- */

static bool
get_messages(struct ws_remote_cache *self, struct ws_item *items, size_t count)
{
	struct grpc_cache *g = (struct grpc_cache *)self;
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_unary *all = WS_NEW_N(a, struct ws_unary, count);
	bool ran;
	if (!begin(g, items, count, &ran)) {
		return ran;
	}
	for (size_t i = 0; i < count; i++) {
		Reapi__GetActionResultRequest request;
		Reapi__Digest digest = ws_blob_digest(&items[i]);
		reapi__get_action_result_request__init(&request);
		request.instance_name = ws_protobuf_borrow(g->config.instance);
		request.action_digest = &digest;
		request.inline_stdout = true;
		ws_unary_prepare(&all[i], REAPI "ActionCache/GetActionResult", &request, a);
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
	struct ws_unary *all = WS_NEW_N(a, struct ws_unary, count);
	bool ran;
	if (!begin(g, items, count, &ran)) {
		return ran;
	}
	for (size_t i = 0; i < count; i++) {
		Reapi__UpdateActionResultRequest request;
		Reapi__Digest digest = ws_blob_digest(&items[i]);
		reapi__update_action_result_request__init(&request);
		request.instance_name = ws_protobuf_borrow(g->config.instance);
		request.action_digest = &digest;
		request.action_result =
			ws_protobuf_unpack(&reapi__action_result__descriptor, ws_buf_str(&items[i].bytes), a);
		ws_unary_prepare(&all[i], REAPI "ActionCache/UpdateActionResult", &request, a);
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
	return begin(g, items, count, &ran) ? ws_blobs_get(&g->blobs, items, count) : ran;
}

static bool
put_files(struct ws_remote_cache *self, struct ws_item *items, size_t count)
{
	struct grpc_cache *g = (struct grpc_cache *)self;
	bool ran;
	return begin(g, items, count, &ran) ? ws_blobs_put(&g->blobs, items, count) : ran;
}

static void
close_cache(struct ws_remote_cache *self)
{
	ws_rpc_close(((struct grpc_cache *)self)->blobs.rpc);
}

struct ws_remote_cache *
ws_grpc_cache_open(const struct ws_grpc_cache_config *config, struct ws_arena *a)
{
	struct grpc_cache *g = WS_NEW(a, struct grpc_cache);
	g->cache = (struct ws_remote_cache){
		get_messages, get_files, put_files, put_messages, close_cache, true};
	g->config = *config;
	g->blobs = (struct ws_blobs){
		.rpc = ws_rpc_open(&config->rpc), .instance = config->instance, .batch_bytes = WS_BATCH};
	return &g->cache;
}
