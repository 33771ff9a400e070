/* cost.c - what a plan costs, in time and memory. What a unit costs is units.c's. */
#include "base/arena.h"
#include "base/text.h"
#include "plan/steps.h"
#include "plan/units.h"

#include <string.h>

#define MOST_JOBS 1024

/* ---- the most memory that units hold together ---- */

/* A prediction: as many of the largest as may run at once, as far as they fit beside each other. */
struct peaks {
	uint64_t *at; /* descending */
	size_t len;
	size_t most; /* as many as run at once */
};

static struct peaks
make_peaks(unsigned jobs, struct ws_arena *a)
{
	struct peaks peaks = {.most = jobs < MOST_JOBS ? jobs : MOST_JOBS};
	peaks.at = WS_NEW_N(a, uint64_t, peaks.most);
	return peaks;
}

static void
insert_peak(struct peaks *peaks, uint64_t rss_bytes)
{
	size_t place = peaks->len;
	while (place > 0 && peaks->at[place - 1] < rss_bytes) {
		place--;
	}
	if (place == peaks->most) {
		return;
	}
	peaks->len += peaks->len < peaks->most;
	memmove(
		&peaks->at[place + 1], &peaks->at[place], (peaks->len - 1 - place) * sizeof(*peaks->at));
	peaks->at[place] = rss_bytes;
}

static void
add_peaks(struct peaks *peaks, uint64_t rss_bytes, unsigned count)
{
	for (unsigned i = 0; i < count && i < peaks->most; i++) {
		insert_peak(peaks, rss_bytes);
	}
}

/* memory_bytes 0: there is no limit. One unit alone may hold more than the limit. */
static uint64_t
sum_peaks(const struct peaks *peaks, uint64_t memory_bytes)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < peaks->len; i++) {
		bool fits = memory_bytes == 0 || (sum < memory_bytes && peaks->at[i] <= memory_bytes - sum);
		if (i == 0 || fits) {
			sum += peaks->at[i];
		}
	}
	return sum;
}

/* ---- units that are paid once ---- */

/* Products that share .cu units, and the lists whose units are paid for; nearly always it is
 * one. */
struct kernels {
	const struct ws_product *first;
	WS_VEC(const struct ws_plan_units *) paid;
};

static struct kernels *
find_kernels(
	struct ws_map *all, const struct ws_product *product, struct ws_buf *text, struct ws_arena *a)
{
	const struct ws_point *point = &product->point;
	ws_buf_clear(text);
	ws_buf_printf(text, "%s %s %s abi%d %s ", product->recipe->name, product->recipe->version.text,
		point->torch ? point->torch->version.text : "", point->cxx11abi,
		point->cuda ? point->cuda->name : "");
	ws_archs_identify(&point->archs, text);
	ws_buf_puts(text, point->machine->mark);
	struct kernels *kernels = ws_map_get(all, ws_buf_text(text));
	if (!kernels) {
		kernels = WS_NEW(a, struct kernels);
		kernels->first = product;
		ws_map_put(all, ws_buf_copy(text, a), kernels, a);
	}
	return kernels;
}

static bool
holds_unit(const struct ws_plan_units *list, const struct ws_plan_unit *unit)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct ws_plan_unit *other = &list->at[i];
		if (strcmp(other->path, unit->path) == 0 && strcmp(other->module, unit->module) == 0) {
			return true;
		}
	}
	return false;
}

static bool
is_paid(const struct kernels *kernels, const struct ws_plan_units *units,
	const struct ws_plan_unit *unit)
{
	for (size_t i = 0; ws_unit_is_nvcc(unit->kind) && i < kernels->paid.len; i++) {
		if (kernels->paid.at[i] == units || holds_unit(kernels->paid.at[i], unit)) {
			return true;
		}
	}
	return false;
}

static void
add_unit(struct ws_cost *cost, const struct ws_plan_unit *unit)
{
	cost->actions += unit->files;
	cost->units += unit->files;
	cost->unknown += unit->cost.cpu_ms ? 0 : unit->files;
	cost->rough += unit->rough ? unit->files : 0;
	cost->unmeasured += unit->cost.rss_bytes ? 0 : unit->files;
	cost->cpu_ms += unit->cost.cpu_ms * unit->files;
	if (unit->cost.rss_bytes > cost->rss_bytes) {
		cost->rss_bytes = unit->cost.rss_bytes;
	}
}

static void
add_cost(struct ws_cost *sum, const struct ws_cost *cost)
{
	sum->actions += cost->actions;
	sum->units += cost->units;
	sum->unknown += cost->unknown;
	sum->rough += cost->rough;
	sum->unmeasured += cost->unmeasured;
	sum->cpu_ms += cost->cpu_ms;
	sum->rss_bytes = cost->rss_bytes > sum->rss_bytes ? cost->rss_bytes : sum->rss_bytes;
}

