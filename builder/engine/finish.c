/* finish.c - a job has ended: its outputs enter the store, its cost the ledger, and what waited for
 * it wakes. What the end means is outcome.c's. */
#include "base/fs.h"
#include "engine/outcome.h"
#include "engine/run.h"
#include "store/cas.h"

#include <sys/stat.h>

/* Before anything else is read: a tool that wrote nothing is told as that. */
static bool
check_outputs(const struct ws_node *node, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const struct ws_action *action = node->action;
	for (size_t i = 0; i < action->output_count; i++) {
		const char *path = ws_path_join(a, node->dir, action->outputs[i], NULL);
		struct stat status;
		if (lstat(path, &status) < 0 || !S_ISREG(status.st_mode)) {
			return ws_err_set(err, WS_ERR_BUILD, "'%s' failed: %s succeeded but wrote no '%s'",
				action->subject, action->tool.name, action->outputs[i]);
		}
	}
	return true;
}

static bool
take_outputs(struct ws_run *r, struct ws_node *node, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const struct ws_action *action = node->action;
	struct ws_result *result = &node->result;
	result->outputs = WS_NEW_N(r->a, struct ws_digest, action->output_count);
	result->sizes = WS_NEW_N(r->a, uint64_t, action->output_count);
	for (size_t i = 0; i < action->output_count; i++) {
		const char *path = ws_path_join(a, node->dir, action->outputs[i], NULL);
		if (!ws_cas_take(r->e->store, path, &result->outputs[i], &result->sizes[i], err)) {
			return false;
		}
	}
	return true;
}

/* Moves the log into the store; when it is there already, nothing. */
static void
keep_log(struct ws_run *r, struct ws_node *node, const char *log)
{
	struct stat status;
	struct ws_digest digest;
	if (stat(log, &status) == 0 && status.st_size > 0
		&& ws_cas_take(r->e->store, log, &digest, NULL, NULL)) {
		node->result.log = digest;
	}
}

/* Why a result must not be used again; NULL where it may. */
static const char *
why_not_kept(const struct ws_run *r, const struct ws_action *action, const struct ws_trace *trace,
	struct ws_arena *a)
{
	for (size_t i = 0; i < trace->files.len && !trace->uncacheable; i++) {
		if (ws_names_changed(&r->cache.names, action, trace->files.at[i])) {
			return ws_arena_printf(a, "'%s' is not kept: '%s' changed while it was made",
				action->subject, trace->files.at[i]);
		}
	}
	return trace->uncacheable ? ws_arena_printf(
			   a, "'%s' is built anew every time: %s", action->subject, trace->uncacheable)
							  : NULL;
}

static bool
record(struct ws_run *r, struct ws_node *node, const char *log, struct ws_err *err)
{
	const struct ws_action *action = node->action;
	struct ws_trace trace = {0};
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	if (!check_outputs(node, err)) {
		return false;
	}
	/* The trace reads work files and the log, so it comes before those leave. */
	if (action->trace && !action->trace(action, node->dir, log, a, &trace, err)) {
		return false;
	}
	keep_log(r, node, log);
	if (!take_outputs(r, node, err)) {
		return false;
	}
	const char *why = why_not_kept(r, action, &trace, a);
	if (why) {
		ws_events_warn(r->e->events, "%s", why);
		return true;
	}
	return ws_cache_add(
		&r->cache, action, &node->base, action->trace ? &trace : NULL, &node->result, err);
}

static void
remember_cost(struct ws_run *r, const struct ws_node *node, bool killed)
{
	const struct ws_action *action = node->action;
	struct ws_ledger_run run = {
		.unit = action->unit,
		.stage = action->stage,
		.variant = action->variant,
		.wall_ms = node->result.wall_ms,
		.cpu_ms = node->result.cpu_ms,
		.rss_bytes = node->result.rss_bytes,
		.killed = killed,
	};
	struct ws_err err;
	if (!ws_ledger_add(r->e->ledger, &run, &err)) {
		ws_events_warn(r->e->events, "%s", err.text);
	}
}

/* Not enough memory: once more, alone and with twice what it held as the estimate. */
static void
run_again_alone(struct ws_run *r, struct ws_node *node)
{
	node->alone = true;
	node->state = WS_NODE_RUNNABLE;
	if (node->need.rss_bytes < node->result.rss_bytes * 2) {
		node->need.rss_bytes = node->result.rss_bytes * 2;
	}
	node->outcome = WS_OUTCOME_KILLED;
	ws_run_tell_done(r, node);
}

static void
stop_running(struct ws_run *r, const struct ws_node *node)
{
	for (size_t i = 0; i < r->running.len; i++) {
		if (r->running.at[i] == node) {
			r->running.at[i] = r->running.at[--r->running.len];
			return;
		}
	}
}

void
ws_run_finish(struct ws_run *r, struct ws_node *node, const struct ws_done *done)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_err err = {0};
	const char *log = ws_run_log_path(r, node, a);
	stop_running(r, node);
	ws_budget_give(r->e->budget, node->need);
	node->result = (struct ws_result){
		.wall_ms = done->wall_ms, .cpu_ms = done->cpu_ms, .rss_bytes = done->rss_bytes};
	enum ws_end end = ws_outcome_of(node, done, log, &err);
	if (end == WS_END_OK && !record(r, node, log, &err)) {
		end = WS_END_FAILED;
		if (err.kind == WS_ERR_IO) {
			ws_run_give_up(r, &err); /* the host's fault, not the action's */
			end = WS_END_STOPPED;
		}
	}
	keep_log(r, node, log);
	ws_run_unlock(r, node);
	switch (end) {
	case WS_END_OK:
		remember_cost(r, node, false);
		ws_run_complete(r, node, WS_OUTCOME_RAN);
		break;
	case WS_END_OUT_OF_MEMORY:
		remember_cost(r, node, true);
		if (!node->alone && !r->closing) {
			run_again_alone(r, node);
			break;
		}
		ws_run_fail(r, node, &err);
		break;
	case WS_END_STOPPED:
		node->state = WS_NODE_RUNNABLE;
		ws_run_cancel(r, node);
		break;
	case WS_END_FAILED:
		ws_run_fail(r, node, &err);
		break;
	}
	if (!r->e->keep_work || node->state != WS_NODE_FAILED) {
		ws_work_unstage(r->e->store, node->action, node->made, node->dir);
	}
	/* Siblings with the same base key waited for this one: they look again. */
	for (size_t i = 0; i < r->graph->nodes.len; i++) {
		struct ws_node *other = r->graph->nodes.at[i];
		if (other->state == WS_NODE_RUNNABLE && !other->alone
			&& ws_digest_eq(&other->base, &node->base)) {
			other->state = WS_NODE_READY;
		}
	}
}
