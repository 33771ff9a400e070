/* resolve.c - one memo for each kind of thing; the kits do the work. Pins are compared and extended in
 * pins.c. */
#include "build/resolve.h"

#include "base/fs.h"
#include "base/map.h"
#include "build/pins.h"
#include "config/kit_def.h"
#include "kit/torch_exports.h"
#include "net/index_config.h"
#include "sys/command.h"

#include <stdlib.h>
#include <string.h>

/* C++20 as libstdc++ has it from gcc 11 on: torch's headers of 2.14 use <compare> and requires. */
#define GCC_FOR_CXX20 11

struct ws_resolver {
	struct ws_context *ctx;
	struct ws_arena *a;
	ws_hostcc_list compilers;
	bool listed_compilers;
	struct ws_map torch, cuda, python, cxx, sources, exports;
};

struct ws_resolver *
ws_resolver_open(struct ws_context *ctx)
{
	struct ws_resolver *r = WS_NEW(ctx->a, struct ws_resolver);
	r->ctx = ctx;
	r->a = ctx->a;
	return r;
}

/* ---- Python ---- */

static bool
find_python(struct ws_resolver *r, const struct ws_python_choice *choice, struct ws_python_kit *kit,
	struct ws_err *err)
{
	struct ws_python_places places = ws_python_places_standard(r->a);
	const struct ws_plan_python *interpreter = choice->interpreter;
	if (interpreter && interpreter->path) {
		return ws_python_ask(interpreter->path, r->a, kit, err);
	}
	if (interpreter && interpreter->host) {
		return ws_python_find_host(&places, r->a, kit, err);
	}
	return ws_python_find(&places, &choice->tag, r->a, kit, err);
}

/* Of one tag there may be several: the host's own, the newest, one that is named by its path. */
static const char *
python_key(const struct ws_resolver *r, const struct ws_python_choice *choice)
{
	const struct ws_plan_python *interpreter = choice->interpreter;
	const char *which = !interpreter ? ""
		: interpreter->path          ? interpreter->path
		: interpreter->host          ? "host"
									 : "";
	return ws_arena_printf(r->a, "%s %s", choice->name, which);
}

static const struct ws_python_kit *
resolve_python(struct ws_resolver *r, const struct ws_python_choice *choice, struct ws_err *err)
{
	const char *key = python_key(r, choice);
	struct ws_python_kit *kit = ws_map_get(&r->python, key);
	if (kit) {
		return kit;
	}
	kit = WS_NEW(r->a, struct ws_python_kit);
	if (!find_python(r, choice, kit, err)
		|| !ws_python_open(r->ctx->store, r->ctx->host, kit, r->a, err)) {
		return NULL;
	}
	ws_map_put(&r->python, key, kit, r->a);
	return kit;
}

/* ---- torch ---- */

static bool
open_torch(struct ws_resolver *r, const struct ws_torch_choice *choice,
	const struct ws_python_choice *python, struct ws_torch_kit *kit, struct ws_err *err)
{
	struct ws_context *ctx = r->ctx;
	if (choice->installed) {
		const struct ws_python_kit *interpreter = resolve_python(r, python, err);
		return interpreter && ws_torch_open_installed(ctx->facts, interpreter, r->a, kit, err);
	}
	struct ws_torch_wish wish = {
		.version = choice->version,
		.python = python->tag,
		.pin = ws_lock_torch(ctx->lock, choice->name),
	};
	return ws_torch_open(ctx->fetch, ctx->facts, &wish, r->a, kit, err)
		&& ws_pin_torch_kit(ctx, choice->name, kit, err);
}

const struct ws_torch_kit *
ws_resolve_torch(struct ws_resolver *r, const struct ws_torch_choice *choice,
	const struct ws_python_choice *python, struct ws_err *err)
{
	const char *key = choice->installed
		? ws_arena_printf(r->a, "installed %s", python_key(r, python))
		: choice->name;
	struct ws_torch_kit *kit = ws_map_get(&r->torch, key);
	if (kit) {
		return kit;
	}
	kit = WS_NEW(r->a, struct ws_torch_kit);
	if (!open_torch(r, choice, python, kit, err)) {
		return NULL;
	}
	if (!kit->known) {
		ws_events_warn(r->ctx->events,
			"torch %s is not in the facts; the rules of torch %s are taken for it", choice->name,
			kit->release.version.text);
	}
	ws_map_put(&r->torch, key, kit, r->a);
	return kit;
}

