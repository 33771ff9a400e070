/* view.c - modules and Python files by their own files; what neither of them names. */
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
	const struct ws_recipe *recipe;
	const struct ws_listing *listings;
	size_t count;
	struct ws_recipe_view *view;
	struct ws_recipe_problems *problems;
	struct ws_arena *a;
};

static bool
has_file(const struct ws_listing *listing, const char *path)
{
	return ws_listing_find(listing, path) != NULL;
}

static bool
in_any(const struct checking *c, bool (*has)(const struct ws_listing *listing, const char *path),
	const char *path)
{
	for (size_t i = 0; i < c->count; i++) {
		if (has(&c->listings[i], path)) {
			return true;
		}
	}
	return false;
}

/* A word that is neither a flag nor the value of one is most often a slip. */
static void
check_words(const struct checking *c, const char *const *words, size_t count, const char *place)
{
	for (size_t i = 0; i < count; i++) {
		const char *before = i > 0 ? words[i - 1] : NULL;
		if (words[i][0] != '-' && !(before && ws_flag_takes_value(before))) {
			ws_recipe_problem_add(c->problems, place, i, NULL,
				"'%s' is not a flag, and no flag before it takes a value", words[i]);
		}
	}
}

static void
check_flags(const struct checking *c, const struct ws_flags *flags, const char *place)
{
	check_words(c, flags->c, flags->c_count, ws_arena_printf(c->a, "%sc_flags", place));
	check_words(c, flags->cxx, flags->cxx_count, ws_arena_printf(c->a, "%scxx_flags", place));
	check_words(c, flags->nvcc, flags->nvcc_count, ws_arena_printf(c->a, "%snvcc_flags", place));
	check_words(c, flags->link, flags->link_count, ws_arena_printf(c->a, "%slink_flags", place));
}

static void
check_extension(const struct checking *c, size_t index, struct ws_recipe_module *module)
{
	*module = ws_recipe_module(c->recipe, index, c->listings, NULL, c->a, c->problems);
	const struct ws_extension *extension = module->extension;
	const char *list = ws_arena_printf(c->a, "extensions/%zu/include", index);
	for (size_t i = 0; i < extension->include_count; i++) {
		if (!in_any(c, ws_listing_has_folder, extension->include[i])) {
			ws_recipe_problem_add(c->problems, list, i, NULL, "the sources have no folder '%s'",
				extension->include[i]);
		}
	}
	check_flags(c, &extension->flags, ws_arena_printf(c->a, "extensions/%zu/", index));
}

static void
check_metadata(const struct checking *c)
{
	const struct ws_metadata *metadata = &c->recipe->metadata;
	for (size_t i = 0; i < metadata->license_file_count; i++) {
		if (!in_any(c, has_file, metadata->license_files[i])) {
			ws_recipe_problem_add(c->problems, "metadata/license_files", i, NULL,
				"the sources have no licence file '%s'", metadata->license_files[i]);
		}
	}
	if (metadata->description_file && !in_any(c, has_file, metadata->description_file)) {
		ws_recipe_problem_add(c->problems, "metadata/description_file", 0, NULL,
			"the sources have no file '%s'", metadata->description_file);
	}
}

static bool
matches_unit(const struct checking *c, const char *match)
{
	for (size_t i = 0; i < c->view->module_count; i++) {
		const struct ws_recipe_module *module = &c->view->modules[i];
		for (size_t u = 0; u < module->unit_count; u++) {
			if (fnmatch(match, module->units[u].path, 0) == 0) {
				return true;
			}
		}
	}
	return false;
}

/* An estimate that matches nothing is a mistake that no build would show. */
static void
check_estimates(const struct checking *c)
{
	for (size_t i = 0; i < c->recipe->estimate_count; i++) {
		const char *match = c->recipe->estimates[i].match;
		if (!matches_unit(c, match)) {
			ws_recipe_problem_add(c->problems, ws_arena_printf(c->a, "estimates/%zu/match", i), 0,
				NULL, "'%s' matches none of the sources", match);
		}
	}
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
	struct checking c = {recipe, listings, count, view, &view->problems, a};
	for (size_t i = 0; i < recipe->extension_count; i++) {
		check_extension(&c, i, &modules[i]);
	}
	size_t before = view->problems.list.len;
	ws_python_files_list(recipe, listings, a, &view->files, &view->problems);
	view->files.len = view->problems.list.len > before ? 0 : view->files.len;
	ws_python_files_check_data(recipe, listings, &view->problems);
	check_metadata(&c);
	check_estimates(&c);
	view->idle_cuda = ws_recipe_idle_cuda(recipe, listings);
}
