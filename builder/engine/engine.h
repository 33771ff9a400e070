/**
 * engine.h - runs a graph of actions
 *
 * Looks up each action as soon as its inputs are known. Actions without a result run within the
 * budget, longest remaining path first. Outputs enter the store before others use them, so the
 * next run repeats only what was running. Does not depend on what an action does.
 */
#ifndef WS_ENGINE_ENGINE_H
#define WS_ENGINE_ENGINE_H

#include "engine/graph.h"
#include "engine/runner.h"
#include "engine/work.h"

struct ws_stop;

/** The engine's environment. All borrowed. */
struct ws_engine {
	const struct ws_store *store;
	struct ws_shared *shared; /**< results of other hosts; NULL: none */
	struct ws_ledger *ledger;
	struct ws_runner *runner;
	struct ws_work *work;
	struct ws_budget *budget;
	const struct ws_events *events; /**< may be NULL */
	struct ws_stop *stop;           /**< may be NULL */
	bool keep_going; /**< after a failure, go on with actions that do not need its outputs */
	bool keep_work;  /**< keep the folders of failed actions */
	/** Time limit of an action; 0: ten times its last duration, at least five minutes, or an hour
	 * if it was never measured. */
	uint64_t deadline_ms;
};

/** Totals of a run. */
struct ws_run_summary {
	unsigned total, hits, ran, failed;
	unsigned ran_elsewhere;       /**< commands that other hosts ran */
	uint64_t queued_ms, fetch_ms; /**< of these together: struct ws_worker_run */
	uint64_t cpu_ms;              /**< of the commands of this run */
	uint64_t peak_bytes;          /**< most held at once by running actions */
	struct ws_node *first_failed; /**< NULL: none */
};

/**
 * Runs every node of @a graph that an earlier run did not end. True if all are done. False with
 * @a err if the run cannot continue (a full disk; a signal: WS_ERR_INTERRUPTED, WS_ERR_STOPPED),
 * or, as WS_ERR_BUILD, if actions failed: then each failed node has its own error.
 */
bool ws_engine_run(struct ws_engine *engine, struct ws_graph *graph, struct ws_run_summary *summary,
	struct ws_err *err);

/**
 * Looks up all nodes and runs none: nodes end as DONE, RUNNABLE or WAITING. For `shell`, which
 * opens the first runnable action.
 */
void ws_engine_look(struct ws_engine *engine, struct ws_graph *graph);

#endif
