/* progress.c - what a run tells its events. */
#include "engine/run.h"

/* How it failed, or why it had to run. */
static const char *
detail_of(const struct ws_run *r, const struct ws_node *node)
{
	if (node->failure || !node->why || !node->undivided) {
		return node->failure ? node->failure->text : node->why;
	}
	return ws_arena_printf(r->a, "%s; in one command: %s", node->why, node->undivided);
}

void
ws_run_report_done(const struct ws_run *r, const struct ws_node *node)
{
	struct ws_event event = {
		.kind = WS_EVENT_ACTION_DONE,
		.id = node->id,
		.whole = node->whole ? node->whole->id : 0,
		.subject = node->action->subject,
		.stage = node->action->stage,
		.outcome = node->outcome,
		.detail = detail_of(r, node),
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

/* Predicted rest: work left over slots, but no less than the longest path. */
static uint64_t
predict_rest_ms(const struct ws_run *r)
{
	uint64_t work_ms = r->left_ms, path_ms = ws_queue_longest_ms(&r->queue);
	int64_t now_ms = r->e->runner->now_ms(r->e->runner);
	for (size_t i = 0; i < r->running.len; i++) {
		const struct ws_node *node = r->running.at[i];
		uint64_t gone_ms = (uint64_t)(now_ms - node->started_ms), own_ms = node->estimate.wall_ms;
		gone_ms = gone_ms < own_ms ? gone_ms : own_ms;
		work_ms -= gone_ms;
		path_ms = node->path_ms - gone_ms > path_ms ? node->path_ms - gone_ms : path_ms;
	}
	work_ms /= r->e->budget->cpus;
	return work_ms > path_ms ? work_ms : path_ms;
}

uint64_t
ws_run_report_progress(const struct ws_run *r)
{
	uint64_t held_bytes = 0;
	for (size_t i = 0; i < r->running.len; i++) {
		const struct ws_node *node = r->running.at[i];
		struct ws_event event = {
			.kind = WS_EVENT_ACTION_SAMPLED,
			.id = node->id,
			.subject = node->action->subject,
			.rss_bytes = r->e->runner->held_bytes(r->e->runner, node->id),
		};
		held_bytes += event.rss_bytes;
		ws_events_emit(r->e->events, &event);
	}
	struct ws_event event = {
		.kind = WS_EVENT_QUEUE,
		.done = r->finished,
		.total = r->sum->total,
		.wall_ms = predict_rest_ms(r),
		.unknown = r->unknown,
		.held_back = r->held_back,
		.rss_bytes = held_bytes,
	};
	ws_events_emit(r->e->events, &event);
	return held_bytes;
}