bool
ws_resolve_exports(struct ws_resolver *r, const struct ws_torch_choice *torch, const char **path,
	struct ws_err *err)
{
	*path = ws_map_get(&r->exports, torch->name);
	if (*path) {
		return true;
	}
	const char *name = ws_arena_printf(r->a, "torch-%s.zst", torch->version.public_text);
	*path = ws_path_join(r->a, r->ctx->data->facts, "exports", name, NULL);
	/* Variants of a release on other indexes export other names than the one that ships. */
	if (!torch->standard || !ws_fs_exists(*path)) {
		*path = ws_torch_exports_find(r->ctx->fetch, r->ctx->facts, &torch->version, r->a, err);
	}
	if (!*path) {
		return false;
	}
	ws_map_put(&r->exports, torch->name, (void *)(uintptr_t)*path, r->a);
	return true;
}

/* ---- CUDA ---- */

static bool
open_host_cuda(struct ws_resolver *r, const struct ws_cuda_choice *choice, struct ws_cuda_kit *kit,
	struct ws_err *err)
{
	ws_cuda_list toolkits = {0};
	ws_cuda_list_host("", getenv("CUDA_HOME"), getenv("PATH"), r->a, &toolkits);
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
	struct ws_cuda_kit *kit, struct ws_err *err)
{
	struct ws_kit_def *def = WS_NEW(r->a, struct ws_kit_def);
	const char *path =
		ws_path_join(r->a, r->ctx->data->kits, ws_arena_printf(r->a, "%s.json", choice->kit), NULL);
	return ws_kit_def_read(path, r->a, def, err)
		&& ws_cuda_open_archive(
			r->ctx->fetch, def, ws_lock_cuda(r->ctx->lock, choice->name), r->a, kit, err);
}

const struct ws_cuda_kit *
ws_resolve_cuda(struct ws_resolver *r, const struct ws_cuda_choice *choice, struct ws_err *err)
{
	struct ws_cuda_kit *kit = ws_map_get(&r->cuda, choice->name);
	if (kit) {
		return kit;
	}
	kit = WS_NEW(r->a, struct ws_cuda_kit);
	bool opened = choice->origin == WS_KIT_HOST ? open_host_cuda(r, choice, kit, err)
												: open_archive_cuda(r, choice, kit, err);
	if (!opened || !ws_pin_cuda_kit(r->ctx, choice, kit, err)) {
		return NULL;
	}
	ws_map_put(&r->cuda, choice->name, kit, r->a);
	return kit;
}

/* ---- the host compiler ---- */

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

static const struct ws_hostcc *
resolve_cxx(
	struct ws_resolver *r, const struct ws_cuda_kit *cuda, unsigned gcc_min, struct ws_err *err)
{
	const char *key = ws_arena_printf(r->a, "%s %u", cuda ? cuda->name : "", gcc_min);
	struct ws_hostcc *cc = ws_map_get(&r->cxx, key);
	if (cc) {
		return cc;
	}
	if (!r->listed_compilers) {
		ws_hostcc_list_all("", getenv("PATH"), r->a, &r->compilers);
		r->listed_compilers = true;
	}
	struct ws_hostcc_wish wish = {
		.limits = cuda ? cuda->limits : (struct ws_hostcc_limits){.gcc_max = 99},
		.cuda = cuda ? cuda->version.text : NULL,
		.gcc_min = gcc_min,
		.named = r->ctx->hostcc,
		.facts = r->ctx->facts,
	};
	cc = WS_NEW(r->a, struct ws_hostcc);
	if (!ws_hostcc_choose(&r->compilers, &wish, r->ctx->host, r->a, cc, err)
		|| !ws_hostcc_open(cc, r->ctx->ledger, r->a, err)) {
		return NULL;
	}
	ws_map_put(&r->cxx, key, cc, r->a);
	return cc;
}

/* Where the compiler would find the libraries that a module loads; those it does not know are left
 * out: the check then takes them on trust. */
