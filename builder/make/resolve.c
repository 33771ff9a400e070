#include "make/resolve.h"

#include "base/fs.h"
#include "config/kit_def.h"
#include "engine/runner.h"
#include "judge/torch_place.h"
#include "make/toolchain.h"
#include "recipe/recipe_view.h"

struct ws_resolver {
	const struct ws_context *ctx;
	struct ws_pins *pins;
	struct ws_arena *a;
	struct ws_toolchains *toolchains;
	struct ws_map torch, cuda, sources, exports; /* kits by name */
	struct ws_map beside;                        /* installed torches by interpreter */
	struct ws_map unknown;                       /* unknown releases, warned about once */
};

/* A host kit is not sent to a farm: its files may change while commands run there. */
static bool
refuse_on_farm(const struct ws_context *ctx, const char *what, const char *name, struct ws_err *err)
{
	const struct ws_executor *farm = ctx->executor;
	return farm && !farm->falls_back
		&& !ws_err_set(err, WS_ERR_CONFIG,
			"%s %s of this host is not sent to a farm: its files may change", what, name);
}

/* Its digests take long, and a plan names more toolkits than a build uses. */
static void
open_host_toolkit(const struct ws_context *ctx, const struct ws_cuda_choice *choice)
{
	struct ws_err *failure = WS_NEW(ctx->a, struct ws_err);
	if (refuse_on_farm(ctx, "CUDA", choice->name, failure)) {
		ws_err_cure_code(failure, WS_CURE_KITS_ARCHIVE, NULL);
		choice->host_kit->failure = failure;
	} else if (!ws_cuda_open_host(choice->host_kit, ctx->ledger, ctx->a, failure)) {
		choice->host_kit->failure = failure;
	}
}

struct ws_resolver *
ws_resolver_open(const struct ws_context *ctx, struct ws_pins *pins,
	struct ws_product *const *products, size_t count)
{
	struct ws_resolver *r = WS_NEW(ctx->a, struct ws_resolver);
	r->ctx = ctx;
	r->pins = pins;
	r->a = ctx->a;
	r->toolchains = ws_toolchains_open(ctx);
	for (size_t i = 0; i < count; i++) {
		const struct ws_cuda_choice *cuda = products[i]->point.cuda;
		bool host = products[i]->recipe->extension_count > 0 && cuda && cuda->host_kit;
		if (host && !cuda->host_kit->fingerprint && !cuda->host_kit->failure) {
			open_host_toolkit(ctx, cuda);
		}
	}
	return r;
}

/* ---- torch ---- */

const struct ws_torch_kit *
ws_resolve_torch(struct ws_resolver *r, const struct ws_point *point, struct ws_err *err)
{
	const struct ws_torch_choice *torch = point->torch;
	if (torch->installed && refuse_on_farm(r->ctx, "torch", torch->name, err)) {
		ws_err_cure_code(err, WS_CURE_TORCH, torch->name);
		return NULL;
	}
	const struct ws_torch_kit *known = torch->installed ? point->python->interpreter->torch->kit
														: ws_map_get(&r->torch, point->torch_pin);
	if (!known) {
		struct ws_torch_kit *kit = WS_NEW(r->a, struct ws_torch_kit);
		struct ws_torch_wish wish = {
			.version = torch->version,
			.machine = point->machine,
			.python = point->python->tag,
			.pin = ws_lock_torch(&r->pins->lock, point->torch_pin),
		};
		if (!ws_torch_open(r->ctx->fetch, r->ctx->facts, &wish, r->a, kit, err)) {
			return NULL;
		}
		const struct ws_pin_torch pin = {
			.version = point->torch_pin,
			.wheel = kit->wheel,
			.sha256 = kit->wheel_sha256,
			.record = kit->record_sha256,
			.tree = kit->tree->digest.hex,
			.cuda = kit->cuda,
			.cxx11abi = kit->cxx11abi,
		};
		if (!ws_pins_put(r->pins, WS_PIN_TORCH, &pin, err)) {
			return NULL;
		}
		ws_map_put(&r->torch, point->torch_pin, kit, r->a);
		known = kit;
	}
	if (!known->known && ws_map_add(&r->unknown, torch->name, r->a)) {
		ws_events_warn(r->ctx->events,
			"torch %s is not in the facts; the rules of torch %s are taken for it", torch->name,
			known->release.version.text);
	}
	return known;
}

