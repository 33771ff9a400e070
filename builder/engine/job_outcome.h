/**
 * job_outcome.h - interprets and records the end of a job
 *
 * Success, a failure with its message, or a kill for lack of memory and whether the job runs
 * again. A success is recorded under the action's keys, unless its result must not be reused:
 * then there is a warning.
 */
#ifndef WS_ENGINE_JOB_OUTCOME_H
#define WS_ENGINE_JOB_OUTCOME_H

#include "engine/engine.h"
#include "engine/graph.h"
#include "engine/runner.h"

enum ws_end {
	WS_END_OK,
	WS_END_FAILED,
	WS_END_OUT_OF_MEMORY, /**< SIGKILL from outside, to it or to a child */
	WS_END_AGAIN,         /**< the same, for the first time: run again, alone */
	WS_END_ANEW,          /**< did not run: an input must be created again first */
	WS_END_STOPPED,
};

/** @a err gets the message, except for WS_END_OK, ANEW and STOPPED. */
enum ws_end ws_outcome_of(
	const struct ws_node *node, const struct ws_done *done, struct ws_err *err);

/** For WS_END_AGAIN: run alone, and need twice the peak. */
void ws_outcome_run_alone(struct ws_node *node);

/* ---- recording ---- */

/** Fills node->result, in @a a, from a job that succeeded. WS_ERR_BUILD: a file that it read is
 * gone; WS_ERR_IO: a fault of the host. */
bool ws_record(const struct ws_engine *e, struct ws_cache *cache, struct ws_node *node,
	const struct ws_done *done, struct ws_arena *a, struct ws_err *err);

/** Records the result of node->parts, all done, as the node's own. WS_ERR_IO: a fault of the
 * host. */
bool ws_record_whole(struct ws_cache *cache, struct ws_node *node, struct ws_err *err);

/** Joins the logs of the parts of @a node, each text once. */
void ws_record_logs(const struct ws_store *store, struct ws_node *node);

/** Records the cost of @a node in the ledger. */
void ws_record_cost(const struct ws_engine *e, const struct ws_node *node, bool killed);

#endif