static void
find_libraries(struct ws_resolver *r, struct ws_materials *m)
{
	static const char *const names[] = {"libstdc++.so.6", "libgcc_s.so.1", "libm.so.6", "libc.so.6",
		"ld-linux-x86-64.so.2", "libpthread.so.0", "libdl.so.2", "librt.so.1"};
	const char **paths = WS_NEW_N(r->a, const char *, WS_LEN(names) + 1);
	for (size_t i = 0; i < WS_LEN(names); i++) {
		WS_AUTO_BUF struct ws_buf answer = {0};
		const char *argv[] = {
			m->cxx->path, ws_arena_printf(r->a, "-print-file-name=%s", names[i]), NULL};
		struct ws_command command = {.argv = argv};
		if (!ws_command_run(&command, &answer, NULL)) {
			continue;
		}
		struct ws_str path = ws_str_trim(ws_buf_str(&answer));
		if (path.n > 0 && path.s[0] == '/') {
			paths[m->library_count++] = ws_path_normal(r->a, ws_str_copy(path, r->a));
		}
	}
	if (m->cuda) {
		paths[m->library_count++] = m->cuda->runtime;
	}
	m->libraries = paths;
}

/* ---- sources ---- */

/* What patches make of a source is the recipe's; the lock pins what came, so that comes first. */
static bool
bring_source(struct ws_resolver *r, const struct ws_recipe *recipe,
	const struct ws_patch *const *patches, size_t patch_count, struct ws_source_found *found,
	struct ws_err *err)
{
	struct ws_source_wish wish = {
		.name = recipe->name,
		.version = recipe->version.text,
		.specs = recipe->sources,
		.spec_count = recipe->source_count,
	};
	if (!ws_source_bring(r->ctx->fetch, &wish, r->a, found, err)
		|| !ws_pin_source_found(r->ctx, recipe, found, err)) {
		return false;
	}
	if (patch_count == 0) {
		return true;
	}
	wish.specs = found->spec;
	wish.spec_count = 1;
	wish.patches = patches;
	wish.patch_count = patch_count;
	return ws_source_bring(r->ctx->fetch, &wish, r->a, found, err);
}

const struct ws_source_found *
ws_resolve_source(struct ws_resolver *r, const struct ws_product *product, struct ws_err *err)
{
	const struct ws_recipe *recipe = product->recipe;
	struct ws_point_view point = ws_point_see(&product->point);
	WS_VEC(const struct ws_patch *) patches = {0};
	const char *key = ws_arena_printf(r->a, "%s %s", recipe->name, recipe->version.text);
	for (size_t i = 0; i < recipe->patch_count; i++) {
		if (ws_condition_holds(&recipe->patches[i].when, &point)) {
			*ws_vec_push(&patches, r->a) = &recipe->patches[i];
			key = ws_arena_printf(r->a, "%s %s", key, recipe->patches[i].sha256);
		}
	}
	struct ws_source_found *found = ws_map_get(&r->sources, key);
	if (found) {
		return found;
	}
	found = WS_NEW(r->a, struct ws_source_found);
	if (!bring_source(r, recipe, patches.at, patches.len, found, err)) {
		return NULL;
	}
	ws_map_put(&r->sources, key, found, r->a);
	return found;
}

/* ---- a product ---- */

static bool
compiles_anything(const struct ws_recipe *recipe)
{
	return recipe->extension_count > 0;
}

bool
ws_resolve(struct ws_resolver *r, const struct ws_product *product, struct ws_materials *materials,
	struct ws_err *err)
{
	struct ws_materials m = {0};
	const struct ws_point *point = &product->point;
	bool compiles = compiles_anything(product->recipe);
	if (compiles && point->torch
		&& !(m.torch = ws_resolve_torch(r, point->torch, point->python, err))) {
		return ws_err_wrap(err, "%s", product->cells[0]->name);
	}
	if (compiles && point->cuda && !(m.cuda = ws_resolve_cuda(r, point->cuda, err))) {
		return ws_err_wrap(err, "%s", product->cells[0]->name);
	}
	if (compiles && product->binding == WS_BINDING_PYBIND
		&& !(m.python = resolve_python(r, point->python, err))) {
		return ws_err_wrap(err, "%s", product->cells[0]->name);
	}
	if (compiles) {
		m.cxx = resolve_cxx(r, m.cuda, gcc_floor(r, m.torch, product->recipe), err);
		if (!m.cxx) {
			return ws_err_wrap(err, "%s", product->cells[0]->name);
		}
		find_libraries(r, &m);
	}
	m.source = ws_resolve_source(r, product, err);
	*materials = m;
	return m.source != NULL;
}
