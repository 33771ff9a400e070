/**
 * execution.h - actions run by a build farm: Execution of the Remote Execution API (v2)
 *
 * Farms are many (BuildGrid, Buildbarn, NativeLink, BuildBuddy and their like); they share the
 * protocol. What may run there is what says which files of this host its tool consists of, and
 * takes nothing but trees and stored files: compilations. Linking, checking and packing stay here.
 *
 * An action goes there with its trees, its order and the program that carries it out
 * (wheelsmith-exec). That program holds the worker's compiler against the one that was chosen, and
 * reports what was read. What was read outside of trees must be the same here, or, of an action
 * with a platform, on all workers; else the result is not taken. So results have the keys that they
 * would have on any host with those files.
 */
#ifndef WS_REMOTE_EXECUTION_H
#define WS_REMOTE_EXECUTION_H

#include "base/event.h"
#include "engine/runner.h"
#include "net/rpc.h"
#include "store/ledger.h"

/** All borrowed. */
struct ws_execution_config {
	struct ws_rpc_config rpc;
	const char *instance;          /**< "": none */
	const char *const *properties; /**< of the platform, "NAME=VALUE" */
	size_t property_count;
	unsigned slots;     /**< how many actions are there at most; 0: WS_EXECUTION_SLOTS */
	const char *helper; /**< path of wheelsmith-exec */
	bool falls_back;    /**< what the farm does not do is done here */
	const struct ws_store *store;
	struct ws_ledger *ledger;
	const struct ws_events *events;
	struct ws_stop *stop;
};

#define WS_EXECUTION_SLOTS 200

struct ws_execution;

/** Asks nobody yet. NULL: WS_ERR_CONFIG, the helper is not there. */
struct ws_execution *ws_execution_open(
	const struct ws_execution_config *config, struct ws_arena *a, struct ws_err *err);

/** NULL is fine. */
void ws_execution_close(struct ws_execution *execution);

/** Borrowed; NULL gives NULL. */
struct ws_executor *ws_execution_executor(struct ws_execution *execution);

#endif
