/**
 * execution.h - runs actions on a build farm: Execution of the Remote Execution API (v2)
 *
 * For BuildGrid, Buildbarn, NativeLink, BuildBuddy and other servers of this protocol. An action
 * can run there if it names the host files of its tool and uses only trees and stored files:
 * compilations. Linking, checking and packing run on this host.
 *
 * An action is sent with its trees, its order, and the program that runs it (wheelsmith-exec).
 * This program compares the worker's compiler with the chosen one and reports what was read.
 * Files that were read outside of trees must be equal on this host or, for an action of workers
 * (engine/worker_files.h), on all workers; otherwise the result is refused. So results have the
 * same keys as on any host with these files.
 */
#ifndef WS_REMOTE_EXECUTION_H
#define WS_REMOTE_EXECUTION_H

#include "engine/runner.h"
#include "net/rpc.h"
#include "store/ledger.h"

/** All borrowed. */
struct ws_execution_config {
	struct ws_rpc_config rpc;
	const char *instance;          /**< "": none */
	const char *const *properties; /**< of the platform, "NAME=VALUE" */
	size_t property_count;
	unsigned slots;     /**< most concurrent actions; 0: WS_EXECUTION_SLOTS */
	const char *helper; /**< path of wheelsmith-exec */
	bool falls_back;    /**< run on this host what the farm cannot run */
	const struct ws_store *store;
	struct ws_ledger *ledger;
	const struct ws_events *events;
	struct ws_stop *stop;
};

#define WS_EXECUTION_SLOTS 200

struct ws_execution;

/** Sends nothing yet. NULL: WS_ERR_CONFIG, the helper is missing. */
struct ws_execution *ws_execution_open(
	const struct ws_execution_config *config, struct ws_arena *a, struct ws_err *err);

/** NULL is fine. */
void ws_execution_close(struct ws_execution *execution);

/** Borrowed; NULL gives NULL. */
struct ws_executor *ws_execution_executor(struct ws_execution *execution);

#endif
