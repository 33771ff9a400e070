/* resolve.c - one memo for each kind of thing; the kits do the work. What it
 * brings from outside it pins (pins.h); what the host has is host_tools.c's. */
#include "make/resolve.h"

#include "base/arena.h"
#include "base/fs.h"
#include "config/kit_def.h"
#include "engine/runner.h"
#include "judge/host_libraries.h"
#include "kit/torch/exports.h"
#include "make/host_tools.h"
#include "make/pins.h"
#include "recipe/view.h"

/* C++20 as libstdc++ has it from gcc 11 on: torch's headers of 2.14 use <compare> and requires. */
#define GCC_FOR_CXX20 11

struct ws_resolver {
	const struct ws_context *ctx;
	struct ws_pins *pins;
	struct ws_arena *a;
	struct ws_host_tools *tools;
	struct ws_map torch, cuda, sources, exports;
	struct ws_map without_torch; /* interpreters; each is asked once */
	bool known;                  /* export lists are those that are here */
};

struct ws_resolver *
ws_resolver_open(const struct ws_context *ctx, struct ws_pins *pins)
{
	struct ws_resolver *r = WS_NEW(ctx->a, struct ws_resolver);
	r->ctx = ctx;
	r->pins = pins;
	r->a = ctx->a;
	r->tools = ws_host_tools_open(ctx);
	return r;
}

struct ws_resolver *
ws_resolver_open_known(const struct ws_context *ctx, struct ws_pins *pins)
{
	struct ws_resolver *r = ws_resolver_open(ctx, pins);
	r->known = true;
	return r;
}

/* ---- torch ---- */

static bool
open_torch(struct ws_resolver *r, const struct ws_point *point, struct ws_torch_kit *kit,
	struct ws_err *err)
{
	const struct ws_context *ctx = r->ctx;
	const char *name = ws_point_torch_pin(point, r->a);
	struct ws_torch_wish wish = {
		.version = point->torch->version,
		.machine = point->machine,
		.python = point->python->tag,
		.pin = ws_lock_torch(&r->pins->lock, name),
	};
	if (!ws_torch_open(ctx->fetch, ctx->facts, &wish, r->a, kit, err)) {
		return false;
	}
	const struct ws_pin_torch pin = {
		.version = name,
		.wheel = kit->wheel,
		.sha256 = kit->wheel_sha256,
		.record = kit->record_sha256,
		.tree = kit->tree->digest.hex,
		.cuda = kit->cuda,
		.cxx11abi = kit->cxx11abi,
	};
	return ws_pins_put(r->pins, WS_PIN_TORCH, &pin, err);
}

/* A farm that does all, or nothing. */
static bool
takes_trees_alone(const struct ws_resolver *r)
{
	const struct ws_executor *others = r->ctx->executor;
	return others && !others->falls_back;
}

/* A build of a release is what its full version and the platform name; an installed one is its
 * interpreter's, which is left in @a has. NULL with @a err. */
static const char *
torch_key(struct ws_resolver *r, const struct ws_point *point, const struct ws_python_kit **has,
	struct ws_err *err)
{
	*has = NULL;
	if (!point->torch->installed) {
		return ws_point_torch_pin(point, r->a);
	}
	if (takes_trees_alone(r)) {
		ws_err_set(err, WS_ERR_CONFIG,
			"torch %s of this host is not sent to a farm: its files may change",
			point->torch->name);
		ws_err_cure_code(err, WS_CURE_TORCH, point->torch->name);
		return NULL;
	}
	if (!(*has = ws_host_tools_python(r->tools, point->python, err))) {
		return NULL;
	}
	return ws_arena_printf(
		r->a, "installed for %s", (*has)->interpreter ? (*has)->interpreter : (*has)->include);
}

const struct ws_torch_kit *
ws_resolve_torch(struct ws_resolver *r, const struct ws_point *point, struct ws_err *err)
{
	const struct ws_python_kit *has;
	const char *key = torch_key(r, point, &has, err);
	struct ws_torch_kit *kit = key ? ws_map_get(&r->torch, key) : NULL;
	if (!key || kit) {
		return kit;
	}
	kit = WS_NEW(r->a, struct ws_torch_kit);
	if (has ? !ws_torch_open_installed(r->ctx->facts, has, r->ctx->ledger, r->a, kit, err)
			: !open_torch(r, point, kit, err)) {
		return NULL;
	}
	if (!kit->known && !r->known) {
		ws_events_warn(r->ctx->events,
			"torch %s is not in the facts; the rules of torch %s are taken for it",
			point->torch->name, kit->release.version.text);
	}
	ws_map_put(&r->torch, key, kit, r->a);
	return kit;
}

