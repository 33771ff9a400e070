/* graph_run.c - the effects of one node's end on others: its users, the whole that it is a part
 * of, files that no node needs any more. */
#include "engine/graph_run.h"

/* ---- transient files: kept while a node needs them ---- */

struct uses {
	unsigned count;
};

static void
begin_use(struct ws_run *r, const char *digest)
{
	struct uses *uses = ws_map_get(&r->uses, digest);
	if (!uses) {
		uses = WS_NEW(r->a, struct uses);
		ws_map_put(&r->uses, digest, uses, r->a);
	}
	uses->count++;
}

static void
end_use(struct ws_run *r, const char *digest)
{
	struct uses *uses = ws_map_get(&r->uses, digest);
	if (--uses->count == 0) {
		ws_work_drop(r->e->work, digest);
	}
}

static bool
is_transient(const struct ws_input *input)
{
	return input->from && input->from->action->transient;
}

/* ---- a node has ended ---- */

static void
close_node(
	struct ws_run *r, struct ws_node *node, enum ws_node_state state, enum ws_outcome outcome)
{
	node->state = state;
	node->outcome = outcome;
	r->open--;
	r->finished += !node->whole;
	r->left_ms -= node->estimate.wall_ms;
	r->unknown -= node->estimate.wall_ms == 0;
	for (size_t i = 0; i < node->action->input_count; i++) {
		if (is_transient(&node->action->inputs[i]) && node->made[i]) {
			end_use(r, node->made[i]);
		}
	}
	ws_run_report_done(r, node);
	if (state != WS_NODE_CANCELLED) {
		ws_queue_release(&r->queue, node);
	}
}

/* Hands the outputs of @a node to @a user, which may be ready then. */
static void
hand_over(struct ws_run *r, const struct ws_node *node, struct ws_node *user)
{
	const struct ws_action *action = user->action;
	bool got = false;
	for (size_t i = 0; i < action->input_count; i++) {
		if (action->inputs[i].from == node && !user->made[i] && user->state == WS_NODE_WAITING) {
			user->made[i] = node->result.outputs[action->inputs[i].output].hex;
			user->waits_for--;
			got = true;
			if (node->action->transient) {
				begin_use(r, user->made[i]);
			}
		}
	}
	if (got && user->waits_for == 0) {
		user->after = node->id;
		user->state = WS_NODE_READY;
		ws_queue_add_ready(&r->queue, user);
	}
}

/* All parts of @a node are done: their result is its result. */
static void
complete_whole(struct ws_run *r, struct ws_node *node)
{
	struct ws_err err;
	bool ran = false, all = true;
	for (size_t i = 0; i < node->parts.len; i++) {
		ran = ran || node->parts.at[i]->outcome == WS_OUTCOME_RAN;
		all = all && node->parts.at[i]->outcome == WS_OUTCOME_RAN;
	}
	node->result.wall_ms = (uint64_t)(r->e->runner->now_ms(r->e->runner) - node->started_ms);
	if (!ws_record_whole(&r->cache, node, &err)) {
		ws_run_give_up(r, &err);
		return;
	}
	if (all) {
		ws_record_cost(r->e, node, false);
	}
	node->why = ran ? node->why : NULL;
	ws_run_complete(r, node, ran ? WS_OUTCOME_RAN : WS_OUTCOME_HIT);
}

void
ws_run_complete(struct ws_run *r, struct ws_node *node, enum ws_outcome outcome)
{
	node->again = false;
	if (!node->whole && outcome == WS_OUTCOME_HIT) {
		r->sum->hits++;
	} else if (!node->whole) {
		r->sum->ran++;
	}
	close_node(r, node, WS_NODE_DONE, outcome);
	for (size_t i = 0; i < node->users.len; i++) {
		hand_over(r, node, node->users.at[i]);
	}
	struct ws_node *whole = node->whole;
	if (whole && whole->state == WS_NODE_WAITING && whole->parts.at[whole->parts.len - 1] == node) {
		complete_whole(r, whole);
	}
}

