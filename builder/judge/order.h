/**
 * order.h - orders for the child that judges wheels, installed packages and new modules
 *
 * `wheelsmith internal verify` reads order.json in its working folder, opens the files, judges them
 * with verify/ in every place of the order, and writes verdict.json (verdict.h). It limits its own
 * memory and time: a hostile file ends the child only. "Loads" means that names, versions, GPU code
 * and tags agree; the code may still be harmful, and layouts of torch's classes may differ.
 *
 * An order runs as an action of an engine, cached by key (the files, the contents of lists and
 * libraries, and order.json), or at once. A verdict on a wheel is a result, negative or not. Our
 * own modules must load, or their action fails. torch_place.h makes the place of a torch release.
 *
 * Not stable: order.json.
 */
#ifndef WS_JUDGE_ORDER_H
#define WS_JUDGE_ORDER_H

#include "base/out.h"
#include "engine/graph.h"
#include "judge/verdict.h"
#include "judge/wheel_facts.h"
#include "model/recipe.h"

/** Increase the number when the same order would be judged or measured differently. */
#define WS_JUDGE_VERSION "wheelsmith.verify/12"

/**
 * Where modules will be loaded. The parent names files by path; in an action the paths are names
 * below the work folder, through a mount for each folder, so that the key has the contents of files
 * and not the folders of a host or a store. Members that are unknown are NULL or 0.
 */
struct ws_judge_place {
	const char *const *lists; /**< export lists: torch's, its dependencies', Python's, ... */
	size_t list_count;
	const char *const *libraries; /**< a host's libraries */
	size_t library_count;
	/** Search folders of a host. With folders a library that none of them has is missing; without
	 * it may exist. Not part of a key: for ws_judge_now only. */
	const char *const *folders;
	size_t folder_count;
	const char *python;     /**< path of the interpreter or its libpython */
	const char *python_tag; /**< ABI tag of the interpreter: "cp311", "cp313t" */
	/** Without an interpreter: the first of these tags that METADATA allows is judged. `python_tag`
	 * is the first. */
	const char *const *pythons;
	size_t python_count;
	const char *stable_python; /**< as in struct ws_load_place */
	struct ws_arch_set archs;  /**< GPUs to serve; "9.0+PTX" needs PTX for later ones, too */
	const char *driver;        /**< "550.54.14" */
	const struct ws_arch_alias *families; /**< which GPUs run code for an f target */
	size_t family_count;
	const char *ptx;     /**< newest PTX that the driver reads */
	const char *glibc;   /**< "2.28"; NULL: that of `libraries` */
	const char *machine; /**< "aarch64"; NULL: this host's */
	bool strict;         /**< names in libraries that were not read are unknown */
};

/** A place with its names. */
struct ws_wheel_place {
	const char *torch; /**< release: "2.5.1"; NULL: no torch */
	/** Why a shared rule says that the wheel is bad there, and its source; NULL: no rule. */
	const char *known_bad, *known_bad_see;
	struct ws_judge_place place;
};

/** A module of ours and the link that makes it. */
struct ws_judge_module {
	const char *module; /**< dotted import name */
	const struct ws_node *link;
	bool cuda;     /**< it must hold code for the order's archs */
	bool imported; /**< Python imports it, which needs its PyInit function */
};

/** The subject is a wheel, files of an installed package, or our own modules. */
struct ws_judge_order {
	const char *name;         /**< the wheel's file name, whose tags must fit; NULL: not a wheel */
	const char *wheel;        /**< path of the file, for ws_judge_now */
	const char *digest;       /**< SHA-256 of a stored file, for ws_judge_action */
	const char *root;         /**< of an installed package: its site-packages */
	const char *const *files; /**< its libraries, below root */
	size_t file_count;
	const struct ws_judge_module *modules; /**< for ws_judge_action */
	size_t module_count;
	struct ws_arch_set archs; /**< modules with kernels must have code for exactly these */
	/** Import names whose modules decide ("flash_attn_2_cuda"), from a recipe's `check`. Names
	 * without a module are ignored; if no name has a module, all modules decide. */
	const char *const *required;
	size_t required_count;
	const char *const *must; /**< of these, the names that must have modules */
	size_t must_count;
	bool must_any; /**< at least one of `required`, or a module in its package, must exist */
	bool kernels;  /**< it must have GPU code: its recipe compiles kernels */
	/** Instead of all of these: collect facts, in no place; only for ws_judge_now. NULL: no. */
	const struct ws_facts_order *facts;
	const struct ws_wheel_place *places; /**< at least one, except for facts */
	size_t place_count;
	const char *subject; /**< for people: "flash-attn 2.6.1 in torch 2.4.1" */
	const char *unit;    /**< for the ledger; as struct ws_action */
	const char *group;
};

extern const struct ws_table ws_judge_order_table;

/** Sets required, must, must_any and kernels from the recipe of the package. */
void ws_judge_expect(
	struct ws_judge_order *order, const struct ws_recipe *recipe, struct ws_arena *a);

/**
 * The action; its only output is the verdict. @a program is our own executable. @a store NULL: for
 * the key only, the action will not run.
 */
const struct ws_action *ws_judge_action(const struct ws_judge_order *order,
	const struct ws_store *store, const char *program, struct ws_arena *a, struct ws_err *err);

/** The verdict that ws_judge_action of this order left in @a cache's store; false: none. */
bool ws_judge_recall(const struct ws_judge_order *order, struct ws_cache *cache,
	const char *program, struct ws_arena *a, struct ws_wheel_verdict *verdict);

/**
 * Runs the child at once in the empty folder @a folder, which the caller removes. The verdict is
 * unknown if the child died; of an order for facts that is an error, WS_ERR_NEGATIVE.
 */
bool ws_judge_now(const struct ws_judge_order *order, const char *program, const char *folder,
	struct ws_arena *a, struct ws_wheel_verdict *verdict, struct ws_err *err);

/**
 * The child: works in the current folder. It prints the findings on our own modules, and any
 * verdict on them but "loads" is WS_ERR_VERIFY.
 */
bool ws_judge_run(const struct ws_out *out, struct ws_err *err);

/* ---- an action that our own program runs: `wheelsmith internal NAME` ----
 * The child finds its order in "order.json". */

/**
 * An action of stage @a name with tool, words, environment and one processor; the caller adds
 * inputs and outputs. @a version is part of its key; @a program is our own executable.
 */
struct ws_action *ws_internal_action(
	const char *name, const char *version, const char *program, struct ws_arena *a);

/** Puts @a text into the store as the input @a name; @a store NULL: the input is for a key only. */
bool ws_internal_input(const struct ws_store *store, const struct ws_buf *text, const char *name,
	struct ws_input *input, struct ws_arena *a, struct ws_err *err);

#endif
