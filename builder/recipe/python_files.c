/* python_files.c - one pass over the listing: each entry is asked whether some rule takes it. */
#include "base/fs.h"
#include "base/text.h"
#include "recipe/units.h"

#include <fnmatch.h>
#include <string.h>

struct part {
	const struct ws_python_part *rules;
	const struct ws_listing *listing;
	struct ws_arena *a;
};

/* The path in the wheel: the part below root; NULL when it is elsewhere. */
static const char *
installed_path(const struct part *p, const char *path)
{
	const char *root = p->rules->root ? p->rules->root : "";
	size_t len = strlen(root);
	if (len == 0) {
		return path;
	}
	return strncmp(path, root, len) == 0 && path[len] == '/' ? path + len + 1 : NULL;
}

static const char *
source_path(const struct part *p, const char *installed)
{
	const char *root = p->rules->root ? p->rules->root : "";
	return root[0] ? ws_path_join(p->a, root, installed, NULL) : installed;
}

/* Every folder from @a package down to the file's own must be a package. */
static bool
is_in_package(const struct part *p, const char *package, const char *path)
{
	size_t len = strlen(package);
	if (strncmp(path, package, len) != 0 || path[len] != '/') {
		return false;
	}
	for (const char *slash = path + len; (slash = strchr(slash + 1, '/'));) {
		const char *folder = ws_arena_copy(p->a, path, (size_t)(slash - path));
		const char *marker = ws_path_join(p->a, folder, "__init__.py", NULL);
		if (!ws_listing_find(p->listing, source_path(p, marker))) {
			return false;
		}
	}
	return true;
}

static bool
matches_any(const char *const *globs, size_t count, const char *path)
{
	for (size_t i = 0; i < count; i++) {
		if (fnmatch(globs[i], path, 0) == 0) {
			return true;
		}
	}
	return false;
}

static bool
is_taken(const struct part *p, const char *path)
{
	const struct ws_python_part *rules = p->rules;
	if (matches_any(rules->exclude, rules->exclude_count, path)) {
		return false;
	}
	if (matches_any(rules->data, rules->data_count, path)) {
		return true;
	}
	for (size_t i = 0; i < rules->module_count; i++) {
		if (strcmp(rules->modules[i], path) == 0) {
			return true;
		}
	}
	for (size_t i = 0; i < rules->package_count && ws_ends_with(path, ".py"); i++) {
		if (is_in_package(p, rules->packages[i], path)) {
			return true;
		}
	}
	return false;
}

/* A package takes what lies below its folder, a module itself. */
static bool
takes_any(const ws_python_files *files, const char *name, char end)
{
	size_t len = strlen(name);
	for (size_t i = 0; i < files->len; i++) {
		const char *path = files->at[i].path;
		if (strncmp(path, name, len) == 0 && path[len] == end) {
			return true;
		}
	}
	return false;
}

static bool
matches_some(const struct part *p, const char *glob)
{
	for (size_t i = 0; i < p->listing->count; i++) {
		const char *path = installed_path(p, p->listing->entries[i].path);
		if (path && fnmatch(glob, path, 0) == 0
			&& !matches_any(p->rules->exclude, p->rules->exclude_count, path)) {
			return true;
		}
	}
	return false;
}

/* A rule that takes nothing is a mistake in the recipe, or the wrong sources. */
static void
check_rules(const struct part *p, const ws_python_files *files, struct ws_recipe_problems *problems)
{
	const struct ws_python_part *rules = p->rules;
	for (size_t i = 0; i < rules->package_count; i++) {
		if (!takes_any(files, rules->packages[i], '/')) {
			ws_recipe_problem_add(problems, "python/packages", i, NULL,
				"the sources have no Python package '%s'", rules->packages[i]);
		}
	}
	for (size_t i = 0; i < rules->module_count; i++) {
		if (!takes_any(files, rules->modules[i], '\0')) {
			ws_recipe_problem_add(problems, "python/modules", i, NULL,
				"the sources have no Python module '%s'", rules->modules[i]);
		}
	}
}

void
ws_python_files_list(const struct ws_recipe *recipe, const struct ws_listing *listing,
	struct ws_arena *a, ws_python_files *files, struct ws_recipe_problems *problems)
{
	struct part p = {&recipe->python, listing, a};
	for (size_t i = 0; i < listing->count; i++) {
		const struct ws_tree_entry *entry = &listing->entries[i];
		const char *path = installed_path(&p, entry->path);
		if (path && is_taken(&p, path)) {
			bool executable = entry->kind == WS_TREE_EXECUTABLE;
			*ws_vec_push(files, a) = (struct ws_python_file){path, entry->path, executable};
		}
	}
	check_rules(&p, files, problems);
}

void
ws_python_files_check_data(const struct ws_recipe *recipe, const struct ws_listing *listing,
	struct ws_recipe_problems *problems)
{
	struct part p = {&recipe->python, listing, problems->a};
	for (size_t i = 0; i < recipe->python.data_count; i++) {
		if (!matches_some(&p, recipe->python.data[i])) {
			ws_recipe_problem_add(problems, "python/data", i, NULL,
				"the pattern '%s' matches no file of the sources", recipe->python.data[i]);
		}
	}
}
