/**
 * graph_run.h - one run of a graph, shared by the files that make the engine
 *
 * engine.c decides what is looked up and started; graph_run.c changes the states of nodes;
 * graph_run.c reports them. Nobody else includes this.
 */
#ifndef WS_ENGINE_GRAPH_RUN_H
#define WS_ENGINE_GRAPH_RUN_H

#include "base/arena.h"
#include "engine/engine.h"
#include "engine/graph.h"

struct ws_run {
	struct ws_engine *e;
	struct ws_graph *graph;
	struct ws_run_summary *sum;
	struct ws_cache cache;
	struct ws_arena *a; /**< the graph's */
	struct ws_queue queue;
	ws_node_list running; /**< a few, in no order */
	struct ws_map failed; /**< base key -> the node that failed with it */
	struct ws_map uses;   /**< digest of a transient output -> how many open nodes take it */
	unsigned open;        /**< nodes that are not over */
	unsigned finished;    /**< of those that are no parts */
	unsigned unknown;     /**< of the open ones, those without a prediction */
	uint64_t left_ms;     /**< predicted work of the rest, running ones in full */
	int64_t began_file_ns;
	unsigned held_back; /**< slots that memory kept free when something was ready */
	bool looking;       /**< nothing is to run: ws_engine_look */
	bool closing;       /**< start nothing any more */
	struct ws_err *err; /**< why the run itself cannot go on; NULL where it can */
	struct ws_err fatal;
};

/* ---- graph_run.c ---- */

/** @a node of the graph takes part from now on. */
void ws_run_open(struct ws_run *r, struct ws_node *node);

/**
 * Where the action of @a node is split, its parts take part from now on, and it waits for them.
 * False with @a err: it cannot be made.
 */
bool ws_run_expand(struct ws_run *r, struct ws_node *node, struct ws_err *err);

/** False: files that it needs are gone; those who made them run again, and @a node is WAITING. */
bool ws_run_has_inputs(struct ws_run *r, struct ws_node *node);

/** @a node has its result: those that waited for it may be ready. */
void ws_run_complete(struct ws_run *r, struct ws_node *node, enum ws_outcome outcome);

/** Nothing that needs @a node can be made. */
void ws_run_fail(struct ws_run *r, struct ws_node *node, const struct ws_err *err);

/** Gives up @a node and what needs it, unless it is over or runs. */
void ws_run_cancel(struct ws_run *r, struct ws_node *node);

/** The run itself cannot go on; the first reason counts. */
void ws_run_give_up(struct ws_run *r, const struct ws_err *err);

/* ---- graph_run.c ---- */

void ws_run_report_started(const struct ws_run *r, const struct ws_node *node);
void ws_run_report_done(const struct ws_run *r, const struct ws_node *node);

/** What runs, and what is left; returns the bytes that are held now. */
uint64_t ws_run_report_progress(const struct ws_run *r);

#endif
