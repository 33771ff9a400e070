/* queue.c - a list that is read from its front, a binary heap, a map by base key. */
#include "engine/queue.h"

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
place(struct ws_queue *q, size_t at, struct ws_node *node)
{
	q->runnable.at[at] = node;
	node->queued_at = at;
}

static void
move_up(struct ws_queue *q, size_t at)
{
	struct ws_node *node = q->runnable.at[at];
	while (at > 0 && is_before(node, q->runnable.at[(at - 1) / 2])) {
		place(q, at, q->runnable.at[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	place(q, at, node);
}

static void
move_down(struct ws_queue *q, size_t at)
{
	struct ws_node *node = q->runnable.at[at];
	for (;;) {
		size_t child = 2 * at + 1;
		if (child >= q->runnable.len) {
			break;
		}
		if (child + 1 < q->runnable.len
			&& is_before(q->runnable.at[child + 1], q->runnable.at[child])) {
			child++;
		}
		if (!is_before(q->runnable.at[child], node)) {
			break;
		}
		place(q, at, q->runnable.at[child]);
		at = child;
	}
	place(q, at, node);
}

void
ws_queue_add_runnable(struct ws_queue *q, struct ws_node *node)
{
	node->state = WS_NODE_RUNNABLE;
	*ws_vec_push(&q->runnable, q->a) = node;
	move_up(q, q->runnable.len - 1);
}

struct ws_node *
ws_queue_next_runnable(struct ws_queue *q)
{
	if (q->runnable.len == 0) {
		return NULL;
	}
	struct ws_node *first = q->runnable.at[0];
	struct ws_node *last = q->runnable.at[--q->runnable.len];
	first->queued_at = WS_NOT_QUEUED;
	if (q->runnable.len > 0) {
		place(q, 0, last);
		move_down(q, 0);
	}
	return first;
}

uint64_t
ws_queue_longest_ms(const struct ws_queue *q)
{
	return q->runnable.len > 0 ? q->runnable.at[0]->path_ms : 0;
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
		/* A copy: a key that is computed again may differ, if a file changed. */
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
			move_up(q, maker->queued_at);
		}
	}
	return false;
}
