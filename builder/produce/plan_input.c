#include "produce/plan_input.h"

#include "fetch/source_tree.h"
#include "kit/cuda/gpu.h"
#include "prebuilt/candidates.h"
#include "store/results.h"

#include <time.h>

/* ---- the values of the matrix: those of the axes and of extra points, each once ---- */

struct named_python {
	const struct ws_python_value *value;
	bool extra;  /* of `include` */
	bool needed; /* planning needs its tag or its installed torch */
};

struct named_values {
	WS_VEC(const struct ws_torch_value *) torch; /* releases, without "installed" */
	WS_VEC(struct named_python) pythons;
	bool installed; /* torch "installed" */
	bool gpus;      /* arch "host" */
	struct ws_arena *a;
};

static void
add_torch(struct named_values *named, const struct ws_torch_value *value)
{
	named->installed = named->installed || value->installed;
	/* An extra point of packages that need no torch names none. */
	if (!value->installed && value->version.text) {
		*ws_vec_push(&named->torch, named->a) = value;
	}
}

static void
add_python(
	struct named_values *named, const struct ws_python_value *value, bool extra, bool installed)
{
	bool needed = value->host || value->path || installed;
	for (size_t i = 0; i < named->pythons.len; i++) {
		struct named_python *known = &named->pythons.at[i];
		const struct ws_python_value *other = known->value;
		bool by_tag = !value->host && !value->path && !other->host && !other->path;
		if (by_tag ? ws_python_tag_same(&other->tag, &value->tag)
				   : other->host == value->host && ws_same(other->path, value->path)) {
			known->needed = known->needed || needed;
			return;
		}
	}
	*ws_vec_push(&named->pythons, named->a) = (struct named_python){value, extra, needed};
}

static struct named_values
list_values(const struct ws_matrix *matrix, struct ws_arena *a)
{
	struct named_values named = {.a = a};
	for (size_t i = 0; i < matrix->torch_count; i++) {
		add_torch(&named, &matrix->torch[i]);
	}
	for (size_t i = 0; i < matrix->python_count; i++) {
		add_python(&named, &matrix->python[i], false, named.installed);
	}
	for (size_t i = 0; i < matrix->arch_count; i++) {
		named.gpus = named.gpus || matrix->arch[i].host;
	}
	for (size_t i = 0; i < matrix->include_count; i++) {
		const struct ws_include *include = &matrix->includes[i];
		add_torch(&named, &include->torch);
		add_python(&named, &include->python, true, include->torch.installed);
		named.gpus = named.gpus || include->arch.host;
	}
	return named;
}

/* ---- releases of torch ---- */

/* A release that neither facts nor lock have. */
static bool
look_up_release(const struct ws_context *ctx, const struct ws_matrix *matrix,
	const struct ws_torch_value *value, struct ws_err *err)
{
	const char *version = value->version.text;
	bool asked = ctx->fetch && !ctx->fetch->offline;
	const struct ws_index_wheel *wheels;
	size_t count = 0;
	struct ws_index_list list = {0};
	if (asked) {
		list = ws_index_config_list(ctx->fetch->indexes, "torch", ctx->a);
	}
	if (!asked) {
		ws_err_set(err, WS_ERR_CONFIG, "torch '%s' is unknown, and was not looked up", version);
	} else if (!ws_index_wheels(
				   ctx->fetch->index, &list, "torch", &value->version, &wheels, &count, err)) {
		ws_err_wrap(err, "torch '%s' is unknown, and could not be looked up", version);
	} else if (count > 0) {
		return true;
	} else {
		ws_err_set(err, WS_ERR_CONFIG, "no torch release '%s'", version);
	}
	if (matrix->doc && value->place.len > 0) {
		ws_err_at(err, matrix->doc->name, matrix->doc->text, value->place.offset, value->place.len);
	}
	const char *near = ws_facts_torch_suggest(ctx->facts, &value->version);
	if (near) {
		ws_err_cure(err, "did you mean \"%s\"?", near);
	}
	return asked ? false : ws_err_cure_code(err, WS_CURE_LOCK, NULL);
}

/* ---- sources ---- */

/* The digest of the sources that @a spec names, without any request: of a local folder as it is
 * now, else of the store's copy. NULL: not known. */
static const char *
find_source_digest(
	const struct ws_context *ctx, const struct ws_recipe *recipe, const struct ws_source_spec *spec)
{
	struct ws_source_wish wish = {
		.name = recipe->name, .version = recipe->version.text, .specs = spec, .spec_count = 1};
	struct ws_digest digest;
	struct ws_tree tree;
	if (spec->kind == WS_SOURCE_FOLDER) {
		return ws_folder_digest(spec->path, ctx->ledger, &digest)
			? ws_arena_strdup(ctx->a, digest.hex)
			: NULL;
	}
	return ws_source_recall(ctx->store, &wish, ctx->a, &tree)
		? ws_arena_strdup(ctx->a, tree.digest.hex)
		: NULL;
}

