/* link.c - links objects and stubs to a module. Stubs have names only, so a link is the same for
 * every torch release with the same objects; judge/ checks afterwards whether the symbols exist. */

#include "base/fs.h"
#include "compile/extension_target.h"
#include "compile/header_reads.h"
#include "elf/stub.h"
#include "store/cas.h"

/* Measured: a module of 80 flash-attn objects takes 0.4 GiB in ld. */
#define LINK_BYTES ((uint64_t)512 << 20)

/* The mount of an older system's libraries. */
#define FLOOR "floor"

const char *const *
ws_target_needed(const struct ws_target *target, bool runtime, struct ws_arena *a)
{
	ws_name_list names = {0};
	enum ws_binding binding = target->extension->binding;
	if (target->torch) {
		*ws_vec_push(&names, a) = "libc10.so";
		*ws_vec_push(&names, a) = "libtorch.so";
		*ws_vec_push(&names, a) = "libtorch_cpu.so";
		if (binding == WS_BINDING_PYBIND) {
			*ws_vec_push(&names, a) = "libtorch_python.so";
		}
	}
	if (runtime) {
		*ws_vec_push(&names, a) = target->cuda->runtime_soname;
	}
	if (runtime && target->torch) {
		*ws_vec_push(&names, a) = "libc10_cuda.so";
		*ws_vec_push(&names, a) = "libtorch_cuda.so";
	}
	*ws_vec_push(&names, a) = NULL;
	return names.at;
}

/* "libc10.so" -> "c10", "libcudart.so.12" -> "cudart". */
static const char *
link_name(const char *soname, struct ws_arena *a)
{
	const char *end = strstr(soname, ".so");
	return ws_arena_copy(a, soname + 3, (size_t)(end - soname) - 3);
}

/* Adds a text or stub of ours to the store, as an input. */
static bool
put_input(const struct ws_store *store, const char *name, const void *bytes, size_t len,
	struct ws_input *input, struct ws_arena *a, struct ws_err *err)
{
	struct ws_digest digest;
	bool put = ws_cas_put(store, bytes, len, &digest, err);
	*input = (struct ws_input){.name = name, .digest = put ? ws_arena_strdup(a, digest.hex) : NULL};
	return put;
}

static const char *
input_name(const struct ws_unit *unit, size_t i, struct ws_arena *a)
{
	return ws_arena_printf(a, "obj/%zu.%s", i, unit->kind == WS_UNIT_DEVICE ? "fatbin" : "o");
}

/* The linker's input for a unit: its object, or the text that includes its image. */
static const char *
linked_name(const struct ws_unit *unit, size_t i, struct ws_arena *a)
{
	return unit->kind == WS_UNIT_DEVICE ? ws_arena_printf(a, "obj/%zu.s", i)
										: input_name(unit, i, a);
}

static bool
fill_inputs(struct ws_action *action, const struct ws_target *target, const struct ws_store *store,
	const struct ws_recipe_module *module, struct ws_node *const *nodes, const char *const *needed,
	struct ws_arena *a, struct ws_err *err)
{
	const struct ws_machine *machine = ws_hostcc_machine(target->cxx);
	WS_VEC(struct ws_input) inputs = {0};
	for (size_t i = 0; i < module->unit_count; i++) {
		const struct ws_unit *unit = &module->units[i];
		*ws_vec_push(&inputs, a) =
			(struct ws_input){.name = input_name(unit, i, a), .from = nodes[i]};
		if (unit->kind != WS_UNIT_DEVICE) {
			continue;
		}
		/* An assembler text puts the image into the section of GPU code, with a symbol that is
		 * visible in the module only. Containers are aligned to 8 (builder/elf/fatbin.h). */
		const char *symbol = ws_unit_symbol(unit->path, a);
		const char *text = ws_arena_printf(a,
			"\t.section .nv_fatbin,\"a\"\n\t.balign 8\n\t.globl %s\n\t.hidden %s\n"
			"\t.type %s, @object\n%s:\n\t.incbin \"%s\"\n\t.size %s, .-%s\n"
			"\t.section .note.GNU-stack,\"\",@progbits\n",
			symbol, symbol, symbol, symbol, input_name(unit, i, a), symbol, symbol);
		if (!put_input(store, linked_name(unit, i, a), text, strlen(text), ws_vec_push(&inputs, a),
				a, err)) {
			return false;
		}
	}
	for (size_t i = 0; needed[i]; i++) {
		struct ws_stub stub = {.soname = needed[i], .machine = machine ? machine->elf : 0};
		const char *name = ws_arena_printf(a, "lib/lib%s.so", link_name(needed[i], a));
		WS_AUTO_BUF struct ws_buf bytes = {0};
		if (!ws_elf_stub(&stub, &bytes, err)
			|| !put_input(store, name, bytes.data, bytes.len, ws_vec_push(&inputs, a), a, err)) {
			return false;
		}
	}
	action->inputs = inputs.at;
	action->input_count = inputs.len;
	return true;
}

