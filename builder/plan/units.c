/* units.c - from a recipe's source lists to units with estimates. Compiling them is compile/'s, which
 * has the files; the two must agree on names, because the ledger is asked by them. */
#include "plan/units.h"

#include "base/buf.h"
#include "base/str.h"
#include "base/vec.h"
#include "plan/product.h"

#include <fnmatch.h>
#include <string.h>

typedef WS_VEC(struct ws_plan_unit) unit_vec;

static void
add_unit(unit_vec *units, const char *module, const char *path, unsigned files, struct ws_arena *a)
{
	*ws_vec_push(units, a) = (struct ws_plan_unit){
		.module = module, .path = path, .cuda = ws_ends_with(path, ".cu"), .files = files};
}

/* Listings stand beside the recipes, in the order of the matrix. */
static const struct ws_plan_listing *
find_listing(const struct ws_plan_input *in, const struct ws_recipe *recipe)
{
	for (size_t i = 0; in->listings && i < in->matrix->package_count; i++) {
		if (&in->recipes[i] == recipe && in->listings[i].paths) {
			return &in->listings[i];
		}
	}
	return NULL;
}

static void
add_list(unit_vec *units, const struct ws_plan_listing *listing, const char *module,
	const struct ws_source_list *list, struct ws_arena *a)
{
	for (size_t i = 0; i < list->path_count; i++) {
		add_unit(units, module, list->paths[i], 1, a);
	}
	if (list->glob && !listing) {
		add_unit(units, module, list->glob, list->expected, a);
	}
	for (size_t i = 0; list->glob && listing && i < listing->count; i++) {
		if (fnmatch(list->glob, listing->paths[i], FNM_PATHNAME) == 0) {
			add_unit(units, module, listing->paths[i], 1, a);
		}
	}
}

/* A glob that stands for many loses one of them. */
static void
drop_unit(unit_vec *units, const char *module, const char *path)
{
	size_t kept = 0;
	for (size_t i = 0; i < units->len; i++) {
		struct ws_plan_unit unit = units->at[i];
		if (strcmp(unit.module, module) == 0) {
			bool is_it = strcmp(unit.path, path) == 0
				|| (unit.files > 1 && fnmatch(unit.path, path, FNM_PATHNAME) == 0);
			unit.files -= is_it;
		}
		if (unit.files > 0) {
			units->at[kept++] = unit;
		}
	}
	units->len = kept;
}

static void
apply_override(
	unit_vec *units, const char *module, const struct ws_override *override, struct ws_arena *a)
{
	for (size_t i = 0; i < override->remove_source_count; i++) {
		drop_unit(units, module, override->remove_sources[i]);
	}
	for (size_t i = 0; i < override->add_source_count; i++) {
		add_unit(units, module, override->add_sources[i], 1, a);
	}
}

/* As compile/unit.c: the first estimate that matches; .cu units once for each architecture. */
static void
fill_estimate(struct ws_plan_unit *unit, const struct ws_product *product)
{
	const struct ws_recipe *recipe = product->recipe;
	uint64_t archs = unit->cuda ? product->point.archs.count : 1;
	for (size_t i = 0; i < recipe->estimate_count; i++) {
		const struct ws_estimate *estimate = &recipe->estimates[i];
		if (fnmatch(estimate->match, unit->path, 0) == 0) {
			unit->cost.cpu_ms = unit->cost.cpu_ms ? unit->cost.cpu_ms : estimate->cpu_ms * archs;
			unit->cost.rss_bytes =
				unit->cost.rss_bytes ? unit->cost.rss_bytes : estimate->rss_bytes;
			return;
		}
	}
}

static void
fill_cost(struct ws_unit_shelf *shelf, struct ws_plan_unit *unit, const struct ws_product *product)
{
	const struct ws_plan_lookups *lookups = &shelf->in->lookups;
	const struct ws_point *point = &product->point;
	if (lookups->estimate && unit->files == 1) {
		const char *name = ws_arena_printf(shelf->a, "%s/%s", product->recipe->name, unit->path);
		const char *variant = unit->cuda
			? ws_arena_printf(shelf->a, "cuda%s %s", point->cuda->version.text,
				ws_arch_set_name(&point->archs, shelf->a))
			: "";
		unit->cost = lookups->estimate(lookups->self, name, "compile", variant);
		unit->measured = unit->cost.cpu_ms > 0;
	}
	fill_estimate(unit, product);
}

static struct ws_unit_list *
make_list(struct ws_unit_shelf *shelf, const struct ws_product *product)
{
	const struct ws_recipe *recipe = product->recipe;
	const struct ws_plan_listing *listing = find_listing(shelf->in, recipe);
	struct ws_point_view view = ws_product_see(product);
	struct ws_unit_list *list = WS_NEW(shelf->a, struct ws_unit_list);
	unit_vec units = {0};
	for (size_t i = 0; i < recipe->extension_count; i++) {
		const struct ws_extension *extension = &recipe->extensions[i];
		for (size_t j = 0; j < extension->source_list_count; j++) {
			add_list(&units, listing, extension->module, &extension->sources[j], shelf->a);
		}
		for (size_t j = 0; j < extension->override_count; j++) {
			if (ws_condition_holds(&extension->overrides[j].when, &view)) {
				apply_override(&units, extension->module, &extension->overrides[j], shelf->a);
			}
		}
	}
	for (size_t i = 0; i < units.len; i++) {
		fill_cost(shelf, &units.at[i], product);
	}
	*list = (struct ws_unit_list){units.at, units.len, (unsigned)recipe->extension_count};
	return list;
}

/* What a list depends on: the recipe, which of its overrides hold, and what moves the cost. */
static void
write_identity(const struct ws_product *product, struct ws_buf *b)
{
	const struct ws_recipe *recipe = product->recipe;
	struct ws_point_view view = ws_product_see(product);
	ws_buf_printf(b, "%s %s", recipe->name, recipe->version.text);
	if (product->binding != WS_BINDING_NONE) {
		ws_buf_printf(b, " %s ", product->point.cuda->name);
	}
	ws_archs_identify(&product->point.archs, b);
	ws_buf_putc(b, ' ');
	for (size_t i = 0; i < recipe->extension_count; i++) {
		for (size_t j = 0; j < recipe->extensions[i].override_count; j++) {
			const struct ws_override *override = &recipe->extensions[i].overrides[j];
			ws_buf_putc(b, ws_condition_holds(&override->when, &view) ? '1' : '0');
		}
	}
}

const struct ws_unit_list *
ws_units_of(struct ws_unit_shelf *shelf, const struct ws_product *product)
{
	WS_AUTO_BUF struct ws_buf identity = {0};
	write_identity(product, &identity);
	struct ws_unit_list *list = ws_map_get(&shelf->lists, ws_buf_text(&identity));
	if (!list) {
		list = make_list(shelf, product);
		ws_map_put(&shelf->lists, ws_buf_copy(&identity, shelf->a), list, shelf->a);
	}
	return list;
}