/* The torch that @a python has; a kit without a name where there is none. */
static const struct ws_torch_kit *
open_beside(struct ws_resolver *r, const struct ws_python_kit *python)
{
	struct ws_torch_kit *kit = ws_map_get(&r->beside, python->interpreter);
	if (!kit) {
		kit = WS_NEW(r->a, struct ws_torch_kit);
		if (!ws_torch_open_installed(r->ctx->facts, python, r->ctx->ledger, r->a, kit, NULL)) {
			*kit = (struct ws_torch_kit){0};
		}
		ws_map_put(&r->beside, python->interpreter, kit, r->a);
	}
	return kit;
}

bool
ws_resolve_beside(struct ws_resolver *r, const struct ws_point *point,
	const struct ws_python_kit **python, const struct ws_torch_kit **torch)
{
	const struct ws_torch_choice *wanted = point->torch;
	const struct ws_plan_python *found = wanted ? point->python->interpreter : NULL;
	if (!found || !found->kit || !found->kit->interpreter || point->machine != ws_machine_host()
		|| refuse_on_farm(r->ctx, "torch", wanted->name, NULL)) {
		return false;
	}
	*python = found->kit;
	*torch = found->torch ? found->torch->kit : open_beside(r, found->kit);
	bool same = (*torch)->name
		&& ws_same((*torch)->version.public_text, wanted->version.public_text)
		&& (*torch)->cxx11abi == point->cxx11abi && ws_same((*torch)->cuda, wanted->cuda);
	return wanted->installed || same;
}

/* The shipped list is of the default index's build: others export other names. */
static const char *
find_exports(struct ws_resolver *r, const struct ws_point *point, struct ws_err *err)
{
	const struct ws_context *ctx = r->ctx;
	const struct ws_torch_choice *torch = point->torch;
	const char *shipped = ws_torch_exports_shipped(
		ctx->data->facts, torch->version.public_text, point->machine, r->a);
	if (torch->standard && shipped) {
		return shipped;
	}
	const struct ws_pin_exports *known = ws_lock_exports(&r->pins->lock, point->torch_pin);
	struct ws_pin_exports pin = known ? *known : (struct ws_pin_exports){.torch = point->torch_pin};
	const char *path = ws_torch_exports_find(
		ctx->fetch, ctx->facts, ctx->program, &torch->version, point->machine, &pin, r->a, err);
	return path && ws_pins_put(r->pins, WS_PIN_EXPORTS, &pin, err) ? path : NULL;
}

bool
ws_resolve_exports(
	struct ws_resolver *r, const struct ws_point *point, const char **path, struct ws_err *err)
{
	const char *key = point->torch_pin;
	const struct ws_torch_kit *kit = NULL;
	if (point->torch->installed) {
		if (!(kit = ws_resolve_torch(r, point, err))) {
			return false;
		}
		key = kit->library_path;
	}
	if ((*path = ws_map_get(&r->exports, key))) {
		return true;
	}
	*path = kit ? ws_torch_exports_find_installed(
				r->ctx->fetch, r->ctx->program, kit, &point->python->tag, r->a, err)
				: find_exports(r, point, err);
	if (*path) {
		ws_map_put(&r->exports, key, *path, r->a);
	}
	return *path;
}

bool
ws_resolve_cell_exports(struct ws_resolver *r, const struct ws_product *product, struct ws_err *err)
{
	const char *path;
	for (size_t i = 0; product->binding < WS_BINDING_C_ABI && i < product->cell_count; i++) {
		const struct ws_point *point = &product->cells[i]->point;
		if (point->torch && !ws_resolve_exports(r, point, &path, err)) {
			return false;
		}
	}
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
	/* The list of an installed torch includes the libraries beside it; those of a variant are not
	 * known. */
	bool shipped = torch && torch->standard && !torch->installed;
	return ws_torch_dependencies(
		r->ctx->data->facts, shipped ? &torch->version : NULL, r->a, lists, err);
}

const char *const *
ws_lists_here(const struct ws_context *ctx, const struct ws_lock *lock,
	const struct ws_torch_choice *torch, const struct ws_machine *machine)
{
	const char *name = ws_arena_printf(ctx->a, "%s%s", torch->version.text, machine->mark);
	const char *path = torch->standard
		? ws_torch_exports_shipped(ctx->data->facts, torch->version.public_text, machine, ctx->a)
		: NULL;
	if (!path) {
		const struct ws_pin_exports *known = ws_lock_exports(lock, name);
		struct ws_pin_exports pin = known ? *known : (struct ws_pin_exports){0};
		path = ws_torch_exports_known(ctx->store, &torch->version, machine, &pin, ctx->a);
	}
	return path ? ws_lists_with(ctx, path, torch->standard ? &torch->version : NULL) : NULL;
}

