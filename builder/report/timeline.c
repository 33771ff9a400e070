/* timeline.c - spans and sums from events, a trace, and a page of one file. */
#include "report/timeline.h"

#include "base/json.h"
#include "report/format.h"

static struct ws_timed_command *
running(struct ws_timeline *t, unsigned id)
{
	for (size_t i = t->spans.len; i-- > 0;) {
		if (t->spans.at[i].id == id && t->spans.at[i].end_ms == 0) {
			return &t->spans.at[i];
		}
	}
	return NULL;
}

static const char *
keep(const struct ws_timeline *t, const char *text)
{
	return text ? ws_arena_strdup(t->a, text) : NULL;
}

/* As it ended last: graphs run one after another, and the ids of each start again. */
static struct ws_timed_end *
end_of(struct ws_timeline *t, unsigned id)
{
	while (t->ends.len <= id) {
		*ws_vec_push(&t->ends, t->a) = (struct ws_timed_end){0};
	}
	return &t->ends.at[id];
}

static void
end(struct ws_timeline *t, const struct ws_event *event)
{
	struct ws_timed_command *span = running(t, event->id);
	if (span) {
		span->end_ms = event->at_ms;
		t->taken.at[span->slot] = false;
		span->outcome = event->outcome;
		span->detail = keep(t, event->detail);
		span->elsewhere = event->elsewhere;
		span->elsewhere.worker = keep(t, event->elsewhere.worker);
		span->cpu_ms = event->cpu_ms;
		span->rss_bytes = event->rss_bytes;
	}
	if (event->whole) {
		end_of(t, event->whole)->has_parts = true;
	}
	size_t stage = 0;
	while (stage < t->stages.len && !ws_same(t->stages.at[stage].stage, event->stage)) {
		stage++;
	}
	if (stage == t->stages.len) {
		*ws_vec_push(&t->stages, t->a) = (struct ws_stage_sum){.stage = keep(t, event->stage)};
	}
	struct ws_stage_sum *sum = &t->stages.at[stage];
	struct ws_timed_end *ended = end_of(t, event->id);
	ended->subject = keep(t, event->subject);
	ended->stage = sum->stage;
	ended->at_ms = event->at_ms;
	if (event->outcome == WS_OUTCOME_HIT && !ended->has_parts) {
		sum->hits++;
		sum->saved_ms += event->cpu_ms;
	} else if (span && event->outcome != WS_OUTCOME_CANCELLED) {
		sum->ran++;
		sum->run_ms += event->cpu_ms;
	}
}

static void
on_event(struct ws_sink *self, const struct ws_event *event)
{
	struct ws_timeline *t = (struct ws_timeline *)self;
	t->first_ms = t->first_ms ? t->first_ms : event->at_ms;
	if (event->kind == WS_EVENT_ACTION_STARTED) {
		size_t slot = 0; /* the lowest that no running span has */
		while (slot < t->taken.len && t->taken.at[slot]) {
			slot++;
		}
		if (slot == t->taken.len) {
			ws_vec_push(&t->taken, t->a);
		}
		t->taken.at[slot] = true;
		struct ws_timed_command span = {
			.id = event->id,
			.slot = (unsigned)slot,
			.after = *end_of(t, event->after),
			.subject = keep(t, event->subject),
			.stage = keep(t, event->stage),
			.start_ms = event->at_ms,
		};
		*ws_vec_push(&t->spans, t->a) = span;
	} else if (event->kind == WS_EVENT_ACTION_DONE) {
		end(t, event);
	} else if (event->kind == WS_EVENT_QUEUE) {
		struct ws_memory_sample now = {event->at_ms, event->rss_bytes, event->held_back};
		struct ws_memory_sample *last = t->samples.len ? &t->samples.at[t->samples.len - 1] : NULL;
		if (last) {
			t->held_back_ms += last->held_back * (uint64_t)(event->at_ms - t->last_ms);
		}
		if (!last || last->held_bytes != now.held_bytes || last->held_back != now.held_back) {
			*ws_vec_push(&t->samples, t->a) = now;
		}
	}
	t->last_ms = event->at_ms;
}

