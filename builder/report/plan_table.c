/* plan_table.c - rows and columns. What stands below them is plan_footer.c's. */
#include "report/plan_table.h"

#include "plan/units.h"
#include "report/format.h"
#include "report/plan_footer.h"
#include "sys/term.h"

#include <string.h>

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

/* The order in which a table that is too wide gives way, and what a column is cut to; 0: it goes. */
static const struct {
	enum column column;
	unsigned least;
} ways[] = {{WHY, 24}, {PACKAGE, 22}, {ARCHS, 10}, {WHY, 12}, {PACKAGE, 14}, {WHY, 0}, {COST, 0},
	{ARCHS, 6}};

struct row {
	char *texts[COLUMNS];
};

static const char *
cost_text(const struct ws_cell *cell, struct ws_arena *a)
{
	char words[WS_FORMAT_BYTES];
	if (cell->cost.actions == 0) {
		return "–";
	}
	if (cell->cost.units == 0) {
		return cell->product->units->modules > 0 ? "link" : "pack";
	}
	return cell->cost.unknown > 0 ? "unknown"
								  : ws_arena_printf(a, "%s %s", cell->cost.rough ? "~" : "≤",
									  ws_format_clock(cell->cost.cpu_ms, words));
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
		ws_arena_printf(a, "%s%s%s", torch ? torch->name : "–", unknown, abi ? abi : ""),
		ws_arena_strdup(a, point->cuda ? point->cuda->name : "–"),
		ws_arena_strdup(a, point->python->text),
		ws_arena_strdup(a, point->archs.count > 0 ? ws_arch_set_text(&point->archs, a) : "–"),
		ws_arena_printf(a, "%s%s", ws_decision_name(cell->decision), judged ? "" : "?"),
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
cut(unsigned widths[COLUMNS], unsigned width)
{
	for (size_t i = 0; i < WS_LEN(ways); i++) {
		unsigned sum = sum_widths(widths);
		unsigned *column = &widths[ways[i].column];
		if (sum <= width) {
			return;
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
fit(unsigned widths[COLUMNS], unsigned width)
{
	static const enum column again[] = {PACKAGE, ARCHS};
	unsigned natural[COLUMNS];
	memcpy(natural, widths, sizeof(natural));
	cut(widths, width);
	for (size_t i = 0; i < WS_LEN(again) && sum_widths(widths) < width; i++) {
		unsigned room = width - sum_widths(widths);
		unsigned *column = &widths[again[i]];
		*column = natural[again[i]] - *column < room ? natural[again[i]] : *column + room;
	}
}

static void
print_row(struct row *row, const unsigned widths[COLUMNS], struct ws_buf *out)
{
	unsigned gap = INDENT;
	for (size_t i = 0; i < COLUMNS; i++) {
		if (widths[i] == 0) {
			continue;
		}
		ws_term_cut(row->texts[i], widths[i]);
		ws_buf_printf(out, "%*s%s", (int)gap, "", row->texts[i]);
		gap = GAP + widths[i] - ws_term_columns(row->texts[i]);
	}
	ws_buf_putc(out, '\n');
}

static void
measure(const struct row *row, unsigned widths[COLUMNS])
{
	for (size_t i = 0; i < COLUMNS; i++) {
		unsigned columns = ws_term_columns(row->texts[i]);
		widths[i] = columns > widths[i] ? columns : widths[i];
	}
}

void
ws_plan_table_write(const struct ws_plan *plan, unsigned width, struct ws_buf *out)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct row *rows = WS_NEW_N(a, struct row, plan->cell_count + 1);
	unsigned widths[COLUMNS] = {0};
	size_t count = 1;
	for (size_t i = 0; i < COLUMNS; i++) {
		rows[0].texts[i] = ws_arena_strdup(a, titles[i]);
	}
	for (size_t i = 0; i < plan->cell_count; i++) {
		if (plan->cells[i]->decision != WS_DECISION_EXCLUDED) {
			rows[count++] = make_row(plan->cells[i], a);
		}
	}
	for (size_t i = 0; i < count; i++) {
		measure(&rows[i], widths);
	}
	if (width > 0) {
		fit(widths, width);
	}
	for (size_t i = 0; i < count && count > 1; i++) {
		print_row(&rows[i], widths, out);
	}
	if (count > 1 && (widths[WHY] == 0 || widths[COST] == 0)) {
		ws_buf_printf(out, "  %s left out: the terminal is too narrow\n",
			widths[COST] == 0 ? "why and cost are" : "why is");
	}
	ws_plan_footer_write(plan, width, out);
}
