/**
 * graph.h - actions with dependencies and states, and the queue of ready ones
 *
 * A node is an action and its state. Edges are the actions' inputs: an action is added after
 * those whose outputs it uses, so cycles are impossible. Only the engine changes nodes.
 */
#ifndef WS_ENGINE_GRAPH_H
#define WS_ENGINE_GRAPH_H

#include "base/event.h"
#include "engine/action_cache.h"

enum ws_node_state {
	WS_NODE_WAITING, /**< for the makers of its inputs, its parts, or a node with the same base key */
	WS_NODE_READY,   /**< not looked up yet */
	WS_NODE_RUNNABLE, /**< the store has no result: it must run */
	WS_NODE_RUNNING,
	WS_NODE_DONE,
	WS_NODE_FAILED,
	WS_NODE_CANCELLED, /**< a dependency failed, or the run was stopped */
};

struct ws_job;

#define WS_NOT_QUEUED ((size_t)-1)

struct ws_node {
	const struct ws_action *action;
	unsigned id; /**< from 1, in the order of adding */
	enum ws_node_state state;
	enum ws_outcome outcome;
	struct ws_result result; /**< DONE: complete; FAILED: log and cost */
	const char *why;         /**< why the store had no result; NULL: hit */
	struct ws_err *failure;  /**< FAILED */
	ws_node_list users;      /**< nodes that use an output of this one */
	unsigned waits_for;      /**< inputs not made yet */
	unsigned after;          /**< id of the node that created the last input; 0: no inputs */
	const char **made;       /**< digest of each input that another action creates */
	struct ws_digest base;   /**< base key, after the lookup */
	struct ws_estimate_of estimate;
	uint64_t measured_ms; /**< last measured duration; 0: never measured here */
	struct ws_need need;
	uint64_t path_ms;         /**< longest remaining path from here, itself included */
	size_t queued_at;         /**< index in the heap of runnable nodes, or WS_NOT_QUEUED */
	const char *made_key;     /**< the base key that it claimed; NULL: none */
	struct ws_node *same_key; /**< next node that waits for the same claim */
	struct ws_node *whole;    /**< the node whose part this is; NULL: none */
	ws_node_list parts; /**< parts that create its result, after a miss; empty: the action itself */
	const char *
		undivided; /**< why its split returned no parts; NULL: it did, or the action has no split */
	bool again;    /**< was done, and runs again because its files are needed */
	bool alone;    /**< was killed for memory: runs again with nothing beside it */
	bool goes_away;      /**< runs on another host */
	bool waits_for_peer; /**< another process holds the lock of its key */
	unsigned attempt;
	unsigned passed_over; /**< number of smaller nodes that were started before it */
	bool locked;          /**< this run holds the lock of its key */
	int64_t started_ms;
	struct ws_worker_run elsewhere; /**< of its last run */
	struct ws_job *job;             /**< while running, in an arena of its own; else NULL */
	const char *dir; /**< as job->dir; FAILED: of the last attempt, in the graph's arena */
};

struct ws_graph {
	struct ws_arena *a;
	ws_node_list nodes;
};

struct ws_graph *ws_graph_make(struct ws_arena *a);

/** Adds an action, which must live as long as the graph. */
struct ws_node *ws_graph_add(struct ws_graph *graph, const struct ws_action *action);

/** Computes path_ms from the estimates, from the last of @a nodes to the first; @a after_ms follows
 * each of them. */
void ws_graph_measure(const ws_node_list *nodes, uint64_t after_ms);

/* ---- the queue ----
 * Ready nodes: first in, first out. Runnable nodes: longest remaining path first, in one heap
 * for this host and one for others. Nodes with equal base keys: only the claimant is runnable;
 * the others wait for its result. */

/** Zeroed except for the arena, it is empty. */
struct ws_queue {
	struct ws_arena *a;
	ws_node_list ready; /**< READY; the next one is at `first` */
	size_t first;
	ws_node_list runnable[2]; /**< RUNNABLE, indexed by goes_away: heaps by path_ms, then id */
	struct ws_map makers;     /**< base key -> the node that claimed it; NULL: none */
};

/** @a node is READY. */
void ws_queue_add_ready(struct ws_queue *q, struct ws_node *node);

/** Removes the node that has been ready longest; NULL: none. */
struct ws_node *ws_queue_next_ready(struct ws_queue *q);

/**
 * Claims the base key of @a node after a miss. False: another node holds the claim; @a node is
 * WAITING, and the holder gets the longer remaining path of both.
 */
bool ws_queue_claim(struct ws_queue *q, struct ws_node *node);

/** @a node, which holds its claim, is RUNNABLE. */
void ws_queue_add_runnable(struct ws_queue *q, struct ws_node *node);

/** Removes the most urgent node for other hosts or for this one; NULL: none. */
struct ws_node *ws_queue_next_runnable(struct ws_queue *q, bool goes_away);

/** Longest remaining path of the runnable nodes; 0: none. */
uint64_t ws_queue_longest_ms(const struct ws_queue *q);

/** @a node has ended: nodes that waited for its key are READY. */
void ws_queue_release(struct ws_queue *q, struct ws_node *node);

#endif
