/* status.c - draws at most ten times a second. */
#include "report/status.h"

#include "base/text.h"
#include "report/format.h"

#define DRAW_MS 100
#define SPEAK_MS 30000 /* a log without a line for longer looks like a run that hangs */
#define MOST_NAMED 3
#define NARROW 80     /* columns below which a terminal's line leaves out counts and memory */
#define LATE_MS 10000 /* an action is late when it exceeds its estimate by half of it and by this */

/* Something that goes on: an action or a transfer. */
struct item {
	unsigned id;         /* 0 for a transfer */
	const char *subject; /* in the sink's arena */
	const char *stage;
	int64_t started_ms;
	uint64_t rss_bytes, done, total;
	uint64_t expected_ms; /* 0: unknown */
};

struct status {
	struct ws_sink sink;
	const struct ws_out *out;
	struct ws_arena *a;
	uint64_t memory_bytes;
	WS_VEC(struct item) items;
	uint64_t done, total, rest_ms, unknown, held_bytes;
	int64_t now_ms, drawn_ms, spoken_ms;
};

static void
describe(const struct status *s, const struct item *item, struct ws_buf *line)
{
	char text[WS_FORMAT_BYTES];
	if (item->id == 0) {
		ws_buf_printf(line, "fetching %s %s", item->subject, ws_format_size(item->done, text));
		if (item->total > 0) {
			ws_buf_printf(line, " of %s", ws_format_size(item->total, text));
		}
		return;
	}
	uint64_t gone_ms = (uint64_t)(s->now_ms - item->started_ms);
	ws_buf_printf(line, "%s %s", item->subject, ws_format_clock(gone_ms, text));
	if (item->rss_bytes > 0) {
		ws_buf_printf(line, " %s", ws_format_memory(item->rss_bytes, text));
	}
}

/* @is_narrow: the names of what runs are worth more than the counts. */
static void
compose(const struct status *s, bool is_narrow, struct ws_buf *line)
{
	char text[WS_FORMAT_BYTES];
	unsigned running = 0;
	bool late = false;
	for (size_t i = 0; i < s->items.len; i++) {
		const struct item *item = &s->items.at[i];
		uint64_t gone_ms = (uint64_t)(s->now_ms - item->started_ms);
		running += item->id > 0;
		late = late
			|| (item->expected_ms > 0 && gone_ms > item->expected_ms + item->expected_ms / 2
				&& gone_ms > item->expected_ms + LATE_MS);
	}
	if (s->total > 0) {
		ws_buf_printf(
			line, "[ %llu/%llu ] ", (unsigned long long)s->done, (unsigned long long)s->total);
		if (late) {
			ws_buf_puts(line, "longer than expected");
		} else if (s->rest_ms > 0) {
			ws_buf_printf(line, "%s left", ws_format_clock(s->rest_ms, text));
		}
		uint64_t unknown = is_narrow ? 0 : s->unknown;
		if (unknown > 0) {
			ws_buf_printf(line, "%s%llu of unknown cost", late || s->rest_ms > 0 ? " + " : "",
				(unsigned long long)unknown);
		}
		ws_buf_puts(line, late || s->rest_ms + unknown > 0 ? "   " : "");
		if (!is_narrow) {
			ws_buf_printf(line, "%u running, %.1f of %.0f GiB   ", running,
				(double)s->held_bytes / (1 << 30), (double)s->memory_bytes / (1 << 30));
		}
	}
	for (size_t i = 0; i < s->items.len && i < MOST_NAMED; i++) {
		ws_buf_puts(line, i > 0 ? " | " : "");
		describe(s, &s->items.at[i], line);
	}
	if (s->items.len > MOST_NAMED) {
		ws_buf_printf(line, " | +%zu", s->items.len - MOST_NAMED);
	}
}

static void
draw(struct status *s, bool at_once)
{
	if (!s->out->redraws || s->out->quiet || (!at_once && s->now_ms - s->drawn_ms < DRAW_MS)) {
		return;
	}
	s->drawn_ms = s->now_ms;
	WS_AUTO_BUF struct ws_buf line = {0};
	compose(s, s->out->width > 0 && s->out->width < NARROW, &line);
	if (line.len > 0) {
		ws_utf8_make_plain(line.data, false);
		ws_term_cut(line.data, s->out->width > 1 ? s->out->width - 1 : 79);
	}
	ws_term_redraw(s->out, ws_buf_text(&line));
}

static void
print_action(const struct status *s, const struct ws_event *event)
{
	char text[WS_FORMAT_BYTES], memory[WS_FORMAT_BYTES];
	if (event->outcome == WS_OUTCOME_HIT || event->outcome == WS_OUTCOME_CANCELLED) {
		if (s->out->verbosity > 0 && event->outcome == WS_OUTCOME_HIT) {
			ws_out_note(s->out, "[ %llu/%llu ] %s %s  from the store\n",
				(unsigned long long)event->done, (unsigned long long)event->total, event->stage,
				event->subject);
		}
		return;
	}
	ws_out_note(s->out, "[ %llu/%llu ] %s %s  %s cpu, %s%s\n", (unsigned long long)event->done,
		(unsigned long long)event->total, event->stage, event->subject,
		ws_format_duration(event->cpu_ms, text), ws_format_memory(event->rss_bytes, memory),
		event->outcome == WS_OUTCOME_KILLED       ? "  killed for memory, will run again alone"
			: event->outcome == WS_OUTCOME_FAILED ? "  FAILED"
												  : "");
	if (s->out->verbosity > 0 && event->outcome == WS_OUTCOME_RAN && event->detail) {
		ws_out_note(s->out, "            because %s\n", event->detail);
	}
}