struct ws_timeline *
ws_timeline_make(struct ws_arena *a)
{
	struct ws_timeline *t = WS_NEW(a, struct ws_timeline);
	t->sink.take = on_event;
	t->a = a;
	return t;
}

void
ws_timeline_print_stages(const struct ws_timeline *t, const struct ws_out *out)
{
	char run[WS_FORMAT_BYTES], saved[WS_FORMAT_BYTES];
	for (size_t i = 0; i < t->stages.len; i++) {
		const struct ws_stage_sum *sum = &t->stages.at[i];
		if (sum->ran + sum->hits > 0) {
			ws_out_note(out, "  %-10s  %u ran, %u found; %s of CPU, %s saved\n", sum->stage,
				sum->ran, sum->hits, ws_format_duration(sum->run_ms, run),
				ws_format_duration(sum->saved_ms, saved));
		}
	}
	if (t->held_back_ms >= 1000) {
		ws_out_note(
			out, "  memory held back slots for %s\n", ws_format_duration(t->held_back_ms, run));
	}
}

/* When what it waited for had ended. */
static int64_t
ready_ms(const struct ws_timeline *t, const struct ws_timed_command *span)
{
	return span->after.subject ? span->after.at_ms : t->first_ms;
}

static void
print_why(
	const struct ws_timeline *t, const struct ws_timed_command *span, const struct ws_out *out)
{
	char at[WS_FORMAT_BYTES], took[WS_FORMAT_BYTES], waited[WS_FORMAT_BYTES];
	const struct ws_timed_end *after = &span->after;
	int64_t end_ms = span->end_ms ? span->end_ms : t->last_ms;
	ws_format_duration((uint64_t)(span->start_ms - t->first_ms), at);
	ws_format_duration((uint64_t)(end_ms - span->start_ms), took);
	ws_format_duration((uint64_t)(span->start_ms - ready_ms(t, span)), waited);
	ws_out_note(out, "%s %s  began at %s, took %s\n", span->stage, span->subject, at, took);
	if (after->subject) {
		ws_out_note(
			out, "  waited for %s %s, then %s for a slot\n", after->stage, after->subject, waited);
	} else {
		ws_out_note(out, "  waited %s for a slot\n", waited);
	}
	if (span->detail) {
		ws_out_note(out, "  %s %s\n",
			span->outcome == WS_OUTCOME_RAN ? "ran because" : "ended:", span->detail);
	}
}

void
ws_timeline_print_why(const struct ws_timeline *t, const char *subject, const struct ws_out *out)
{
	size_t len = strlen(subject);
	bool found = false;
	for (size_t i = 0; i < t->spans.len; i++) {
		const struct ws_timed_command *span = &t->spans.at[i];
		if (ws_starts_with(span->subject, subject) && strchr(" ", span->subject[len])) {
			found = true;
			print_why(t, span, out);
		}
	}
	if (!found) {
		ws_out_note(
			out, "no command ran for '%s': the store had it, or nothing has this name\n", subject);
	}
}

/* ---- a trace ---- */

static void
begin_trace_event(
	const struct ws_timeline *t, struct ws_json_writer *w, const char *phase, int64_t at_ms)
{
	ws_json_open_object(w, NULL);
	ws_json_add_text(w, "ph", phase);
	ws_json_add_i64(w, "ts", (at_ms - t->first_ms) * 1000);
	ws_json_add_u64(w, "pid", 1);
}

static void
add_counter(const struct ws_timeline *t, struct ws_json_writer *w, int64_t at_ms, const char *name,
	const char *unit, uint64_t value)
{
	begin_trace_event(t, w, "C", at_ms);
	ws_json_add_text(w, "name", name);
	ws_json_open_object(w, "args");
	ws_json_add_u64(w, unit, value);
	ws_json_close(w);
	ws_json_close(w);
}

