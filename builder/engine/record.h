/**
 * record.h - what a job that succeeded left in its folder
 *
 * Its outputs and its log move into the store, and the result is recorded under the keys of its action,
 * unless it must not be used again: then there is a warning. What a job's end means is outcome.h's.
 */
#ifndef WS_ENGINE_RECORD_H
#define WS_ENGINE_RECORD_H

#include "engine/graph.h"
#include "engine/touched.h"

struct ws_events;

/**
 * Fills node->result, in @a a. @a since: what changed meanwhile is not kept. WS_ERR_BUILD: an output is missing; WS_ERR_IO: the host's fault.
 */
bool ws_record(struct ws_cache *cache, const struct ws_events *events, struct ws_node *node,
	const struct ws_since *since, const char *log, struct ws_arena *a, struct ws_err *err);

/** Moves the log into the store, if there is one and it is not empty; fills node->result.log. */
void ws_record_log(const struct ws_store *store, struct ws_node *node, const char *log);

#endif
