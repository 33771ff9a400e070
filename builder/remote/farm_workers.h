/**
 * farm_workers.h - asks a worker of a farm about its host
 *
 * Runs one action, on any worker, that reports files and compilers. Later reports of other
 * workers must agree with it.
 */
#ifndef WS_REMOTE_FARM_WORKERS_H
#define WS_REMOTE_FARM_WORKERS_H

#include "engine/worker_files.h"
#include "remote/execution.h"
#include "remote/remote_action.h"

/** All borrowed. */
struct ws_farm_workers_query {
	const struct ws_execution_config *config;
	struct ws_rpc *rpc;
	struct ws_remote_cache *cache;
	const struct ws_remote_actions *actions;
	struct ws_worker_files *platform;
	bool *has_warned; /**< ws_farm_warn_queued was called */
};

/** Queries a worker about @a names, one a line, and adds its report. @a told (NULL: not
 * requested) gets a description of its compilers, for which the query waits as long as the farm
 * is busy. */
bool ws_farm_workers_query(const struct ws_farm_workers_query *probe, const struct ws_buf *names,
	struct ws_buf *told, struct ws_err *err);

/** Warns that the farm has run nothing for a minute (ws_operation_waits_long). */
void ws_farm_warn_queued(const struct ws_events *events, const char *farm);

#endif
