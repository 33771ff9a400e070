/* engine.c - the loop: look up ready nodes, start what fits, wait, take results. graph_run.c
 * changes states, job_outcome.c interprets and records results, runners run jobs. */
#include "engine/engine.h"

#include "engine/graph_run.h"
#include "engine/worker_files.h"
#include "sys/clock.h"
#include "sys/flock.h"
#include "sys/stop.h"

#define TICK_MS 250
#define HOUR_MS ((uint64_t)3600 * 1000)
#define SHORTEST_DEADLINE_MS ((uint64_t)5 * 60 * 1000)
/* How many smaller jobs may start before a large one that waits for memory. */
#define PATIENCE 16
/* How many nodes that do not fit are tried in one round: a matrix has thousands. */
#define MOST_MISFITS 32

/* A number made of the key, for its lock. */
static uint64_t
lock_number(const struct ws_node *node)
{
	char digits[17] = "";
	memcpy(digits, node->base.hex, sizeof(digits) - 1);
	return strtoull(digits, NULL, 16);
}

static void
unlock_key(const struct ws_run *r, struct ws_node *node)
{
	if (node->locked) {
		ws_flock_release_number(r->e->work->keys_fd, lock_number(node));
		node->locked = false;
	}
}

/* True: the node is DONE, or FAILED because an equal action failed in this run. False: a miss. */
static bool
look_up(struct ws_run *r, struct ws_node *node)
{
	struct ws_err err;
	const struct ws_action *action = node->action;
	if (!ws_cache_base(&r->cache, action, node->made, &node->base, &err)) {
		ws_run_fail(r, node, &err);
		return true;
	}
	const struct ws_node *equal = ws_map_get(&r->failed, node->base.hex);
	if (equal) {
		node->result.log = equal->result.log;
		ws_run_fail(r, node, equal->failure);
		return true;
	}
	if (ws_cache_find(&r->cache, action, &node->base, r->a, &node->result, &node->why)) {
		node->why = NULL;
		ws_run_complete(r, node, WS_OUTCOME_HIT);
		return true;
	}
	if (!ws_store_may_make(r->cache.store, &err)) {
		ws_run_fail(r, node, &err);
		return true;
	}
	return false;
}

/* After a miss: the node runs, or its parts do, or it waits for a node with the same key. */
static void
run_or_wait(struct ws_run *r, struct ws_node *node)
{
	struct ws_err err;
	if (!ws_queue_claim(&r->queue, node)) {
		return;
	}
	if (!r->looking && !ws_run_expand(r, node, &err)) {
		ws_run_fail(r, node, &err);
	} else if (node->parts.len == 0) {
		ws_queue_add_runnable(&r->queue, node);
	}
}

/* Looks up the nodes of a list again; hits leave the list. */
static void
look_up_again(struct ws_run *r, ws_node_list *missing)
{
	size_t kept = 0;
	for (size_t i = 0; i < missing->len; i++) {
		struct ws_node *node = missing->at[i];
		if (node->state == WS_NODE_READY && !look_up(r, node)) {
			missing->at[kept++] = node;
		}
	}
	missing->len = kept;
}

static void
look_up_ready(struct ws_run *r)
{
	struct ws_node *node = ws_queue_next_ready(&r->queue);
	while (node) {
		WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
		ws_node_list missing = {0};
		for (; node; node = ws_queue_next_ready(&r->queue)) {
			if (node->state != WS_NODE_READY || (!node->again && look_up(r, node))) {
				continue;
			}
			if ((r->cache.shared || node->action->platform) && !node->again) {
				*ws_vec_push(&missing, a) = node;
			} else {
				run_or_wait(r, node);
			}
		}
		/* For all misses together: ask workers about files that lookups needed, then other hosts
		 * for results, and look up again after each. */
		if (ws_worker_files_ask_for_nodes(&missing, r->cache.events)) {
			look_up_again(r, &missing);
		}
		if (r->cache.shared && missing.len > 0) {
			ws_sharing_get(&r->cache, &missing);
			look_up_again(r, &missing);
		}
		for (size_t i = 0; i < missing.len; i++) {
			run_or_wait(r, missing.at[i]);
		}
		node = ws_queue_next_ready(&r->queue);
	}
}

