/**
 * remedy.h - the command that builds what would work
 *
 * From whatever is known of a broken module: its package, the torch and the Python beside it. What
 * comes from an error's text goes into a command only as a version, a package's name or a path of
 * this host.
 */
#ifndef WS_EXPLAIN_REMEDY_H
#define WS_EXPLAIN_REMEDY_H

#include "config/recipes.h"

/** What is to be built. NULL: not known. */
struct ws_remedy {
	const char *package; /**< normalised */
	const char *version; /**< "2.8.3"; one that has no recipe gives way to the newest that has */
	const char *torch;   /**< a release: "2.5.1"; NULL: the installed one */
	const char *python;  /**< "3.11", or an interpreter's path */
	const char *arch;    /**< "9.0" */
	const char *recipes; /**< the folder that --recipes named; NULL: none */
};

/** The package whose recipes build the module "flash_attn_2_cuda"; NULL: none does. */
const char *ws_remedy_package(
	const struct ws_recipe_catalog *catalog, const char *module, struct ws_arena *a);

/**
 * "wheelsmith build flash-attn==2.8.3 --here". NAME and VERSION stand for what is not known. @a
 * catalog NULL: there are no recipes.
 */
const char *ws_remedy_command(
	const struct ws_recipe_catalog *catalog, const struct ws_remedy *remedy, struct ws_arena *a);

/** "wheelsmith recipe new demo==1.0 -o recipes" where the package is known and has no recipe; else
 * NULL. */
const char *ws_remedy_draft(
	const struct ws_recipe_catalog *catalog, const struct ws_remedy *remedy, struct ws_arena *a);

#endif