const char *const *
ws_lists_with(const struct ws_context *ctx, const char *exports, const struct ws_version *release)
{
	ws_list_paths lists = {0};
	*ws_vec_push(&lists, ctx->a) = exports;
	if (!ws_torch_dependencies(ctx->data->facts, release, ctx->a, &lists, NULL)) {
		return NULL;
	}
	*ws_vec_push(&lists, ctx->a) = NULL;
	return lists.at;
}

/* ---- CUDA ---- */

struct ws_cuda_kit *
ws_resolve_cuda(struct ws_resolver *r, const struct ws_cuda_choice *choice, struct ws_err *err)
{
	struct ws_cuda_kit *kit = ws_map_get(&r->cuda, choice->name);
	if (kit) {
		return kit;
	}
	const struct ws_pin_cuda *pin = ws_lock_cuda(&r->pins->lock, choice->name);
	struct ws_kit_def def;
	const char *file;
	bool opened = false;
	kit = choice->origin == WS_KIT_HOST ? choice->host_kit : WS_NEW(r->a, struct ws_cuda_kit);
	switch (choice->origin) {
	case WS_KIT_HOST:
		opened = !kit->failure;
		if (!opened && err) {
			*err = *kit->failure;
		}
		break;
	case WS_KIT_ARCHIVE:
		file = ws_arena_printf(r->a, "%s/%s.json", r->ctx->data->kits, choice->kit);
		opened = ws_kit_def_read(file, r->a, &def, err)
			&& ws_cuda_open_archive(r->ctx->fetch, &def, pin, r->a, kit, err);
		break;
	case WS_KIT_REDIST:
		opened = ws_cuda_open_redist(r->ctx->fetch, &choice->version, pin, r->a, kit, err);
		break;
	case WS_KIT_NONE:
		ws_err_set(err, WS_ERR_CONFIG, "no CUDA %s toolkit", choice->name);
		break;
	}
	if (!opened) {
		return NULL;
	}
	const struct ws_pin_cuda found = {
		.cuda = choice->name,
		.how = kit->how,
		.name = kit->tree ? kit->name : kit->path,
		.digest = kit->tree ? kit->tree->digest.hex : kit->fingerprint,
		.definition = kit->definition,
		.debian = kit->debian,
	};
	ws_map_put(&r->cuda, choice->name, kit, r->a);
	return ws_pins_put(r->pins, WS_PIN_CUDA, &found, err) ? kit : NULL;
}

/* ---- sources ---- */

static const char *
source_key(struct ws_resolver *r, const struct ws_product *product)
{
	const struct ws_recipe *recipe = product->recipe;
	const char *key = ws_arena_printf(r->a, "%s %s", recipe->name, recipe->version.text);
	for (size_t i = 0; i < product->patch_count; i++) {
		key = ws_arena_printf(r->a, "%s %s", key, product->patches[i]->sha256);
	}
	return key;
}

/* The lock pins the sources as they came; then the recipe's patches are applied. */
static bool
fetch_source(struct ws_resolver *r, const struct ws_product *product, struct ws_source_found *found,
	struct ws_err *err)
{
	const struct ws_recipe *recipe = product->recipe;
	struct ws_source_wish wish = {
		.name = recipe->name,
		.version = recipe->version.text,
		.specs = recipe->sources,
		.spec_count = recipe->source_count,
		.pin = ws_lock_source(&r->pins->lock, recipe->name, recipe->version.text),
	};
	if (!ws_source_bring(r->ctx->fetch, &wish, r->a, found, err)) {
		return false;
	}
	const struct ws_source_spec *spec = found->spec;
	const struct ws_pin_source pin = {
		.package = recipe->name,
		.version = recipe->version.text,
		.how = ws_source_kind_words[spec->kind],
		.from = ws_source_spec_from(spec),
		.sha256 = spec->sha256,
		.commit = spec->commit,
		.tree = ws_arena_strdup(r->a, found->tree.digest.hex),
		.definition = found->definition[0] ? found->definition : NULL,
	};
	wish.patches = product->patches;
	wish.patch_count = product->patch_count;
	return ws_pins_put(r->pins, WS_PIN_SOURCE, &pin, err)
		&& ws_source_patch(r->ctx->fetch, &wish, r->a, found, err);
}

