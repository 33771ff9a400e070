/* missing_downloads.c - asks the resolver for each part by itself, where a build stops at the
 * first. */
#include "make/missing_downloads.h"

#include "base/text.h"

/* What failed for another reason than the network is reported when its turn comes. */
static bool
add_missing(struct ws_map *names, const char *name, const struct ws_err *err, struct ws_arena *a)
{
	if (err->kind != WS_ERR_FETCH) {
		return false;
	}
	ws_map_add(names, name, a);
	return true;
}

/* "2.11.0/aarch64": each machine's is a wheel of its own. */
static const char *
torch_name(const struct ws_point *point, struct ws_arena *a)
{
	return ws_arena_printf(a, "%s%s", point->torch->name, point->machine->mark);
}

static bool
misses_exports(struct ws_missing_downloads *missing, struct ws_resolver *r,
	const struct ws_product *product, struct ws_arena *a)
{
	bool any = false;
	for (size_t i = 0; i < product->cell_count; i++) {
		const struct ws_point *point = &product->cells[i]->point;
		struct ws_err err = {0};
		const char *path;
		if (point->torch && !ws_resolve_exports(r, point, &path, &err)) {
			any = add_missing(&missing->exports, torch_name(point, a), &err, a) || any;
		}
	}
	return any;
}

/* A wheel of somebody else's was to serve it. */
static bool
misses_wheel(
	struct ws_missing_downloads *missing, const struct ws_product *product, struct ws_arena *a)
{
	const struct ws_candidates *all = &product->candidates;
	bool awaited = product->cells[0]->decision == WS_DECISION_PREBUILT && !product->chosen;
	if (awaited && all->count == 0) {
		ws_map_add(&missing->wheels,
			ws_arena_printf(
				a, "any of %s %s", product->recipe->name, product->recipe->version.text),
			a);
	}
	for (size_t i = 0; awaited && i < all->count; i++) {
		if (all->at[i].state == WS_CANDIDATE_UNOPENED) {
			ws_map_add(&missing->wheels, all->at[i].file, a);
		}
	}
	return awaited;
}

bool
ws_missing_downloads_add(struct ws_missing_downloads *missing, struct ws_resolver *r,
	const struct ws_product *product, struct ws_arena *a)
{
	const struct ws_recipe *recipe = product->recipe;
	const struct ws_point *point = &product->point;
	bool any = false;
	struct ws_err err = {0};
	if (misses_wheel(missing, product, a)) {
		return true;
	}
	if (recipe->extension_count > 0) {
		bool torch = point->torch && product->binding < WS_BINDING_C_ABI;
		if (torch && !ws_resolve_torch(r, point, &err)) {
			any = add_missing(&missing->torch, torch_name(point, a), &err, a);
		}
		if (point->cuda && !ws_resolve_cuda(r, point->cuda, &err)) {
			any = add_missing(&missing->cuda, point->cuda->name, &err, a) || any;
		}
		any = (torch && misses_exports(missing, r, product, a)) || any;
	}
	if (!ws_resolve_source(r, product, &err)) {
		const char *name = ws_arena_printf(a, "%s %s", recipe->name, recipe->version.text);
		any = add_missing(&missing->sources, name, &err, a) || any;
	}
	return any;
}

static void
report_kind(const char *kind, const struct ws_map *names, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf line = {0};
	for (size_t i = 0; i < names->count; i++) {
		ws_buf_printf(&line, "%s%s", i ? ", " : "", names->slots[i].key);
	}
	if (names->count > 0) {
		ws_err_cure(err, "%s: %s", kind, ws_buf_text(&line));
	}
}

bool
ws_missing_downloads_report(const struct ws_missing_downloads *missing, struct ws_err *err)
{
	size_t count = missing->torch.count + missing->exports.count + missing->cuda.count
		+ missing->sources.count + missing->wheels.count;
	ws_err_set(err, WS_ERR_FETCH, "%zu download%s missing, and this run is offline", count,
		count == 1 ? " is" : "s are");
	report_kind("headers and libraries of torch", &missing->torch, err);
	report_kind("export lists of torch", &missing->exports, err);
	report_kind("CUDA toolkits", &missing->cuda, err);
	report_kind("sources", &missing->sources, err);
	report_kind("prebuilt wheels", &missing->wheels, err);
	return ws_err_cure_code(err, WS_CURE_FETCH, NULL);
}
