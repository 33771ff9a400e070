#include "remote/capabilities.h"

#include "remote/protobuf.h"
#include "remote/reapi.pb-c.h"
#include "remote/unary.h"

#define SHA256 1 /* DigestFunction.Value */

static const char *
name_digest(int32_t function, struct ws_arena *a)
{
	static const char *const names[] = {NULL, "SHA-256", "SHA-1", "MD5", "VSO", "SHA-384",
		"SHA-512", "MurmurHash3", "SHA-256 tree", "BLAKE3"};
	bool known = function > 0 && function < (int32_t)WS_LEN(names);
	return known ? names[function] : ws_arena_printf(a, "%d", (int)function);
}

static const char *
name_version(const Reapi__SemVer *version, struct ws_arena *a)
{
	return version ? ws_arena_printf(a, "%d.%d", (int)version->major, (int)version->minor) : NULL;
}

static void
read_cache(const Reapi__CacheCapabilities *cache, struct ws_capabilities *can, struct ws_arena *a)
{
	const char **digests = WS_NEW_N(a, const char *, cache->n_digest_functions);
	can->has_cache = true;
	can->has_sha256 = cache->n_digest_functions == 0;
	for (size_t i = 0; i < cache->n_digest_functions; i++) {
		can->has_sha256 = can->has_sha256 || cache->digest_functions[i] == SHA256;
		digests[i] = name_digest(cache->digest_functions[i], a);
	}
	can->digests = digests;
	can->digest_count = cache->n_digest_functions;
	can->takes_records = cache->action_cache_update_capabilities
		&& cache->action_cache_update_capabilities->update_enabled;
	can->batch_bytes =
		cache->max_batch_total_size_bytes > 0 ? (uint64_t)cache->max_batch_total_size_bytes : 0;
}

static void
read_execution(const Reapi__ExecutionCapabilities *execution, struct ws_capabilities *can)
{
	can->executes = execution->exec_enabled;
	can->executes_sha256 = execution->digest_function == SHA256
		|| (execution->digest_function == 0 && execution->n_digest_functions == 0);
	for (size_t i = 0; i < execution->n_digest_functions; i++) {
		can->executes_sha256 = can->executes_sha256 || execution->digest_functions[i] == SHA256;
	}
}

bool
ws_capabilities_ask(struct ws_rpc *rpc, const char *instance, struct ws_capabilities *can,
	struct ws_item *how, struct ws_arena *a)
{
	Reapi__GetCapabilitiesRequest request;
	struct ws_unary unary = {0};
	const Reapi__ServerCapabilities *said = NULL;
	reapi__get_capabilities_request__init(&request);
	request.instance_name = ws_protobuf_borrow(instance);
	ws_unary_prepare(
		&unary, "/build.bazel.remote.execution.v2.Capabilities/GetCapabilities", &request, a);
	bool ran = ws_unary_run(rpc, &unary, 1, 0, a);
	*can = (struct ws_capabilities){
		.status = unary.call.status, .words = ws_arena_strdup(a, unary.call.text)};
	if (ran && ws_unary_came(&unary, how)) {
		said = ws_protobuf_unpack(
			&reapi__server_capabilities__descriptor, ws_buf_str(&unary.reply), a);
		if (!said) {
			can->status = WS_RPC_INTERNAL;
			ws_item_say(how, WS_CAME_REFUSED, "GetCapabilities: a malformed reply");
		}
	}
	ws_buf_release(&unary.reply);
	if (said && said->cache_capabilities) {
		read_cache(said->cache_capabilities, can, a);
	}
	if (said && said->execution_capabilities) {
		read_execution(said->execution_capabilities, can);
	}
	can->lowest = said ? name_version(said->low_api_version, a) : NULL;
	can->highest = said ? name_version(said->high_api_version, a) : NULL;
	return ran;
}
