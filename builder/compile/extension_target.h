/**
 * extension_target.h - an extension with its kits: its flags, compile actions and link
 *
 * An extension of a recipe with the kits chosen for it. compile/ turns a target into actions;
 * make/ chooses the kits, recipe/ the units.
 */
#ifndef WS_COMPILE_EXTENSION_TARGET_H
#define WS_COMPILE_EXTENSION_TARGET_H

#include "engine/graph.h"
#include "kit/cuda/cuda.h"
#include "kit/floor/floor.h"
#include "kit/torch/torch.h"
#include "model/matrix.h"
#include "recipe/recipe_files.h"

/** The folder of sources in debug info, since the run's folder has another name each time. */
#define WS_SOURCE_ROOT "/wheelsmith"

struct ws_split_words;

/** Data shared by the units of a target, created on first use. Zeroed, it is empty. */
struct ws_target_common {
	const struct ws_mount *mounts;
	size_t mount_count;
	struct ws_unit_common {
		struct ws_tool tool;
		const char *variant;
		const char *const *flags; /**< NULL: not created yet */
		size_t flag_count;
		const char *const *search;
		size_t search_count;
		struct ws_split_words *split; /**< for units of nvcc */
	} kinds[WS_UNIT_KINDS];
};

struct ws_target {
	const struct ws_recipe *recipe;
	const struct ws_extension *extension;
	struct ws_size_options size; /**< debug info and compression */
	struct ws_flags flags;       /**< the recipe's own at this point: struct ws_recipe_module */
	const struct ws_tree *source;
	const struct ws_torch_kit *torch;   /**< NULL: the binding does not use torch */
	const struct ws_cuda_kit *cuda;     /**< NULL: no unit uses CUDA */
	const struct ws_python_kit *python; /**< NULL: the binding does not depend on Python */
	const struct ws_hostcc *cxx;
	const struct ws_hostcc *linker;   /**< the linker, on this host; cxx may be a farm's */
	const struct ws_floor_kit *floor; /**< libraries to link against; NULL: this host's */
	struct ws_arch_set archs;
	int cxx11abi;
	const char *group; /**< name of the cell */
	bool travels; /**< runs on other hosts: a unit that gains nothing by parts stays one command */
	struct ws_target_common *common; /**< lives as long as the actions; NULL: not shared */
};

/**
 * The arguments that torch's BuildExtension of this release passes, after the fixed edits of
 * flags.c. NULL-terminated; without program, input, output, seed and dependency file.
 */
const char *const *ws_target_cxx_flags(const struct ws_target *target, struct ws_arena *a);
const char *const *ws_target_c_flags(const struct ws_target *target, struct ws_arena *a);
const char *const *ws_target_nvcc_flags(const struct ws_target *target, struct ws_arena *a);

/** The same for kernels alone, which no host compiler compiles. */
const char *const *ws_target_device_flags(const struct ws_target *target, struct ws_arena *a);

/** The recipe's own arguments for the linker, and ours about symbols. NULL-terminated. */
const char *const *ws_target_link_flags(const struct ws_target *target, struct ws_arena *a);

/** A host compiler as the tool of an action, which names it "{cxx}". */
struct ws_tool ws_cxx_tool(const struct ws_hostcc *cxx);

/** The complete environment of compile and link commands, NULL-terminated. */
extern const char *const ws_target_env[];

/** The C driver of the compiler, "{cc}". The compiler must have one: struct ws_hostcc.c_path. */
struct ws_tool ws_c_tool(const struct ws_hostcc *cxx);

/**
 * The action that compiles @a unit to "unit.o" or, for kernels alone, to "unit.fatbin". With @a
 * store (may be NULL), commands of nvcc are split into parts if they are understood (split.h).
 */
const struct ws_action *ws_target_compile(const struct ws_target *target,
	const struct ws_unit *unit, const struct ws_store *store, struct ws_arena *a);

/**
 * The action that links @a nodes (the units of @a module, one output each) to "module.so",
 * against stub libraries with the names of torch and CUDA. Images of kernels go into the section
 * .nv_fatbin. A module of C and images uses the C driver. Stubs are added to the store.
 */
const struct ws_action *ws_target_link(const struct ws_target *target, const struct ws_store *store,
	const struct ws_recipe_module *module, struct ws_node *const *nodes, struct ws_arena *a,
	struct ws_err *err);

/**
 * DT_NEEDED of the module, in the order of torch's linker line: "libc10.so", ...
 * NULL-terminated. @a runtime: the module registers kernels with the CUDA runtime.
 */
const char *const *ws_target_needed(
	const struct ws_target *target, bool runtime, struct ws_arena *a);

/** For ws_action.log_says: gcc, g++, clang, nvcc and shells between them. After a child was
 * killed or crashed, the driver exits with an ordinary status. */
enum ws_log_says ws_compile_log_says(const char *tail);

/** Name of the dependency file that every link command writes. */
#define WS_LINK_DEPFILE "link.d"

/** For struct ws_action.find_reads of link actions: startup files, libgcc, libstdc++ and the
 * like, from the linker's dependency file. Objects and stubs are inputs. */
bool ws_link_reads(const struct ws_action *action, const char *work, const char *log,
	struct ws_arena *a, struct ws_reads *reads, struct ws_err *err);

#endif
