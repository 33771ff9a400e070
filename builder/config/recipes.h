/**
 * recipes.h - which recipes there are
 *
 * Recipes lie as <folder>/<package>/<version>.json. Several folders are searched in order: the
 * first that has a package's version has it.
 */
#ifndef WS_CONFIG_RECIPES_H
#define WS_CONFIG_RECIPES_H

#include "model/recipe.h"

/** One recipe file; it has not been read yet. */
struct ws_recipe_file {
	const char *name; /**< normalised: "causal-conv1d" */
	struct ws_version version;
	const char *path;
};

/** By name, then version; each once. */
struct ws_recipe_catalog {
	const struct ws_recipe_file *files;
	size_t count;
	const char *const *folders; /**< that were searched, for messages */
	size_t folder_count;
};

/** Looks into @a folders; one that is not there is WS_ERR_CONFIG. */
bool ws_recipes_list(const char *const *folders, size_t count, struct ws_arena *a,
	struct ws_recipe_catalog *catalog, struct ws_err *err);

/**
 * Reads the recipe for @a name (normalised) and @a version; NULL: for none, to say that there is
 * none. When there is none @a err names near packages or the versions that there are; the caller
 * adds the place (ws_err_at). A file whose own name or version is another is a mistake too.
 */
bool ws_recipe_find(const struct ws_recipe_catalog *catalog, const char *name,
	const struct ws_version *version, struct ws_arena *a, struct ws_recipe *recipe,
	struct ws_err *err);

#endif
