/* python_part.c - one pass over the listing: each entry is asked whether some rule takes it. */
#include "produce/python_part.h"

#include "base/fs.h"
#include "base/str.h"

#include <fnmatch.h>
#include <string.h>

struct part {
	const struct ws_python_part *rules;
	const struct ws_tree *source;
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
		if (!ws_tree_lookup(p->source, source_path(p, marker))) {
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

/* A rule that takes nothing is a mistake in the recipe, or the wrong sources. */
static bool
check_rules(const struct part *p, const ws_python_files *files, const struct ws_recipe *recipe,
	struct ws_err *err)
{
	for (size_t i = 0; i < p->rules->package_count + p->rules->module_count; i++) {
		bool package = i < p->rules->package_count;
		const char *name =
			package ? p->rules->packages[i] : p->rules->modules[i - p->rules->package_count];
		size_t len = strlen(name);
		bool found = false;
		for (size_t j = 0; j < files->len && !found; j++) {
			const char *path = files->at[j].path;
			found = strncmp(path, name, len) == 0 && path[len] == (package ? '/' : '\0');
		}
		if (!found) {
			return ws_err_set(err, WS_ERR_CONFIG, "%s %s: its sources hold no Python %s '%s'",
				recipe->name, recipe->version.text, package ? "package" : "module", name);
		}
	}
	return true;
}

bool
ws_python_part_list(const struct ws_recipe *recipe, const struct ws_tree *source,
	struct ws_arena *a, ws_python_files *files, struct ws_err *err)
{
	struct part p = {&recipe->python, source, a};
	for (size_t i = 0; i < source->count; i++) {
		const struct ws_tree_entry *entry = &source->entries[i];
		const char *path = installed_path(&p, entry->path);
		if (path && is_taken(&p, path)) {
			bool executable = entry->kind == WS_TREE_EXECUTABLE;
			*ws_vec_push(files, a) = (struct ws_python_file){path, entry->path, executable};
		}
	}
	return check_rules(&p, files, recipe, err);
}
