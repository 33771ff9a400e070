/**
 * probe.h - a farm is asked what its hosts are
 *
 * One action, which any worker may get: what it tells is held against what others do later.
 */
#ifndef WS_REMOTE_PROBE_H
#define WS_REMOTE_PROBE_H

#include "base/event.h"
#include "engine/platform.h"
#include "net/rpc.h"
#include "remote/cache.h"
#include "remote/remote_action.h"

/** All borrowed. */
struct ws_probe {
	struct ws_rpc *rpc;
	struct ws_remote_cache *cache;
	const struct ws_remote_actions *actions;
	const char *instance;
	struct ws_platform *platform;
	const struct ws_store *store;
	const struct ws_events *events;
	struct ws_stop *stop;
	bool *said_queued; /**< the warning below was given */
};

/** Has the platform learn about @a names, a line each, and appends what it tells of its compilers
 * to @a told, for which it waits as long as the farm is busy; NULL: that is not wanted. */
bool ws_probe_run(const struct ws_probe *probe, const struct ws_buf *names, struct ws_buf *told,
	struct ws_err *err);

/** Nothing runs there, though it has been asked for a minute (ws_operation_waits_long). */
void ws_farm_warn_queued(const struct ws_events *events, const char *farm);

#endif
