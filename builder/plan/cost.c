#include "plan/steps.h"

/* The lists made so far; products that compile the same at the same cost share one. */
struct unit_lists {
	const struct ws_plan_input *in;
	struct ws_arena *a;
	struct ws_map lists;
};

/* A unit with torch/extension.h and -O3, from the estimates of three recipes: 22 to 37 s of CPU,
 * 1449 to 1600 MiB. */
#define TORCH_CPU_MS 30000
#define TORCH_RSS_BYTES ((uint64_t)1500 << 20)

/* The cost of a unit as the sum of nvcc's own commands. False: the ledger lacks one of them for the
 * product's archs. */
static bool
add_parts(const struct ws_plan_lookups *lookups, const char *unit, const struct ws_point *point,
	struct ws_arena *a, struct ws_plan_estimate *cost)
{
	static const char *const once[] = {"preprocess", "cudafe++", "fatbinary", "host"};
	static const char *const each[] = {"preprocess", "cicc", "ptxas"};
	const char *cuda = point->cuda->version.text;
	struct ws_plan_estimate sum = {0};
	for (size_t i = 0; i < WS_LEN(once) + WS_LEN(each) * point->archs.count; i++) {
		const char *stage = once[i % WS_LEN(once)];
		const char *variant = ws_arena_printf(a, "cuda%s ", cuda);
		if (i >= WS_LEN(once)) {
			size_t place = i - WS_LEN(once);
			const struct ws_arch *arch = &point->archs.at[place / WS_LEN(each)];
			stage = each[place % WS_LEN(each)];
			variant = ws_arena_printf(a, "cuda%s %s_%u%.1s", cuda,
				strcmp(stage, "ptxas") == 0 ? "sm" : "compute", arch->number, &arch->suffix);
		}
		struct ws_plan_estimate part = lookups->estimate(lookups->self, unit, stage, variant);
		if (part.wall_ms == 0) {
			return false;
		}
		sum.wall_ms += part.wall_ms;
		sum.cpu_ms += part.cpu_ms;
		sum.rss_bytes = part.rss_bytes > sum.rss_bytes ? part.rss_bytes : sum.rss_bytes;
	}
	*cost = sum;
	return true;
}

static void
fill_cost(struct unit_lists *memory, struct ws_plan_unit *unit, const struct ws_product *product,
	enum ws_binding binding)
{
	const struct ws_plan_lookups *lookups = &memory->in->lookups;
	const struct ws_point *point = &product->point;
	bool nvcc = ws_unit_is_nvcc(unit->kind);
	if (lookups->estimate && unit->files == 1) {
		const char *name = ws_arena_printf(memory->a, "%s/%s", product->recipe->name, unit->path);
		const char *variant = nvcc
			? ws_arena_printf(memory->a, "cuda%s %s", point->cuda->version.text,
				ws_arch_set_name(&point->archs, memory->a))
			: "";
		if (!nvcc || !add_parts(lookups, name, point, memory->a, &unit->cost)) {
			unit->cost = lookups->estimate(lookups->self, name, "compile", variant);
		}
		unit->measured = unit->cost.cpu_ms > 0;
	}
	const struct ws_estimate *estimate = ws_recipe_estimate(product->recipe, unit->path);
	if (estimate) { /* for one architecture */
		uint64_t cpu_ms = estimate->cpu_s * (uint64_t)1000 * (nvcc ? point->archs.count : 1);
		uint64_t rss_bytes = (uint64_t)estimate->rss_mib << 20;
		unit->cost.cpu_ms = unit->cost.cpu_ms ? unit->cost.cpu_ms : cpu_ms;
		unit->cost.rss_bytes = unit->cost.rss_bytes ? unit->cost.rss_bytes : rss_bytes;
	}
	bool torch = binding == WS_BINDING_PYBIND || binding == WS_BINDING_TORCH_LIBRARY;
	unit->rough = torch && unit->kind == WS_UNIT_CXX && !unit->cost.cpu_ms;
	if (unit->rough) {
		unit->cost.cpu_ms = TORCH_CPU_MS;
		unit->cost.rss_bytes = unit->cost.rss_bytes ? unit->cost.rss_bytes : TORCH_RSS_BYTES;
	}
}

static const struct ws_plan_units *
list_units(struct unit_lists *memory, const struct ws_product *product)
{
	WS_AUTO_BUF struct ws_buf identity = {0}; /* equal texts: equal lists */
	const struct ws_plan_input *in = memory->in;
	const struct ws_recipe *recipe = product->recipe;
	const struct ws_listing *listing = NULL;
	ws_buf_printf(&identity, "%s %s", recipe->name, recipe->version.text);
	if (product->binding != WS_BINDING_NONE) {
		ws_buf_printf(&identity, " %s ", product->point.cuda->name);
	}
	ws_archs_identify(&product->point.archs, &identity);
	struct ws_plan_units *list = ws_map_get(&memory->lists, ws_buf_text(&identity));
	if (list) {
		return list;
	}
	for (size_t i = 0; in->listings && i < in->matrix->package_count; i++) {
		listing = &in->recipes[i] == recipe && in->listings[i].entries ? &in->listings[i] : listing;
	}
	WS_VEC(struct ws_plan_unit) units = {0};
	for (size_t i = 0; i < recipe->extension_count; i++) {
		struct ws_recipe_module module =
			ws_recipe_module(recipe, i, listing, &product->view, memory->a, NULL);
		for (size_t j = 0; j < module.unit_count; j++) {
			const struct ws_unit *unit = &module.units[j];
			struct ws_plan_unit *made = ws_vec_push(&units, memory->a);
			*made = (struct ws_plan_unit){
				.module = module.extension->module,
				.path = unit->path,
				.kind = unit->kind,
				.files = unit->files,
			};
			fill_cost(memory, made, product, module.extension->binding);
		}
	}
	list = WS_NEW(memory->a, struct ws_plan_units);
	*list = (struct ws_plan_units){units.at, units.len, (unsigned)recipe->extension_count};
	ws_map_put(&memory->lists, ws_buf_copy(&identity, memory->a), list, memory->a);
	return list;
}