/* Updates the list of running items. */
static void
follow(struct status *s, const struct ws_event *event)
{
	enum ws_event_kind kind = event->kind;
	struct item *item = NULL;
	for (size_t i = 0; i < s->items.len && event->subject && !item; i++) {
		struct item *at = &s->items.at[i];
		bool same = event->id > 0 || strcmp(at->subject, event->subject) == 0;
		item = at->id == event->id && same ? at : NULL;
	}
	if ((kind == WS_EVENT_FETCH_STARTED || kind == WS_EVENT_ACTION_STARTED) && !item) {
		*ws_vec_push(&s->items, s->a) = (struct item){
			.id = event->id,
			.subject = ws_arena_strdup(s->a, event->subject),
			.stage = event->stage ? ws_arena_strdup(s->a, event->stage) : "",
			.started_ms = event->at_ms,
			.total = event->total,
			.expected_ms = event->wall_ms,
		};
	} else if ((kind == WS_EVENT_FETCH_DONE || kind == WS_EVENT_ACTION_DONE) && item) {
		size_t index = (size_t)(item - s->items.at);
		memmove(item, item + 1, (--s->items.len - index) * sizeof(*item));
	} else if (kind == WS_EVENT_FETCH_PROGRESS && item) {
		item->done = event->done;
		item->total = event->total;
	} else if (kind == WS_EVENT_ACTION_SAMPLED && item) {
		item->rss_bytes = event->rss_bytes;
	} else if (kind == WS_EVENT_QUEUE) {
		s->done = event->done;
		s->total = event->total;
		s->rest_ms = event->wall_ms;
		s->unknown = event->unknown;
		s->held_bytes = event->rss_bytes;
	}
}

/* Whole lines; the redrawn one makes room for them. True when something was printed. */
static bool
print(struct status *s, const struct ws_event *event)
{
	char size[WS_FORMAT_BYTES], time[WS_FORMAT_BYTES];
	enum ws_event_kind kind = event->kind;
	bool speaks = kind == WS_EVENT_NOTE || kind == WS_EVENT_WARNING || kind == WS_EVENT_ACTION_WAITS
		|| kind == WS_EVENT_FETCH_DONE || kind == WS_EVENT_KIT_READY
		|| kind == WS_EVENT_ACTION_DONE;
	if (!speaks) {
		return false;
	}
	ws_term_redraw(s->out, "");
	if (kind == WS_EVENT_NOTE) {
		ws_out_note(s->out, "%s\n", event->subject);
	} else if (kind == WS_EVENT_WARNING) {
		ws_out_warn(s->out, "%s", event->subject);
	} else if (kind == WS_EVENT_ACTION_WAITS) {
		ws_out_note(s->out, "%s %s waits: %s\n", event->stage, event->subject, event->detail);
	} else if (kind == WS_EVENT_KIT_READY) {
		ws_out_note(s->out, "%s  %s\n", event->subject, event->detail);
	} else if (kind == WS_EVENT_FETCH_DONE) {
		ws_out_note(s->out, "fetched %s  %s in %s\n", event->subject,
			ws_format_size(event->done, size), ws_format_duration(event->wall_ms, time));
	} else if (s->out->verbosity > 0 || event->outcome == WS_OUTCOME_KILLED
		|| (!event->whole && (!s->out->redraws || event->outcome == WS_OUTCOME_FAILED))) {
		/* On a terminal the line is enough; failures are always printed. */
		print_action(s, event);
	}
	return true;
}

static void
on_event(struct ws_sink *self, const struct ws_event *event)
{
	struct status *s = (struct status *)self;
	s->now_ms = event->at_ms;
	bool idle = s->items.len == 0;
	follow(s, event);
	bool printed = print(s, event);
	draw(s, printed);
	/* In a log: what goes on, when nothing was printed for long. */
	if (s->out->redraws || printed || idle || s->items.len == 0) {
		s->spoken_ms = s->now_ms;
	} else if (s->now_ms - s->spoken_ms >= SPEAK_MS) {
		WS_AUTO_BUF struct ws_buf line = {0};
		compose(s, false, &line);
		ws_out_note(s->out, "%s\n", ws_buf_text(&line));
		s->spoken_ms = s->now_ms;
	}
}

struct ws_sink *
ws_status_sink(const struct ws_out *out, uint64_t memory_bytes, struct ws_arena *a)
{
	struct status *s = WS_NEW(a, struct status);
	s->sink.take = on_event;
	s->out = out;
	s->a = a;
	s->memory_bytes = memory_bytes;
	return &s->sink;
}

void
ws_status_clear(struct ws_sink *sink)
{
	ws_term_redraw(((struct status *)sink)->out, "");
}