bool
ws_resolve_beside(struct ws_resolver *r, const struct ws_point *point,
	const struct ws_python_kit **python, const struct ws_torch_kit **torch)
{
	const struct ws_torch_choice *wanted = point->torch;
	if (!wanted || !point->python || point->machine != ws_machine_host()) {
		return false;
	}
	struct ws_torch_choice own = {.name = wanted->name, .installed = true};
	struct ws_point here = {.torch = &own, .python = point->python};
	*python = ws_host_tools_python(r->tools, point->python, NULL);
	const char *interpreter = *python ? (*python)->interpreter : NULL;
	if (!interpreter || ws_map_get(&r->without_torch, interpreter)) {
		return false;
	}
	if (!(*torch = ws_resolve_torch(r, &here, NULL))) {
		ws_map_add(&r->without_torch, interpreter, r->a);
		return false;
	}
	bool same = ws_same((*torch)->version.public_text, wanted->version.public_text)
		&& (*torch)->cxx11abi == point->cxx11abi;
	return wanted->installed || (same && ws_same((*torch)->cuda, wanted->cuda));
}

/* Variants of a release on other indexes export other names than the one that ships. */
static const char *
find_exports(struct ws_resolver *r, const struct ws_point *point, struct ws_err *err)
{
	const struct ws_context *ctx = r->ctx;
	const struct ws_torch_choice *torch = point->torch;
	const char *pinned = ws_point_torch_pin(point, r->a);
	const char *shipped = ws_torch_exports_shipped(
		ctx->data->facts, torch->version.public_text, point->machine, r->a);
	if (torch->standard && shipped) {
		return shipped;
	}
	const struct ws_pin_exports *known = ws_lock_exports(&r->pins->lock, pinned);
	struct ws_pin_exports pin = known ? *known : (struct ws_pin_exports){.torch = pinned};
	if (r->known) {
		return ws_torch_exports_known(ctx->store, &torch->version, point->machine, &pin, r->a);
	}
	const char *path = ws_torch_exports_find(
		ctx->fetch, ctx->facts, ctx->program, &torch->version, point->machine, &pin, r->a, err);
	return path && ws_pins_put(r->pins, WS_PIN_EXPORTS, &pin, err) ? path : NULL;
}

static const char *
find_installed_exports(struct ws_resolver *r, const struct ws_point *point, struct ws_err *err)
{
	const struct ws_torch_kit *kit = ws_resolve_torch(r, point, err);
	if (kit && r->known) {
		return ws_torch_exports_known_installed(r->ctx->store, kit, &point->python->tag, r->a);
	}
	return kit ? ws_torch_exports_find_installed(
			   r->ctx->fetch, r->ctx->program, kit, &point->python->tag, r->a, err)
			   : NULL;
}

bool
ws_resolve_exports(
	struct ws_resolver *r, const struct ws_point *point, const char **path, struct ws_err *err)
{
	const struct ws_python_kit *has;
	const char *key = torch_key(r, point, &has, err);
	*path = key ? ws_map_get(&r->exports, key) : NULL;
	if (!key || *path) {
		return key;
	}
	*path = point->torch->installed ? find_installed_exports(r, point, err)
									: find_exports(r, point, err);
	if (!*path) {
		return false;
	}
	ws_map_put(&r->exports, key, *path, r->a);
	return true;
}

bool
ws_resolve_lists(
	struct ws_resolver *r, const struct ws_point *point, ws_list_paths *lists, struct ws_err *err)
{
	const struct ws_torch_choice *torch = point->torch;
	const char *exports;
	if (torch) {
		if (!ws_resolve_exports(r, point, &exports, err)) {
			return false;
		}
		*ws_vec_push(lists, r->a) = exports;
	}
	/* An installed torch was read with all that lies beside it; of a variant nothing more is
	 * known. */
	bool shipped = torch && torch->standard && !torch->installed;
	return ws_torch_dependencies(
		r->ctx->data->facts, shipped ? &torch->version : NULL, r->a, lists, err);
}