void
ws_timeline_trace(const struct ws_timeline *t, struct ws_buf *out)
{
	struct ws_json_writer *w = ws_json_begin_object();
	ws_json_add_text(w, "displayTimeUnit", "ms");
	ws_json_open_list(w, "traceEvents");
	for (size_t i = 0; i < t->spans.len; i++) {
		WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
		int64_t end_ms = t->spans.at[i].end_ms ? t->spans.at[i].end_ms : t->last_ms;
		begin_trace_event(t, w, "X", t->spans.at[i].start_ms);
		ws_json_add_i64(w, "dur", (end_ms - t->spans.at[i].start_ms) * 1000);
		ws_json_add_u64(w, "tid", t->spans.at[i].slot + 1);
		ws_json_add_text(
			w, "name", ws_arena_printf(a, "%s %s", t->spans.at[i].stage, t->spans.at[i].subject));
		ws_json_add_text(w, "cat", t->spans.at[i].stage);
		ws_json_open_object(w, "args");
		ws_json_add_text(w, "outcome", ws_outcome_words[t->spans.at[i].outcome]);
		ws_json_add_i64(w, "waited_ms",
			t->spans.at[i].start_ms - ready_ms(t, &t->spans.at[i])); /* for a slot */
		ws_json_add_u64(w, "cpu_ms", t->spans.at[i].cpu_ms);
		ws_json_add_u64(w, "rss_bytes", t->spans.at[i].rss_bytes);
		ws_json_add_text(w, "why", t->spans.at[i].detail);
		if (t->spans.at[i].elsewhere.worker) {
			ws_json_add_text(w, "worker", t->spans.at[i].elsewhere.worker);
			ws_json_add_u64(w, "queued_ms", t->spans.at[i].elsewhere.queued_ms);
			ws_json_add_u64(w, "fetch_ms", t->spans.at[i].elsewhere.fetch_ms);
		}
		ws_json_close(w);
		ws_json_close(w);
	}
	for (size_t i = 0; i < t->samples.len; i++) {
		const struct ws_memory_sample *s = &t->samples.at[i];
		add_counter(t, w, s->at_ms, "memory", "bytes", s->held_bytes);
		add_counter(t, w, s->at_ms, "held back by memory", "slots", s->held_back);
	}
	ws_json_close(w);
	ws_json_close(w);
	ws_json_finish(w, WS_JSON_COMPACT, out);
}

/* ---- the page ---- */

#define WIDTH 1000.0
#define ROW 18

static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
	"'unsafe-inline'\">"
	"<title>wheelsmith build</title><style>body{font:14px sans-serif;margin:2em}"
	"table{border-collapse:collapse}td,th{padding:2px 12px 2px 0;text-align:left}"
	"pre{background:#f4f4f4;padding:8px;overflow:auto}rect{stroke:#fff}"
	".failed,.killed{fill:#c33}.cicc{fill:#47a}.ptxas{fill:#7a4}.compile,.host{fill:#a74}"
	"rect{fill:#999}</style></head><body>\n";

/* Compilers quote what they read: what turns text around, or is not text, is '?'. */
static void
put(struct ws_buf *out, struct ws_str text)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	char *plain = ws_str_copy(text, a);
	for (size_t i = 0; i < text.n; i++) {
		plain[i] = plain[i] ? plain[i] : '?';
	}
	ws_utf8_make_plain(plain, true);
	for (const char *c = plain; *c; c++) {
		switch (*c) {
		case '&':
			ws_buf_puts(out, "&amp;");
			break;
		case '<':
			ws_buf_puts(out, "&lt;");
			break;
		case '>':
			ws_buf_puts(out, "&gt;");
			break;
		case '"':
			ws_buf_puts(out, "&quot;");
			break;
		default:
			ws_buf_putc(out, *c);
		}
	}
}

static void
put_item(struct ws_buf *out, const char *open, const char *text, const char *close)
{
	ws_buf_puts(out, open);
	put(out, ws_str_of(text ? text : ""));
	ws_buf_puts(out, close);
}

