/* units.c - a product's units with estimates. Which units there are is recipe/'s. */
#include "plan/units.h"

#include "base/arena.h"
#include "base/text.h"

/* Listings stand beside the recipes, in the order of the matrix. */
static const struct ws_listing *
find_listing(const struct ws_plan_input *in, const struct ws_recipe *recipe)
{
	for (size_t i = 0; in->listings && i < in->matrix->package_count; i++) {
		if (&in->recipes[i] == recipe && in->listings[i].entries) {
			return &in->listings[i];
		}
	}
	return NULL;
}

/* torch/extension.h with -O3, by the estimates of three recipes: 22 to 37 s of CPU, 1449 to 1600
 * MiB. */
#define TORCH_CPU_MS 30000
#define TORCH_RSS_BYTES ((uint64_t)1500 << 20)

static void
fill_rough(struct ws_plan_unit *unit, enum ws_binding binding)
{
	bool torch = binding == WS_BINDING_PYBIND || binding == WS_BINDING_TORCH_LIBRARY;
	unit->rough = torch && unit->kind == WS_UNIT_CXX && !unit->cost.cpu_ms;
	if (unit->rough) {
		unit->cost.cpu_ms = TORCH_CPU_MS;
		unit->cost.rss_bytes = unit->cost.rss_bytes ? unit->cost.rss_bytes : TORCH_RSS_BYTES;
	}
}

/* .cu units cost once for each architecture. */
static void
fill_estimate(struct ws_plan_unit *unit, const struct ws_product *product)
{
	uint64_t archs = ws_unit_is_nvcc(unit->kind) ? product->point.archs.count : 1;
	const struct ws_estimate *estimate = ws_recipe_estimate(product->recipe, unit->path);
	if (estimate) {
		unit->cost.cpu_ms = unit->cost.cpu_ms ? unit->cost.cpu_ms : estimate->cpu_ms * archs;
		unit->cost.rss_bytes = unit->cost.rss_bytes ? unit->cost.rss_bytes : estimate->rss_bytes;
	}
}

/* A look-up of the commands that make one unit: their sum, unless one is not known. */
struct parts {
	const struct ws_plan_lookups *lookups;
	const char *unit, *cuda;
	struct ws_plan_estimate sum;
	bool known;
	struct ws_arena *a;
};

static void
add_part(struct parts *p, const char *stage, const char *arch)
{
	struct ws_plan_estimate cost = {0};
	if (p->known) {
		cost = p->lookups->estimate(
			p->lookups->self, p->unit, stage, ws_arena_printf(p->a, "cuda%s %s", p->cuda, arch));
	}
	p->known = cost.wall_ms > 0;
	p->sum.wall_ms += cost.wall_ms;
	p->sum.cpu_ms += cost.cpu_ms;
	p->sum.rss_bytes = cost.rss_bytes > p->sum.rss_bytes ? cost.rss_bytes : p->sum.rss_bytes;
}

/* What nvcc's own commands took, with the archs of this product; False: one of them never ran. */
static bool
add_parts(const struct ws_plan_lookups *lookups, const char *unit, const struct ws_point *point,
	struct ws_arena *a, struct ws_plan_estimate *cost)
{
	static const char *const once[] = {"preprocess", "cudafe++", "fatbinary", "host"};
	struct parts p = {lookups, unit, point->cuda->version.text, {0}, true, a};
	for (size_t i = 0; i < WS_LEN(once); i++) {
		add_part(&p, once[i], "");
	}
	for (size_t i = 0; i < point->archs.count; i++) {
		const struct ws_arch *arch = &point->archs.at[i];
		const char *suffix = arch->suffix ? (const char[]){arch->suffix, '\0'} : "";
		const char *compute = ws_arena_printf(a, "compute_%u%s", arch->number, suffix);
		add_part(&p, "preprocess", compute);
		add_part(&p, "cicc", compute);
		add_part(&p, "ptxas", ws_arena_printf(a, "sm_%u%s", arch->number, suffix));
	}
	if (p.known) {
		*cost = p.sum;
	}
	return p.known;
}

static void
fill_cost(struct ws_unit_lists *memory, struct ws_plan_unit *unit, const struct ws_product *product)
{
	const struct ws_plan_lookups *lookups = &memory->in->lookups;
	const struct ws_point *point = &product->point;
	if (lookups->estimate && unit->files == 1) {
		const char *name = ws_arena_printf(memory->a, "%s/%s", product->recipe->name, unit->path);
		const char *variant = ws_unit_is_nvcc(unit->kind)
			? ws_arena_printf(memory->a, "cuda%s %s", point->cuda->version.text,
				ws_arch_set_name(&point->archs, memory->a))
			: "";
		if (!ws_unit_is_nvcc(unit->kind)
			|| !add_parts(lookups, name, point, memory->a, &unit->cost)) {
			unit->cost = lookups->estimate(lookups->self, name, "compile", variant);
		}
		unit->measured = unit->cost.cpu_ms > 0;
	}
	fill_estimate(unit, product);
}

static struct ws_plan_units *
make_list(struct ws_unit_lists *memory, const struct ws_product *product)
{
	const struct ws_recipe *recipe = product->recipe;
	const struct ws_listing *listing = find_listing(memory->in, recipe);
	struct ws_plan_units *list = WS_NEW(memory->a, struct ws_plan_units);
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
			fill_cost(memory, made, product);
			fill_rough(made, module.extension->binding);
		}
	}
	*list = (struct ws_plan_units){units.at, units.len, (unsigned)recipe->extension_count};
	return list;
}

/* What a list depends on: the recipe, and what moves the cost. */
static void
write_identity(const struct ws_product *product, struct ws_buf *b)
{
	const struct ws_recipe *recipe = product->recipe;
	ws_buf_printf(b, "%s %s", recipe->name, recipe->version.text);
	if (product->binding != WS_BINDING_NONE) {
		ws_buf_printf(b, " %s ", product->point.cuda->name);
	}
	ws_archs_identify(&product->point.archs, b);
}

const struct ws_plan_units *
ws_units_of(struct ws_unit_lists *memory, const struct ws_product *product)
{
	WS_AUTO_BUF struct ws_buf identity = {0};
	write_identity(product, &identity);
	struct ws_plan_units *list = ws_map_get(&memory->lists, ws_buf_text(&identity));
	if (!list) {
		list = make_list(memory, product);
		ws_map_put(&memory->lists, ws_buf_copy(&identity, memory->a), list, memory->a);
	}
	return list;
}