static const char *const *
link_argv(const struct ws_target *target, const struct ws_recipe_module *module,
	const char *const *needed, const char *const *own, struct ws_arena *a)
{
	ws_name_list argv = {0};
	*ws_vec_push(&argv, a) = module->cxx ? "{cxx}" : "{cc}";
	*ws_vec_push(&argv, a) = "-shared";
	for (size_t i = 0; i < module->unit_count; i++) {
		*ws_vec_push(&argv, a) = linked_name(&module->units[i], i, a);
	}
	*ws_vec_push(&argv, a) = "-Llib";
	if (target->floor) {
		*ws_vec_push(&argv, a) = "-L" FLOOR;
	}
	*ws_vec_push(&argv, a) = "-Wl,--no-as-needed";
	for (size_t i = 0; needed[i]; i++) {
		*ws_vec_push(&argv, a) = ws_arena_printf(a, "-l%s", link_name(needed[i], a));
	}
	ws_name_list_add(&argv, own, SIZE_MAX, a);
	ws_name_list_add(&argv, ws_floor_link_words(target->floor, module->cxx, a), SIZE_MAX, a);
	*ws_vec_push(&argv, a) = "-Wl,--dependency-file=" WS_LINK_DEPFILE;
	*ws_vec_push(&argv, a) = "-o";
	*ws_vec_push(&argv, a) = "module.so";
	*ws_vec_push(&argv, a) = NULL;
	return argv.at;
}

const struct ws_action *
ws_target_link(const struct ws_target *target, const struct ws_store *store,
	const struct ws_recipe_module *module, struct ws_node *const *nodes, struct ws_arena *a,
	struct ws_err *err)
{
	static const char *const outputs[] = {"module.so"};
	struct ws_action *action = WS_NEW(a, struct ws_action);
	struct ws_token *tokens = WS_NEW(a, struct ws_token);
	tokens[0] = module->cxx ? (struct ws_token){"{cxx}", target->linker->path}
							: (struct ws_token){"{cc}", target->linker->c_path};
	const char *const *needed = ws_target_needed(target, module->runtime, a);
	const char *name = ws_arena_printf(a, "%s.so", target->extension->module);
	const char *const *own = ws_target_link_flags(target, a);
	*action = (struct ws_action){
		.subject = name,
		.group = target->group,
		.unit = ws_arena_printf(a, "%s/%s", target->recipe->name, name),
		.stage = "link",
		.variant = "",
		.tool = module->cxx ? ws_cxx_tool(target->linker) : ws_c_tool(target->linker),
		.argv = link_argv(target, module, needed, own, a),
		.env = ws_target_env,
		.tokens = tokens,
		.token_count = 1,
		.outputs = outputs,
		.output_count = 1,
		.search = target->linker->libraries,
		.search_count = target->linker->library_count,
		.log_says = ws_compile_log_says,
		.find_reads = ws_link_reads,
		.need = {.cpus = 1, .rss_bytes = LINK_BYTES},
		.cpu_ms = 1000,
	};
	struct ws_mount *mounts = WS_NEW_N(a, struct ws_mount, 2);
	action->mounts = mounts;
	/* Arguments may name a source: "-Wl,--version-script=src/x.map", "-Lsrc/lib". */
	while (*own && !strstr(*own, "src/")) {
		own++;
	}
	if (*own) {
		mounts[action->mount_count++] =
			(struct ws_mount){"src", target->source->path, target->source};
	}
	if (target->floor) {
		const struct ws_tree *tree = &target->floor->tree;
		mounts[action->mount_count++] = (struct ws_mount){FLOOR, tree->path, tree};
	}
	return fill_inputs(action, target, store, module, nodes, needed, a, err) ? action : NULL;
}

