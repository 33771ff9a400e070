/* event.c - hands each event to each sink in order. Keeps nothing. */
#include "base/event.h"

#include "base/arena.h"

#include <assert.h>

void
ws_events_add(struct ws_events *events, struct ws_sink *sink)
{
	assert(events->count < WS_LEN(events->sinks));
	events->sinks[events->count++] = sink;
}

void
ws_events_emit(const struct ws_events *events, const struct ws_event *event)
{
	if (!events) {
		return;
	}
	struct ws_event stamped = *event;
	stamped.at_ms = events->now_ms ? events->now_ms() : 0;
	for (size_t i = 0; i < events->count; i++) {
		events->sinks[i]->take(events->sinks[i], &stamped);
	}
}

WS_PRINTF(3, 0)
static void
report(const struct ws_events *events, enum ws_event_kind kind, const char *format, va_list values)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_event event = {.kind = kind, .subject = ws_arena_vprintf(a, format, values)};
	ws_events_emit(events, &event);
}

void
ws_events_note(const struct ws_events *events, const char *format, ...)
{
	va_list values;
	va_start(values, format);
	report(events, WS_EVENT_NOTE, format, values);
	va_end(values);
}

void
ws_events_warn(const struct ws_events *events, const char *format, ...)
{
	va_list values;
	va_start(values, format);
	report(events, WS_EVENT_WARNING, format, values);
	va_end(values);
}

const char *const ws_outcome_words[] = {
	[WS_OUTCOME_NONE] = "",
	[WS_OUTCOME_HIT] = "hit",
	[WS_OUTCOME_RAN] = "ran",
	[WS_OUTCOME_FAILED] = "failed",
	[WS_OUTCOME_KILLED] = "killed",
	[WS_OUTCOME_CANCELLED] = "cancelled",
};
