/* view.c - see view.h. */
#include "recipe/view.h"

void
ws_recipe_see(const struct ws_recipe *recipe, const struct ws_listing *listing,
	const struct ws_point_view *point, struct ws_arena *a, struct ws_recipe_view *view)
{
	struct ws_recipe_module *modules =
		WS_NEW_N(a, struct ws_recipe_module, recipe->extension_count + 1);
	*view = (struct ws_recipe_view){.recipe = recipe,
		.modules = modules,
		.module_count = recipe->extension_count,
		.problems = {.a = a}};
	for (size_t i = 0; i < recipe->extension_count; i++) {
		modules[i] = ws_recipe_module(recipe, i, listing, point, a, &view->problems);
	}
	ws_python_files_list(recipe, listing, a, &view->files, &view->problems);
}
