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
	const struct ws_plan_python *own = point->python->interpreter;
	if (torch->installed && (!own || !own->torch)) {
		ws_err_set(err, WS_ERR_CONFIG, "no torch is installed for Python %s", point->python->name);
		ws_err_cure_code(err, WS_CURE_TORCH, "V");
		return NULL;
	}
	const struct ws_torch_kit *known =
		torch->installed ? own->torch->kit : ws_map_get(&r->torch, point->torch_pin);
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
	*torch = found->torch ? found->torch->kit : ws_map_get(&r->beside, found->kit->interpreter);
	if (!*torch) {
		struct ws_torch_kit *kit = WS_NEW(r->a, struct ws_torch_kit);
		if (!ws_torch_open_installed(r->ctx->facts, found->kit, r->ctx->ledger, r->a, kit, NULL)) {
			*kit = (struct ws_torch_kit){0}; /* without a name: there is none */
		}
		ws_map_put(&r->beside, found->kit->interpreter, kit, r->a);
		*torch = kit;
	}
	bool same = ws_same((*torch)->version.public_text, wanted->version.public_text)
		&& (*torch)->cxx11abi == point->cxx11abi && ws_same((*torch)->cuda, wanted->cuda);
	return (*torch)->name && (wanted->installed || same);
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
	const struct ws_context *ctx = r->ctx;
	const struct ws_version *version = &point->torch->version;
	/* The shipped list is of the default index's build: others export other names. */
	if (point->torch->standard && !kit) {
		*path =
			ws_torch_exports_shipped(ctx->data->facts, version->public_text, point->machine, r->a);
	}
	if (kit) {
		*path = ws_torch_exports_find_installed(
			ctx->fetch, ctx->program, kit, &point->python->tag, r->a, err);
	} else if (!*path) {
		const struct ws_pin_exports *known = ws_lock_exports(&r->pins->lock, key);
		struct ws_pin_exports pin = known ? *known : (struct ws_pin_exports){.torch = key};
		*path = ws_torch_exports_find(
			ctx->fetch, ctx->facts, ctx->program, version, point->machine, &pin, r->a, err);
		*path = *path && ws_pins_put(r->pins, WS_PIN_EXPORTS, &pin, err) ? *path : NULL;
	}
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
		opened = kit->fingerprint && !kit->failure;
		if (!opened && !kit->failure) {
			ws_err_set(err, WS_ERR_INTERNAL, "the CUDA toolkit '%s' was not opened", choice->name);
		} else if (!opened && err) {
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

static const struct ws_source_found *
resolve_source(struct ws_resolver *r, const struct ws_product *product, struct ws_err *err)
{
	const struct ws_recipe *recipe = product->recipe;
	const char *key = ws_arena_printf(r->a, "%s %s", recipe->name, recipe->version.text);
	for (size_t i = 0; i < product->patch_count; i++) {
		key = ws_arena_printf(r->a, "%s %s", key, product->patches[i]->sha256);
	}
	struct ws_source_found *found = ws_map_get(&r->sources, key);
	if (found) {
		return found;
	}
	found = WS_NEW(r->a, struct ws_source_found);
	struct ws_source_wish wish = {
		.name = recipe->name,
		.version = recipe->version.text,
		.specs = recipe->sources,
		.spec_count = recipe->source_count,
		.pin = ws_lock_source(&r->pins->lock, recipe->name, recipe->version.text),
	};
	if (!ws_source_bring(r->ctx->fetch, &wish, r->a, found, err)) {
		return NULL;
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
	/* The lock pins the sources as they came; then the recipe's patches are applied. */
	wish.patches = product->patches;
	wish.patch_count = product->patch_count;
	if (!ws_pins_put(r->pins, WS_PIN_SOURCE, &pin, err)
		|| !ws_source_patch(r->ctx->fetch, &wish, r->a, found, err)) {
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
	return (m->source = resolve_source(r, product, err));
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

/* The interpreter and the compilers of this host; all downloads are done. */
static bool
find_on_host(struct ws_resolver *r, const struct ws_product *product, struct ws_materials *m,
	struct ws_err *err)
{
	const struct ws_context *ctx = r->ctx;
	const struct ws_python_choice *python = product->point.python;
	const struct ws_plan_python *found = python->interpreter;
	if (needs_torch(product) && !(m->torch = ws_resolve_torch(r, &product->point, err))) {
		return false;
	}
	if (product->includes_python && (!found || !found->kit)) {
		return ws_err_set(err, WS_ERR_CONFIG, "no Python %s was found on this host", python->text);
	}
	if (product->includes_python) { /* its headers are copied into the store once */
		m->python = found->kit;
		if (!found->kit->tree.path
			&& !ws_python_open(ctx->store, ctx->host, found->kit, r->a, err)) {
			return false;
		}
	}
	const struct ws_toolchain *chain = ws_toolchain_find(r->toolchains, product, m->cuda, err);
	if (!chain) {
		return false;
	}
	m->cxx = &chain->cxx;
	m->linker = &chain->linker;
	m->floor = chain->floor;
	for (size_t i = 0; i < chain->libraries.len; i++) {
		*ws_vec_push(&m->libraries, r->a) = chain->libraries.at[i];
	}
	if (ws_hostcc_machine(m->linker) == ws_machine_host()) {
		ws_host_libraries_linked(ctx->ledger, m->linker, product->recipe, r->a, &m->libraries);
	}
	return true;
}

bool
ws_resolve(struct ws_resolver *r, const struct ws_product *product, struct ws_materials *m,
	struct ws_err *err)
{
	const struct ws_plan_python *python = product->point.python->interpreter;
	*m = (struct ws_materials){0};
	if (product->includes_python && python && python->missing) { /* before any download */
		*err = *python->missing;
		return ws_err_wrap(err, "%s", product->cells[0]->name);
	}
	if (!bring_outside(r, product, m, err)) {
		return false;
	}
	return product->recipe->extension_count == 0 || find_on_host(r, product, m, err)
		|| ws_err_wrap(err, "%s", product->cells[0]->name);
}

/* ---- downloads that are missing ---- */

static const char *const missing_kinds[] = {
	[WS_DOWNLOAD_TORCH] = "headers and libraries of torch",
	[WS_DOWNLOAD_EXPORTS] = "export lists of torch",
	[WS_DOWNLOAD_CUDA] = "CUDA toolkits",
	[WS_DOWNLOAD_SOURCES] = "sources",
	[WS_DOWNLOAD_WHEELS] = "prebuilt wheels",
};

/* Other failures than of the network are reported by the build itself. */
static bool
add_missing(struct ws_missing_downloads *missing, enum ws_download_kind kind, const char *name,
	const struct ws_err *err, struct ws_arena *a)
{
	if (err->kind == WS_ERR_FETCH) {
		ws_map_add(&missing->names[kind], name, a);
	}
	return err->kind == WS_ERR_FETCH;
}

/* "2.11.0/aarch64": each machine's is a wheel of its own. */
static const char *
torch_name(const struct ws_point *point, struct ws_arena *a)
{
	return ws_arena_printf(a, "%s%s", point->torch->name, point->machine->mark);
}

bool
ws_missing_downloads_add(struct ws_missing_downloads *missing, struct ws_resolver *r,
	const struct ws_product *product, struct ws_arena *a)
{
	const struct ws_recipe *recipe = product->recipe;
	const struct ws_point *point = &product->point;
	const struct ws_candidates *all = &product->candidates;
	const char *name = ws_arena_printf(a, "%s %s", recipe->name, recipe->version.text), *path;
	struct ws_err err = {.kind = WS_ERR_FETCH};
	/* A wheel of somebody else's was to serve it. */
	if (product->cells[0]->decision == WS_DECISION_PREBUILT && !product->chosen) {
		for (size_t i = 0; i < all->count; i++) {
			if (all->at[i].state == WS_CANDIDATE_UNOPENED) {
				add_missing(missing, WS_DOWNLOAD_WHEELS, all->at[i].file, &err, a);
			}
		}
		return all->count > 0
			|| add_missing(
				missing, WS_DOWNLOAD_WHEELS, ws_arena_printf(a, "any of %s", name), &err, a);
	}
	bool any = false, compiles = recipe->extension_count > 0;
	bool torch = compiles && point->torch && product->binding < WS_BINDING_C_ABI;
	if (torch && !ws_resolve_torch(r, point, &err)) {
		any = add_missing(missing, WS_DOWNLOAD_TORCH, torch_name(point, a), &err, a);
	}
	if (compiles && point->cuda && !ws_resolve_cuda(r, point->cuda, &err)) {
		any = add_missing(missing, WS_DOWNLOAD_CUDA, point->cuda->name, &err, a) || any;
	}
	for (size_t i = 0; torch && i < product->cell_count; i++) {
		point = &product->cells[i]->point;
		if (point->torch && !ws_resolve_exports(r, point, &path, &err)) {
			any = add_missing(missing, WS_DOWNLOAD_EXPORTS, torch_name(point, a), &err, a) || any;
		}
	}
	if (!resolve_source(r, product, &err)) {
		any = add_missing(missing, WS_DOWNLOAD_SOURCES, name, &err, a) || any;
	}
	return any;
}

bool
ws_missing_downloads_report(const struct ws_missing_downloads *missing, struct ws_err *err)
{
	size_t count = 0;
	for (size_t i = 0; i < WS_LEN(missing_kinds); i++) {
		count += missing->names[i].count;
	}
	ws_err_set(err, WS_ERR_FETCH, "%zu download%s missing, and this run is offline", count,
		count == 1 ? " is" : "s are");
	for (size_t i = 0; i < WS_LEN(missing_kinds); i++) {
		const struct ws_map *names = &missing->names[i];
		WS_AUTO_BUF struct ws_buf line = {0};
		for (size_t k = 0; k < names->count; k++) {
			ws_buf_printf(&line, "%s%s", k ? ", " : "", names->slots[k].key);
		}
		if (names->count > 0) {
			ws_err_cure(err, "%s: %s", missing_kinds[i], ws_buf_text(&line));
		}
	}
	return ws_err_cure_code(err, WS_CURE_FETCH, NULL);
}
