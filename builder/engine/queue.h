/**
 * queue.h - the nodes of a run that can go on
 *
 * Those that are ready to be looked up, first in first out; those that are to be run, here or on
 * other hosts, longest remaining path first. Of nodes with one base key only one is among the
 * latter: the others wait with it, since its result may be theirs. Nothing here walks the graph, so
 * an event costs what it changes.
 */
#ifndef WS_ENGINE_QUEUE_H
#define WS_ENGINE_QUEUE_H

#include "base/map.h"
#include "engine/graph.h"

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
