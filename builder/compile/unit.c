/* unit.c - the action that compiles one unit of a target. recipe/recipe_files.h lists the units. */
#include "base/fs.h"
#include "compile/header_reads.h"
#include "compile/split.h"

enum ws_log_says
ws_compile_log_says(const char *tail)
{
	/* gcc: "Killed signal terminated program cc1plus"; nvcc: "'cicc' died due to signal 9"; a
	 * shell: "Killed" alone on a line. */
	if (strstr(tail, "Killed signal terminated program") || strstr(tail, "died due to signal 9 ")
		|| strstr(tail, "\nKilled\n") || strncmp(tail, "Killed\n", 7) == 0) {
		return WS_LOG_SAYS_KILLED;
	}
	/* gcc: "internal compiler error: Segmentation fault"; nvcc: "'cicc' died due to signal 11". */
	bool crashed = strstr(tail, "internal compiler error")
		|| strstr(tail, "internal error: assertion") || strstr(tail, "died due to signal");
	return crashed ? WS_LOG_SAYS_CRASHED : WS_LOG_SAYS_NOTHING;
}

/* ---- units ---- */

/* Peaks of units that were not measured: a kernel that includes torch/extension.h takes 2.5 GiB in
 * cicc, a pybind11 binding 1.5 GiB in cc1plus. */
#define UNKNOWN_NVCC_BYTES ((uint64_t)2560 << 20)
#define UNKNOWN_CXX_BYTES ((uint64_t)1536 << 20)

/* Arguments of a command besides the flags of the target. */
#define MOST_OTHER_WORDS 32

static bool
is_cuda(const struct ws_unit *unit)
{
	return ws_unit_is_nvcc(unit->kind);
}

static void
add_mount(struct ws_action *action, const char *name, const char *path, const struct ws_tree *tree,
	struct ws_mount *mounts)
{
	mounts[action->mount_count++] = (struct ws_mount){name, path, tree};
}

static void
fill_mounts(struct ws_action *action, const struct ws_target *target, struct ws_arena *a)
{
	struct ws_target_common *common = target->common;
	if (common && common->mounts) {
		action->mounts = common->mounts;
		action->mount_count = common->mount_count;
		return;
	}
	struct ws_mount *mounts = WS_NEW_N(a, struct ws_mount, 4);
	action->mounts = mounts;
	add_mount(action, "src", target->source->path, target->source, mounts);
	if (target->torch) {
		add_mount(action, "torch", target->torch->path, target->torch->tree, mounts);
	}
	if (target->cuda) {
		add_mount(action, "cuda", target->cuda->path, target->cuda->tree, mounts);
	}
	if (target->python) {
		const struct ws_tree *tree = &target->python->tree;
		add_mount(action, "python", tree->path, tree, mounts);
	}
	if (common) {
		common->mounts = mounts;
		common->mount_count = action->mount_count;
	}
}

/* Search folders after those of the arguments: nvcc's own, then the compiler's. */
static void
fill_search(struct ws_unit_common *common, const struct ws_target *target,
	const struct ws_unit *unit, struct ws_arena *a)
{
	ws_name_list search = {0};
	bool c = unit->kind == WS_UNIT_C;
	const char *const *own = c ? target->cxx->c_search : target->cxx->search;
	size_t count = c ? target->cxx->c_search_count : target->cxx->search_count;
	for (size_t i = 0; is_cuda(unit) && i < target->cuda->include_count; i++) {
		*ws_vec_push(&search, a) = target->cuda->include[i];
	}
	for (size_t i = 0; i < count; i++) {
		*ws_vec_push(&search, a) = own[i];
	}
	common->search = search.at;
	common->search_count = search.len;
}

/* Requests the assembler's dependency file for .incbin and .include. nvcc splits arguments at
 * commas, so -Wa, cannot be used. */
static void
add_assembled(ws_name_list *argv, bool cuda, struct ws_arena *a)
{
	static const char *const words[] = {"-Xassembler", "--MD", "-Xassembler", WS_COMPILE_ASSEMBLED};
	for (size_t i = 0; i < WS_LEN(words); i++) {
		if (cuda) {
			*ws_vec_push(argv, a) = "-Xcompiler";
		}
		*ws_vec_push(argv, a) = words[i];
	}
}

/* nvcc hashes the source's real path, which contains the store's, into names in anonymous
 * namespaces. It names its temporary files, whose names are in .symtab, by its pid unless it
 * keeps them. */
