/* timeline_page.c - the page: tables, and the timeline as SVG. */
#include "base/arena.h"
#include "base/text.h"
#include "report/format.h"
#include "report/timeline.h"

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
put_cells(const struct ws_page_cell *cells, size_t count, struct ws_buf *out)
{
	ws_buf_puts(out, "<h1>Cells</h1>\n<table><tr><th>cell<th>result<th>wheel, or why</tr>\n");
	for (size_t i = 0; i < count; i++) {
		put_item(out, "<tr><td>", cells[i].name, "");
		put_item(out, "<td>", cells[i].state, "");
		put_item(out, "<td>", cells[i].detail, "</tr>\n");
	}
	ws_buf_puts(out, "</table>\n");
}

static void
put_stages(const struct ws_timeline *t, struct ws_buf *out)
{
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
		put_item(out, "<rect class=\"", good ? span->stage : ws_outcome_name(span->outcome), "\"");
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

static void
put_failures(const struct ws_page_failure *failures, size_t count, struct ws_buf *out)
{
	ws_buf_puts(out, count > 0 ? "<h1>Failures</h1>\n" : "");
	for (size_t i = 0; i < count; i++) {
		put_item(out, "<h2>", failures[i].stage, " ");
		put_item(out, "", failures[i].subject, "</h2>\n");
		put_item(out, "<p>", failures[i].cell, ": ");
		put_item(out, "", failures[i].text, "</p>\n<pre>");
		put(out, failures[i].log);
		ws_buf_puts(out, "</pre>\n");
	}
}

void
ws_timeline_page(const struct ws_timeline *t, const struct ws_page_cell *cells, size_t cell_count,
	const struct ws_page_failure *failures, size_t failure_count, struct ws_buf *out)
{
	ws_buf_puts(out, head);
	put_cells(cells, cell_count, out);
	put_failures(failures, failure_count, out);
	put_stages(t, out);
	put_timeline(t, out);
	ws_buf_puts(out, "</body></html>\n");
}
