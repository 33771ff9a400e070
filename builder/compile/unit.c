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

static void
fill_mounts(struct ws_action *action, const struct ws_target *target, struct ws_arena *a)
{
	struct ws_target_common *common =
		target->common ? target->common : &(struct ws_target_common){0};
	if (!common->mounts) {
		struct ws_mount *mounts = WS_NEW_N(a, struct ws_mount, 4);
		size_t count = 0;
		mounts[count++] = (struct ws_mount){"src", target->source->path, target->source};
		if (target->torch) {
			mounts[count++] = (struct ws_mount){"torch", target->torch->path, target->torch->tree};
		}
		if (target->cuda) {
			mounts[count++] = (struct ws_mount){"cuda", target->cuda->path, target->cuda->tree};
		}
		if (target->python) {
			const struct ws_tree *tree = &target->python->tree;
			mounts[count++] = (struct ws_mount){"python", tree->path, tree};
		}
		common->mounts = mounts;
		common->mount_count = count;
	}
	action->mounts = common->mounts;
	action->mount_count = common->mount_count;
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
	static const char *const assembled[] = {
		"-Xassembler", "--MD", "-Xassembler", WS_COMPILE_ASSEMBLED};
	static const char *const kept[] = {"--keep", "--keep-dir", "tmp", "-Xcudafe"};
	bool image = unit->kind == WS_UNIT_DEVICE, nvcc = ws_unit_is_nvcc(unit->kind);
	const char *name = ws_arena_printf(a, "%s/%s", target->recipe->name, unit->path);
	/* The assembler's dependency file, for .incbin and .include. nvcc splits arguments at commas,
	 * so -Wa, cannot be used. */
	bool lists = target->cxx->kind == WS_HOSTCC_GCC && !image;
	for (size_t i = 0; i < WS_LEN(assembled) && lists; i++) {
		if (nvcc) {
			*ws_vec_push(argv, a) = "-Xcompiler";
		}
		*ws_vec_push(argv, a) = assembled[i];
	}
	/* nvcc hashes the source's real path, which contains the store's, into names in anonymous
	 * namespaces. It names its temporary files, whose names are in .symtab, by its pid unless it
	 * keeps them. */
	if (nvcc) {
		ws_name_list_add(argv, kept, WS_LEN(kept), a);
	}
	*ws_vec_push(argv, a) = nvcc
		? ws_arena_printf(a, "--orig_src_path_name=" WS_SOURCE_ROOT "/%s", name)
		: ws_arena_printf(a, "-frandom-seed=%s", name);
	ws_name_list_add(argv, common->flags, common->flag_count, a);
	if (nvcc && target->size.random_seed) {
		*ws_vec_push(argv, a) = ws_arena_printf(a, "--frandom-seed=%s", name);
	}
	*ws_vec_push(argv, a) = image ? "-fatbin" : "-c";
	*ws_vec_push(argv, a) = ws_arena_printf(a, "src/%s", unit->path);
	*ws_vec_push(argv, a) = "-o";
	*ws_vec_push(argv, a) = output_of(unit);
	*ws_vec_push(argv, a) = NULL;
}

/* nvcc's arguments for a stand-in of the unit, so that one dry run serves all units of a target. */
static struct ws_split_words *
split_words(const struct ws_target *target, const struct ws_unit *unit,
	struct ws_unit_common *common, struct ws_arena *a)
{
	struct ws_unit stand_in = {.path = ws_split_stand_in(unit->path, a), .kind = unit->kind};
	if (!common->split || !ws_same(common->split->stand_in, stand_in.path)) {
		ws_name_list words = {0};
		add_words(&words, target, &stand_in, common, a);
		common->split = WS_NEW(a, struct ws_split_words);
		*common->split = (struct ws_split_words){.stand_in = stand_in.path, .words = words.at};
	}
	return common->split;
}

static struct ws_unit_common *
common_of(const struct ws_target *target, const struct ws_unit *unit, struct ws_arena *a)
{
	struct ws_unit_common *common =
		target->common ? &target->common->kinds[unit->kind] : WS_NEW(a, struct ws_unit_common);
	const struct ws_hostcc *cxx = target->cxx;
	ws_name_list search = {0};
	if (common->flags) {
		return common;
	}
	common->variant = "";
	switch (unit->kind) {
	case WS_UNIT_C:
		common->flags = ws_target_c_flags(target, a);
		common->tool = ws_c_tool(cxx);
		ws_name_list_add(&search, cxx->c_search, cxx->c_search_count, a);
		break;
	case WS_UNIT_CXX:
		common->flags = ws_target_cxx_flags(target, a);
		common->tool = ws_cxx_tool(cxx);
		break;
	case WS_UNIT_CUDA:
		common->flags = ws_target_nvcc_flags(target, a);
		break;
	case WS_UNIT_DEVICE:
		common->flags = ws_target_device_flags(target, a);
		break;
	}
	if (ws_unit_is_nvcc(unit->kind)) {
		/* The fingerprint covers the host compiler, which nvcc calls. Older objects may contain
		 * several names. */
		struct ws_digest digest = ws_digest_fields(target->cuda->fingerprint, cxx->fingerprint,
			target->size.random_seed ? NULL : "a name is made up once", NULL);
		common->tool = (struct ws_tool){"nvcc", "cuda/bin/nvcc", ws_arena_strdup(a, digest.hex)};
		common->variant = ws_arena_printf(
			a, "cuda%s %s", target->cuda->version.text, ws_arch_set_name(&target->archs, a));
		ws_name_list_add(&search, target->cuda->include, target->cuda->include_count, a);
	}
	if (unit->kind != WS_UNIT_C) { /* nvcc's own folders, then the compiler's */
		ws_name_list_add(&search, cxx->search, cxx->search_count, a);
	}
	while (common->flags[common->flag_count]) {
		common->flag_count++;
	}
	common->search = search.at;
	common->search_count = search.len;
	return common;
}

const struct ws_action *
ws_target_compile(const struct ws_target *target, const struct ws_unit *unit,
	const struct ws_store *store, struct ws_arena *a)
{
	const char **outputs = WS_NEW(a, const char *);
	bool c = unit->kind == WS_UNIT_C, nvcc = ws_unit_is_nvcc(unit->kind);
	size_t archs = nvcc && target->archs.count ? target->archs.count : 1;
	const struct ws_estimate *estimate = ws_recipe_estimate(target->recipe, unit->path);
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
		.need = {.cpus = 1,
			.rss_bytes = estimate && estimate->rss_mib ? (uint64_t)estimate->rss_mib << 20
				: nvcc                                 ? UNKNOWN_NVCC_BYTES
													   : UNKNOWN_CXX_BYTES},
		.cpu_ms = estimate ? estimate->cpu_s * (uint64_t)1000 * archs : 0,
	};
	fill_mounts(action, target, a);
	const char *const first[] = {common->tool.program, "-MD", "-MF", WS_COMPILE_DEPFILE};
	ws_name_list argv = {0};
	ws_vec_reserve(&argv, common->flag_count + MOST_OTHER_WORDS, a);
	ws_name_list_add(&argv, first, WS_LEN(first), a);
	add_words(&argv, target, unit, common, a);
	action->argv = argv.at;
	/* On workers, parts wait for each other: useful if several architectures are built in parallel,
	 * by programs that are sent along. */
	bool gains = !target->travels
		|| (archs > 1 && target->cuda->tree && (!target->torch || target->torch->tree));
	if (store && nvcc && gains) {
		action->split =
			ws_split_make(target, unit, action, split_words(target, unit, common, a), store, a);
	}
	return action;
}