static void
cancel_all(struct ws_run *r, const ws_node_list *nodes)
{
	for (size_t i = 0; i < nodes->len; i++) {
		ws_run_cancel(r, nodes->at[i]);
	}
}

void
ws_run_cancel(struct ws_run *r, struct ws_node *node)
{
	if (node->state >= WS_NODE_DONE || node->state == WS_NODE_RUNNING) {
		return;
	}
	close_node(r, node, WS_NODE_CANCELLED, WS_OUTCOME_CANCELLED);
	cancel_all(r, &node->users);
	cancel_all(r, &node->parts);
}

void
ws_run_fail(struct ws_run *r, struct ws_node *node, const struct ws_err *err)
{
	node->failure = WS_NEW(r->a, struct ws_err);
	*node->failure = *err;
	if (node->base.hex[0]) {
		ws_map_put(&r->failed, node->base.hex, node, r->a);
	}
	if (!node->whole) {
		r->sum->failed++;
		r->sum->first_failed = r->sum->first_failed ? r->sum->first_failed : node;
	}
	close_node(r, node, WS_NODE_FAILED, WS_OUTCOME_FAILED);
	cancel_all(r, &node->users);
	cancel_all(r, &node->parts);
	r->closing = r->closing || !r->e->keep_going;
	if (node->whole && node->whole->state == WS_NODE_WAITING) {
		ws_record_logs(r->e->store, node->whole);
		node->whole->dir = node->dir ? ws_arena_strdup(r->a, node->dir) : NULL;
		ws_run_fail(r, node->whole, err);
	}
}

void
ws_run_give_up(struct ws_run *r, const struct ws_err *err)
{
	if (!r->fatal.kind) {
		r->fatal = *err;
	}
	r->closing = true;
}

/* ---- parts, and transient files that are needed again ---- */

bool
ws_run_expand(struct ws_run *r, struct ws_node *node, struct ws_err *err)
{
	const struct ws_split *split = node->action->split;
	if (split && !split->expand(split, r->graph, &node->parts, &node->undivided, err)) {
		return false;
	}
	for (size_t i = 0; i < node->parts.len; i++) {
		struct ws_node *part = node->parts.at[i];
		part->whole = node;
		ws_run_open(r, part);
	}
	if (node->parts.len > 0) {
		/* The remaining path of a part: other parts, then the users of the whole. */
		ws_graph_measure(&node->parts, node->path_ms - node->estimate.wall_ms);
		node->state = WS_NODE_WAITING;
		node->started_ms = r->e->runner->now_ms(r->e->runner);
		r->left_ms -= node->estimate.wall_ms;
		r->unknown += node->estimate.wall_ms > 0;
		node->estimate = (struct ws_estimate_of){0};
	}
	return true;
}

bool
ws_run_has_inputs(struct ws_run *r, struct ws_node *node)
{
	for (size_t i = 0; i < node->action->input_count; i++) {
		const struct ws_input *input = &node->action->inputs[i];
		if (!is_transient(input) || r->e->runner->has(r->e->runner, node->made[i])) {
			continue;
		}
		end_use(r, node->made[i]);
		node->made[i] = NULL;
		node->waits_for++;
		node->state = WS_NODE_WAITING;
		struct ws_node *maker = r->graph->nodes.at[input->from->id - 1];
		if (maker->state == WS_NODE_DONE) {
			maker->again = true;
			r->open++;
			r->left_ms += maker->estimate.wall_ms;
			r->unknown += maker->estimate.wall_ms == 0;
			for (size_t j = 0; j < maker->action->input_count; j++) {
				if (is_transient(&maker->action->inputs[j])) {
					begin_use(r, maker->made[j]);
				}
			}
			if (ws_queue_claim(&r->queue, maker)) {
				ws_queue_add_runnable(&r->queue, maker);
			}
		}
	}
	return node->state != WS_NODE_WAITING;
}