static void
add_stable_names(ws_name_list *argv, const struct ws_target *target, const struct ws_unit *unit,
	struct ws_arena *a)
{
	const char *name = ws_arena_printf(a, "%s/%s", target->recipe->name, unit->path);
	if (!is_cuda(unit)) {
		*ws_vec_push(argv, a) = ws_arena_printf(a, "-frandom-seed=%s", name);
		return;
	}
	*ws_vec_push(argv, a) = "--keep";
	*ws_vec_push(argv, a) = "--keep-dir";
	*ws_vec_push(argv, a) = "tmp";
	*ws_vec_push(argv, a) = "-Xcudafe";
	*ws_vec_push(argv, a) = ws_arena_printf(a, "--orig_src_path_name=" WS_SOURCE_ROOT "/%s", name);
}

static const char *const *
unit_flags(const struct ws_target *target, const struct ws_unit *unit, struct ws_arena *a)
{
	switch (unit->kind) {
	case WS_UNIT_C:
		return ws_target_c_flags(target, a);
	case WS_UNIT_CXX:
		return ws_target_cxx_flags(target, a);
	case WS_UNIT_CUDA:
		return ws_target_nvcc_flags(target, a);
	case WS_UNIT_DEVICE:
		return ws_target_device_flags(target, a);
	}
	return NULL;
}

static const char *
output_of(const struct ws_unit *unit)
{
	return unit->kind == WS_UNIT_DEVICE ? "unit.fatbin" : "unit.o";
}

/* Adds the arguments after those for the dependency file. nvcc's seed has no archs, so that its
 * commands are equal for all sets of archs (split.c). */
static void
add_words(ws_name_list *argv, const struct ws_target *target, const struct ws_unit *unit,
	const struct ws_unit_common *common, struct ws_arena *a)
{
	bool image = unit->kind == WS_UNIT_DEVICE;
	if (target->cxx->kind == WS_HOSTCC_GCC && !image) {
		add_assembled(argv, unit->kind == WS_UNIT_CUDA, a);
	}
	add_stable_names(argv, target, unit, a);
	for (size_t i = 0; i < common->flag_count; i++) {
		*ws_vec_push(argv, a) = common->flags[i];
	}
	if (is_cuda(unit) && target->size.random_seed) {
		*ws_vec_push(argv, a) =
			ws_arena_printf(a, "--frandom-seed=%s/%s", target->recipe->name, unit->path);
	}
	*ws_vec_push(argv, a) = image ? "-fatbin" : "-c";
	*ws_vec_push(argv, a) = ws_arena_printf(a, "src/%s", unit->path);
	*ws_vec_push(argv, a) = "-o";
	*ws_vec_push(argv, a) = output_of(unit);
	*ws_vec_push(argv, a) = NULL;
}

static void
fill_argv(struct ws_action *action, const struct ws_target *target, const struct ws_unit *unit,
	const struct ws_unit_common *common, struct ws_arena *a)
{
	ws_name_list argv = {0};
	ws_vec_reserve(&argv, common->flag_count + MOST_OTHER_WORDS, a);
	*ws_vec_push(&argv, a) = action->tool.program;
	*ws_vec_push(&argv, a) = "-MD";
	*ws_vec_push(&argv, a) = "-MF";
	*ws_vec_push(&argv, a) = WS_COMPILE_DEPFILE;
	add_words(&argv, target, unit, common, a);
	action->argv = argv.at;
}

/* nvcc's arguments for a stand-in of the unit, so that one dry run serves all units of a target. */
static struct ws_split_words *
split_words(const struct ws_target *target, const struct ws_unit *unit,
	struct ws_unit_common *common, struct ws_arena *a)
{
	struct ws_unit stand_in = {.path = ws_split_stand_in(unit->path, a), .kind = unit->kind};
	if (common->split && ws_same(common->split->stand_in, stand_in.path)) {
		return common->split;
	}
	ws_name_list words = {0};
	add_words(&words, target, &stand_in, common, a);
	common->split = WS_NEW(a, struct ws_split_words);
	*common->split = (struct ws_split_words){.stand_in = stand_in.path, .words = words.at};
	return common->split;
}

