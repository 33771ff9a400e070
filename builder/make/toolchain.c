#include "make/toolchain.h"

#include "base/fs.h"
#include "engine/runner.h"
#include "engine/worker_files.h"
#include "judge/torch_place.h"
#include "kit/hostcc/compiler_list_text.h"

#include <gnu/libc-version.h>

struct ws_toolchains {
	const struct ws_context *ctx;
	struct ws_arena *a;
	ws_hostcc_list compilers, cross; /* for this machine, and for others */
	bool listed;
	struct ws_compiler_list worker; /* of a farm; glibc NULL: it was not asked */
	struct ws_err *worker_err;      /* why asking it failed */
	struct ws_map opened, found;    /* compilers by path, toolchains by need */
	struct ws_map floors;           /* by compiler and glibc */
};

/* An opened compiler, for all toolkits that it serves. */
struct opened {
	struct ws_hostcc cxx;
	ws_name_list libraries;
};

struct ws_toolchains *
ws_toolchains_open(const struct ws_context *ctx)
{
	struct ws_toolchains *t = WS_NEW(ctx->a, struct ws_toolchains);
	t->ctx = ctx;
	t->a = ctx->a;
	return t;
}

static const struct opened *
open_cxx(struct ws_toolchains *t, const struct ws_hostcc *chosen, struct ws_err *err)
{
	struct opened *known = ws_map_get(&t->opened, chosen->path);
	if (known) {
		return known;
	}
	known = WS_NEW(t->a, struct opened);
	known->cxx = *chosen;
	if (!ws_hostcc_open(&known->cxx, t->ctx->ledger, t->a, err)) {
		return NULL;
	}
	/* For another machine the floor's list has the libraries. */
	if (ws_hostcc_machine(&known->cxx) == ws_machine_host()) {
		ws_host_libraries(t->ctx->ledger, &known->cxx, t->a, &known->libraries);
	}
	ws_map_put(&t->opened, known->cxx.path, known, t->a);
	return known;
}

/* The workers' compilers for this machine. WS_ERR_CONFIG: their headers are not glibc's. */
static bool
read_worker(struct ws_toolchains *t, struct ws_worker_files *farm, struct ws_compiler_list *worker,
	struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf told = {0};
	struct ws_compiler_list all;
	if (!farm->ask(farm, NULL, &told, err)) {
		return false;
	}
	if (!ws_compiler_list_read(ws_buf_str(&told), t->a, &all, err)) {
		return ws_err_wrap(err, "the host description of a worker of %s", farm->name);
	}
	*worker = (struct ws_compiler_list){.glibc = all.glibc};
	for (size_t i = 0; i < all.compilers.len; i++) {
		if (ws_hostcc_machine(&all.compilers.at[i]) == ws_machine_host()) {
			all.compilers.at[i].platform = farm;
			*ws_vec_push(&worker->compilers, t->a) = all.compilers.at[i];
		}
	}
	return worker->compilers.len == 0 || worker->glibc[0]
		|| ws_err_set(
			err, WS_ERR_CONFIG, "the workers of %s do not have the headers of glibc", farm->name);
}

/* The compilers to choose from: of a farm's workers, of this host, or cross compilers. */
static const ws_hostcc_list *
list_for(struct ws_toolchains *t, const struct ws_machine *machine, struct ws_err *err)
{
	struct ws_executor *others = t->ctx->executor;
	if (!t->listed) {
		const char *path = ws_user_env_get(t->ctx->env, "PATH");
		ws_hostcc_list_all(t->ctx->ledger, "", path, t->ctx->events, t->a, &t->compilers);
		ws_hostcc_list_cross(t->ctx->ledger, "", path, t->a, &t->cross);
		t->listed = true;
	}
	if (machine != ws_machine_host()) {
		return &t->cross;
	}
	if (!others || !others->platform) {
		return &t->compilers;
	}
	/* One worker answers for all, once. */
	if (!t->worker.glibc && !t->worker_err && !read_worker(t, others->platform, &t->worker, err)) {
		t->worker_err = WS_NEW(t->a, struct ws_err);
		*t->worker_err = *err;
	}
	if (t->worker_err) {
		*err = *t->worker_err;
	}
	return t->worker_err ? NULL : &t->worker.compilers;
}

static bool
choose_cxx(struct ws_toolchains *t, const struct ws_product *product,
	const struct ws_cuda_kit *cuda, struct ws_hostcc *chosen, struct ws_err *err)
{
	const struct ws_machine *machine = product->point.machine;
	const ws_hostcc_list *list = list_for(t, machine, err);
	if (!list) {
		return false;
	}
	struct ws_hostcc_wish wish = {
		.limits = cuda ? cuda->limits : (struct ws_hostcc_limits){.gcc_max = 99},
		.cuda = cuda ? &cuda->version : NULL,
		.gcc_min = product->gcc_min,
		.bad = product->gcc_bad,
		.bad_count = product->gcc_bad_count,
		.facts = t->ctx->facts,
	};
	if (list == &t->cross && list->len == 0) {
		ws_err_set(err, WS_ERR_BUILD, "no compiler of this host compiles for %s", machine->name);
		ws_err_cure(
			err, "have %s-g++ on PATH, which nvcc takes as its host compiler", machine->multiarch);
		return ws_err_cure(
			err, "on Debian and Ubuntu: apt-get install crossbuild-essential-%s", machine->debian);
	}
	const struct ws_host *host = list == &t->worker.compilers ? NULL : t->ctx->host;
	return ws_hostcc_choose(list, &wish, host, chosen, err);
}

