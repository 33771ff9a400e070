/**
 * explain.h - explains an error that was found: cause, evidence, cures
 *
 * Fills in the texts of the sign's row (signs.h). Beside its captures they may name {package},
 * {version}, {torch} and {python} of the package to build, if known, and {build}, the command that
 * builds it. Files that the text names are read on this host, never started.
 */
#ifndef WS_EXPLAIN_EXPLAIN_H
#define WS_EXPLAIN_EXPLAIN_H

#include "config/recipes.h"
#include "explain/signs.h"
#include "model/facts.h"

/** Input of explanations. */
struct ws_explaining {
	const struct ws_facts *facts;
	const char
		*exports; /**< folder of the export lists; NULL: names of symbols are not looked up */
	const struct ws_recipe_catalog *catalog; /**< NULL: none */
	const char *recipes;                     /**< the folder that --recipes named; NULL: none */
};

struct ws_explanation {
	struct ws_found_sign found;
	const char *sign;     /**< the name of the sign */
	const char *reported; /**< its thread; NULL: none */
	const char *cause;
	const char *const *evidence;
	size_t evidence_count;
	const char *const *cures;
	size_t cure_count;
};

/** False only when an export list cannot be read. */
bool ws_explain(const struct ws_explaining *with, const struct ws_found_sign *found,
	struct ws_arena *a, struct ws_explanation *explanation, struct ws_err *err);

/** The sign's cures in a build by a recipe. Looks up no further facts: the package is known. */
const char *const *ws_explain_build(
	const struct ws_found_sign *found, struct ws_arena *a, size_t *count);

/* ---- the command that builds ---- */

/** The package to build. NULL: unknown. */
struct ws_remedy {
	const char *package; /**< normalised */
	const char *version; /**< "2.8.3"; one that has no recipe gives way to the newest that has */
	const char *torch;   /**< a release: "2.5.1"; NULL: the installed one */
	const char *python;  /**< "3.11", or an interpreter's path */
	const char *recipes; /**< the folder that --recipes named; NULL: none */
};

/** The package whose recipes build the module "flash_attn_2_cuda"; NULL: none does. */
const char *ws_remedy_package(
	const struct ws_recipe_catalog *catalog, const char *module, struct ws_arena *a);

/**
 * "wheelsmith build flash-attn==2.8.3 --here". NAME and VERSION replace unknown parts. @a catalog
 * NULL: no recipes.
 */
const char *ws_remedy_command(
	const struct ws_recipe_catalog *catalog, const struct ws_remedy *remedy, struct ws_arena *a);

/** "wheelsmith recipe new demo==1.0 -o recipes" where the package is known and has no recipe; else
 * NULL. */
const char *ws_remedy_draft(
	const struct ws_recipe_catalog *catalog, const struct ws_remedy *remedy, struct ws_arena *a);

/* ---- the environment of a module in an error's text, if it is on this host ----
 * Read from names of folders and from RECORD files. No program that the text names is started. */

/** An entry of a folder of packages, by its name alone. */
struct ws_site_entry {
	const char *package; /**< normalised: "flash-attn" */
	struct ws_version version;
	const char *list; /**< the file below it that lists the package's files: "RECORD" */
	bool in_own;      /**< names in the list are below the entry itself */
};

/**
 * "flash_attn-2.8.3.dist-info", and what setuptools leaves without wheels: "x-1.egg-info",
 * "x-1-py3.11.egg". False: the entry is another file or folder.
 */
bool ws_site_entry_of(const char *name, struct ws_arena *a, struct ws_site_entry *entry);

/** Facts from a path. NULL: unknown. */
struct ws_installed {
	const char *module;  /**< "flash_attn_2_cuda", "demo._C" */
	const char *python;  /**< of the file's name or folder: "3.11" */
	const char *program; /**< that environment's interpreter, which is there */
	const char *torch;   /**< installed beside the module: "2.5.1+cu124" */
	const char *package; /**< the distribution that brought the module, normalised: "flash-attn" */
	const char *version; /**< its version, without a label: "2.8.3" */
};

/** @a file: "/venv/lib/python3.11/site-packages/m.cpython-311-x86_64-linux-gnu.so"; may be
 * relative. */
struct ws_installed ws_installed_of(const char *file, struct ws_arena *a);

/* ---- the owner of a symbol that a module did not find, and the torch that has it ----
 * Uses the name and the shipped export lists alone; loads and opens no module.
 * Demangling a crafted name can take all memory or years (elf/demangle.h): the caller limits its
 * process. */

/** A missing symbol and its surroundings. */
struct ws_symbol_question {
	const char *name;  /**< mangled */
	const char *torch; /**< the one beside the module: "2.5.1+cu124"; NULL: not known */
	const struct ws_facts *facts;
	const char *exports; /**< the folder of the lists, "matrix/facts/exports" */
};

struct ws_symbol_answer {
	const char *cause;           /**< one line, no full stop */
	const char *const *evidence; /**< lines */
	size_t evidence_count;
};

/** False only when a list cannot be read. */
bool ws_symbol_answer(const struct ws_symbol_question *question, struct ws_arena *a,
	struct ws_symbol_answer *answer, struct ws_err *err);

#endif
