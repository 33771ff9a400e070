/**
 * record.h - what a job gave, for this run and for later ones
 *
 * The result is recorded under the keys of its action, unless it must not be used again: then there
 * is a warning. What its end means is outcome.h's, how its outputs entered the store the runner's.
 */
#ifndef WS_ENGINE_RECORD_H
#define WS_ENGINE_RECORD_H

#include "engine/changed_since.h"
#include "engine/engine.h"

/** Fills node->result, in @a a, by a job that succeeded. WS_ERR_BUILD: what it read has gone;
 * WS_ERR_IO: the host's fault. */
bool ws_record(const struct ws_engine *e, struct ws_cache *cache, struct ws_node *node,
	const struct ws_done *done, struct ws_arena *a, struct ws_err *err);

/** The result of node->parts, which are done, as the node's own. WS_ERR_IO: the host's fault. */
bool ws_record_whole(struct ws_cache *cache, struct ws_node *node, struct ws_err *err);

/** What each part of @a node said, in order and each text once, becomes its log. */
void ws_record_logs(const struct ws_store *store, struct ws_node *node);

/** Tells the ledger what @a node cost. */
void ws_record_cost(const struct ws_engine *e, const struct ws_node *node, bool killed);

#endif