#define MOST_JOBS 1024

/* ---- the most memory that units hold together ---- */

/* The largest peaks, as many as there are jobs at once. */
struct peaks {
	uint64_t *at; /* descending */
	size_t len;
	size_t most; /* as many as run at once */
};

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

/* ---- units that are paid once ---- */

/* Products that share .cu units, with the lists that are paid; mostly one list. */
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
is_paid(const struct kernels *kernels, const struct ws_plan_units *units,
	const struct ws_plan_unit *unit)
{
	for (size_t i = 0; ws_unit_is_nvcc(unit->kind) && i < kernels->paid.len; i++) {
		const struct ws_plan_units *list = kernels->paid.at[i];
		for (size_t k = 0; k < list->count; k++) {
			if (list == units
				|| (strcmp(list->at[k].path, unit->path) == 0
					&& strcmp(list->at[k].module, unit->module) == 0)) {
				return true;
			}
		}
	}
	return false;
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

/* Sums over the whole plan. */
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
		const struct ws_cost cost = {
			.actions = unit->files,
			.units = unit->files,
			.unknown = unit->cost.cpu_ms ? 0 : unit->files,
			.rough = unit->rough ? unit->files : 0,
			.unmeasured = unit->cost.rss_bytes ? 0 : unit->files,
			.cpu_ms = unit->cost.cpu_ms * unit->files,
			.rss_bytes = unit->cost.rss_bytes,
		};
		add_cost(&product->cost, &cost);
		for (unsigned n = 0; n < unit->files && n < sum->peaks.most; n++) {
			insert_peak(&sum->peaks, unit->cost.rss_bytes);
		}
		sum->longest_ms = ms > sum->longest_ms ? ms : sum->longest_ms;
	}
	product->cost.actions += units->modules + CHECK_AND_PACK;
	add_cost(&sum->cost, &product->cost);
	add_paid(kernels, units, a);
}

void
ws_cost_fill(const struct ws_plan_input *in, struct ws_plan *plan, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct unit_lists memory = {.in = in, .a = a};
	struct ws_map all = {0};
	struct sum sum = {.peaks.most = in->host.jobs < MOST_JOBS ? in->host.jobs : MOST_JOBS};
	struct ws_totals *totals = &plan->totals;
	sum.peaks.most = sum.peaks.most ? sum.peaks.most : 1;
	sum.peaks.at = WS_NEW_N(a, uint64_t, sum.peaks.most);
	/* The store probably has the objects of its wheels, too. */
	for (size_t i = 0; i < plan->product_count; i++) {
		const struct ws_product *product = plan->products[i];
		if (product->wheel.file) {
			add_paid(find_kernels(&all, product, &text, a), list_units(&memory, product), a);
		}
	}
	for (size_t i = 0; i < plan->product_count; i++) {
		struct ws_product *product = plan->products[i];
		size_t first = 0;
		while (
			first < product->cell_count && product->cells[first]->decision != WS_DECISION_BUILD) {
			first++;
		}
		if (first < product->cell_count) {
			product->payer = product->cells[first];
			product->units = list_units(&memory, product);
			price(product, find_kernels(&all, product, &text, a), &sum, a);
			product->cells[first]->cost = product->cost;
			totals->products++;
		}
	}
	for (size_t i = 0; i < plan->cell_count; i++) {
		const struct ws_cell *cell = plan->cells[i];
		totals->decisions[cell->decision]++;
		totals->unopened += cell->decision == WS_DECISION_PREBUILT && !cell->product->chosen;
		totals->rules[cell->rule] += cell->rule != WS_RULE_NONE;
	}
	uint64_t limit = in->host.memory_bytes; /* 0: none */
	totals->cost = sum.cost;
	totals->cores = in->host.jobs < in->host.cores ? in->host.jobs : in->host.cores;
	totals->cores = totals->cores ? totals->cores : 1;
	/* So many units fit into memory even if all are as large as the largest. Graham's bound: in any
	 * order all these cores are busy until the last unit starts. */
	uint64_t fit = limit && sum.cost.rss_bytes ? limit / sum.cost.rss_bytes : totals->cores;
	uint64_t busy = fit == 0 ? 1 : fit < totals->cores ? fit : totals->cores;
	totals->wall_ms = (sum.cost.cpu_ms + sum.longest_ms * (busy - 1)) / busy;
	for (size_t i = 0; i < sum.peaks.len; i++) { /* a single unit may exceed the limit */
		uint64_t rest = limit > totals->peak_bytes ? limit - totals->peak_bytes : 0;
		bool fits = i == 0 || limit == 0 || (rest > 0 && sum.peaks.at[i] <= rest);
		totals->peak_bytes += fits ? sum.peaks.at[i] : 0;
	}
}