/* Objects of a farm's compiler are linked by this host's compiler of the same fingerprint, so that
 * links have the same keys as after compiling here; without one, by this host's newest. */
static const struct opened *
open_linker(struct ws_toolchains *t, const struct ws_hostcc *cxx, struct ws_err *err)
{
	if (!cxx->platform) {
		return open_cxx(t, cxx, err);
	}
	for (size_t i = 0; i < t->compilers.len; i++) {
		const struct ws_hostcc *cc = &t->compilers.at[i];
		const struct opened *opened =
			cc->kind == cxx->kind && strcmp(cc->version, cxx->version) == 0 ? open_cxx(t, cc, NULL)
																			: NULL;
		if (opened && strcmp(opened->cxx.fingerprint, cxx->fingerprint) == 0) {
			return opened;
		}
	}
	if (t->compilers.len == 0) {
		ws_err_set(err, WS_ERR_BUILD, "this host has no compiler to link with");
		ws_err_cure(err, "a farm compiles; modules are linked here, by any g++");
		return NULL;
	}
	return open_cxx(t, &t->compilers.at[0], err);
}

/* False when @a cxx compiles against headers of a newer glibc than this host has. */
static bool
links_here(const struct ws_toolchains *t, const struct ws_hostcc *cxx, struct ws_err *err)
{
	const char *own = gnu_get_libc_version(), *theirs = t->worker.glibc;
	struct ws_version here, there;
	if (!cxx->platform || !ws_version_parse(own, t->a, &here)
		|| !ws_version_parse(theirs, t->a, &there) || ws_version_cmp(&there, &here) <= 0) {
		return true;
	}
	ws_err_set(err, WS_ERR_CONFIG,
		"the workers compile against glibc %s, and this host links against %s", theirs, own);
	return ws_err_cure(err, "build the wheel for an older glibc, or use older workers");
}

/* The libraries of a system with glibc @a glibc, for modules that @a cxx links. */
static const struct ws_floor_kit *
open_floor(
	struct ws_toolchains *t, const struct ws_hostcc *cxx, const char *glibc, struct ws_err *err)
{
	const char *key = ws_arena_printf(t->a, "%s %s", glibc, cxx->path);
	struct ws_floor_kit *kit = ws_map_get(&t->floors, key);
	if (kit) {
		return kit;
	}
	kit = WS_NEW(t->a, struct ws_floor_kit);
	struct ws_floor_wish wish = {
		.glibc = glibc,
		.machine = ws_hostcc_machine(cxx),
		.cxx = cxx,
		.facts = t->ctx->data->facts,
		.bridge = ws_path_join(t->a, t->ctx->data->root, "floor", NULL),
	};
	if (!ws_floor_open(t->ctx->store, &wish, t->a, kit, err)) {
		return NULL;
	}
	ws_map_put(&t->floors, key, kit, t->a);
	return kit;
}

const struct ws_toolchain *
ws_toolchain_find(struct ws_toolchains *t, const struct ws_product *product,
	struct ws_cuda_kit *cuda, struct ws_err *err)
{
	const char *glibc = product->glibc;
	const char *key = ws_arena_printf(t->a, "%s %s %u%s", cuda ? cuda->name : "",
		glibc ? glibc : "", product->gcc_min, product->point.machine->mark);
	for (size_t i = 0; i < product->gcc_bad_count; i++) {
		key = ws_arena_printf(t->a, "%s -%u", key, product->gcc_bad[i]);
	}
	struct ws_toolchain *chain = ws_map_get(&t->found, key);
	if (chain) {
		return chain;
	}
	chain = WS_NEW(t->a, struct ws_toolchain);
	const struct opened *opened =
		choose_cxx(t, product, cuda, &chain->cxx, err) ? open_linker(t, &chain->cxx, err) : NULL;
	if (!opened
		|| (cuda && !ws_cuda_ask_include(cuda, opened->cxx.path, t->ctx->ledger, t->a, err))) {
		return NULL;
	}
	chain->linker = opened->cxx;
	chain->cxx = chain->cxx.platform ? chain->cxx : opened->cxx;
	if (glibc ? !(chain->floor = open_floor(t, &chain->linker, glibc, err))
			  : !links_here(t, &chain->cxx, err)) {
		return NULL;
	}
	for (size_t i = 0; i < opened->libraries.len; i++) {
		const char *path = opened->libraries.at[i];
		if (!glibc || !ws_floor_has_library(chain->floor, ws_path_base(path))) {
			*ws_vec_push(&chain->libraries, t->a) = path;
		}
	}
	if (cuda) { /* libcudart exports the same names on every machine */
		*ws_vec_push(&chain->libraries, t->a) = cuda->runtime;
	}
	ws_map_put(&t->found, key, chain, t->a);
	return chain;
}
