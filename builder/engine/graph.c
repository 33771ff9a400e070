/* graph.c - adding nodes and measuring paths. */
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
ws_graph_measure(struct ws_graph *graph)
{
	for (size_t i = graph->nodes.len; i-- > 0;) {
		struct ws_node *node = graph->nodes.at[i];
		uint64_t longest = 0;
		for (size_t j = 0; j < node->users.len; j++) {
			uint64_t path_ms = node->users.at[j]->path_ms;
			longest = path_ms > longest ? path_ms : longest;
		}
		node->path_ms = longest + node->estimate.wall_ms;
	}
}
