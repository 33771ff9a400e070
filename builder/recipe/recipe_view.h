/**
 * recipe_view.h - the modules and Python files of a recipe at one point of the matrix
 *
 * Recipe, listing of the (patched) sources and point in; modules, Python files and problems out.
 * Made once for a product and handed down, so that plan, compilers and pack agree. Pure. Which
 * patches make the sources: ws_recipe_patches.
 */
#ifndef WS_RECIPE_RECIPE_VIEW_H
#define WS_RECIPE_RECIPE_VIEW_H

#include "recipe/recipe_files.h"

struct ws_recipe_view {
	const struct ws_recipe *recipe;
	const struct ws_recipe_module *modules; /**< one for each extension */
	size_t module_count;
	ws_python_files files;
	struct ws_recipe_problems problems; /**< a build must not begin with any */
	size_t idle_cuda;                   /**< of ws_recipe_check: see ws_recipe_idle_cuda */
};

/** Lives in @a a; borrows the rest. */
void ws_recipe_see(const struct ws_recipe *recipe, const struct ws_listing *listing,
	const struct ws_point_view *point, struct ws_arena *a, struct ws_recipe_view *view);

/**
 * How many .cu files the sources have where no module compiles one: the native part may have been
 * forgotten. 0 for a recipe whose local label says that it is without on purpose.
 */
size_t ws_recipe_idle_cuda(const struct ws_recipe *recipe, const struct ws_listing *listing);

/* ---- comparing a recipe with its sources, at no point of the matrix ----
 * For `recipe check`: all problems of a view, and those that only an author cares about:
 * folders, licences and estimates without a match. */

/**
 * @a listings: the sources with the patches that always apply, then once for each patch with a
 * condition; an include folder may be in any of them. @a view is filled as by
 * ws_recipe_see for the first listing; without files when a package is missing.
 */
void ws_recipe_check(const struct ws_recipe *recipe, const struct ws_listing *listings,
	size_t count, struct ws_arena *a, struct ws_recipe_view *view);

#endif