/* ---- starting: longest remaining path first, within the budget, one process for each key ---- */

/* Locks the key and looks up again: another process may just have finished. */
static bool
lock_key(struct ws_run *r, struct ws_node *node)
{
	struct ws_err err;
	switch (ws_flock_number(r->e->work->keys_fd, lock_number(node), &err)) {
	case WS_FLOCK_HELD:
		node->locked = true;
		break;
	case WS_FLOCK_BUSY:
		if (!node->waits_for_peer) {
			node->waits_for_peer = true;
			struct ws_event event = {.kind = WS_EVENT_ACTION_WAITS,
				.id = node->id,
				.subject = node->action->subject,
				.stage = node->action->stage,
				.detail = "another wheelsmith is making it"};
			ws_events_emit(r->e->events, &event);
		}
		return false;
	case WS_FLOCK_FAILED:
		ws_err_wrap(&err, "'%s/work/keys'", r->e->store->path);
		ws_err_cure_code(&err, WS_CURE_STORE, NULL);
		ws_run_give_up(r, &err);
		return false;
	}
	if (!node->again && look_up(r, node)) {
		unlock_key(r, node);
		return false;
	}
	return true;
}

static bool
launch_job(struct ws_run *r, struct ws_node *node, struct ws_err *err)
{
	struct ws_arena *a = ws_arena_make();
	uint64_t set_ms = r->e->deadline_ms ? r->e->deadline_ms : node->action->limits.timeout_ms;
	/* Only measurements count: a recipe's guess must not end a slow host's compiler. */
	uint64_t ten_ms = node->measured_ms ? node->measured_ms * 10 : HOUR_MS;
	ten_ms = ten_ms < SHORTEST_DEADLINE_MS ? SHORTEST_DEADLINE_MS : ten_ms;
	node->job = WS_NEW(a, struct ws_job);
	*node->job = (struct ws_job){
		.id = node->id,
		.attempt = ++node->attempt,
		.action = node->action,
		.made = node->made,
		.need = node->need,
		.deadline_ms = set_ms ? set_ms : ten_ms,
		.is_estimated = set_ms == 0,
		.since_file_ns = r->began_file_ns,
		.a = a,
	};
	bool started = r->e->runner->start(r->e->runner, node->job, err);
	node->dir = node->job->dir;
	return started;
}

/* Releases a job that ended or did not start, and its folder unless it is to be kept. */
static void
end_job(const struct ws_run *r, struct ws_node *node)
{
	bool failed = node->state == WS_NODE_FAILED;
	r->e->runner->forget(r->e->runner, node->job, r->e->keep_work && failed);
	node->dir = failed && node->dir ? ws_arena_strdup(r->a, node->dir) : NULL;
	ws_arena_drop(node->job->a);
	node->job = NULL;
}

/* Starts @a node if it fits; true if its turn is over, started or failed. */
static bool
try_start(struct ws_run *r, struct ws_node *node)
{
	if (!ws_run_has_inputs(r, node)) {
		return true;
	}
	const struct ws_runner *runner = r->e->runner;
	bool others = r->running.len > 0;
	if ((others && (node->alone || !runner->has_room(runner, node->action, node->need)))
		|| !ws_budget_take(r->e->budget, node->need)) {
		return false;
	}
	if (!lock_key(r, node)) {
		ws_budget_give(r->e->budget, node->need);
		return node->state != WS_NODE_RUNNABLE;
	}
	struct ws_err err;
	node->started_ms = runner->now_ms(runner);
	if (!launch_job(r, node, &err)) {
		ws_budget_give(r->e->budget, node->need);
		unlock_key(r, node);
		if (err.kind == WS_ERR_IO) {
			ws_run_give_up(r, &err); /* a fault of the host, not of the action */
			ws_run_cancel(r, node);
		} else {
			ws_run_fail(r, node, &err);
		}
		end_job(r, node);
		return true;
	}
	node->state = WS_NODE_RUNNING;
	*ws_vec_push(&r->running, r->a) = node;
	ws_run_report_started(r, node);
	return true;
}

