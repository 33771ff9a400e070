/* progress.c - the FETCH events of base/event.h. */
#include "net/progress.h"

#include "sys/clock.h"

#define PERIOD_MS 100

void
ws_progress_begin(struct ws_progress *p, uint64_t total_bytes)
{
	if (p->is_begun) {
		return;
	}
	p->is_begun = true;
	p->total_bytes = total_bytes;
	p->began_ms = ws_clock_ms();
	struct ws_event event = {
		.kind = WS_EVENT_FETCH_STARTED,
		.subject = p->subject,
		.detail = p->from,
		.total = total_bytes,
	};
	ws_events_emit(p->events, &event);
}

void
ws_progress_move(struct ws_progress *p, uint64_t done_bytes)
{
	int64_t now = ws_clock_ms();
	if (now - p->reported_ms < PERIOD_MS) {
		return;
	}
	p->reported_ms = now;
	struct ws_event event = {
		.kind = WS_EVENT_FETCH_PROGRESS,
		.subject = p->subject,
		.done = done_bytes,
		.total = p->total_bytes,
	};
	ws_events_emit(p->events, &event);
}

void
ws_progress_end(struct ws_progress *p, uint64_t wire_bytes)
{
	if (!p->is_begun) {
		return;
	}
	struct ws_event event = {
		.kind = WS_EVENT_FETCH_DONE,
		.subject = p->subject,
		.done = wire_bytes,
		.wall_ms = (uint64_t)(ws_clock_ms() - p->began_ms),
	};
	ws_events_emit(p->events, &event);
}
