/* view.c - modules and Python files by their own files; what neither of them names. */
#include "recipe/view.h"

#include "base/text.h"

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

size_t
ws_recipe_idle_cuda(const struct ws_recipe *recipe, const struct ws_listing *listing)
{
	size_t count = 0;
	for (size_t i = 0; i < recipe->extension_count; i++) {
		if (ws_extension_compiles_cuda(&recipe->extensions[i])) {
			return 0;
		}
	}
	for (size_t i = 0; i < listing->count; i++) {
		count += ws_ends_with(listing->entries[i].path, ".cu");
	}
	return recipe->version.local ? 0 : count;
}