void
ws_run_open(struct ws_run *r, struct ws_node *node)
{
	const struct ws_runner *runner = r->e->runner;
	const struct ws_action *action = node->action;
	/* The ledger's estimate; else the action's own. */
	node->estimate = ws_ledger_estimate(r->e->ledger, action->unit, action->stage, action->variant);
	node->measured_ms = node->estimate.wall_ms;
	if (node->estimate.wall_ms == 0) {
		node->estimate.wall_ms = action->cpu_ms;
		node->estimate.cpu_ms = action->cpu_ms;
	}
	node->need = action->need;
	if (node->estimate.rss_bytes > 0) {
		node->need.rss_bytes = node->estimate.rss_bytes;
	}
	node->goes_away = runner && runner->goes_away && runner->goes_away(runner, action);
	r->open++;
	r->left_ms += node->estimate.wall_ms;
	r->unknown += node->estimate.wall_ms == 0;
	if (node->state == WS_NODE_READY) {
		ws_queue_add_ready(&r->queue, node);
	}
}

/* ---- events ---- */

void
ws_run_report_done(const struct ws_run *r, const struct ws_node *node)
{
	const char *detail = node->failure ? node->failure->text : node->why; /* why it had to run */
	if (!node->failure && node->why && node->undivided) {
		detail = ws_arena_printf(r->a, "%s; in one command: %s", node->why, node->undivided);
	}
	struct ws_event event = {
		.kind = WS_EVENT_ACTION_DONE,
		.id = node->id,
		.whole = node->whole ? node->whole->id : 0,
		.subject = node->action->subject,
		.stage = node->action->stage,
		.outcome = node->outcome,
		.detail = detail,
		.elsewhere = node->elsewhere,
		.done = r->finished,
		.total = r->sum->total,
		.cpu_ms = node->result.cpu_ms,
		.wall_ms = node->result.wall_ms,
		.rss_bytes = node->result.rss_bytes,
	};
	ws_events_emit(r->e->events, &event);
}

void
ws_run_report_started(const struct ws_run *r, const struct ws_node *node)
{
	struct ws_event event = {
		.kind = WS_EVENT_ACTION_STARTED,
		.id = node->id,
		.whole = node->whole ? node->whole->id : 0,
		.after = node->after || !node->whole ? node->after : node->whole->after,
		.subject = node->action->subject,
		.stage = node->action->stage,
		.rss_bytes = node->need.rss_bytes,
		.wall_ms = node->estimate.wall_ms,
	};
	ws_events_emit(r->e->events, &event);
}

uint64_t
ws_run_report_progress(const struct ws_run *r)
{
	const struct ws_runner *runner = r->e->runner;
	int64_t now_ms = runner->now_ms(runner);
	uint64_t work_ms = r->left_ms, path_ms = ws_queue_longest_ms(&r->queue), held_bytes = 0;
	for (size_t i = 0; i < r->running.len; i++) {
		const struct ws_node *node = r->running.at[i];
		struct ws_event event = {
			.kind = WS_EVENT_ACTION_SAMPLED,
			.id = node->id,
			.subject = node->action->subject,
			.rss_bytes = runner->held_bytes(runner, node->id),
		};
		held_bytes += event.rss_bytes;
		ws_events_emit(r->e->events, &event);
		uint64_t gone_ms = (uint64_t)(now_ms - node->started_ms), own_ms = node->estimate.wall_ms;
		gone_ms = gone_ms < own_ms ? gone_ms : own_ms;
		work_ms -= gone_ms;
		path_ms = node->path_ms - gone_ms > path_ms ? node->path_ms - gone_ms : path_ms;
	}
	/* Remaining time: work divided by slots, but at least the longest path. */
	work_ms /= r->e->budget->cpus;
	struct ws_event event = {
		.kind = WS_EVENT_QUEUE,
		.done = r->finished,
		.total = r->sum->total,
		.wall_ms = work_ms > path_ms ? work_ms : path_ms,
		.unknown = r->unknown,
		.held_back = r->held_back,
		.rss_bytes = held_bytes,
	};
	ws_events_emit(r->e->events, &event);
	return held_bytes;
}
