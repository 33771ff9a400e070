/* start.c - choosing what runs next: longest remaining path first, within the budget, one process at
 * a time for each key. */
#include "base/fs.h"
#include "engine/run.h"
#include "sys/flock.h"

#define HOUR_MS ((uint64_t)3600 * 1000)
#define SHORTEST_DEADLINE_MS ((uint64_t)5 * 60 * 1000)
/* How often smaller jobs may be started before a large one that waits for memory. */
#define PATIENCE 16
/* How many that do not fit are looked at in one round: a fleet has thousands. */
#define MOST_MISFITS 32

static bool
is_made_by_sibling(const struct ws_run *r, const struct ws_node *node)
{
	for (size_t i = 0; i < r->running.len; i++) {
		if (ws_digest_eq(&r->running.at[i]->base, &node->base)) {
			return true;
		}
	}
	return false;
}

/* Takes the key's lock; looks again under it, because a peer may just have finished. */
static bool
lock_key(struct ws_run *r, struct ws_node *node)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_err err;
	const char *path = ws_arena_printf(a, "%s/work/locks/%s", r->e->store->path, node->base.hex);
	switch (ws_flock_try(path, true, &node->lock_fd, &err)) {
	case WS_FLOCK_HELD:
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
		ws_run_give_up(r, &err);
		return false;
	}
	ws_run_look_up(r, node);
	if (node->state != WS_NODE_RUNNABLE) {
		ws_run_unlock(r, node);
		return false;
	}
	return true;
}

static uint64_t
deadline_ms(const struct ws_run *r, const struct ws_node *node)
{
	if (r->e->deadline_ms || node->action->deadline_ms) {
		return r->e->deadline_ms ? r->e->deadline_ms : node->action->deadline_ms;
	}
	/* Only what was measured counts: a recipe's guess must not end a slow host's compiler. */
	if (node->measured_ms == 0) {
		return HOUR_MS;
	}
	uint64_t ten_ms = node->measured_ms * 10;
	return ten_ms < SHORTEST_DEADLINE_MS ? SHORTEST_DEADLINE_MS : ten_ms;
}

const char *
ws_run_log_path(const struct ws_run *r, const struct ws_node *node, struct ws_arena *a)
{
	return ws_arena_printf(a, "%s/logs/%u.log", r->e->work->path, node->id);
}

static bool
launch(struct ws_run *r, struct ws_node *node, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const struct ws_action *action = node->action;
	node->dir = ws_arena_printf(r->a, "%s/%u-%u", r->e->work->path, node->id, ++node->attempt);
	if (!ws_work_stage(r->e->store, action, node->made, node->dir, err)) {
		return false;
	}
	struct ws_job job = {
		.id = node->id,
		.program = ws_work_program(action, node->dir, a),
		.argv = ws_work_words(action, action->argv, node->dir, a),
		.env = ws_work_words(action, action->env, node->dir, a),
		.dir = node->dir,
		.log = ws_run_log_path(r, node, a),
		.need = node->need,
		.deadline_ms = deadline_ms(r, node),
	};
	return r->e->runner->start(r->e->runner, &job, err);
}

/* Starts @a node if it fits; true when its turn was used, whatever came of it. */
static bool
try_start(struct ws_run *r, struct ws_node *node, uint64_t held_bytes)
{
	if ((node->alone && r->running.len > 0)
		|| !ws_budget_take(r->e->budget, node->need, held_bytes)) {
		return false;
	}
	if (!lock_key(r, node)) {
		ws_budget_give(r->e->budget, node->need);
		return node->state != WS_NODE_RUNNABLE;
	}
	struct ws_err err;
	node->started_ms = r->e->runner->now_ms(r->e->runner);
	if (!launch(r, node, &err)) {
		ws_budget_give(r->e->budget, node->need);
		ws_run_unlock(r, node);
		if (err.kind == WS_ERR_IO) {
			ws_run_give_up(r, &err); /* the host's fault, not the action's */
			ws_run_cancel(r, node);
		} else {
			ws_run_fail(r, node, &err);
		}
		return true;
	}
	node->state = WS_NODE_RUNNING;
	*ws_vec_push(&r->running, r->a) = node;
	ws_run_tell_started(r, node);
	return true;
}

/* The runnable node with the longest remaining path that was not tried in this round. */
static struct ws_node *
next_runnable(const struct ws_run *r, const bool *tried)
{
	struct ws_node *best = NULL;
	for (size_t i = 0; i < r->graph->nodes.len; i++) {
		struct ws_node *node = r->graph->nodes.at[i];
		if (node->state == WS_NODE_RUNNABLE && !tried[i]
			&& (!best || node->path_ms > best->path_ms)) {
			best = node;
		}
	}
	return best;
}

static bool
runs_alone(const struct ws_run *r)
{
	return r->running.len == 1 && r->running.at[0]->alone;
}

void
ws_run_start(struct ws_run *r, uint64_t held_bytes)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	bool *tried = WS_NEW_N(a, bool, r->graph->nodes.len);
	struct ws_node *skipped = NULL; /* the most urgent one that did not fit */
	unsigned misfits = 0;
	while (!r->closing && r->running.len < r->e->budget->cpus && !runs_alone(r)) {
		struct ws_node *node = next_runnable(r, tried);
		if (!node || misfits > MOST_MISFITS || (skipped && skipped->passed_over > PATIENCE)) {
			return;
		}
		tried[node->id - 1] = true;
		if (is_made_by_sibling(r, node)) {
			continue; /* it looks again when that one ends */
		}
		if (try_start(r, node, held_bytes)) {
			if (skipped) {
				skipped->passed_over++;
			}
			ws_run_look_up_ready(r);
			continue;
		}
		misfits++;
		if (!skipped && !node->waits_for_peer) {
			skipped = node;
		}
	}
}