/* Pins the first source whose digest is known: a build takes the same one. */
static void
pin_source(const struct ws_context *ctx, const struct ws_recipe *recipe, struct ws_lock *lock)
{
	const struct ws_pin_source *known = ws_lock_source(lock, recipe->name, recipe->version.text);
	for (size_t i = 0; i < recipe->source_count; i++) {
		const struct ws_source_spec *spec = &recipe->sources[i];
		struct ws_pin_source pin = {
			.package = recipe->name,
			.version = recipe->version.text,
			.how = ws_source_kind_words[spec->kind],
			.from = ws_source_spec_from(spec),
			.sha256 = spec->sha256,
			.commit = spec->commit,
		};
		bool locked = known && ws_same(known->how, "folder") && spec->kind == WS_SOURCE_FOLDER;
		pin.tree = !known || locked ? find_source_digest(ctx, recipe, spec) : NULL;
		/* The pinned folder cannot be read: no stored wheel may match it. */
		pin.tree = pin.tree || !locked ? pin.tree : "not known";
		if (pin.tree) {
			ws_lock_put(lock, WS_PIN_SOURCE, &pin, ctx->a);
			return;
		}
	}
}

/* Listings of the sources in the store, so that a glob is planned file by file. Patches change the
 * contents of files, seldom their names: patches with a condition are left out. */
static void
fill_listings(const struct ws_context *ctx, const struct ws_lock *lock, struct ws_plan_input *input)
{
	size_t count = input->matrix->package_count;
	struct ws_listing *listings = WS_NEW_N(ctx->a, struct ws_listing, count);
	for (size_t i = 0; i < count; i++) {
		const struct ws_recipe *recipe = &input->recipes[i];
		struct ws_source_wish wish = {
			.name = recipe->name,
			.version = recipe->version.text,
			.specs = recipe->sources,
			.spec_count = recipe->source_count,
			.pin = ws_lock_source(lock, recipe->name, recipe->version.text),
		};
		wish.patches = ws_recipe_patches(recipe, NULL, ctx->a, &wish.patch_count);
		struct ws_tree tree;
		if (ws_source_recall(ctx->store, &wish, ctx->a, &tree)) {
			listings[i] = ws_tree_listing(&tree);
		}
	}
	input->listings = listings;
}

/* ---- look-ups ---- */

struct lookups {
	const struct ws_context *ctx;
	struct ws_candidate_memory *memory; /* NULL: none */
	struct ws_map lists;                /* export lists by torch and machine */
};

static struct ws_plan_estimate
find_estimate(void *self, const char *unit, const char *stage, const char *variant)
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

static const char *const *
find_lists(void *self, const struct ws_torch_choice *torch, const struct ws_machine *machine)
{
	struct lookups *l = self;
	const char *key = ws_arena_printf(l->ctx->a, "%s %s", torch->version.text, machine->name);
	const char *const *lists = ws_map_get(&l->lists, key);
	if (!lists && (lists = ws_lists_here(l->ctx, &l->memory->pins->lock, torch, machine))) {
		ws_map_put(&l->lists, key, (void *)(uintptr_t)lists, l->ctx->a);
	}
	return lists;
}

static struct ws_candidates
list_candidates(void *self, const struct ws_product *product)
{
	return ws_candidate_list(((const struct lookups *)self)->memory, product, true);
}

/* ---- interpreters ---- */

static const struct ws_plan_installed *
find_installed_torch(const struct ws_context *ctx, const struct ws_python_kit *python)
{
	struct ws_torch_kit *kit = WS_NEW(ctx->a, struct ws_torch_kit);
	struct ws_err ignored;
	if (!ws_torch_open_installed(ctx->facts, python, ctx->ledger, ctx->a, kit, &ignored)) {
		return NULL;
	}
	const char *exports = ws_torch_exports_known_installed(ctx->store, kit, &python->tag, ctx->a);
	struct ws_plan_installed *installed = WS_NEW(ctx->a, struct ws_plan_installed);
	*installed = (struct ws_plan_installed){
		.version = kit->version,
		.cuda = kit->cuda,
		.cxx11abi = kit->cxx11abi,
		.record = kit->record_sha256[0] ? kit->record_sha256 : NULL,
		.lists = exports ? ws_lists_with(ctx, exports, NULL) : NULL,
		.kit = kit,
	};
	return installed;
}

