/**
 * job_outcome.h - what the end of a job means
 *
 * Success, a failure with its sentence, or a kill for want of memory and whether it runs again.
 */
#ifndef WS_ENGINE_JOB_OUTCOME_H
#define WS_ENGINE_JOB_OUTCOME_H

#include "engine/engine.h"
#include "engine/graph.h"
#include "engine/runner.h"

enum ws_end {
	WS_END_OK,
	WS_END_FAILED,
	WS_END_OUT_OF_MEMORY, /**< SIGKILL that we did not send, to it or to a child of it */
	WS_END_AGAIN,         /**< the same, for the first time: it runs once more, alone */
	WS_END_ANEW,          /**< it did not run: what it takes is made once more first */
	WS_END_STOPPED,
};

/** @a err gets the sentence of all but WS_END_OK, ANEW and STOPPED. */
enum ws_end ws_outcome_of(
	const struct ws_node *node, const struct ws_done *done, struct ws_err *err);

/** WS_END_AGAIN: alone, with twice what it held as its need. */
void ws_outcome_run_alone(struct ws_node *node);

/* ---- what is kept of a job ---- */

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
