/* test_engine_queue.c - who is next, and who waits with whom. */
#include "test.h"

#include "engine/graph.h"

static struct ws_node *
make_node(struct ws_arena *a, unsigned id, uint64_t path_ms, char key)
{
	struct ws_node *node = WS_NEW(a, struct ws_node);
	*node = (struct ws_node){
		.id = id, .path_ms = path_ms, .state = WS_NODE_READY, .queued_at = WS_NOT_QUEUED};
	memset(node->base.hex, key, 64);
	return node;
}

static void
add_missing(struct ws_queue *q, struct ws_node *node)
{
	if (ws_queue_claim(q, node)) {
		ws_queue_add_runnable(q, node);
	}
}

WS_TEST(the_longest_remaining_path_comes_first_then_the_first_added)
{
	struct ws_queue q = {.a = a};
	unsigned seed = 7;
	for (unsigned i = 1; i <= 500; i++) {
		seed = seed * 1103515245 + 12345;
		struct ws_node *node = make_node(a, i, seed >> 16 & 31, 'a');
		snprintf(node->base.hex, sizeof(node->base.hex), "%064u", i);
		add_missing(&q, node);
	}
	const struct ws_node *last = ws_queue_next_runnable(&q, false);
	for (unsigned i = 1; i < 500; i++) {
		assert_int_equal(ws_queue_longest_ms(&q), q.runnable[0].at[0]->path_ms);
		const struct ws_node *node = ws_queue_next_runnable(&q, false);
		assert_true(node->path_ms < last->path_ms
			|| (node->path_ms == last->path_ms && node->id > last->id));
		last = node;
	}
	assert_null(ws_queue_next_runnable(&q, false));
	assert_int_equal(ws_queue_longest_ms(&q), 0);
}

WS_TEST(nodes_of_one_key_wait_for_the_first_which_gets_the_longest_path)
{
	struct ws_queue q = {.a = a};
	struct ws_node *first = make_node(a, 1, 10, 'a'), *same = make_node(a, 2, 50, 'a');
	struct ws_node *other = make_node(a, 3, 20, 'b');
	add_missing(&q, other);
	add_missing(&q, first);
	add_missing(&q, same);
	assert_int_equal(same->state, WS_NODE_WAITING);
	assert_ptr_equal(ws_queue_next_runnable(&q, false), first);
	assert_ptr_equal(ws_queue_next_runnable(&q, false), other);
	assert_null(ws_queue_next_runnable(&q, false));
	assert_null(ws_queue_next_ready(&q));

	/* Its key is what it was when it began, also where a file changed and it was computed again. */
	memset(first->base.hex, 'c', 64);
	ws_queue_release(&q, first);
	assert_ptr_equal(ws_queue_next_ready(&q), same);
	assert_int_equal(same->state, WS_NODE_READY);
	add_missing(&q, same);
	assert_ptr_equal(ws_queue_next_runnable(&q, false), same);
}

WS_TEST(an_entry_that_was_taken_and_put_back_has_its_old_place)
{
	struct ws_queue q = {.a = a};
	struct ws_node *nodes[5];
	for (unsigned i = 0; i < 5; i++) {
		nodes[i] = make_node(a, i + 1, 100 - i, (char)('a' + i));
		add_missing(&q, nodes[i]);
	}
	struct ws_node *taken[] = {
		ws_queue_next_runnable(&q, false), ws_queue_next_runnable(&q, false)};
	ws_queue_add_runnable(&q, taken[1]);
	ws_queue_add_runnable(&q, taken[0]);
	for (unsigned i = 0; i < 5; i++) {
		assert_ptr_equal(ws_queue_next_runnable(&q, false), nodes[i]);
	}
}

WS_TEST(ready_nodes_are_first_in_first_out)
{
	struct ws_queue q = {.a = a};
	struct ws_node *nodes[3];
	for (unsigned i = 0; i < 3; i++) {
		nodes[i] = make_node(a, i + 1, 0, 'a');
		ws_queue_add_ready(&q, nodes[i]);
	}
	assert_ptr_equal(ws_queue_next_ready(&q), nodes[0]);
	ws_queue_add_ready(&q, nodes[0]);
	assert_ptr_equal(ws_queue_next_ready(&q), nodes[1]);
	assert_ptr_equal(ws_queue_next_ready(&q), nodes[2]);
	assert_ptr_equal(ws_queue_next_ready(&q), nodes[0]);
	assert_null(ws_queue_next_ready(&q));
}
