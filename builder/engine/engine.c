/* engine.c - the loop: look up what is ready, start what fits (start.c), wait, finish (finish.c), wake
 * what waited. What is told on the way is tell.c's; where jobs run is the runner's. */
#include "engine/engine.h"

#include "engine/run.h"
#include "sys/clock.h"
#include "sys/stop.h"

#define TICK_MS 250

static void
settle(struct ws_run *r, struct ws_node *node, enum ws_node_state state, enum ws_outcome outcome)
{
	node->state = state;
	node->outcome = outcome;
	r->finished++;
	ws_run_tell_done(r, node);
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
	settle(r, node, WS_NODE_DONE, outcome);
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
	settle(r, node, WS_NODE_CANCELLED, WS_OUTCOME_CANCELLED);
	for (size_t i = 0; i < node->users.len; i++) {
		ws_run_cancel(r, node->users.at[i]);
	}
}

void
ws_run_fail(struct ws_run *r, struct ws_node *node, const struct ws_err *err)
{
	node->failure = WS_NEW(r->a, struct ws_err);
	*node->failure = *err;
	r->sum->failed++;
	r->sum->first_failed = r->sum->first_failed ? r->sum->first_failed : node;
	settle(r, node, WS_NODE_FAILED, WS_OUTCOME_FAILED);
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

void
ws_run_unlock(const struct ws_run *r, struct ws_node *node)
{
	if (node->lock_fd < 0) {
		return;
	}
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	unlink(ws_arena_printf(a, "%s/work/locks/%s", r->e->store->path, node->base.hex));
	close(ws_take_fd(&node->lock_fd));
}

/* READY becomes DONE or RUNNABLE. */
void
ws_run_look_up(struct ws_run *r, struct ws_node *node)
{
	struct ws_err err;
	const struct ws_action *action = node->action;
	if (!ws_cache_base(&r->cache, action, node->made, &node->base, &err)) {
		ws_run_fail(r, node, &err);
		return;
	}
	if (ws_cache_find(&r->cache, action, &node->base, r->a, &node->result, &node->why)) {
		node->why = NULL;
		ws_run_complete(r, node, WS_OUTCOME_HIT);
		return;
	}
	node->state = WS_NODE_RUNNABLE;
}

void
ws_run_look_up_ready(struct ws_run *r)
{
	/* Users come after their makers, so one pass in order of adding is enough. */
	for (size_t i = 0; i < r->graph->nodes.len; i++) {
		if (r->graph->nodes.at[i]->state == WS_NODE_READY) {
			ws_run_look_up(r, r->graph->nodes.at[i]);
		}
	}
}

static void
estimate(struct ws_run *r, struct ws_node *node)
{
	const struct ws_action *action = node->action;
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
}

static bool
is_over(const struct ws_run *r)
{
	if (r->running.len > 0) {
		return false;
	}
	for (size_t i = 0; i < r->graph->nodes.len && !r->closing; i++) {
		if (r->graph->nodes.at[i]->state < WS_NODE_DONE) {
			return false;
		}
	}
	return true;
}

static void
check_stop(struct ws_run *r)
{
	if (!ws_stop_asked(r->e->stop)) {
		return;
	}
	struct ws_err err;
	ws_stop_err(r->e->stop, &err);
	ws_run_give_up(r, &err);
	r->e->runner->stop(r->e->runner, r->e->stop->times > 1);
}

static void
loop(struct ws_run *r)
{
	for (;;) {
		ws_run_look_up_ready(r);
		check_stop(r);
		uint64_t held_bytes = ws_run_tell_progress(r);
		r->sum->peak_bytes = held_bytes > r->sum->peak_bytes ? held_bytes : r->sum->peak_bytes;
		ws_run_start(r, held_bytes);
		if (is_over(r)) {
			return;
		}
		struct ws_done done;
		if (r->e->runner->wait(r->e->runner, TICK_MS, &done) == WS_WAIT_DONE) {
			ws_run_finish(r, r->graph->nodes.at[done.id - 1], &done);
		}
	}
}

static void
prepare(
	struct ws_run *r, struct ws_engine *engine, struct ws_graph *graph, struct ws_run_summary *sum)
{
	*sum = (struct ws_run_summary){.total = (unsigned)graph->nodes.len};
	*r = (struct ws_run){.e = engine, .graph = graph, .sum = sum, .a = graph->a};
	r->cache.store = engine->store;
	r->cache.names.ledger = engine->ledger;
	r->cache.names.a = graph->a;
	r->cache.names.since_ns = ws_clock_file_ns();
	for (size_t i = 0; i < graph->nodes.len; i++) {
		estimate(r, graph->nodes.at[i]);
	}
	ws_graph_measure(graph);
}

bool
ws_engine_run(struct ws_engine *engine, struct ws_graph *graph, struct ws_run_summary *summary,
	struct ws_err *err)
{
	struct ws_run r;
	prepare(&r, engine, graph, summary);
	loop(&r);
	for (size_t i = 0; i < graph->nodes.len; i++) {
		ws_run_cancel(&r, graph->nodes.at[i]);
	}
	if (r.err) {
		*err = *r.err;
		return false;
	}
	if (summary->failed > 0) {
		return ws_err_set(
			err, WS_ERR_BUILD, "%u of %u actions failed", summary->failed, summary->total);
	}
	return true;
}

bool
ws_engine_look(struct ws_engine *engine, struct ws_graph *graph, struct ws_err *err WS_UNUSED)
{
	struct ws_run r;
	struct ws_run_summary summary;
	prepare(&r, engine, graph, &summary);
	ws_run_look_up_ready(&r);
	return true;
}
