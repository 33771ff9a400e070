/* without_remote.c - in place of builder/remote and net/rpc.c where the program is built without their libraries
 * (cmake/remote.cmake). Opening a server fails, so the other functions are never called. */
#include "remote/grpc_cache.h"
#include "remote/execution.h"
#include "remote/server.h"
#include "remote/shared_results.h"

struct ws_server *
ws_server_open(const struct ws_server_config *config WS_UNUSED, struct ws_arena *a WS_UNUSED,
	struct ws_err *err)
{
	ws_err_set(err, WS_ERR_CONFIG,
		"this program was built without build farms and shared results: the user's configuration "
		"has 'remote'");
	ws_err_cure(err, "build it where libprotobuf-c, protoc-c and libnghttp2 are");
	return NULL;
}

struct ws_shared_results *
ws_shared_results_open(const struct ws_shared_results_config *config WS_UNUSED, struct ws_arena *a WS_UNUSED,
	struct ws_err *err WS_UNUSED)
{
	return NULL;
}

void
ws_shared_results_close(struct ws_shared_results *records WS_UNUSED)
{
}

struct ws_shared *
ws_shared_results_interface(struct ws_shared_results *records WS_UNUSED)
{
	return NULL;
}

struct ws_execution *
ws_execution_open(const struct ws_execution_config *config WS_UNUSED, struct ws_arena *a WS_UNUSED,
	struct ws_err *err WS_UNUSED)
{
	return NULL;
}

void
ws_execution_close(struct ws_execution *execution WS_UNUSED)
{
}

struct ws_executor *
ws_execution_executor(struct ws_execution *execution WS_UNUSED)
{
	return NULL;
}

bool
ws_capabilities_ask(struct ws_rpc *rpc WS_UNUSED, const char *instance WS_UNUSED,
	struct ws_capabilities *can WS_UNUSED, struct ws_item *how WS_UNUSED,
	struct ws_arena *a WS_UNUSED)
{
	return false;
}

struct ws_remote_cache *
ws_http_cache_open(const struct ws_server *server WS_UNUSED, struct ws_arena *a WS_UNUSED,
	struct ws_err *err WS_UNUSED)
{
	return NULL;
}

struct ws_rpc *
ws_rpc_open(const struct ws_rpc_config *config WS_UNUSED)
{
	return NULL;
}

void
ws_rpc_close(struct ws_rpc *rpc WS_UNUSED)
{
}