/* The fingerprint covers the host compiler, which nvcc calls. */
static struct ws_tool
nvcc_tool(const struct ws_target *target, struct ws_arena *a)
{
	struct ws_hasher *h = ws_hasher_make();
	ws_hasher_add_field(h, target->cuda->fingerprint);
	ws_hasher_add_field(h, target->cxx->fingerprint);
	if (!target->size.random_seed) {
		ws_hasher_add_field(
			h, "a name is made up once"); /* older objects may contain several names */
	}
	struct ws_digest digest = ws_hasher_finish(h);
	return (struct ws_tool){"nvcc", "cuda/bin/nvcc", ws_arena_strdup(a, digest.hex)};
}

static void
fill_estimate(struct ws_action *action, const struct ws_target *target, const struct ws_unit *unit)
{
	bool cuda = is_cuda(unit);
	const struct ws_estimate *estimate = ws_recipe_estimate(target->recipe, unit->path);
	action->need =
		(struct ws_need){.cpus = 1, .rss_bytes = cuda ? UNKNOWN_NVCC_BYTES : UNKNOWN_CXX_BYTES};
	if (estimate) {
		size_t archs = cuda && target->archs.count ? target->archs.count : 1;
		action->need.rss_bytes =
			estimate->rss_mib ? (uint64_t)estimate->rss_mib << 20 : action->need.rss_bytes;
		action->cpu_ms = estimate->cpu_s * (uint64_t)1000 * archs;
	}
}

static struct ws_unit_common *
common_of(const struct ws_target *target, const struct ws_unit *unit, struct ws_arena *a)
{
	struct ws_unit_common *common =
		target->common ? &target->common->kinds[unit->kind] : WS_NEW(a, struct ws_unit_common);
	if (common->flags) {
		return common;
	}
	common->flags = unit_flags(target, unit, a);
	while (common->flags[common->flag_count]) {
		common->flag_count++;
	}
	fill_search(common, target, unit, a);
	common->variant = is_cuda(unit) ? ws_arena_printf(a, "cuda%s %s", target->cuda->version.text,
						  ws_arch_set_name(&target->archs, a))
									: "";
	common->tool = is_cuda(unit)  ? nvcc_tool(target, a)
		: unit->kind == WS_UNIT_C ? ws_c_tool(target->cxx)
								  : ws_cxx_tool(target->cxx);
	return common;
}

/* On workers, parts wait for each other: useful if several architectures are built in parallel,
 * by programs that are sent along. */
static bool
gains_by_parts(const struct ws_target *target)
{
	bool goes_whole = target->cuda->tree && (!target->torch || target->torch->tree);
	return !target->travels || (target->archs.count > 1 && goes_whole);
}

const struct ws_action *
ws_target_compile(const struct ws_target *target, const struct ws_unit *unit,
	const struct ws_store *store, struct ws_arena *a)
{
	const char **outputs = WS_NEW(a, const char *);
	bool c = unit->kind == WS_UNIT_C;
	struct ws_action *action = WS_NEW(a, struct ws_action);
	struct ws_token *tokens = WS_NEW(a, struct ws_token);
	const char **seeds = WS_NEW(a, const char *);
	struct ws_unit_common *common = common_of(target, unit, a);
	outputs[0] = output_of(unit);
	tokens[0] = c ? (struct ws_token){"{cc}", target->cxx->c_path}
				  : (struct ws_token){"{cxx}", target->cxx->path};
	seeds[0] = ws_arena_printf(a, "src/%s", unit->path);
	*action = (struct ws_action){
		.subject = ws_path_base(unit->path),
		.group = target->group,
		.unit = ws_arena_printf(a, "%s/%s", target->recipe->name, unit->path),
		.stage = "compile",
		.variant = common->variant,
		.tool = common->tool,
		.env = ws_target_env,
		.tokens = tokens,
		.token_count = 1,
		.outputs = outputs,
		.output_count = 1,
		.seeds = seeds,
		.seed_count = 1,
		.search = common->search,
		.search_count = common->search_count,
		.log_says = ws_compile_log_says,
		.find_reads = ws_headers_reads,
		.host_files = target->cxx->files,
		.host_file_count = target->cxx->file_count,
		.platform = target->cxx->platform,
	};
	fill_mounts(action, target, a);
	fill_argv(action, target, unit, common, a);
	fill_estimate(action, target, unit);
	if (store && is_cuda(unit) && gains_by_parts(target)) {
		action->split =
			ws_split_make(target, unit, action, split_words(target, unit, common, a), store, a);
	}
	return action;
}