static struct ws_cell *
find_payer(const struct ws_product *product)
{
	for (size_t i = 0; i < product->cell_count; i++) {
		if (product->cells[i]->decision == WS_DECISION_BUILD) {
			return product->cells[i];
		}
	}
	return NULL;
}

/* One check and one pack, beside a link for each module. */
#define CHECK_AND_PACK 2

static void
add_paid(struct kernels *kernels, const struct ws_plan_units *units, struct ws_arena *a)
{
	for (size_t i = 0; i < kernels->paid.len; i++) {
		if (kernels->paid.at[i] == units) {
			return;
		}
	}
	*ws_vec_push(&kernels->paid, a) = units;
}

/* What the plan as a whole is made of. */
struct sum {
	struct ws_cost cost;
	struct peaks peaks;
	uint64_t longest_ms; /* of one unit */
};

static void
price(struct ws_product *product, struct kernels *kernels, struct sum *sum, struct ws_arena *a)
{
	const struct ws_plan_units *units = product->units;
	for (size_t i = 0; i < units->count; i++) {
		const struct ws_plan_unit *unit = &units->at[i];
		uint64_t ms = unit->cost.wall_ms ? unit->cost.wall_ms : unit->cost.cpu_ms;
		if (is_paid(kernels, units, unit)) {
			product->kernels = kernels->first;
			continue;
		}
		add_unit(&product->cost, unit);
		add_peaks(&sum->peaks, unit->cost.rss_bytes, unit->files);
		sum->longest_ms = ms > sum->longest_ms ? ms : sum->longest_ms;
	}
	product->cost.actions += units->modules + CHECK_AND_PACK;
	add_cost(&sum->cost, &product->cost);
	add_paid(kernels, units, a);
}

/* A wheel in the store was compiled here, most likely: its objects are there too. */
static void
use_cached(
	struct ws_plan *plan, struct ws_map *all, struct ws_unit_lists *memory, struct ws_buf *text)
{
	for (size_t i = 0; i < plan->product_count; i++) {
		const struct ws_product *product = plan->products[i];
		if (product->wheel.file) {
			struct kernels *kernels = find_kernels(all, product, text, memory->a);
			add_paid(kernels, ws_units_of(memory, product), memory->a);
		}
	}
}

/* So many units always find memory, be they all as large as the largest. */
static uint64_t
busy_cores(unsigned cores, uint64_t memory_bytes, uint64_t largest_bytes)
{
	uint64_t fit = memory_bytes && largest_bytes ? memory_bytes / largest_bytes : cores;
	return fit == 0 ? 1 : fit < cores ? fit : cores;
}

static void
count_cells(struct ws_plan *plan)
{
	for (size_t i = 0; i < plan->cell_count; i++) {
		const struct ws_cell *cell = plan->cells[i];
		plan->totals.decisions[cell->decision]++;
		plan->totals.unopened += cell->decision == WS_DECISION_PREBUILT && !cell->product->chosen;
		plan->totals.rules[cell->rule] += cell->rule != WS_RULE_NONE;
	}
}

void
ws_cost_fill(const struct ws_plan_input *in, struct ws_plan *plan, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_unit_lists memory = {.in = in, .a = a};
	struct ws_map all = {0};
	struct sum sum = {.peaks = make_peaks(in->host.jobs ? in->host.jobs : 1, a)};
	struct ws_totals *totals = &plan->totals;
	use_cached(plan, &all, &memory, &text);
	for (size_t i = 0; i < plan->product_count; i++) {
		struct ws_product *product = plan->products[i];
		struct ws_cell *payer = find_payer(product);
		if (payer) {
			product->payer = payer;
			product->units = ws_units_of(&memory, product);
			price(product, find_kernels(&all, product, &text, a), &sum, a);
			payer->cost = product->cost;
			totals->products++;
		}
	}
	count_cells(plan);
	totals->cost = sum.cost;
	totals->cores = in->host.jobs < in->host.cores ? in->host.jobs : in->host.cores;
	totals->cores = totals->cores ? totals->cores : 1;
	uint64_t busy = busy_cores(totals->cores, in->host.memory_bytes, sum.cost.rss_bytes);
	/* Graham's bound: whatever the order, so many have work until the last unit begins. */
	totals->wall_ms = (sum.cost.cpu_ms + sum.longest_ms * (busy - 1)) / busy;
	totals->peak_bytes = sum_peaks(&sum.peaks, in->host.memory_bytes);
}
