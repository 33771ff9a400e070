/**
 * graph.h - actions and what waits for what
 *
 * A node is an action and how it fares. Edges are the actions' inputs: an action is added after
 * those whose outputs it takes, so there are no cycles. The engine alone changes nodes.
 */
#ifndef WS_ENGINE_GRAPH_H
#define WS_ENGINE_GRAPH_H

#include "base/arena.h"
#include "base/event.h"
#include "engine/action_cache.h"

enum ws_node_state {
	WS_NODE_WAITING, /**< for the makers of its inputs, its parts, or a node of the same base key */
	WS_NODE_READY,   /**< not looked up yet */
	WS_NODE_RUNNABLE, /**< the store has no result: it must run */
	WS_NODE_RUNNING,
	WS_NODE_DONE,
	WS_NODE_FAILED,
	WS_NODE_CANCELLED, /**< something it needs failed, or the run was stopped */
};

struct ws_job;

#define WS_NOT_QUEUED ((size_t)-1)

struct ws_node {
	const struct ws_action *action;
	unsigned id; /**< from 1, in the order of adding */
	enum ws_node_state state;
	enum ws_outcome outcome;
	struct ws_result result; /**< DONE: complete; FAILED: the log and what it cost */
	const char *why;         /**< why the store had no result; NULL: it had */
	struct ws_err *failure;  /**< FAILED */
	ws_node_list users;      /**< those that take an output of this one */
	unsigned waits_for;      /**< inputs not made yet */
	unsigned after;          /**< the node that made the last of them; 0: there were none */
	const char **made;       /**< digest of each input that another action makes */
	struct ws_digest base;   /**< base key, once READY was looked up */
	struct ws_estimate_of estimate;
	uint64_t measured_ms; /**< how long it took when last measured; 0: never ran to its end here */
	struct ws_need need;
	uint64_t path_ms;         /**< longest remaining path from here, itself included */
	size_t queued_at;         /**< place among those to run (graph.h), or WS_NOT_QUEUED */
	const char *made_key;     /**< the base key that it has claimed (graph.h); NULL: none */
	struct ws_node *same_key; /**< the next of those that wait for the same claim */
	struct ws_node *whole;    /**< the node that this one is a part of; NULL: none */
	ws_node_list parts; /**< what makes its result, after it was looked up in vain; empty: itself */
	const char *undivided; /**< why its split gave no parts; NULL: it gave some, or there is none */
	bool again;            /**< it was done, and runs once more for the sake of its files */
	bool alone;            /**< it was killed for memory: it runs again when nothing else does */
	bool goes_away;        /**< it would run on another host */
	bool waits_for_peer;   /**< another process holds its lock */
	unsigned attempt;
	unsigned passed_over; /**< how often a smaller one was started before it */
	bool locked;          /**< its key is, by this run */
	int64_t started_ms;
	struct ws_worker_run elsewhere; /**< of its last run */
	struct ws_job *job;             /**< while it runs, in its own arena; else NULL */
	const char *dir; /**< as job->dir; FAILED: of the last attempt, in the graph's arena */
};

struct ws_graph {
	struct ws_arena *a;
	ws_node_list nodes;
};

struct ws_graph *ws_graph_make(struct ws_arena *a);

/** Adds an action; both live as long as the graph. */
struct ws_node *ws_graph_add(struct ws_graph *graph, const struct ws_action *action);

/** Fills path_ms from the estimates: one pass from the last node to the first. */
void ws_graph_measure(struct ws_graph *graph);

/* ---- the nodes of a run that can go on ---- */

/** Zeroed but for the arena, it is empty. */
struct ws_queue {
	struct ws_arena *a;
	ws_node_list ready; /**< READY, from `first` on */
	size_t first;
	ws_node_list runnable[2]; /**< RUNNABLE, by goes_away: heaps by path_ms, then id */
	struct ws_map makers;     /**< base key -> the node that has claimed it; NULL: none */
};

/** @a node is READY. */
void ws_queue_add_ready(struct ws_queue *q, struct ws_node *node);

/** Takes the node that has been ready longest; NULL: none is. */
struct ws_node *ws_queue_next_ready(struct ws_queue *q);

/**
 * The store has no result for @a node. True: it is the one that gets it. False: another node of its
 * base key is; then
 * @a node is WAITING, and that one gets the longer remaining path of the two.
 */
bool ws_queue_claim(struct ws_queue *q, struct ws_node *node);

/** @a node, which has its key, is RUNNABLE. */
void ws_queue_add_runnable(struct ws_queue *q, struct ws_node *node);

/** Takes the most urgent of those that go away, or of the others; NULL: there is none. */
struct ws_node *ws_queue_next_runnable(struct ws_queue *q, bool goes_away);

/** Longest remaining path of those to run; 0: there are none. */
uint64_t ws_queue_longest_ms(const struct ws_queue *q);

/** @a node is over: those that waited for its key are READY. */
void ws_queue_release(struct ws_queue *q, struct ws_node *node);

#endif