/* ---- CUDA ---- */

static bool
open_host_cuda(struct ws_resolver *r, const struct ws_cuda_choice *choice, struct ws_cuda_kit *kit,
	struct ws_err *err)
{
	if (takes_trees_alone(r)) {
		ws_err_set(err, WS_ERR_CONFIG,
			"CUDA %s of this host is not sent to a farm: its files may change", choice->name);
		return ws_err_cure_code(err, WS_CURE_KITS_ARCHIVE, NULL);
	}
	ws_cuda_list toolkits = {0};
	struct ws_cuda_memory memory = {r->ctx->store, r->ctx->ledger};
	ws_cuda_list_host(r->ctx->env, &memory, r->a, &toolkits);
	for (size_t i = 0; i < toolkits.len; i++) {
		if (ws_version_cmp(&toolkits.at[i].version, &choice->version) == 0
			&& toolkits.at[i].missing_count == 0) {
			*kit = toolkits.at[i];
			return ws_cuda_open_host(kit, r->ctx->ledger, r->a, err);
		}
	}
	return ws_err_set(
		err, WS_ERR_CONFIG, "there is no complete CUDA %s toolkit on this host", choice->name);
}

static bool
open_archive_cuda(struct ws_resolver *r, const struct ws_cuda_choice *choice,
	const struct ws_pin_cuda *pin, struct ws_cuda_kit *kit, struct ws_err *err)
{
	struct ws_kit_def *def = WS_NEW(r->a, struct ws_kit_def);
	const char *path =
		ws_path_join(r->a, r->ctx->data->kits, ws_arena_printf(r->a, "%s.json", choice->kit), NULL);
	return ws_kit_def_read(path, r->a, def, err)
		&& ws_cuda_open_archive(r->ctx->fetch, def, pin, r->a, kit, err);
}

static bool
open_cuda(struct ws_resolver *r, const struct ws_cuda_choice *choice, struct ws_cuda_kit *kit,
	struct ws_err *err)
{
	const struct ws_pin_cuda *pin = ws_lock_cuda(&r->pins->lock, choice->name);
	switch (choice->origin) {
	case WS_KIT_HOST:
		return open_host_cuda(r, choice, kit, err);
	case WS_KIT_ARCHIVE:
		return open_archive_cuda(r, choice, pin, kit, err);
	case WS_KIT_REDIST:
		return ws_cuda_open_redist(r->ctx->fetch, choice->name, pin, r->a, kit, err);
	case WS_KIT_NONE:
		break;
	}
	return ws_err_set(err, WS_ERR_CONFIG, "there is no CUDA %s toolkit", choice->name);
}

static struct ws_cuda_kit *
find_cuda(struct ws_resolver *r, const struct ws_cuda_choice *choice, struct ws_err *err)
{
	struct ws_cuda_kit *kit = ws_map_get(&r->cuda, choice->name);
	if (kit) {
		return kit;
	}
	kit = WS_NEW(r->a, struct ws_cuda_kit);
	if (!open_cuda(r, choice, kit, err)) {
		return NULL;
	}
	const struct ws_pin_cuda pin = {
		.cuda = choice->name,
		.how = kit->how,
		.name = kit->tree ? kit->name : kit->path,
		.digest = kit->tree ? kit->tree->digest.hex : kit->fingerprint,
		.definition = kit->definition,
		.debian = kit->debian,
	};
	if (!ws_pins_put(r->pins, WS_PIN_CUDA, &pin, err)) {
		return NULL;
	}
	ws_map_put(&r->cuda, choice->name, kit, r->a);
	return kit;
}

const struct ws_cuda_kit *
ws_resolve_cuda(struct ws_resolver *r, const struct ws_cuda_choice *choice, struct ws_err *err)
{
	return find_cuda(r, choice, err);
}

