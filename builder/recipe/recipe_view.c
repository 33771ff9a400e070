/* recipe_view.c - modules and Python files by their own files; what neither of them names. */
#include "recipe/recipe_view.h"

#include "recipe/command_rules.h"

#include <fnmatch.h>

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
		if (recipe->extensions[i].compiles_cuda) {
			return 0;
		}
	}
	for (size_t i = 0; i < listing->count; i++) {
		count += ws_ends_with(listing->entries[i].path, ".cu");
	}
	return recipe->version.local ? 0 : count;
}

/* ---- recipe check ---- */

struct checking {
	struct ws_recipe_view *view;
	const struct ws_listing *listings;
	size_t count;
};

static bool
has_any(const struct checking *c, const char *path, bool folder)
{
	bool has = false;
	for (size_t i = 0; i < c->count && !has; i++) {
		has = folder ? ws_listing_has_folder(&c->listings[i], path)
					 : ws_listing_find(&c->listings[i], path) != NULL;
	}
	return has;
}

/* A word that is neither a flag nor the value of one is most often a slip. */
static void
check_words(const struct checking *c, const char *const *words, size_t count, size_t extension,
	const char *key)
{
	struct ws_recipe_problems *problems = &c->view->problems;
	const char *place = ws_arena_printf(problems->a, "extensions/%zu/%s", extension, key);
	for (size_t i = 0; i < count; i++) {
		const char *before = i > 0 ? words[i - 1] : NULL;
		if (words[i][0] != '-' && !(before && ws_flag_takes_value(before))) {
			ws_recipe_problem_add(problems, place, i, NULL,
				"'%s' is not a flag, and no flag before it takes a value", words[i]);
		}
	}
}

static void
check_extension(const struct checking *c, const struct ws_extension *extension, size_t index)
{
	struct ws_recipe_problems *problems = &c->view->problems;
	const struct ws_flags *flags = &extension->flags;
	const char *list = ws_arena_printf(problems->a, "extensions/%zu/include", index);
	for (size_t i = 0; i < extension->include_count; i++) {
		if (!has_any(c, extension->include[i], true)) {
			ws_recipe_problem_add(
				problems, list, i, NULL, "the sources have no folder '%s'", extension->include[i]);
		}
	}
	check_words(c, flags->c, flags->c_count, index, "c_flags");
	check_words(c, flags->cxx, flags->cxx_count, index, "cxx_flags");
	check_words(c, flags->nvcc, flags->nvcc_count, index, "nvcc_flags");
	check_words(c, flags->link, flags->link_count, index, "link_flags");
}

static bool
matches_unit(const struct ws_recipe_view *view, const char *match)
{
	for (size_t i = 0; i < view->module_count; i++) {
		const struct ws_recipe_module *module = &view->modules[i];
		for (size_t u = 0; u < module->unit_count; u++) {
			if (fnmatch(match, module->units[u].path, 0) == 0) {
				return true;
			}
		}
	}
	return false;
}

void
ws_recipe_check(const struct ws_recipe *recipe, const struct ws_listing *listings, size_t count,
	struct ws_arena *a, struct ws_recipe_view *view)
{
	struct ws_recipe_module *modules =
		WS_NEW_N(a, struct ws_recipe_module, recipe->extension_count + 1);
	*view = (struct ws_recipe_view){.recipe = recipe,
		.modules = modules,
		.module_count = recipe->extension_count,
		.problems = {.a = a}};
	const struct checking c = {view, listings, count};
	const struct ws_metadata *metadata = &recipe->metadata;
	for (size_t i = 0; i < recipe->extension_count; i++) {
		modules[i] = ws_recipe_module(recipe, i, listings, NULL, a, &view->problems);
		check_extension(&c, &recipe->extensions[i], i);
	}
	size_t before = view->problems.list.len;
	ws_python_files_list(recipe, listings, a, &view->files, &view->problems);
	view->files.len = view->problems.list.len > before ? 0 : view->files.len;
	ws_python_files_check_data(recipe, listings, &view->problems);
	for (size_t i = 0; i < metadata->license_file_count; i++) {
		if (!has_any(&c, metadata->license_files[i], false)) {
			ws_recipe_problem_add(&view->problems, "metadata/license_files", i, NULL,
				"the sources have no licence file '%s'", metadata->license_files[i]);
		}
	}
	if (metadata->description_file && !has_any(&c, metadata->description_file, false)) {
		ws_recipe_problem_add(&view->problems, "metadata/description_file", 0, NULL,
			"the sources have no file '%s'", metadata->description_file);
	}
	/* An estimate that matches nothing is a mistake that no build would show. */
	for (size_t i = 0; i < recipe->estimate_count; i++) {
		const char *match = recipe->estimates[i].match;
		if (!matches_unit(view, match)) {
			ws_recipe_problem_add(&view->problems, ws_arena_printf(a, "estimates/%zu/match", i), 0,
				NULL, "'%s' matches none of the sources", match);
		}
	}
	view->idle_cuda = ws_recipe_idle_cuda(recipe, listings);
}
