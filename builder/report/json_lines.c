/* json_lines.c - the table of events. Each line is flushed, so that the reader of a pipe gets it at
 * once. */
#include "report/json_lines.h"

struct lines {
	struct ws_sink sink;
	FILE *file;
};

/* Progress and samples have no name: they are not written. */
static const char *const event_words[] = {[WS_EVENT_NOTE] = "note",
	[WS_EVENT_WARNING] = "warning",
	[WS_EVENT_FETCH_STARTED] = "fetch-started",
	[WS_EVENT_FETCH_PROGRESS] = "",
	[WS_EVENT_FETCH_DONE] = "fetch-done",
	[WS_EVENT_KIT_READY] = "kit-ready",
	[WS_EVENT_QUEUE] = "",
	[WS_EVENT_ACTION_STARTED] = "action-started",
	[WS_EVENT_ACTION_SAMPLED] = "",
	[WS_EVENT_ACTION_WAITS] = "action-waits",
	[WS_EVENT_ACTION_DONE] = "action-done",
	[WS_EVENT_CELL_DONE] = "cell-done",
	NULL};

static const char *const outcome_words[] = {[WS_OUTCOME_NONE] = "",
	[WS_OUTCOME_HIT] = "hit",
	[WS_OUTCOME_RAN] = "ran",
	[WS_OUTCOME_FAILED] = "failed",
	[WS_OUTCOME_KILLED] = "killed",
	[WS_OUTCOME_CANCELLED] = "cancelled",
	NULL};

static const char *
shown_text(const void *value, struct ws_arena *a WS_UNUSED)
{
	const char *text = *(const char *const *)value;
	return text && text[0] ? text : NULL;
}

/* A text that is left out when it is "". */
static const struct ws_type type_shown = {
	.name = "a string", .plural = "strings", .size = sizeof(const char *), .text = shown_text};

#define EVENT struct ws_event
#define TEXT(key, member, meaning) WS_VALUE_AS(key, EVENT, member, type_shown, WS_IF_ANY, meaning)
#define NUMBER(key, member, meaning) WS_VALUE(key, EVENT, member, WS_IF_ANY, meaning)

static const struct ws_field fields[] = {
	WS_FIXED("schema", "wheelsmith.event/1"),
	WS_WORD("event", EVENT, kind, event_words, WS_ALWAYS, NULL),
	WS_VALUE(
		"at_ms", EVENT, at_ms, WS_ALWAYS, "of a clock that only runs forward; for differences"),
	NUMBER("id", id, "of the action"),
	NUMBER("whole", whole, "id of the action of which this one is a part"),
	NUMBER("after", after, "id of the last action that this one waited for"),
	TEXT("subject", subject, "text, file, kit, source file or cell"),
	TEXT("stage", stage,
		"compile, link, check, pack, import, preprocess, cudafe++, cicc, ptxas, fatbinary, host, "
		"verify"),
	WS_WORD("outcome", EVENT, outcome, outcome_words, WS_IF_ANY,
		"hit: the store had it; killed: for memory, it will run again alone"),
	TEXT("detail", detail, "source, reason, or the name of the wheel"),
	TEXT("worker", elsewhere.worker, "worker of a build farm"),
	NUMBER("queued_ms", elsewhere.queued_ms, "until the worker started, as the farm reports"),
	NUMBER("fetch_ms", elsewhere.fetch_ms, "until the worker had the inputs, as the farm reports"),
	NUMBER("done", done, "actions, or bytes of a transfer"),
	NUMBER("total", total, NULL),
	NUMBER("cpu_ms", cpu_ms, NULL),
	NUMBER("wall_ms", wall_ms, NULL),
	NUMBER("rss_bytes", rss_bytes, "peak, summed over its processes"),
};
const struct ws_table ws_event_table = {NULL, fields, WS_LEN(fields)};

static void
on_event(struct ws_sink *self, const struct ws_event *event)
{
	struct lines *l = (struct lines *)self;
	WS_AUTO_BUF struct ws_buf line = {0};
	if (event_words[event->kind][0]) {
		ws_table_text(&ws_event_table, event, WS_JSON_COMPACT, &line);
		fprintf(l->file, "%s\n", ws_buf_text(&line));
		fflush(l->file);
	}
}

struct ws_sink *
ws_json_lines_sink(FILE *file, struct ws_arena *a)
{
	struct lines *l = WS_NEW(a, struct lines);
	l->sink.take = on_event;
	l->file = file;
	return &l->sink;
}
