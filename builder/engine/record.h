/**
 * record.h - what a job that succeeded left in its folder
 *
 * Its outputs and its log move into the store, and the result is recorded under the keys of its action,
 * unless it must not be used again: then there is a warning. What a job's end means is outcome.h's.
 */
#ifndef WS_ENGINE_RECORD_H
#define WS_ENGINE_RECORD_H

#include "engine/changed_since.h"
#include "engine/engine.h"

/**
 * Fills node->result, in @a a. @a since: what changed meanwhile is not kept. Outputs of transient actions go
 * to the run's folder. WS_ERR_BUILD: an output is missing; WS_ERR_IO: the host's fault.
 */
bool ws_record(const struct ws_engine *e, struct ws_cache *cache, struct ws_node *node,
	const struct ws_since *since, const char *log, struct ws_arena *a, struct ws_err *err);

/** The result of node->parts, which are done, as the node's own. WS_ERR_IO: the host's fault. */
bool ws_record_whole(struct ws_cache *cache, struct ws_node *node, struct ws_err *err);

/** What each part of @a node said, in order and each text once, becomes its log. */
void ws_record_logs(const struct ws_store *store, struct ws_node *node);

/** Tells the ledger what @a node cost. */
void ws_record_cost(const struct ws_engine *e, const struct ws_node *node, bool killed);

/** Moves the log into the store, if there is one and it is not empty; fills node->result.log. */
void ws_record_log(const struct ws_store *store, struct ws_node *node, const char *log);

#endif