const struct ws_source_found *
ws_resolve_source(struct ws_resolver *r, const struct ws_product *product, struct ws_err *err)
{
	const char *key = source_key(r, product);
	struct ws_source_found *found = ws_map_get(&r->sources, key);
	if (found) {
		return found;
	}
	found = WS_NEW(r->a, struct ws_source_found);
	if (!fetch_source(r, product, found, err)) {
		return NULL;
	}
	ws_map_put(&r->sources, key, found, r->a);
	const struct ws_recipe *recipe = product->recipe;
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
needs_torch(const struct ws_product *product)
{
	return product->recipe->extension_count > 0 && product->point.torch
		&& product->binding != WS_BINDING_C_ABI;
}

/* Kits and sources that are downloaded. */
static bool
bring_outside(struct ws_resolver *r, const struct ws_product *product, struct ws_materials *m,
	struct ws_err *err)
{
	const struct ws_point *point = &product->point;
	bool release = needs_torch(product) && !point->torch->installed;
	bool cuda = product->recipe->extension_count > 0 && point->cuda;
	if ((release && !(m->torch = ws_resolve_torch(r, point, err)))
		|| (cuda && !(m->cuda = ws_resolve_cuda(r, point->cuda, err)))) {
		return ws_err_wrap(err, "%s", product->cells[0]->name);
	}
	return (m->source = ws_resolve_source(r, product, err));
}

bool
ws_resolve_outside(struct ws_resolver *r, const struct ws_product *product, struct ws_err *err)
{
	struct ws_materials unused = {0};
	return bring_outside(r, product, &unused, err);
}

bool
ws_resolve_downloads(struct ws_resolver *r, const struct ws_product *product, struct ws_err *err)
{
	return ws_resolve_outside(r, product, err) && ws_resolve_cell_exports(r, product, err);
}

bool
ws_resolve_can_build(const struct ws_product *product, struct ws_err *err)
{
	const struct ws_plan_python *python = product->point.python->interpreter;
	if (!product->includes_python || !python || !python->missing) {
		return true;
	}
	if (err) {
		*err = *python->missing;
	}
	return err ? ws_err_wrap(err, "%s", product->cells[0]->name) : false;
}

/* The headers of the product's interpreter, copied into the store once. */
static bool
open_python(struct ws_resolver *r, const struct ws_python_choice *choice, struct ws_materials *m,
	struct ws_err *err)
{
	const struct ws_plan_python *found = choice->interpreter;
	if (!found || !found->kit) {
		return ws_err_set(err, WS_ERR_CONFIG, "no Python %s was found on this host", choice->text);
	}
	m->python = found->kit;
	return found->kit->tree.path
		|| ws_python_open(r->ctx->store, r->ctx->host, found->kit, r->a, err);
}

/* The toolchain's libraries without those of the floor, and those that the recipe links. */
static void
list_libraries(struct ws_resolver *r, const struct ws_recipe *recipe,
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

/* The interpreter and the compilers of this host; all downloads are done. */
static bool
find_on_host(struct ws_resolver *r, const struct ws_product *product, struct ws_materials *m,
	struct ws_err *err)
{
	if (needs_torch(product) && !(m->torch = ws_resolve_torch(r, &product->point, err))) {
		return false;
	}
	if (product->includes_python && !open_python(r, product->point.python, m, err)) {
		return false;
	}
	const struct ws_toolchain_need need = {
		.machine = product->point.machine,
		.cuda = m->cuda,
		.gcc_min = product->gcc_min,
		.bad = product->gcc_bad,
		.bad_count = product->gcc_bad_count,
	};
	const struct ws_toolchain *chain = ws_toolchain_find(r->toolchains, &need, err);
	if (!chain) {
		return false;
	}
	m->cxx = &chain->cxx;
	m->linker = &chain->linker;
	if (product->glibc
			? !(m->floor = ws_toolchain_floor(r->toolchains, m->linker, product->glibc, err))
			: !ws_toolchain_links_here(r->toolchains, m->cxx, err)) {
		return false;
	}
	list_libraries(r, product->recipe, chain, m);
	return true;
}

bool
ws_resolve(struct ws_resolver *r, const struct ws_product *product, struct ws_materials *m,
	struct ws_err *err)
{
	*m = (struct ws_materials){0};
	if (!ws_resolve_can_build(product, err) || !bring_outside(r, product, m, err)) {
		return false;
	}
	return product->recipe->extension_count == 0 || find_on_host(r, product, m, err)
		|| ws_err_wrap(err, "%s", product->cells[0]->name);
}

/* ---- downloads that are missing ---- */

/* Other failures than of the network are reported by the build itself. */
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