/* Starts nodes for other hosts or for this one: a full farm must not block this host. True: some
 * node did not fit. */
static bool
start_some(struct ws_run *r, bool goes_away)
{
	struct ws_node *misfits[MOST_MISFITS]; /* by urgency; they return to the queue */
	unsigned count = 0;
	struct ws_node *skipped = NULL; /* the most urgent node that did not fit */
	while (!r->closing && r->running.len < r->e->budget->cpus
		&& !(r->running.len == 1 && r->running.at[0]->alone) && count < MOST_MISFITS
		&& !(skipped && skipped->passed_over > PATIENCE)) {
		struct ws_node *node = ws_queue_next_runnable(&r->queue, goes_away);
		if (!node) {
			break;
		}
		if (try_start(r, node)) {
			if (skipped) {
				skipped->passed_over++;
			}
			look_up_ready(r);
			continue;
		}
		misfits[count++] = node;
		if (!skipped && !node->waits_for_peer) {
			skipped = node;
		}
	}
	while (count > 0) {
		ws_queue_add_runnable(&r->queue, misfits[--count]);
	}
	return skipped != NULL;
}

/* ---- a job has ended ---- */

/* Interprets the end of a job; records the result of a success. */
static enum ws_end
take_result(struct ws_run *r, struct ws_node *node, const struct ws_done *done, struct ws_err *err)
{
	node->result = (struct ws_result){.wall_ms = done->wall_ms,
		.cpu_ms = done->cpu_ms,
		.rss_bytes = done->rss_bytes,
		.exit_code = done->code,
		.log = done->log};
	node->elsewhere = done->elsewhere;
	node->elsewhere.worker = ws_arena_strdup(r->a, done->elsewhere.worker);
	r->sum->ran_elsewhere += done->elsewhere.worker != NULL;
	r->sum->queued_ms += done->elsewhere.queued_ms;
	r->sum->fetch_ms += done->elsewhere.fetch_ms;
	r->sum->cpu_ms += done->cpu_ms;
	enum ws_end end = ws_outcome_of(node, done, err);
	bool took = end == WS_END_OK ? ws_record(r->e, &r->cache, node, done, r->a, err)
								 : done->failure == NULL;
	if (!took) {
		end = WS_END_FAILED;
		if (err->kind == WS_ERR_IO || err->kind == WS_ERR_FETCH) {
			ws_run_give_up(r, err); /* a fault of the host or the farm, not of the action */
			end = WS_END_STOPPED;
		}
	}
	if (node->whole) {
		struct ws_result *whole = &node->whole->result;
		whole->cpu_ms += node->result.cpu_ms;
		whole->rss_bytes =
			node->result.rss_bytes > whole->rss_bytes ? node->result.rss_bytes : whole->rss_bytes;
		whole->exit_code = node->result.exit_code;
	}
	return end == WS_END_AGAIN && r->closing ? WS_END_OUT_OF_MEMORY : end;
}

static void
set_next_state(struct ws_run *r, struct ws_node *node, enum ws_end end, const struct ws_err *err)
{
	switch (end) {
	case WS_END_OK:
		ws_record_cost(r->e, node, false);
		ws_run_complete(r, node, WS_OUTCOME_RAN);
		break;
	case WS_END_AGAIN:
		ws_record_cost(r->e, node, true);
		node->alone = true;
		if (node->need.rss_bytes < node->result.rss_bytes * 2) {
			node->need.rss_bytes = node->result.rss_bytes * 2;
		}
		ws_queue_add_runnable(&r->queue, node);
		node->outcome = WS_OUTCOME_KILLED;
		ws_run_report_done(r, node);
		break;
	case WS_END_ANEW:
		ws_queue_add_runnable(&r->queue, node);
		node->outcome = WS_OUTCOME_CANCELLED;
		ws_run_report_done(r, node);
		break;
	case WS_END_OUT_OF_MEMORY:
		ws_record_cost(r->e, node, true);
		ws_run_fail(r, node, err);
		break;
	case WS_END_STOPPED:
		node->state = WS_NODE_RUNNABLE;
		ws_run_cancel(r, node);
		break;
	case WS_END_FAILED:
		ws_run_fail(r, node, err);
		break;
	}
}

