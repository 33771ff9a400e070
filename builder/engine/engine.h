/**
 * engine.h - runs a graph of actions
 *
 * Looks each action up as soon as its inputs are known; what the store does not have is run within
 * the budget, longest remaining path first; outputs enter the store before anything uses them, so
 * the next run redoes only what was running. Knows nothing of wheels.
 */
#ifndef WS_ENGINE_ENGINE_H
#define WS_ENGINE_ENGINE_H

#include "engine/graph.h"
#include "engine/runner.h"
#include "engine/work.h"

struct ws_stop;

/** Everything the engine is given. Borrowed. */
struct ws_engine {
	const struct ws_store *store;
	struct ws_shared *shared; /**< results of other hosts; NULL: there are none */
	struct ws_ledger *ledger;
	struct ws_runner *runner;
	struct ws_work *work;
	struct ws_budget *budget;
	const struct ws_events *events; /**< may be NULL */
	struct ws_stop *stop;           /**< may be NULL */
	bool keep_going;                /**< finish what does not need a failed action */
	bool keep_work;                 /**< leave the folders of failed actions */
	/** Longest run of one action; 0: ten times what it took, at least five minutes; else an
	 * hour. */
	uint64_t deadline_ms;
};

/** What a run came to. */
struct ws_run_summary {
	unsigned total, hits, ran, failed;
	unsigned ran_elsewhere;       /**< commands that others ran */
	uint64_t queued_ms, fetch_ms; /**< of those together: struct ws_worker_run */
	uint64_t cpu_ms;              /**< of what ran now */
	uint64_t peak_bytes;          /**< most held at once by running actions */
	struct ws_node *first_failed; /**< NULL: none */
};

/**
 * Runs every node of @a graph that an earlier run of it has not ended. True when all are done.
 * False with @a err when the run itself could not go on (the host's disk, a signal:
 * WS_ERR_INTERRUPTED, WS_ERR_STOPPED), or, as WS_ERR_BUILD, when actions failed: then each failed
 * node has its own error.
 */
bool ws_engine_run(struct ws_engine *engine, struct ws_graph *graph, struct ws_run_summary *summary,
	struct ws_err *err);

/**
 * Looks up everything that can be without running anything: nodes end DONE, or RUNNABLE, or
 * WAITING. For `shell`, which wants the first action that would run.
 */
bool ws_engine_look(struct ws_engine *engine, struct ws_graph *graph, struct ws_err *err);

#endif