static void
put_timeline(const struct ws_timeline *t, struct ws_buf *out)
{
	char text[WS_FORMAT_BYTES];
	unsigned slots = 0;
	double all_ms = (double)(t->last_ms - t->first_ms) + 1;
	for (size_t i = 0; i < t->spans.len; i++) {
		slots = t->spans.at[i].slot + 1 > slots ? t->spans.at[i].slot + 1 : slots;
	}
	ws_buf_printf(out,
		"<h1>Timeline</h1>\n<p>%s; slots held back by memory for %s</p>\n"
		"<svg width=\"%.0f\" height=\"%u\" role=\"img\">\n",
		ws_format_duration((uint64_t)all_ms, text),
		ws_format_duration(t->held_back_ms, (char[WS_FORMAT_BYTES]){""}), WIDTH, slots * ROW + ROW);
	for (size_t i = 0; i < t->spans.len; i++) {
		const struct ws_timed_command *span = &t->spans.at[i];
		int64_t end_ms = span->end_ms ? span->end_ms : t->last_ms;
		bool good = span->outcome == WS_OUTCOME_RAN;
		put_item(out, "<rect class=\"", good ? span->stage : ws_outcome_words[span->outcome], "\"");
		ws_buf_printf(out, " x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%d\"><title>",
			(double)(span->start_ms - t->first_ms) / all_ms * WIDTH, span->slot * ROW,
			(double)(end_ms - span->start_ms) / all_ms * WIDTH, ROW - 2);
		put_item(out, "", span->stage, " ");
		put_item(out, "", span->subject, ": ");
		ws_buf_puts(out, ws_format_duration(span->cpu_ms, text));
		ws_buf_printf(out, " of CPU, %s", ws_format_memory(span->rss_bytes, text));
		put_item(out, span->elsewhere.worker ? ", on " : "", span->elsewhere.worker, "");
		put_item(out, span->detail ? ": " : "", span->detail, "</title></rect>\n");
	}
	ws_buf_puts(out, "</svg>\n");
}

void
ws_timeline_page(const struct ws_timeline *t, const struct ws_page_cell *cells, size_t cell_count,
	const struct ws_page_failure *failures, size_t failure_count, struct ws_buf *out)
{
	ws_buf_puts(out, head);
	ws_buf_puts(out, "<h1>Cells</h1>\n<table><tr><th>cell<th>result<th>wheel, or why</tr>\n");
	for (size_t i = 0; i < cell_count; i++) {
		put_item(out, "<tr><td>", cells[i].name, "");
		put_item(out, "<td>", cells[i].state, "");
		put_item(out, "<td>", cells[i].detail, "</tr>\n");
	}
	ws_buf_puts(out, "</table>\n");
	ws_buf_puts(out, failure_count > 0 ? "<h1>Failures</h1>\n" : "");
	for (size_t i = 0; i < failure_count; i++) {
		put_item(out, "<h2>", failures[i].stage, " ");
		put_item(out, "", failures[i].subject, "</h2>\n");
		put_item(out, "<p>", failures[i].cell, ": ");
		put_item(out, "", failures[i].text, "</p>\n<pre>");
		put(out, failures[i].log);
		ws_buf_puts(out, "</pre>\n");
	}
	char run[WS_FORMAT_BYTES], saved[WS_FORMAT_BYTES];
	ws_buf_puts(out,
		"<h1>What was shared</h1>\n<table><tr><th>stage<th>ran<th>from the store<th>CPU"
		"<th>CPU saved</tr>\n");
	for (size_t i = 0; i < t->stages.len; i++) {
		const struct ws_stage_sum *sum = &t->stages.at[i];
		if (sum->ran + sum->hits > 0) {
			put_item(out, "<tr><td>", sum->stage, "");
			ws_buf_printf(out, "<td>%u<td>%u<td>%s<td>%s</tr>\n", sum->ran, sum->hits,
				ws_format_duration(sum->run_ms, run), ws_format_duration(sum->saved_ms, saved));
		}
	}
	ws_buf_puts(out, "</table>\n");
	put_timeline(t, out);
	ws_buf_puts(out, "</body></html>\n");
}
