/**
 * extension_target.h - what one extension is compiled for
 *
 * An extension of a recipe at one point of the matrix, with the kits chosen for it. Everything in
 * compile/ turns a target into actions; where kits come from is make/'s, which units it has
 * is recipe/'s.
 */
#ifndef WS_COMPILE_EXTENSION_TARGET_H
#define WS_COMPILE_EXTENSION_TARGET_H

#include "engine/action.h"
#include "engine/graph.h"
#include "kit/cuda/cuda.h"
#include "kit/floor/floor.h"
#include "kit/hostcc/hostcc.h"
#include "kit/python/python.h"
#include "kit/torch/torch.h"
#include "model/matrix.h"
#include "recipe/recipe_files.h"

/** Where sources are for whoever reads debug info: not in the folder of a run, which is another
 * every time. */
#define WS_SOURCE_ROOT "/wheelsmith"

struct ws_split_words;

/** What units of one target have in common, made for the first that asks. Zeroed, nothing was asked
 * yet. */
struct ws_target_common {
	const struct ws_mount *mounts;
	size_t mount_count;
	struct ws_unit_common {
		struct ws_tool tool;
		const char *variant;
		const char *const *flags; /**< NULL: no unit of this kind has asked */
		size_t flag_count;
		const char *const *search;
		size_t search_count;
		struct ws_split_words *split; /**< of nvcc's units */
	} kinds[WS_UNIT_KINDS];
};

struct ws_target {
	const struct ws_recipe *recipe;
	const struct ws_extension *extension;
	struct ws_size_options size; /**< debug info and compression */
	struct ws_flags flags;       /**< the recipe's own at this point: struct ws_recipe_module */
	const struct ws_tree *source;
	const struct ws_torch_kit *torch;   /**< NULL where the binding does without torch */
	const struct ws_cuda_kit *cuda;     /**< NULL: none of the units is CUDA's */
	const struct ws_python_kit *python; /**< NULL where the binding does not depend on Python */
	const struct ws_hostcc *cxx;
	const struct ws_hostcc *linker;   /**< what links; of this host, where cxx may be a farm's */
	const struct ws_floor_kit *floor; /**< linked against; NULL: this host's libraries */
	struct ws_arch_set archs;
	int cxx11abi;
	const char *group; /**< the cell's name */
	bool travels; /**< other hosts run it: a unit that gains nothing by its parts is one command */
	struct ws_target_common *common; /**< lives as long as the actions; NULL: nothing is shared */
};

/**
 * The words that torch's BuildExtension of this release would put on the command line, after the
 * fixed edits of flags.c. NULL-terminated; without program, input, output, seed and dependency
 * file.
 */
const char *const *ws_target_cxx_flags(const struct ws_target *target, struct ws_arena *a);
const char *const *ws_target_c_flags(const struct ws_target *target, struct ws_arena *a);
const char *const *ws_target_nvcc_flags(const struct ws_target *target, struct ws_arena *a);

/** The same for kernels alone, which no host compiler sees after the preprocessor. */
const char *const *ws_target_device_flags(const struct ws_target *target, struct ws_arena *a);

/** The recipe's own words for the linker, and ours about symbols. NULL-terminated. */
const char *const *ws_target_link_flags(const struct ws_target *target, struct ws_arena *a);

/** A host compiler as the tool of an action, which names it by "{cxx}". */
struct ws_tool ws_cxx_tool(const struct ws_hostcc *cxx);

/** The environment of all that is compiled and linked, whole and NULL-terminated. */
extern const char *const ws_target_env[];

/** The driver for C beside it, as "{cc}". The compiler must have one: struct ws_hostcc.c_path. */
struct ws_tool ws_c_tool(const struct ws_hostcc *cxx);

/**
 * The action that compiles @a unit to "unit.o", or, of kernels alone, to "unit.fatbin". With a @a
 * store (it may be NULL) what is nvcc's is made by nvcc's own commands, where they are understood
 * (split.h).
 */
const struct ws_action *ws_target_compile(const struct ws_target *target,
	const struct ws_unit *unit, const struct ws_store *store, struct ws_arena *a);

/**
 * The action that links what @a nodes made of the units of @a module (their only output) to
 * "module.so", against stub libraries that carry torch's and CUDA's names. Images of kernels go
 * into the section .nv_fatbin. A module of C and images links with the C driver. Stubs enter the
 * store.
 */
const struct ws_action *ws_target_link(const struct ws_target *target, const struct ws_store *store,
	const struct ws_recipe_module *module, struct ws_node *const *nodes, struct ws_arena *a,
	struct ws_err *err);

/**
 * DT_NEEDED of the module, in the order of torch's linker line: "libc10.so", ... NULL-terminated.
 * @a runtime: it registers kernels with the CUDA runtime.
 */
const char *const *ws_target_needed(
	const struct ws_target *target, bool runtime, struct ws_arena *a);

/** Takes the words that do not hold out of @a words, which may be of nvcc or of a host compiler. */
void ws_size_flags_drop(ws_name_list *words, const struct ws_size_options *size);

/** Adds nvcc's words for compression. */
void ws_size_flags_add_nvcc(
	ws_name_list *words, const struct ws_size_options *size, struct ws_arena *a);

/** For gcc, g++, clang, nvcc and the shells between them. */
enum ws_log_says ws_compile_log_says(const char *tail);

/** Name of the dependency file that every link command must write. */
#define WS_LINK_DEPFILE "link.d"

/** For struct ws_action.find_reads. */
bool ws_link_reads(const struct ws_action *action, const char *work, const char *log,
	struct ws_arena *a, struct ws_reads *reads, struct ws_err *err);

#endif
