/* why_product.c - the second half of a cell's story: its wheel. Declared in why_lines.h. */
#include "plan/units.h"
#include "plan/why_lines.h"

#include <inttypes.h>
#include <string.h>

#define MOST_CELLS 12
#define DIGITS 12 /* of a digest: enough to compare by eye */

static void
write_wheel(const struct ws_cell *cell, struct ws_buf *out)
{
	const struct ws_product *product = cell->product;
	ws_why_line(out, "wheel", "%s %s, %s-%s%s", product->recipe->distribution, product->version,
		product->python_tag, product->abi_tag,
		product->pure ? "-any" : ", platform measured when linked");
	if (product->torch) {
		ws_why_line(out, "", "it will ask for %s", product->torch);
	}
	if (product->point.torch && cell->point.torch && product->binding != WS_BINDING_NONE) {
		bool other =
			ws_version_cmp(&product->point.torch->version, &cell->point.torch->version) != 0;
		ws_why_line(out, "", "made for torch %s%s", product->point.torch->version.text,
			other ? ", the lowest that it serves" : "");
	}
}

static void
write_sharers(const struct ws_cell *cell, struct ws_buf *out)
{
	const struct ws_product *product = cell->product;
	size_t told = 0;
	for (size_t i = 0; i < product->cell_count && told < MOST_CELLS; i++) {
		if (product->cells[i] != cell) {
			ws_why_line(out, told++ ? "" : "serves", "%s", product->cells[i]->name);
		}
	}
	if (product->cell_count > told + 1) {
		ws_why_line(out, "", "and %zu more", product->cell_count - told - 1);
	}
}

static void
write_pins(const struct ws_plan_input *in, const struct ws_product *product, struct ws_buf *out)
{
	const struct ws_point *point = &product->point;
	const struct ws_pin_source *source = in->lock
		? ws_lock_source(in->lock, product->recipe->name, product->recipe->version.text)
		: NULL;
	const char *title = "pins";
	if (source) {
		ws_why_line(out, title, "source: %s %s, tree %.*s", source->how, source->from, DIGITS,
			source->tree);
		title = "";
	}
	if (point->cuda && point->cuda->pin) {
		const struct ws_pin_cuda *pin = point->cuda->pin;
		ws_why_line(out, title, "cuda: %s %s, %.*s", pin->how, pin->name, DIGITS, pin->digest);
		title = "";
	}
	if (point->torch && point->torch->pin) {
		const struct ws_pin_torch *pin = point->torch->pin;
		ws_why_line(out, title, "torch: %s, tree %.*s", pin->wheel, DIGITS, pin->tree);
		title = "";
	}
	if (point->torch && point->torch->record) {
		ws_why_line(out, title, "torch: installed, RECORD %.*s", DIGITS, point->torch->record);
		title = "";
	}
	if (product->missing_pin) {
		ws_why_line(out, title, "%s is not locked, so nothing can be cached", product->missing_pin);
	} else {
		ws_why_line(out, "key", "%s", product->key);
	}
}

/* "112 s, 1149 MiB (ledger)". */
static const char *
unit_cost(const struct ws_plan_unit *unit, struct ws_arena *a)
{
	const char *from = unit->measured ? "ledger" : "recipe";
	const char *memory = unit->cost.rss_bytes
		? ws_arena_printf(a, "%" PRIu64 " MiB", unit->cost.rss_bytes >> 20)
		: "? MiB";
	if (unit->cost.cpu_ms) {
		return ws_arena_printf(
			a, "%" PRIu64 " s cpu, %s (%s)", (unit->cost.cpu_ms + 999) / 1000, memory, from);
	}
	return unit->cost.rss_bytes ? ws_arena_printf(a, "? s cpu, %s (%s)", memory, from)
								: "nobody knows its cost";
}

static void
write_units(const struct ws_product *product, struct ws_buf *out, struct ws_arena *a)
{
	const struct ws_plan_units *units = product->units;
	for (size_t i = 0; i < units->count; i++) {
		const struct ws_plan_unit *unit = &units->at[i];
		const char *files = unit->files > 1 ? ws_arena_printf(a, "%u of ", unit->files) : "";
		ws_why_line(out, i > 0 ? "" : "units", "%s%s: %s", files, unit->path, unit_cost(unit, a));
	}
	if (product->kernels) {
		ws_why_line(
			out, "", "the .cu units are compiled for %s already", product->kernels->cells[0]->name);
	}
}

static void
write_cost(const struct ws_cost *cost, struct ws_buf *out, struct ws_arena *a)
{
	const char *known = cost->cpu_ms
		? ws_arena_printf(a, "at most %" PRIu64 " s cpu", (cost->cpu_ms + 999) / 1000)
		: "";
	const char *unknown =
		cost->unknown ? ws_arena_printf(a, "%u units of unknown cost", cost->unknown) : "";
	ws_why_line(out, "cost", "%u actions, %s%s%s", cost->actions,
		cost->units ? known : "nothing to compile", known[0] && unknown[0] ? " and " : "", unknown);
}

void
ws_why_product(const struct ws_plan_input *in, const struct ws_cell *cell, struct ws_buf *out)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const struct ws_product *product = cell->product;
	write_wheel(cell, out);
	write_sharers(cell, out);
	write_pins(in, product, out);
	if (product->wheel.file) {
		ws_why_line(out, "store", "%s%s%s", product->wheel.file,
			product->wheel.date ? ", built " : "", product->wheel.date ? product->wheel.date : "");
	}
	if (!product->units) {
		return;
	}
	write_units(product, out, a);
	if (cell == product->payer) {
		write_cost(&cell->cost, out, a);
	} else {
		ws_why_line(out, "cost", "none: %s pays for the wheel", product->payer->name);
	}
}