/* False: planning needs this interpreter, and it is not there. */
static bool
find_python(const struct ws_context *ctx, const struct named_python *named, bool installed,
	struct ws_plan_python *python, struct ws_err *err)
{
	const struct ws_python_value *value = named->value;
	struct ws_python_kit *kit = WS_NEW(ctx->a, struct ws_python_kit);
	struct ws_err *missing = WS_NEW(ctx->a, struct ws_err);
	*python = (struct ws_plan_python){.path = value->path, .host = value->host, .tag = value->tag};
	if (!ws_python_find_meant(
			ctx->env, value->path, value->host, &value->tag, ctx->a, kit, missing)) {
		python->missing = missing;
		if (named->needed && err) {
			*err = *missing;
		}
		return !named->needed;
	}
	python->kit = kit;
	python->tag = kit->tag;
	python->torch = installed ? find_installed_torch(ctx, kit) : NULL;
	python->missing = ws_python_check_headers(kit, ctx->host, missing) ? NULL : missing;
	return true;
}

static bool
fill_pythons(const struct ws_context *ctx, const struct ws_matrix *matrix,
	const struct named_values *named, struct ws_plan_host *host, struct ws_err *err)
{
	struct ws_plan_python *pythons =
		WS_NEW_N(ctx->a, struct ws_plan_python, named->pythons.len + 1);
	host->pythons = pythons;
	for (size_t i = 0; i < named->pythons.len; i++) {
		const struct named_python *python = &named->pythons.at[i];
		struct ws_plan_python *found = &pythons[i];
		if (!find_python(ctx, python, named->installed, found, err)) {
			struct ws_place place = python->value->place;
			if (matrix->doc && place.len > 0) {
				return ws_err_at(
					err, matrix->doc->name, matrix->doc->text, place.offset, place.len);
			}
			return python->extra ? ws_err_wrap(err, "an extra point of 'include'") : false;
		}
		host->python_count++;
	}
	return true;
}

/* ---- GPUs, toolkits, kits ---- */

static void
fill_toolkits(const struct ws_context *ctx, struct ws_plan_host *host)
{
	ws_cuda_list found = {0};
	if (ctx->kits != WS_KITS_ARCHIVE) {
		/* A store that keeps nothing: hashing a compiler of 100 MB takes longer than running it. */
		struct ws_cuda_memory memory = {ctx->store, ctx->ledger};
		ws_cuda_list_host(ctx->env, ctx->store->lock_fd >= 0 ? &memory : NULL, ctx->a, &found);
	}
	struct ws_plan_toolkit *toolkits = WS_NEW_N(ctx->a, struct ws_plan_toolkit, found.len + 1);
	for (size_t i = 0; i < found.len; i++) {
		if (found.at[i].missing_count == 0) {
			toolkits[host->toolkit_count++] =
				(struct ws_plan_toolkit){found.at[i].version.text, &found.at[i]};
		}
	}
	host->toolkits = toolkits;
}

static void
fill_kits(const struct ws_context *ctx, struct ws_plan_host *host)
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
ws_plan_input_fill(const struct ws_context *ctx, const struct ws_pins *pins,
	struct ws_candidate_memory *memory, struct ws_plan_input *input, struct ws_err *err)
{
	struct ws_plan_host *host = &input->host;
	struct named_values named = list_values(input->matrix, ctx->a);
	for (size_t i = 0; i < named.torch.len; i++) {
		const struct ws_torch_value *value = named.torch.at[i];
		bool known = ws_facts_torch(ctx->facts, &value->version)
			|| ws_lock_torch(&pins->lock, value->version.text);
		if (!known && !look_up_release(ctx, input->matrix, value, err)) {
			return false;
		}
	}
	fill_listings(ctx, &pins->lock, input);
	/* The lock with the sources as they are now. Only cell keys see the difference. */
	static const struct ws_lock none;
	struct ws_lock *lock = WS_NEW(ctx->a, struct ws_lock);
	ws_lock_merge(lock, &none, &pins->lock, ctx->a);
	for (size_t i = 0; i < input->matrix->package_count; i++) {
		pin_source(ctx, &input->recipes[i], lock);
	}
	input->lock = lock;
	input->known = &pins->of_store;
	struct lookups *lookups = WS_NEW(ctx->a, struct lookups);
	*lookups = (struct lookups){.ctx = ctx, .memory = memory};
	input->lookups = (struct ws_plan_lookups){
		.self = lookups,
		.estimate = find_estimate,
		.wheel = find_wheel,
		.lists = memory ? find_lists : NULL,
		.candidates = memory ? list_candidates : NULL,
	};
	host->choice = ctx->kits;
	host->cores = ctx->host->cores;
	host->jobs = ctx->jobs ? ctx->jobs : ctx->host->cores;
	host->memory_bytes = ctx->memory_bytes ? ctx->memory_bytes : ctx->host->memory_bytes;
	if (named.gpus) {
		struct ws_gpus gpus;
		ws_gpu_list(ctx->env, ctx->a, &gpus);
		host->gpus = ws_gpu_archs(&gpus, ctx->a);
	}
	fill_toolkits(ctx, host);
	fill_kits(ctx, host);
	return fill_pythons(ctx, input->matrix, &named, host, err);
}