/* The oldest gcc that will do. */
static unsigned
gcc_floor(
	const struct ws_resolver *r, const struct ws_torch_kit *torch, const struct ws_recipe *recipe)
{
	unsigned floor = r->ctx->facts->gcc_min;
	bool cxx20 = recipe->cxx_std >= 20 || (torch && torch->release.cxx_std_default >= 20);
	if (torch && torch->release.gcc_min > floor) {
		floor = torch->release.gcc_min;
	}
	return cxx20 && floor < GCC_FOR_CXX20 ? GCC_FOR_CXX20 : floor;
}

/* ---- sources ---- */

static bool
pin_source(struct ws_resolver *r, const struct ws_recipe *recipe,
	const struct ws_source_found *found, struct ws_err *err)
{
	const struct ws_source_spec *spec = found->spec;
	const struct ws_pin_source pin = {
		.package = recipe->name,
		.version = recipe->version.text,
		.how = ws_source_kind_name(spec->kind),
		.from = ws_source_spec_from(spec),
		.sha256 = spec->sha256,
		.commit = spec->commit,
		.tree = ws_arena_strdup(r->a, found->tree.digest.hex),
		.definition = found->definition[0] ? found->definition : NULL,
	};
	return ws_pins_put(r->pins, WS_PIN_SOURCE, &pin, err);
}

/* What patches make of a source is the recipe's; the lock pins what came, so that comes first. */
static bool
fetch_source(struct ws_resolver *r, const struct ws_recipe *recipe,
	const struct ws_patch *const *patches, size_t patch_count, struct ws_source_found *found,
	struct ws_err *err)
{
	struct ws_source_wish wish = {
		.name = recipe->name,
		.version = recipe->version.text,
		.specs = recipe->sources,
		.spec_count = recipe->source_count,
		.pin = ws_lock_source(&r->pins->lock, recipe->name, recipe->version.text),
	};
	if (!ws_source_bring(r->ctx->fetch, &wish, r->a, found, err)
		|| !pin_source(r, recipe, found, err)) {
		return false;
	}
	wish.patches = patches;
	wish.patch_count = patch_count;
	return ws_source_patch(r->ctx->fetch, &wish, r->a, found, err);
}

const struct ws_source_found *
ws_resolve_source(struct ws_resolver *r, const struct ws_product *product, struct ws_err *err)
{
	const struct ws_recipe *recipe = product->recipe;
	size_t patch_count;
	const struct ws_patch *const *patches =
		ws_recipe_patches(recipe, &product->view, r->a, &patch_count);
	const char *key = ws_arena_printf(r->a, "%s %s", recipe->name, recipe->version.text);
	for (size_t i = 0; i < patch_count; i++) {
		key = ws_arena_printf(r->a, "%s %s", key, patches[i]->sha256);
	}
	struct ws_source_found *found = ws_map_get(&r->sources, key);
	if (found) {
		return found;
	}
	found = WS_NEW(r->a, struct ws_source_found);
	if (!fetch_source(r, recipe, patches, patch_count, found, err)) {
		return NULL;
	}
	ws_map_put(&r->sources, key, found, r->a);
	struct ws_listing listing = ws_tree_listing(&found->tree);
	size_t idle = ws_recipe_idle_cuda(recipe, &listing);
	if (idle > 0) {
		ws_events_warn(r->ctx->events,
			"%s %s: its sources have %zu .cu file%s and no module compiles one", recipe->name,
			recipe->version.text, idle, idle == 1 ? "" : "s");
	}
	return found;
}

/* ---- a product ---- */

static bool
fetch_parts(struct ws_resolver *r, const struct ws_product *product, struct ws_err *err)
{
	const struct ws_point *point = &product->point;
	if (product->recipe->extension_count == 0) {
		return true;
	}
	if (point->torch && !point->torch->installed && product->binding != WS_BINDING_C_ABI
		&& !ws_resolve_torch(r, point, err)) {
		return false;
	}
	return !point->cuda || find_cuda(r, point->cuda, err);
}

bool
ws_resolve_outside(struct ws_resolver *r, const struct ws_product *product, struct ws_err *err)
{
	if (!fetch_parts(r, product, err)) {
		return ws_err_wrap(err, "%s", product->cells[0]->name);
	}
	return ws_resolve_source(r, product, err);
}

