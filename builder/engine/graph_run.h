/**
 * graph_run.h - the state of one run of a graph
 *
 * Private to the engine: engine.c decides what is looked up and started, graph_run.c changes
 * states of nodes and reports events.
 */
#ifndef WS_ENGINE_GRAPH_RUN_H
#define WS_ENGINE_GRAPH_RUN_H

#include "engine/engine.h"

struct ws_run {
	struct ws_engine *e;
	struct ws_graph *graph;
	struct ws_run_summary *sum;
	struct ws_cache cache;
	struct ws_arena *a; /**< the graph's */
	struct ws_queue queue;
	ws_node_list running; /**< a few, unordered */
	struct ws_map failed; /**< base key -> the node that failed with this key */
	struct ws_map uses;   /**< digest of a transient output -> number of open nodes that use it */
	unsigned open;        /**< nodes that have not ended */
	unsigned finished;    /**< ended nodes, without parts */
	unsigned unknown;     /**< open nodes without a prediction */
	uint64_t left_ms;     /**< predicted work of open nodes, running ones in full */
	int64_t began_file_ns;
	unsigned held_back;  /**< free CPU slots while ready nodes wait for memory */
	bool looking;        /**< lookup only: ws_engine_look */
	bool closing;        /**< start no more jobs */
	struct ws_err fatal; /**< why the run cannot continue; kind WS_ERR_NONE: it can */
};

/* ---- states ---- */

/** Adds @a node to the run. */
void ws_run_open(struct ws_run *r, struct ws_node *node);

/**
 * If the action of @a node is split, adds its parts to the run, and the node waits for them.
 * False with @a err: it cannot be built.
 */
bool ws_run_expand(struct ws_run *r, struct ws_node *node, struct ws_err *err);

/** False: transient inputs are missing. Their makers run again, and @a node is WAITING. */
bool ws_run_has_inputs(struct ws_run *r, struct ws_node *node);

/** @a node is DONE: nodes that waited for it may be ready. */
void ws_run_complete(struct ws_run *r, struct ws_node *node, enum ws_outcome outcome);

/** @a node is FAILED, and its users are cancelled. */
void ws_run_fail(struct ws_run *r, struct ws_node *node, const struct ws_err *err);

/** Cancels @a node and its users, unless it has ended or runs. */
void ws_run_cancel(struct ws_run *r, struct ws_node *node);

/** Ends the run; the first reason counts. */
void ws_run_give_up(struct ws_run *r, const struct ws_err *err);

/* ---- events ---- */

void ws_run_report_started(const struct ws_run *r, const struct ws_node *node);
void ws_run_report_done(const struct ws_run *r, const struct ws_node *node);

/** Reports running nodes and the remaining time; returns the bytes that running jobs hold. */
uint64_t ws_run_report_progress(const struct ws_run *r);

/* ---- ends of jobs ----
 * Success, a failure with its message, or a kill for lack of memory and whether the job runs again.
 * A success is recorded under the action's keys, unless its result must not be reused: then there
 * is a warning. */

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
