/* plan_table.c - a plan as a table, with the exclusions and the total below it. */
#include "base/out.h"
#include "report/format.h"
#include "report/plan_text.h"

#include <inttypes.h>

#define INDENT 2
#define GAP 2

enum column {
	PACKAGE,
	TORCH,
	CUDA,
	PYTHON,
	ARCHS,
	DECISION,
	WHY,
	COST,
	COLUMNS,
};

static const char *const titles[COLUMNS] = {
	"package", "torch", "cuda", "python", "archs", "decision", "why", "cost"};

/* The order in which columns of a wide table are cut, and their least width; 0: removed. A column
 * with one value in every row is removed first: its value is printed once below. */
static const struct {
	enum column column;
	unsigned least;
	bool if_same;
} ways[] = {{ARCHS, 0, true}, {DECISION, 0, true}, {CUDA, 0, true}, {PYTHON, 0, true},
	{WHY, 24, false}, {PACKAGE, 22, false}, {ARCHS, 10, false}, {TORCH, 0, true}, {WHY, 12, false},
	{WHY, 0, false}, {PACKAGE, 16, false}, {COST, 0, false}, {ARCHS, 6, false},
	{PACKAGE, 12, false}};

struct row {
	char *texts[COLUMNS];
};

static const char *
cost_text(const struct ws_cell *cell, struct ws_arena *a)
{
	char words[WS_FORMAT_BYTES];
	if (cell->cost.actions == 0) {
		return "-";
	}
	if (cell->cost.units == 0) {
		return cell->product->units->modules > 0 ? "link" : "pack";
	}
	return cell->cost.unknown > 0
		? "unknown"
		: ws_arena_printf(
			a, "%s %s", cell->cost.rough ? "~" : "<=", ws_format_clock(cell->cost.cpu_ms, words));
}

static struct row
make_row(const struct ws_cell *cell, struct ws_arena *a)
{
	const struct ws_point *point = &cell->point;
	const struct ws_torch_choice *torch = point->torch;
	bool judged = cell->decision != WS_DECISION_PREBUILT || cell->product->chosen;
	const char *unknown = torch && !torch->known ? "?" : "";
	const char *abi = strstr(cell->name, "/abi"); /* when it is not the wheel's own */
	return (struct row){{
		ws_arena_printf(a, "%s %s", cell->recipe->name, cell->recipe->version.text),
		ws_arena_printf(a, "%s%s%s", torch ? torch->name : "-", unknown, abi ? abi : ""),
		ws_arena_strdup(a, point->cuda ? point->cuda->name : "-"),
		ws_arena_strdup(a, point->python->text),
		ws_arena_printf(a, "%s%s",
			point->archs.count > 0 ? ws_arch_set_text(&point->archs, a) : "-",
			point->machine->mark),
		ws_arena_printf(a, "%s%s", ws_decision_words[cell->decision], judged ? "" : "?"),
		ws_arena_strdup(a, cell->why),
		ws_arena_strdup(a, cost_text(cell, a)),
	}};
}

static unsigned
sum_widths(const unsigned widths[COLUMNS])
{
	unsigned sum = INDENT;
	for (size_t i = 0; i < COLUMNS; i++) {
		sum += widths[i] ? widths[i] + (sum > INDENT ? GAP : 0) : 0;
	}
	return sum;
}

static void
cut(unsigned widths[COLUMNS], const bool same[COLUMNS], unsigned width)
{
	for (size_t i = 0; i < WS_LEN(ways); i++) {
		unsigned sum = sum_widths(widths);
		unsigned *column = &widths[ways[i].column];
		if (sum <= width) {
			return;
		}
		if (ways[i].if_same && !same[ways[i].column]) {
			continue;
		}
		unsigned least = ways[i].least;
		if (*column > least) {
			*column = least && *column - least > sum - width ? *column - (sum - width) : least;
		}
	}
}

/* Cuts columns until the table fits, or nothing is left to cut. Where one had to go, there may be
 * room for others again. */
static void
fit(unsigned widths[COLUMNS], const bool same[COLUMNS], unsigned width)
{
	static const enum column again[] = {PACKAGE, ARCHS};
	unsigned natural[COLUMNS];
	memcpy(natural, widths, sizeof(natural));
	cut(widths, same, width);
	for (size_t i = 0; i < WS_LEN(again) && sum_widths(widths) < width; i++) {
		unsigned room = width - sum_widths(widths);
		unsigned *column = &widths[again[i]];
		if (*column > 0) {
			*column = natural[again[i]] - *column < room ? natural[again[i]] : *column + room;
		}
	}
}

/* A version says more than the end of a name: "causal-c... 1.5.3.post1". */
static char *
cut_package(char *text, unsigned width, struct ws_arena *a)
{
	char *version = strrchr(text, ' ');
	unsigned len = version ? ws_term_columns(version) : 0;
	if (!version || ws_term_columns(text) <= width || width < len + 4) {
		ws_term_cut(text, width);
		return text;
	}
	unsigned room = width - len; /* a few letters say more than dots */
	char *name = ws_arena_copy(a, text, room < 8 ? room : (size_t)(version - text));
	ws_term_cut(name, room);
	return ws_arena_printf(a, "%s%s", name, version);
}

