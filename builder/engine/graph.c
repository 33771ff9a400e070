/* graph.c - adding nodes, measuring paths, and the queue: a list read from its front, binary
 * heaps, a map by base key. */
#include "engine/graph.h"

#include <assert.h>

struct ws_graph *
ws_graph_make(struct ws_arena *a)
{
	struct ws_graph *graph = WS_NEW(a, struct ws_graph);
	graph->a = a;
	return graph;
}

struct ws_node *
ws_graph_add(struct ws_graph *graph, const struct ws_action *action)
{
	struct ws_node *node = WS_NEW(graph->a, struct ws_node);
	node->action = action;
	node->queued_at = WS_NOT_QUEUED;
	node->made = WS_NEW_N(graph->a, const char *, action->input_count);
	*ws_vec_push(&graph->nodes, graph->a) = node;
	node->id = (unsigned)graph->nodes.len;
	for (size_t i = 0; i < action->input_count; i++) {
		const struct ws_node *from = action->inputs[i].from;
		if (from) {
			struct ws_node *maker = graph->nodes.at[from->id - 1];
			assert(maker == from);
			*ws_vec_push(&maker->users, graph->a) = node;
			node->waits_for++;
		}
	}
	node->state = node->waits_for ? WS_NODE_WAITING : WS_NODE_READY;
	return node;
}

void
ws_graph_measure(const ws_node_list *nodes, uint64_t after_ms)
{
	for (size_t i = nodes->len; i-- > 0;) {
		struct ws_node *node = nodes->at[i];
		uint64_t longest_ms = after_ms;
		for (size_t j = 0; j < node->users.len; j++) {
			uint64_t path_ms = node->users.at[j]->path_ms;
			longest_ms = path_ms > longest_ms ? path_ms : longest_ms;
		}
		node->path_ms = longest_ms + node->estimate.wall_ms;
	}
}

/* ---- the queue ---- */

void
ws_queue_add_ready(struct ws_queue *q, struct ws_node *node)
{
	*ws_vec_push(&q->ready, q->a) = node;
}

struct ws_node *
ws_queue_next_ready(struct ws_queue *q)
{
	if (q->first == q->ready.len) {
		q->first = q->ready.len = 0;
		return NULL;
	}
	return q->ready.at[q->first++];
}

static bool
is_before(const struct ws_node *x, const struct ws_node *y)
{
	return x->path_ms != y->path_ms ? x->path_ms > y->path_ms : x->id < y->id;
}

static void
place_node(ws_node_list *heap, size_t at, struct ws_node *node)
{
	heap->at[at] = node;
	node->queued_at = at;
}

static void
move_up(ws_node_list *heap, size_t at)
{
	struct ws_node *node = heap->at[at];
	while (at > 0 && is_before(node, heap->at[(at - 1) / 2])) {
		place_node(heap, at, heap->at[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	place_node(heap, at, node);
}

static void
move_down(ws_node_list *heap, size_t at)
{
	struct ws_node *node = heap->at[at];
	for (;;) {
		size_t child = 2 * at + 1;
		if (child >= heap->len) {
			break;
		}
		if (child + 1 < heap->len && is_before(heap->at[child + 1], heap->at[child])) {
			child++;
		}
		if (!is_before(heap->at[child], node)) {
			break;
		}
		place_node(heap, at, heap->at[child]);
		at = child;
	}
	place_node(heap, at, node);
}

void
ws_queue_add_runnable(struct ws_queue *q, struct ws_node *node)
{
	ws_node_list *heap = &q->runnable[node->goes_away];
	node->state = WS_NODE_RUNNABLE;
	*ws_vec_push(heap, q->a) = node;
	move_up(heap, heap->len - 1);
}

struct ws_node *
ws_queue_next_runnable(struct ws_queue *q, bool goes_away)
{
	ws_node_list *heap = &q->runnable[goes_away];
	if (heap->len == 0) {
		return NULL;
	}
	struct ws_node *first = heap->at[0];
	struct ws_node *last = heap->at[--heap->len];
	first->queued_at = WS_NOT_QUEUED;
	if (heap->len > 0) {
		place_node(heap, 0, last);
		move_down(heap, 0);
	}
	return first;
}

uint64_t
ws_queue_longest_ms(const struct ws_queue *q)
{
	uint64_t longest_ms = 0;
	for (size_t i = 0; i < WS_LEN(q->runnable); i++) {
		uint64_t path_ms = q->runnable[i].len > 0 ? q->runnable[i].at[0]->path_ms : 0;
		longest_ms = path_ms > longest_ms ? path_ms : longest_ms;
	}
	return longest_ms;
}

void
ws_queue_release(struct ws_queue *q, struct ws_node *node)
{
	if (!node->made_key) {
		return;
	}
	ws_map_put(&q->makers, node->made_key, NULL, q->a);
	node->made_key = NULL;
	struct ws_node *next = node->same_key;
	node->same_key = NULL;
	while (next) {
		struct ws_node *waiting = next;
		next = waiting->same_key;
		waiting->same_key = NULL;
		if (waiting->state == WS_NODE_WAITING) {
			waiting->state = WS_NODE_READY;
			ws_queue_add_ready(q, waiting);
		}
	}
}

bool
ws_queue_claim(struct ws_queue *q, struct ws_node *node)
{
	struct ws_node *maker = ws_map_get(&q->makers, node->base.hex);
	if (!maker) {
		ws_queue_release(q, node);
		/* A copy: a recomputed key may differ if a file changed. */
		node->made_key = ws_arena_strdup(q->a, node->base.hex);
		ws_map_put(&q->makers, node->made_key, node, q->a);
		return true;
	}
	if (maker == node) {
		return true;
	}
	node->state = WS_NODE_WAITING;
	node->same_key = maker->same_key;
	maker->same_key = node;
	if (node->path_ms > maker->path_ms) {
		maker->path_ms = node->path_ms;
		if (maker->queued_at != WS_NOT_QUEUED) {
			move_up(&q->runnable[maker->goes_away], maker->queued_at);
		}
	}
	return false;
}
