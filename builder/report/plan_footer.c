#include "base/arena.h"
#include "base/out.h"
#include "report/format.h"
#include "report/plan_text.h"

#include <inttypes.h>
#include <stdlib.h>

#define HINT "--why CELL tells more"
#define MOST_REASONS 6

struct reason {
	const char *text;
	unsigned cells;
	unsigned place; /* of its first cell */
};

typedef WS_VEC(struct reason) reason_vec;

static int
cmp_reasons(const void *x, const void *y)
{
	const struct reason *one = x;
	const struct reason *two = y;
	if (one->cells != two->cells) {
		return one->cells > two->cells ? -1 : 1;
	}
	return one->place > two->place ? 1 : -1;
}

/* The reasons of excluded cells, the most frequent first. */
static void
count_reasons(const struct ws_plan *plan, reason_vec *reasons, struct ws_arena *a)
{
	struct ws_map places = {0}; /* reason -> index + 1 */
	for (size_t i = 0; i < plan->cell_count; i++) {
		const struct ws_cell *cell = plan->cells[i];
		if (cell->decision != WS_DECISION_EXCLUDED) {
			continue;
		}
		uintptr_t place = (uintptr_t)ws_map_get(&places, cell->why);
		if (place == 0) {
			*ws_vec_push(reasons, a) =
				(struct reason){.text = cell->why, .place = (unsigned)reasons->len};
			place = reasons->len;
			ws_map_put(&places, cell->why, (void *)place, a);
		}
		reasons->at[place - 1].cells++;
	}
	if (reasons->len > 1) {
		qsort(reasons->at, reasons->len, sizeof(*reasons->at), cmp_reasons);
	}
}

static void
write_excluded(const struct ws_plan *plan, unsigned width, struct ws_buf *out, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf line = {0};
	reason_vec reasons = {0};
	unsigned excluded = plan->totals.decisions[WS_DECISION_EXCLUDED];
	count_reasons(plan, &reasons, a);
	ws_buf_printf(&line, "  %u excluded: ", excluded);
	for (size_t i = 0; i < reasons.len; i++) {
		ws_buf_printf(
			&line, "%s%s (%u)", i > 0 ? "; " : "", reasons.at[i].text, reasons.at[i].cells);
	}
	ws_buf_puts(&line, "   " HINT);
	if (width == 0 ? reasons.len <= MOST_REASONS : ws_term_columns(line.data) <= width) {
		ws_buf_printf(out, "%s\n", line.data);
		return;
	}
	ws_buf_printf(out, "  %u excluded   " HINT "\n", excluded);
	unsigned reported = 0;
	for (size_t i = 0; i < reasons.len && i < MOST_REASONS; i++) {
		char *text = ws_arena_printf(a, "    %4u  %s", reasons.at[i].cells, reasons.at[i].text);
		if (width > 0) {
			ws_term_cut(text, width);
		}
		ws_buf_printf(out, "%s\n", text);
		reported += reasons.at[i].cells;
	}
	if (reasons.len > MOST_REASONS) {
		ws_buf_printf(out, "    %4u  for %zu other reasons\n", excluded - reported,
			reasons.len - MOST_REASONS);
	}
}

/* "40 s", "7 min", "3 h 20 min": rounded up, because nobody waits by the second. */
static const char *
wall_words(uint64_t ms, struct ws_arena *a)
{
	uint64_t seconds = (ms + 999) / 1000;
	uint64_t minutes = (seconds + 59) / 60;
	if (seconds < 60) {
		return ws_arena_printf(a, "%" PRIu64 " s", seconds);
	}
	return minutes < 90
		? ws_arena_printf(a, "%" PRIu64 " min", minutes)
		: ws_arena_printf(a, "%" PRIu64 " h %" PRIu64 " min", minutes / 60, minutes % 60);
}

/* Adds a part of the total, on a new line where it would go beyond @a width. */
static void
add_part(struct ws_buf *out, size_t *line, unsigned width, const char *part)
{
	bool first = out->len == *line;
	const char *column = ws_buf_text(out) + *line;
	if (first) {
		ws_buf_puts(out, "  total: ");
	} else if (width > 0 && ws_term_columns(column) + 3 + ws_term_columns(part) > width) {
		ws_buf_puts(out, ",\n");
		*line = out->len;
		ws_buf_puts(out, "         ");
	} else {
		ws_buf_puts(out, ", ");
	}
	ws_buf_puts(out, part);
}

/* Cells that somebody else's wheel serves, or hopefully does, and those for which something stands
 * in. */
static void
add_others(const struct ws_totals *totals, size_t *line, unsigned width, struct ws_buf *out,
	struct ws_arena *a)
{
	unsigned prebuilt = totals->decisions[WS_DECISION_PREBUILT];
	unsigned fallback = totals->decisions[WS_DECISION_FALLBACK];
	if (prebuilt > 0) {
		const char *open =
			totals->unopened > 0 ? ws_arena_printf(a, " (%u not opened)", totals->unopened) : "";
		add_part(out, line, width, ws_arena_printf(a, "%u prebuilt%s", prebuilt, open));
	}
	if (fallback > 0) {
		add_part(out, line, width,
			ws_arena_printf(a, "%u fallback%s", fallback, fallback > 1 ? "s" : ""));
	}
}

/* "≤ 7 min on 2 cores", "~" where some figures are rough; what nobody knows is reported beside
 * it. */
static void
write_total(const struct ws_totals *totals, unsigned width, struct ws_buf *out, struct ws_arena *a)
{
	char words[WS_FORMAT_BYTES];
	const struct ws_cost *cost = &totals->cost;
	size_t line = out->len;
	if (totals->products > 0) {
		add_part(out, &line, width, ws_arena_printf(a, "%u to build", totals->products));
	} else {
		add_part(out, &line, width, "nothing to build");
	}
	add_others(totals, &line, width, out, a);
	if (totals->products == 0) {
		ws_buf_putc(out, '\n');
		return;
	}
	add_part(out, &line, width, ws_arena_printf(a, "%u actions", cost->actions));
	if (cost->cpu_ms > 0) {
		add_part(out, &line, width,
			ws_arena_printf(a, "%s %s on %u core%s", cost->rough ? "~" : "≤",
				wall_words(totals->wall_ms, a), totals->cores, totals->cores > 1 ? "s" : ""));
	}
	if (cost->unknown > 0) {
		add_part(out, &line, width,
			ws_arena_printf(a, "%s%u unit%s of unknown cost", cost->cpu_ms > 0 ? "beside " : "",
				cost->unknown, cost->unknown > 1 ? "s" : ""));
	}
	if (totals->peak_bytes > 0) {
		add_part(out, &line, width,
			ws_arena_printf(a, "peak %s%s",
				cost->unmeasured > 0 ? "≥ "
					: cost->rough    ? "~ "
									 : "",
				ws_format_memory(totals->peak_bytes, words)));
	}
	ws_buf_putc(out, '\n');
}

void
ws_plan_footer_write(const struct ws_plan *plan, unsigned width, struct ws_buf *out)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	if (plan->totals.decisions[WS_DECISION_EXCLUDED] > 0) {
		write_excluded(plan, width, out, a);
	}
	write_total(&plan->totals, width, out, a);
}
