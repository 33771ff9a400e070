/**
 * pack.h - the action that packs a wheel, and what it does in its process
 *
 * The order is a JSON text among the action's inputs, beside the recipe, the modules and what the
 * check measured; the child composes metadata from the recipe and writes "wheel.whl" and its file
 * name. Same order, same bytes. The wheel format itself is wheel/'s.
 */
#ifndef WS_MAKE_PACK_H
#define WS_MAKE_PACK_H

#include "engine/graph.h"
#include "recipe/recipe_files.h"
#include "wheel/wheel.h"

struct ws_judge_module;
struct ws_user_env;

/** A kit or a compiler in wheelsmith.json. */
struct ws_pack_kit {
	const char *kind; /**< "gcc", "clang" */
	const char *version, *machine;
	const char *cuda;  /**< of torch; NULL: without CUDA */
	const char *nvcc;  /**< its own version */
	const char *tools; /**< fingerprint of the program and what it calls */
	const char *tree;  /**< digest of the kit; NULL: of the host */
	int cxx11abi;
};

/** How the wheel was made: wheelsmith.json, without the measurements. */
struct ws_pack_facts {
	const char *recipe;  /**< digest of the recipe and its patches */
	const char *sources; /**< digest of the sources after patches */
	/** NULL: not used, or the linker is the compiler. */
	const struct ws_pack_kit *torch, *cuda, *compiler, *linker;
	const char *glibc;  /**< it is linked for; NULL: this host's */
	const char *python; /**< NULL: any */
	const char *archs;  /**< NULL: none */
};

/** The members after check are order.json. */
struct ws_pack_order {
	const struct ws_recipe *recipe;
	const struct ws_tree *source;
	const char *group;           /**< the cell's name */
	const struct ws_node *check; /**< must have passed, and measured; NULL: no module */

	const char *recipe_file, *source_digest; /**< set by ws_pack_action */
	const char *version;                     /**< with the label */
	const char *python_tag;                  /**< "cp311", "py3" */
	const char *abi_tag;                     /**< "cp311", "none" */
	const char *torch;                       /**< "torch==2.5.*"; NULL: none */
	const struct ws_judge_module *modules;   /**< their names and links */
	size_t module_count;
	const struct ws_python_file *files; /**< the Python part */
	size_t file_count;
	struct ws_pack_facts facts;
	const struct ws_sbom_part *parts;
	size_t part_count;
};

/** Outputs of the action, in order. */
enum ws_pack_output {
	WS_PACK_WHEEL, /**< the file */
	WS_PACK_NAME,  /**< its name, one line */
	WS_PACK_OUTPUTS,
};

/** The action; the texts it needs enter the store. @a program is our own executable. */
const struct ws_action *ws_pack_action(const struct ws_pack_order *order,
	const struct ws_store *store, const char *program, struct ws_arena *a, struct ws_err *err);

/** The child: packs in the current folder. Takes SOURCE_DATE_EPOCH from @a env. */
bool ws_pack_run(const struct ws_user_env *env, struct ws_err *err);

#endif
