/**
 * order.h - will a wheel, an installed package, or what was just linked, load in some places?
 *
 * One judge for our modules and strangers' wheels, in a child: `wheelsmith internal verify` reads
 * order.json in its working folder, opens what is judged, has verify/ judge it in every place of
 * the order, and writes verdict.json (verdict.h). It bounds its own memory and time: a hostile file
 * ends the child only. "Loads" says that names, versions, GPU code and tags agree; it does not say
 * that the code is harmless, nor that layouts of torch's classes are the same.
 *
 * Two ways to ask: as an action of an engine, remembered by key (what is judged, the contents of
 * lists and libraries, and what the order says), or at once. A verdict on a wheel is a result,
 * negative or not. Modules of ours must be known to load, or their action fails: that is a build's
 * policy. Which place a torch release or an interpreter is: torch_place.h.
 *
 * Not stable: order.json.
 */
#ifndef WS_JUDGE_ORDER_H
#define WS_JUDGE_ORDER_H

#include "base/out.h"
#include "engine/graph.h"
#include "judge/verdict.h"
#include "judge/wheel_facts.h"
#include "model/machine.h"
#include "model/recipe.h"

/** Increase the number when the same order would be judged or measured differently. */
#define WS_JUDGE_VERSION "wheelsmith.verify/11"

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
	const char *stable_python;    /**< as in struct ws_load_place */
	struct ws_arch_set archs;     /**< GPUs to serve; "9.0+PTX" needs PTX for later ones, too */
	const char *driver;           /**< "550.54.14" */
	const struct ws_facts *facts; /**< source of the next two, in the parent */
	const struct ws_arch_alias *families;
	size_t family_count;
	const char *ptx;                  /**< newest PTX that the driver reads */
	const char *glibc;                /**< "2.28"; NULL: that of `libraries` */
	const struct ws_machine *machine; /**< NULL: this host's */
	bool strict;                      /**< names in libraries that were not read are unknown */
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

/** What to judge: a wheel, files of an installed package, or modules. */
struct ws_judge_order {
	const char *
		name; /**< the wheel's file name: its tags are held against each place; NULL: not a wheel */
	const char *wheel;        /**< path of the file, for ws_judge_now */
	const char *digest;       /**< SHA-256 of a stored file, for ws_judge_action */
	const char *root;         /**< of an installed package: its site-packages */
	const char *const *files; /**< its libraries, below root */
	size_t file_count;
	const struct ws_judge_module *modules; /**< for ws_judge_action */
	size_t module_count;
	struct ws_arch_set archs; /**< that modules with kernels must be for, those and no others */
	/** Import names whose modules decide ("flash_attn_2_cuda"), as a recipe's `check` has them;
	 * names of no module are passed over. Where none is a module's, all modules decide. */
	const char *const *required;
	size_t required_count;
	const char *const *must; /**< of them, those that a wheel must have modules for */
	size_t must_count;
	bool must_any; /**< a module that is one of `required`, or in one, must be there */
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

/** What the recipe says that a wheel of its package must have: sets required, must, must_any,
 * kernels. */
void ws_judge_expect(
	struct ws_judge_order *order, const struct ws_recipe *recipe, struct ws_arena *a);

/**
 * The action; its only output is the verdict. @a program is our own executable. @a store NULL: it
 * is not to run, and nothing is put there for it.
 */
const struct ws_action *ws_judge_action(const struct ws_judge_order *order,
	const struct ws_store *store, const char *program, struct ws_arena *a, struct ws_err *err);

/** The verdict that ws_judge_action of this order left in @a cache's store; false: none. */
bool ws_judge_recall(const struct ws_judge_order *order, struct ws_cache *cache,
	const char *program, struct ws_arena *a, struct ws_wheel_verdict *verdict);

/**
 * Asks at once: @a folder is an empty one that the caller removes. A child that did not survive the
 * wheel makes the verdict unknown.
 */
bool ws_judge_now(const struct ws_judge_order *order, const char *program, const char *folder,
	struct ws_arena *a, struct ws_wheel_verdict *verdict, struct ws_err *err);

/**
 * The child: works in the current folder. Of modules of ours the findings are printed, and any
 * verdict but "loads" is WS_ERR_VERIFY.
 */
bool ws_judge_run(const struct ws_out *out, struct ws_err *err);

#endif