static void
finish_node(struct ws_run *r, struct ws_node *node, const struct ws_done *done)
{
	struct ws_err err = {0};
	struct ws_digest *before = node->again ? node->result.outputs : NULL;
	size_t at = 0;
	while (at < r->running.len && r->running.at[at] != node) {
		at++;
	}
	if (at < r->running.len) {
		r->running.at[at] = r->running.at[--r->running.len];
	}
	ws_budget_give(r->e->budget, node->need);
	enum ws_end end = take_result(r, node, done, &err);
	/* After a repeated run: other nodes were found by the earlier outputs. */
	for (size_t i = 0; end == WS_END_OK && before && i < node->action->output_count; i++) {
		if (!ws_digest_eq(&before[i], &node->result.outputs[i])) {
			ws_err_set(&err, WS_ERR_BUILD, "'%s' failed: %s wrote another '%s' in its second run",
				node->action->subject, node->action->tool.name, node->action->outputs[i]);
			end = WS_END_FAILED;
		}
	}
	if (end == WS_END_AGAIN || end == WS_END_ANEW) {
		node->result.outputs = before; /* for the comparison after the next run */
	}
	unlock_key(r, node);
	set_next_state(r, node, end, &err);
	end_job(r, node);
}

/* ---- the loop ---- */

static void
prepare_run(
	struct ws_run *r, struct ws_engine *engine, struct ws_graph *graph, struct ws_run_summary *sum)
{
	*sum = (struct ws_run_summary){0};
	*r = (struct ws_run){.e = engine, .graph = graph, .sum = sum, .a = graph->a};
	r->cache.store = engine->store;
	r->cache.shared = engine->shared;
	r->cache.names.ledger = engine->ledger;
	r->cache.names.a = graph->a;
	r->cache.events = engine->events;
	r->queue.a = graph->a;
	r->began_file_ns = ws_clock_file_ns();
	for (size_t i = 0; i < graph->nodes.len; i++) {
		if (graph->nodes.at[i]->state < WS_NODE_DONE) {
			ws_run_open(r, graph->nodes.at[i]);
		}
	}
	sum->total = r->open;
	ws_graph_measure(&graph->nodes, 0);
}

bool
ws_engine_run(struct ws_engine *engine, struct ws_graph *graph, struct ws_run_summary *summary,
	struct ws_err *err)
{
	struct ws_run r;
	prepare_run(&r, engine, graph, summary);
	for (;;) {
		struct ws_done done;
		look_up_ready(&r);
		if (ws_stop_asked(engine->stop)) {
			struct ws_err stopped;
			ws_stop_err(engine->stop, &stopped);
			ws_run_give_up(&r, &stopped);
			engine->runner->stop(engine->runner, engine->stop->times > 1);
		}
		uint64_t held_bytes = ws_run_report_progress(&r);
		summary->peak_bytes = held_bytes > summary->peak_bytes ? held_bytes : summary->peak_bytes;
		bool full = start_some(&r, false);
		full = start_some(&r, true) || full;
		r.held_back = full && !r.closing ? engine->budget->cpus - (unsigned)r.running.len : 0;
		if (r.running.len == 0 && (r.closing || r.open == 0)) {
			break;
		}
		if (engine->runner->wait(engine->runner, TICK_MS, &done) == WS_WAIT_DONE) {
			finish_node(&r, graph->nodes.at[done.id - 1], &done);
		}
	}
	for (size_t i = 0; i < graph->nodes.len; i++) {
		ws_run_cancel(&r, graph->nodes.at[i]);
	}
	if (r.fatal.kind) {
		*err = r.fatal;
		return false;
	}
	if (summary->failed > 0) {
		return ws_err_set(
			err, WS_ERR_BUILD, "%u of %u actions failed", summary->failed, summary->total);
	}
	return true;
}

void
ws_engine_look(struct ws_engine *engine, struct ws_graph *graph)
{
	struct ws_run r;
	struct ws_run_summary summary;
	prepare_run(&r, engine, graph, &summary);
	r.looking = true;
	look_up_ready(&r);
}