/* ---- the reads of a link ---- */

/* Notes a missing name, which must stay absent; the work folder itself cannot change. */
static void
note_absent(const struct ws_action *action, const char *work, const char *name, struct ws_arena *a,
	struct ws_reads *reads)
{
	bool ours = name[0] != '/' && ws_names_is_outside(action, name);
	if (!ours && !ws_fs_exists(ws_path_join(a, work, name, NULL))) {
		*ws_vec_push(&reads->absent, a) = name;
	}
}

/* Notes libraries that the linker would prefer: in an earlier folder, or .so before .a. */
static void
note_earlier(const struct ws_action *action, const char *work, const ws_name_list *folders,
	const char *name, struct ws_arena *a, struct ws_reads *reads)
{
	const char *folder = ws_path_dir(a, name), *base = ws_path_base(name);
	bool archive = ws_starts_with(base, "lib") && ws_ends_with(base, ".a");
	bool library = archive || (ws_starts_with(base, "lib") && ws_ends_with(base, ".so"));
	const char *stem = ws_arena_copy(a, base, strlen(base) - (archive ? 2 : library ? 3 : 0));
	for (size_t i = 0; i < folders->len; i++) {
		const char *in = folders->at[i];
		bool here = strcmp(in, folder) == 0;
		if (!here) {
			note_absent(action, work, ws_path_join(a, in, base, NULL), a, reads);
		}
		if (library && (!here || archive)) {
			const char *other = ws_arena_printf(a, "%s%s", stem, archive ? ".so" : ".a");
			note_absent(action, work, ws_path_join(a, in, other, NULL), a, reads);
		}
		if (here) {
			return;
		}
	}
}

bool
ws_link_reads(const struct ws_action *action, const char *work, const char *log WS_UNUSED,
	struct ws_arena *a, struct ws_reads *reads, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	ws_name_list names = {0};
	struct ws_map seen = {0};
	if (!ws_fs_read(ws_path_join(a, work, WS_LINK_DEPFILE, NULL), &text, err)
		|| !ws_depfile_parse(ws_buf_text(&text), a, &names, err)) {
		return ws_err_wrap(err, "'%s'", action->subject);
	}
	const char *temporary = ws_path_join(a, work, "tmp/", NULL); /* of -flto */
	/* The folders of -L, then the compiler's own. */
	ws_name_list folders = {0};
	for (const char *const *word = action->argv; *word; word++) {
		if (strcmp(*word, "-L") == 0 && word[1]) {
			*ws_vec_push(&folders, a) = ws_path_normal(a, *++word);
		} else if (ws_starts_with(*word, "-L") && (*word)[2]) {
			*ws_vec_push(&folders, a) = ws_path_normal(a, *word + 2);
		}
	}
	ws_name_list_add(&folders, action->search, action->search_count, a);
	for (size_t i = 0; i < names.len; i++) {
		const char *name = ws_path_normal(a, names.at[i]);
		if (!ws_depfile_is_input(action, name) && !ws_starts_with(name, temporary)
			&& ws_map_add(&seen, name, a)) {
			*ws_vec_push(&reads->files, a) = name;
			note_earlier(action, work, &folders, name, a, reads);
		}
	}
	return true;
}
