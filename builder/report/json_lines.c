/* json_lines.c - each line is flushed, so that a reader of a pipe is never behind. */
#include "report/json_lines.h"

#include "base/json.h"

struct lines {
	struct ws_sink sink;
	FILE *file;
};

static const char *
name_of(enum ws_event_kind kind)
{
	switch (kind) {
	case WS_EVENT_NOTE:
		return "note";
	case WS_EVENT_WARNING:
		return "warning";
	case WS_EVENT_FETCH_STARTED:
		return "fetch-started";
	case WS_EVENT_FETCH_DONE:
		return "fetch-done";
	case WS_EVENT_KIT_READY:
		return "kit-ready";
	case WS_EVENT_ACTION_STARTED:
		return "action-started";
	case WS_EVENT_ACTION_WAITS:
		return "action-waits";
	case WS_EVENT_ACTION_DONE:
		return "action-done";
	case WS_EVENT_CELL_DONE:
		return "cell-done";
	case WS_EVENT_FETCH_PROGRESS:
	case WS_EVENT_QUEUE:
	case WS_EVENT_ACTION_SAMPLED:
		break;
	}
	return NULL;
}

static void
add_text(struct ws_json_writer *w, const char *key, const char *text)
{
	if (text && text[0]) {
		ws_json_add_text(w, key, text);
	}
}

static void
add_number(struct ws_json_writer *w, const char *key, uint64_t number)
{
	if (number > 0) {
		ws_json_add_u64(w, key, number);
	}
}

static void
on_event(struct ws_sink *self, const struct ws_event *event)
{
	struct lines *l = (struct lines *)self;
	const char *name = name_of(event->kind);
	if (!name) {
		return;
	}
	struct ws_json_writer *w = ws_json_begin_object();
	ws_json_add_text(w, "schema", "wheelsmith.event/1");
	ws_json_add_text(w, "event", name);
	ws_json_add_i64(w, "at_ms", event->at_ms);
	add_number(w, "id", event->id);
	add_number(w, "whole", event->whole);
	add_number(w, "after", event->after);
	add_text(w, "subject", event->subject);
	add_text(w, "stage", event->stage);
	add_text(w, "outcome", ws_outcome_name(event->outcome));
	add_text(w, "detail", event->detail);
	add_text(w, "worker", event->elsewhere.worker);
	add_number(w, "queued_ms", event->elsewhere.queued_ms);
	add_number(w, "fetch_ms", event->elsewhere.fetch_ms);
	add_number(w, "done", event->done);
	add_number(w, "total", event->total);
	add_number(w, "cpu_ms", event->cpu_ms);
	add_number(w, "wall_ms", event->wall_ms);
	add_number(w, "rss_bytes", event->rss_bytes);
	WS_AUTO_BUF struct ws_buf line = {0};
	ws_json_finish(w, WS_JSON_COMPACT, &line);
	fprintf(l->file, "%s\n", ws_buf_text(&line));
	fflush(l->file);
}

struct ws_sink *
ws_json_lines_sink(FILE *file, struct ws_arena *a)
{
	struct lines *l = WS_NEW(a, struct lines);
	l->sink.take = on_event;
	l->file = file;
	return &l->sink;
}
