/* view.c - modules and Python files by their own files; what neither of them names. */
#include "recipe/view.h"

#include "base/str.h"

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

static bool
compiles_cuda(const struct ws_extension *extension)
{
	for (size_t i = 0; i < extension->source_list_count; i++) {
		const struct ws_source_list *list = &extension->sources[i];
		if (ws_ends_with(list->glob ? list->glob : list->paths[0], ".cu")) {
			return true;
		}
	}
	for (size_t i = 0; i < extension->override_count; i++) {
		const struct ws_override *override = &extension->overrides[i];
		for (size_t j = 0; j < override->add_source_count; j++) {
			if (ws_ends_with(override->add_sources[j], ".cu")) {
				return true;
			}
		}
	}
	return extension->device_list_count > 0;
}

size_t
ws_recipe_idle_cuda(const struct ws_recipe *recipe, const struct ws_listing *listing)
{
	size_t count = 0;
	for (size_t i = 0; i < recipe->extension_count; i++) {
		if (compiles_cuda(&recipe->extensions[i])) {
			return 0;
		}
	}
	for (size_t i = 0; i < listing->count; i++) {
		count += ws_ends_with(listing->entries[i].path, ".cu");
	}
	return recipe->version.local ? 0 : count;
}