bool
ws_resolve_cell_exports(struct ws_resolver *r, const struct ws_product *product, struct ws_err *err)
{
	const char *exports;
	for (size_t i = 0; product->binding < WS_BINDING_C_ABI && i < product->cell_count; i++) {
		const struct ws_point *point = &product->cells[i]->point;
		if (point->torch && !ws_resolve_exports(r, point, &exports, err)) {
			return false;
		}
	}
	return true;
}

bool
ws_resolve_downloads(struct ws_resolver *r, const struct ws_product *product, struct ws_err *err)
{
	return ws_resolve_outside(r, product, err) && ws_resolve_cell_exports(r, product, err);
}

/* An imported module of the stable ABI includes Python.h, whichever Python's. */
static bool
includes_python(const struct ws_product *product)
{
	return product->binding == WS_BINDING_PYBIND || ws_same(product->abi_tag, "abi3");
}

/* The toolchain's libraries, and those that the recipe links besides. */
static void
find_libraries(struct ws_resolver *r, const struct ws_recipe *recipe,
	const struct ws_toolchain *chain, struct ws_materials *m)
{
	ws_name_list all = {0};
	for (size_t i = 0; i < chain->library_count; i++) {
		const char *path = chain->libraries[i];
		if (!m->floor || !ws_floor_has_library(m->floor, ws_path_base(path))) {
			*ws_vec_push(&all, r->a) = path;
		}
	}
	if (ws_hostcc_machine(&chain->linker) == ws_machine_host()) {
		ws_host_libraries_linked(r->ctx->ledger, &chain->linker, recipe, r->a, &all);
	}
	m->libraries = all.at;
	m->library_count = all.len;
}

/* The gccs that the recipe knows to fail for this product. */
static const unsigned *
list_bad_gccs(const struct ws_resolver *r, const struct ws_product *product, size_t *count)
{
	const struct ws_recipe *recipe = product->recipe;
	unsigned *majors = WS_NEW_N(r->a, unsigned, recipe->known_bad_count + 1);
	*count = 0;
	for (size_t i = 0; i < recipe->known_bad_count; i++) {
		const struct ws_known_bad *bad = &recipe->known_bad[i];
		if (bad->gcc && ws_condition_holds(&bad->when, &product->view)) {
			majors[(*count)++] = bad->gcc;
		}
	}
	return majors;
}

/* Everything that compiling needs; what comes from outside is there by now. */
static bool
find_parts(struct ws_resolver *r, const struct ws_product *product, struct ws_materials *m,
	struct ws_err *err)
{
	const struct ws_point *point = &product->point;
	struct ws_cuda_kit *cuda = NULL;
	if (point->torch && product->binding != WS_BINDING_C_ABI
		&& !(m->torch = ws_resolve_torch(r, point, err))) {
		return false;
	}
	if (point->cuda && !(m->cuda = cuda = find_cuda(r, point->cuda, err))) {
		return false;
	}
	if (includes_python(product)
		&& !(m->python = ws_host_tools_python(r->tools, point->python, err))) {
		return false;
	}
	struct ws_toolchain_need need = {.machine = point->machine,
		.cuda = cuda,
		.gcc_min = gcc_floor(r, m->torch, product->recipe)};
	need.bad = list_bad_gccs(r, product, &need.bad_count);
	const struct ws_toolchain *chain = ws_host_tools_cxx(r->tools, &need, err);
	if (!chain) {
		return false;
	}
	m->cxx = &chain->cxx;
	m->linker = &chain->linker;
	if (!product->glibc && !ws_host_tools_can_link_here(r->tools, m->cxx, err)) {
		return false;
	}
	if (product->glibc
		&& !(m->floor = ws_host_tools_floor(r->tools, m->linker, product->glibc, err))) {
		return false;
	}
	find_libraries(r, product->recipe, chain, m);
	return true;
}

bool
ws_resolve(struct ws_resolver *r, const struct ws_product *product, struct ws_materials *materials,
	struct ws_err *err)
{
	*materials = (struct ws_materials){0};
	if (!ws_resolve_outside(r, product, err)) {
		return false;
	}
	if (product->recipe->extension_count > 0 && !find_parts(r, product, materials, err)) {
		return ws_err_wrap(err, "%s", product->cells[0]->name);
	}
	materials->source = ws_resolve_source(r, product, err);
	return materials->source;
}
