/**
 * farm_workers.h - a farm is asked what its hosts are
 *
 * One action, which any worker may get: what it tells is held against what others do later.
 */
#ifndef WS_REMOTE_FARM_WORKERS_H
#define WS_REMOTE_FARM_WORKERS_H

#include "base/event.h"
#include "engine/worker_files.h"
#include "net/rpc.h"
#include "remote/remote_action.h"
#include "remote/server.h"

/** All borrowed. */
struct ws_farm_workers_query {
	struct ws_rpc *rpc;
	struct ws_remote_cache *cache;
	const struct ws_remote_actions *actions;
	const char *instance;
	struct ws_worker_files *platform;
	const struct ws_store *store;
	const struct ws_events *events;
	struct ws_stop *stop;
	bool *said_queued; /**< the warning below was given */
};

/** Has the platform learn about @a names, a line each, and appends what it tells of its compilers
 * to @a told, for which it waits as long as the farm is busy; NULL: that is not wanted. */
bool ws_farm_workers_query(const struct ws_farm_workers_query *probe, const struct ws_buf *names,
	struct ws_buf *told, struct ws_err *err);

/** Nothing runs there, though it has been asked for a minute (ws_operation_waits_long). */
void ws_farm_warn_queued(const struct ws_events *events, const char *farm);

#endif
