/* states.c - how the end of one node changes others. */
#include "engine/run.h"

static void
close_node(
	struct ws_run *r, struct ws_node *node, enum ws_node_state state, enum ws_outcome outcome)
{
	node->state = state;
	node->outcome = outcome;
	r->finished++;
	r->left_ms -= node->estimate.wall_ms;
	r->unknown -= node->estimate.wall_ms == 0;
	ws_run_report_done(r, node);
	if (state != WS_NODE_CANCELLED) {
		ws_queue_release(&r->queue, node);
	}
}

void
ws_run_complete(struct ws_run *r, struct ws_node *node, enum ws_outcome outcome)
{
	if (outcome == WS_OUTCOME_HIT) {
		r->sum->hits++;
	} else {
		r->sum->ran++;
		r->sum->cpu_ms += node->result.cpu_ms;
	}
	close_node(r, node, WS_NODE_DONE, outcome);
	for (size_t i = 0; i < node->users.len; i++) {
		struct ws_node *user = node->users.at[i];
		const struct ws_action *action = user->action;
		for (size_t j = 0; j < action->input_count; j++) {
			if (action->inputs[j].from == node && !user->made[j]) {
				user->made[j] = node->result.outputs[action->inputs[j].output].hex;
				user->waits_for--;
			}
		}
		if (user->state == WS_NODE_WAITING && user->waits_for == 0) {
			user->state = WS_NODE_READY;
			ws_queue_add_ready(&r->queue, user);
		}
	}
}

void
ws_run_cancel(struct ws_run *r, struct ws_node *node)
{
	if (node->state >= WS_NODE_DONE || node->state == WS_NODE_RUNNING) {
		return;
	}
	r->sum->cancelled++;
	close_node(r, node, WS_NODE_CANCELLED, WS_OUTCOME_CANCELLED);
	for (size_t i = 0; i < node->users.len; i++) {
		ws_run_cancel(r, node->users.at[i]);
	}
}

void
ws_run_fail(struct ws_run *r, struct ws_node *node, const struct ws_err *err)
{
	node->failure = WS_NEW(r->a, struct ws_err);
	*node->failure = *err;
	if (node->base.hex[0]) {
		ws_map_put(&r->failed, node->base.hex, node, r->a);
	}
	r->sum->failed++;
	r->sum->first_failed = r->sum->first_failed ? r->sum->first_failed : node;
	close_node(r, node, WS_NODE_FAILED, WS_OUTCOME_FAILED);
	for (size_t i = 0; i < node->users.len; i++) {
		ws_run_cancel(r, node->users.at[i]);
	}
	r->closing = r->closing || !r->e->keep_going;
}

/* The run itself cannot go on. */
void
ws_run_give_up(struct ws_run *r, const struct ws_err *err)
{
	if (!r->err) {
		r->fatal = *err;
		r->err = &r->fatal;
	}
	r->closing = true;
}