static void
print_row(struct row *row, const unsigned widths[COLUMNS], struct ws_arena *a, struct ws_buf *out)
{
	unsigned gap = INDENT;
	for (size_t i = 0; i < COLUMNS; i++) {
		if (widths[i] == 0) {
			continue;
		}
		if (i == PACKAGE) {
			row->texts[i] = cut_package(row->texts[i], widths[i], a);
		} else {
			ws_term_cut(row->texts[i], widths[i]);
		}
		ws_buf_printf(out, "%*s%s", (int)gap, "", row->texts[i]);
		gap = GAP + widths[i] - ws_term_columns(row->texts[i]);
	}
	ws_buf_putc(out, '\n');
}

/* ---- below the table ---- */

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

static void
write_excluded(const struct ws_plan *plan, unsigned width, struct ws_buf *out, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf line = {0};
	reason_vec reasons = {0};
	unsigned excluded = plan->totals.decisions[WS_DECISION_EXCLUDED];
	/* The reasons of excluded cells, the most frequent first. */
	struct ws_map places = {0}; /* reason -> index + 1 */
	for (size_t i = 0; i < plan->cell_count; i++) {
		const struct ws_cell *cell = plan->cells[i];
		if (cell->decision != WS_DECISION_EXCLUDED) {
			continue;
		}
		uintptr_t place = (uintptr_t)ws_map_get(&places, cell->why);
		if (place == 0) {
			*ws_vec_push(&reasons, a) =
				(struct reason){.text = cell->why, .place = (unsigned)reasons.len};
			place = reasons.len;
			ws_map_put(&places, cell->why, (void *)place, a);
		}
		reasons.at[place - 1].cells++;
	}
	if (reasons.len > 1) {
		qsort(reasons.at, reasons.len, sizeof(*reasons.at), cmp_reasons);
	}
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

/* "40 s", "7 min", "3 h 20 min", rounded up. */
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

/* "<= 7 min on 2 cores"; "~" with rough figures; units of unknown cost are counted beside it. */
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
	/* Cells with a prebuilt wheel or a candidate, and cells with a fallback. */
	unsigned prebuilt = totals->decisions[WS_DECISION_PREBUILT];
	unsigned fallback = totals->decisions[WS_DECISION_FALLBACK];
	if (prebuilt > 0) {
		const char *open =
			totals->unopened > 0 ? ws_arena_printf(a, " (%u not opened)", totals->unopened) : "";
		add_part(out, &line, width, ws_arena_printf(a, "%u prebuilt%s", prebuilt, open));
	}
	if (fallback > 0) {
		add_part(out, &line, width,
			ws_arena_printf(a, "%u fallback%s", fallback, fallback > 1 ? "s" : ""));
	}
	if (totals->products == 0) {
		ws_buf_putc(out, '\n');
		return;
	}
	add_part(out, &line, width, ws_arena_printf(a, "%u actions", cost->actions));
	if (cost->cpu_ms > 0) {
		add_part(out, &line, width,
			ws_arena_printf(a, "%s %s on %u core%s", cost->rough ? "~" : "<=",
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
				cost->unmeasured > 0 ? ">= "
					: cost->rough    ? "~ "
									 : "",
				ws_format_memory(totals->peak_bytes, words)));
	}
	ws_buf_putc(out, '\n');
}

/* ---- all of it ---- */

void
ws_plan_table_write(const struct ws_plan *plan, unsigned width, struct ws_buf *out)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct row *rows = WS_NEW_N(a, struct row, plan->cell_count + 1);
	unsigned widths[COLUMNS] = {0};
	bool same[COLUMNS];
	size_t count = 1;
	for (size_t i = 0; i < COLUMNS; i++) {
		rows[0].texts[i] = ws_arena_strdup(a, titles[i]);
	}
	for (size_t i = 0; i < plan->cell_count; i++) {
		if (plan->cells[i]->decision != WS_DECISION_EXCLUDED) {
			rows[count++] = make_row(plan->cells[i], a);
		}
	}
	/* The same: columns with one value for all of several rows; the titles are the first. */
	for (size_t c = 0; c < COLUMNS; c++) {
		same[c] = count > 2;
		for (size_t i = 0; i < count; i++) {
			unsigned columns = ws_term_columns(rows[i].texts[c]);
			widths[c] = columns > widths[c] ? columns : widths[c];
		}
		for (size_t i = 2; i < count; i++) {
			same[c] = same[c] && strcmp(rows[i].texts[c], rows[1].texts[c]) == 0;
		}
	}
	if (width > 0) {
		fit(widths, same, width);
	}
	for (size_t i = 0; i < count && count > 1; i++) {
		print_row(&rows[i], widths, a, out);
	}
	if (count > 1) {
		/* Print the removed columns that are the same everywhere. */
		unsigned told = 0;
		for (size_t i = 0; i < COLUMNS; i++) {
			if (widths[i] == 0 && same[i]) {
				ws_buf_printf(out, "%s%s %s", told++ > 0 ? ", " : "  every cell: ", titles[i],
					rows[1].texts[i]);
			}
		}
		ws_buf_puts(out, told > 0 ? "\n" : "");
		bool why = widths[WHY] == 0 && !same[WHY];
		bool cost = widths[COST] == 0 && !same[COST];
		if (why || cost) {
			ws_buf_printf(out, "  %s left out: the terminal is too narrow\n",
				!cost      ? "why is"
					: !why ? "cost is"
						   : "why and cost are");
		}
	}
	if (plan->totals.decisions[WS_DECISION_EXCLUDED] > 0) {
		write_excluded(plan, width, out, a);
	}
	write_total(&plan->totals, width, out, a);
}
