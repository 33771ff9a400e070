/* host.c - interpreters, GPUs, toolkits, kits; the ledger and the cells as look-ups. */
#include "produce/host.h"

#include "kit/cuda/gpu.h"
#include "prebuilt/candidate_memory.h"
#include "produce/selection_request.h"
#include "store/results.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- look-ups ---- */

struct lookups {
	const struct ws_context *ctx;
	struct ws_candidate_memory *memory; /* NULL: none */
};

static struct ws_plan_estimate
estimate(void *self, const char *unit, const char *stage, const char *variant)
{
	const struct ws_context *ctx = ((const struct lookups *)self)->ctx;
	struct ws_estimate_of e = ws_ledger_estimate(ctx->ledger, unit, stage, variant);
	return (struct ws_plan_estimate){e.wall_ms, e.cpu_ms, e.rss_bytes};
}

static struct ws_plan_wheel
find_wheel(void *self, const char *key)
{
	const struct ws_context *ctx = ((const struct lookups *)self)->ctx;
	struct ws_cell_record record;
	if (!ws_cells_get(ctx->store, key, ctx->a, &record)) {
		return (struct ws_plan_wheel){0};
	}
	struct tm day;
	time_t built_s = (time_t)record.built_s;
	char *date = ws_arena_alloc(ctx->a, 16);
	gmtime_r(&built_s, &day);
	strftime(date, 16, "%Y-%m-%d", &day);
	return (struct ws_plan_wheel){record.file, date, record.wheel_bytes, record.installed_bytes};
}

static size_t
list_offers(void *self, const struct ws_recipe *recipe, const struct ws_offered_wheel **wheels,
	enum ws_indexes_asked *asked)
{
	return ws_candidates_offered(((const struct lookups *)self)->memory, recipe, wheels, asked);
}

static void
see_candidate(void *self, const struct ws_product *product, struct ws_candidate *candidate)
{
	ws_candidate_see(((const struct lookups *)self)->memory, product, candidate);
}

/* ---- interpreters ---- */

static const struct ws_plan_installed *
ask_torch(const struct ws_context *ctx, const struct ws_python_kit *python)
{
	struct ws_torch_kit kit;
	struct ws_err ignored;
	if (!ws_torch_open_installed(ctx->facts, python, ctx->ledger, ctx->a, &kit, &ignored)) {
		return NULL;
	}
	struct ws_plan_installed *installed = WS_NEW(ctx->a, struct ws_plan_installed);
	*installed = (struct ws_plan_installed){
		kit.version, kit.cuda, kit.cxx11abi, kit.record_sha256[0] ? kit.record_sha256 : NULL};
	return installed;
}

static bool
fail_python(
	const struct ws_matrix *matrix, const struct ws_requested_python *python, struct ws_err *err)
{
	struct ws_place place = python->value->place;
	if (matrix->doc && place.len > 0) {
		return ws_err_at(err, matrix->doc->name, matrix->doc->text, place.offset, place.len);
	}
	return python->extra ? ws_err_wrap(err, "an extra point of 'include'") : false;
}

/* An interpreter named by its version is looked for only when its torch matters. */
static bool
probe_pythons(const struct ws_context *ctx, const struct ws_matrix *matrix,
	const struct ws_selection_request *request, struct ws_plan_host *host, struct ws_err *err)
{
	struct ws_plan_python *pythons =
		WS_NEW_N(ctx->a, struct ws_plan_python, request->pythons.len + 1);
	for (size_t i = 0; i < request->pythons.len; i++) {
		const struct ws_python_value *value = request->pythons.at[i].value;
		struct ws_python_kit kit;
		if (!request->pythons.at[i].needed) {
			continue;
		}
		if (!ws_python_find_meant(
				ctx->env, value->path, value->host, &value->tag, ctx->a, &kit, err)) {
			return fail_python(matrix, &request->pythons.at[i], err);
		}
		pythons[host->python_count++] = (struct ws_plan_python){
			.path = value->path,
			.host = value->host,
			.tag = kit.tag,
			.torch = request->installed ? ask_torch(ctx, &kit) : NULL,
		};
	}
	host->pythons = pythons;
	return true;
}

/* ---- GPUs, toolkits, kits ---- */

static struct ws_arch_set
find_gpus(const struct ws_context *ctx)
{
	struct ws_gpus gpus;
	ws_gpu_list(ctx->env, ctx->a, &gpus);
	return ws_gpu_archs(&gpus, ctx->a);
}

static void
probe_toolkits(const struct ws_context *ctx, struct ws_plan_host *host)
{
	ws_cuda_list found = {0};
	if (ctx->kits != WS_KITS_ARCHIVE) {
		/* Where nothing is kept, reading a compiler of 100 MB for its digest costs more than asking
		 * it. */
		struct ws_cuda_memory memory = {ctx->store, ctx->ledger};
		ws_cuda_list_host(ctx->env, ws_store_keeps(ctx->store) ? &memory : NULL, ctx->a, &found);
	}
	const char **versions = WS_NEW_N(ctx->a, const char *, found.len + 1);
	for (size_t i = 0; i < found.len; i++) {
		if (found.at[i].missing_count == 0) {
			versions[host->toolkit_count++] = found.at[i].version.text;
		}
	}
	host->toolkits = versions;
}

static void
probe_kits(const struct ws_context *ctx, struct ws_plan_host *host)
{
	WS_VEC(const char *) names = {0};
	WS_AUTO_DIR DIR *dir = opendir(ctx->data->kits);
	const struct dirent *entry;
	while (dir && (entry = readdir(dir))) {
		const char *name = entry->d_name;
		if (ws_starts_with(name, "cuda-") && ws_ends_with(name, ".json")) {
			*ws_vec_push(&names, ctx->a) =
				ws_arena_copy(ctx->a, name, strlen(name) - strlen(".json"));
		}
	}
	if (names.len > 1) {
		qsort(names.at, names.len, sizeof(*names.at), ws_cmp_strings);
	}
	host->kits = names.at;
	host->kit_count = names.len;
}

bool
ws_probe_host(const struct ws_context *ctx, struct ws_candidate_memory *memory,
	struct ws_plan_input *input, struct ws_err *err)
{
	const struct ws_matrix *matrix = input->matrix;
	struct lookups *lookups = WS_NEW(ctx->a, struct lookups);
	struct ws_plan_host *host = &input->host;
	struct ws_selection_request request = ws_selection_request_of(matrix, ctx->a);
	host->choice = ctx->kits;
	host->cores = ctx->host->cores;
	host->jobs = ctx->jobs ? ctx->jobs : ctx->host->cores;
	host->memory_bytes = ctx->memory_bytes ? ctx->memory_bytes : ctx->host->memory_bytes;
	*lookups = (struct lookups){ctx, memory};
	input->lookups =
		(struct ws_plan_lookups){.self = lookups, .estimate = estimate, .wheel = find_wheel};
	if (memory) {
		input->lookups.offers = list_offers;
		input->lookups.verdict = see_candidate;
	}
	host->gpus = request.gpus ? find_gpus(ctx) : (struct ws_arch_set){0};
	probe_toolkits(ctx, host);
	probe_kits(ctx, host);
	return probe_pythons(ctx, matrix, &request, host, err);
}
