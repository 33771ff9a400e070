/**
 * run.h - one run of the engine, for engine/'s own files
 *
 * engine.c owns the states of nodes; start.c, finish.c and tell.c are its hands and its voice.
 */
#ifndef WS_ENGINE_RUN_H
#define WS_ENGINE_RUN_H

#include "engine/engine.h"

struct ws_run {
	struct ws_engine *e;
	struct ws_graph *graph;
	struct ws_run_summary *sum;
	struct ws_cache cache;
	struct ws_arena *a;   /**< the graph's */
	ws_node_list running; /**< a few, in no order */
	unsigned finished;
	bool closing;       /**< start nothing any more */
	struct ws_err *err; /**< why the run itself cannot go on; NULL where it can */
	struct ws_err fatal;
};

/** READY becomes DONE, RUNNABLE, or FAILED. */
void ws_run_look_up(struct ws_run *r, struct ws_node *node);
void ws_run_look_up_ready(struct ws_run *r);

/** The node's result is complete: its users wake. */
void ws_run_complete(struct ws_run *r, struct ws_node *node, enum ws_outcome outcome);
/** The node failed: what needs it is cancelled, and without keep_going nothing more starts. */
void ws_run_fail(struct ws_run *r, struct ws_node *node, const struct ws_err *err);
/** The node and all that need it will not run. Nothing for one that runs or has ended. */
void ws_run_cancel(struct ws_run *r, struct ws_node *node);
/** The run cannot go on; the first reason counts. */
void ws_run_give_up(struct ws_run *r, const struct ws_err *err);
/** Lets other processes have the node's key. */
void ws_run_unlock(const struct ws_run *r, struct ws_node *node);

/** Starts what the budget allows; @a held_bytes is what runs now holds. */
void ws_run_start(struct ws_run *r, uint64_t held_bytes);
/** Where the node's command writes its log. */
const char *ws_run_log_path(const struct ws_run *r, const struct ws_node *node, struct ws_arena *a);

/** The node's job has ended. */
void ws_run_finish(struct ws_run *r, struct ws_node *node, const struct ws_done *done);

void ws_run_tell_started(const struct ws_run *r, const struct ws_node *node);
void ws_run_tell_done(const struct ws_run *r, const struct ws_node *node);
/** Samples and progress; returns what all running jobs hold. */
uint64_t ws_run_tell_progress(const struct ws_run *r);

#endif
