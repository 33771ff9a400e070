/* recipe_check.c - walks recipe and text side by side, so that each problem has its place. */
#include "draft/recipe_check.h"

#include "base/fs.h"
#include "base/str.h"
#include "model/tag.h"

#include <fnmatch.h>

struct check {
	struct ws_recipe_checked *c;
	struct ws_problems *problems;
	struct ws_arena *a;
};

void
ws_problems_add(struct ws_problems *problems, const struct ws_err *err)
{
	if (problems->list.len == WS_PROBLEMS_KEPT) {
		problems->more++;
		return;
	}
	struct ws_err *kept = WS_NEW(problems->a, struct ws_err);
	*kept = *err;
	*ws_vec_push(&problems->list, problems->a) = kept;
}

/* A problem that was found elsewhere, at its place here. */
static void
add_at(const struct check *k, const struct ws_json *value, struct ws_err *err)
{
	const struct ws_json_doc *doc = k->c->doc;
	if (value) {
		ws_err_at(err, doc->name, doc->text, value->offset, value->len);
	}
	ws_problems_add(k->problems, err);
}

WS_PRINTF(3, 4)
static void
add(const struct check *k, const struct ws_json *value, const char *format, ...)
{
	struct ws_err err;
	va_list values;
	va_start(values, format);
	ws_err_set(&err, WS_ERR_CONFIG, "%s", ws_arena_vprintf(k->a, format, values));
	va_end(values);
	add_at(k, value, &err);
}

/* Member @a key of the item @a index of the list @a list; NULL-safe. */
static const struct ws_json *
item_at(const struct ws_json *list, size_t index)
{
	const struct ws_json *item = list ? list->first : NULL;
	while (item && index-- > 0) {
		item = item->next;
	}
	return item;
}

/* A tree lists no folders: one is there when something lies in it. */
static bool
has_folder(const struct ws_tree *tree, const char *folder)
{
	size_t len = strlen(folder);
	if (strcmp(folder, ".") == 0) {
		return true;
	}
	for (size_t i = 0; i < tree->count; i++) {
		const char *path = tree->entries[i].path;
		if (strncmp(path, folder, len) == 0 && path[len] == '/') {
			return true;
		}
	}
	return false;
}

static bool
in_any_tree(const struct check *k, bool (*has)(const struct ws_tree *tree, const char *path),
	const char *path)
{
	for (size_t i = 0; i < k->c->tree_count; i++) {
		if (has(&k->c->trees[i], path)) {
			return true;
		}
	}
	return false;
}

static bool
has_file(const struct ws_tree *tree, const char *path)
{
	return ws_tree_lookup(tree, path) != NULL;
}

static void
check_folders(const struct check *k, const struct ws_json *list)
{
	for (const struct ws_json *item = list ? list->first : NULL; item; item = item->next) {
		if (!in_any_tree(k, has_folder, item->text)) {
			add(k, item, "the sources have no folder '%s'", item->text);
		}
	}
}

static void
check_files(const struct check *k, const struct ws_json *list, const char *what)
{
	for (const struct ws_json *item = list ? list->first : NULL; item; item = item->next) {
		if (!in_any_tree(k, has_file, item->text)) {
			add(k, item, "the sources have no %s '%s'", what, item->text);
		}
	}
}

static bool
is_unit(const ws_unit_list *units, const char *path)
{
	for (size_t i = 0; i < units->len; i++) {
		if (strcmp(units->at[i].path, path) == 0) {
			return true;
		}
	}
	return false;
}

static void
check_override(const struct check *k, const struct ws_json *override, const ws_unit_list *units)
{
	check_files(k, ws_json_find(override, "add_sources"), "file");
	const struct ws_json *removed = ws_json_find(override, "remove_sources");
	for (const struct ws_json *item = removed ? removed->first : NULL; item; item = item->next) {
		if (!is_unit(units, item->text)) {
			add(k, item, "'%s' is none of the module's sources", item->text);
		}
	}
}

static void
check_extension(const struct check *k, size_t index)
{
	const struct ws_recipe *recipe = k->c->recipe;
	const struct ws_extension *extension = &recipe->extensions[index];
	const struct ws_json *text = item_at(ws_json_find(k->c->doc->root, "extensions"), index);
	const struct ws_json *sources = ws_json_find(text, "sources");
	ws_unit_list *units = &k->c->units[index];
	for (size_t i = 0; i < extension->source_list_count; i++) {
		struct ws_err err;
		if (!ws_units_add_list(recipe, k->c->trees, &extension->sources[i], k->a, units, &err)) {
			err.cure[0] = '\0'; /* which recipe names it is said by the place */
			add_at(k, item_at(sources, i), &err);
		}
	}
	check_folders(k, ws_json_find(text, "include"));
	for (size_t i = 0; i < extension->override_count; i++) {
		check_override(k, item_at(ws_json_find(text, "overrides"), i), units);
	}
}

/* Each package and module alone, so that every missing one is told. */
static bool
check_python_rules(const struct check *k, const struct ws_json *list, bool packages)
{
	bool good = true;
	for (size_t i = 0; list && i < list->count; i++) {
		struct ws_recipe one = *k->c->recipe;
		const char *const *names = packages ? one.python.packages : one.python.modules;
		one.python.packages = one.python.modules = &names[i];
		one.python.package_count = packages;
		one.python.module_count = !packages;
		ws_python_files files = {0};
		struct ws_err err;
		if (!ws_python_part_list(&one, k->c->trees, k->a, &files, &err)) {
			add_at(k, item_at(list, i), &err);
			good = false;
		}
	}
	return good;
}

static void
check_data(const struct check *k, const struct ws_json *list)
{
	for (size_t i = 0; list && i < list->count; i++) {
		struct ws_recipe one = *k->c->recipe;
		one.python.package_count = one.python.module_count = 0;
		one.python.data = &one.python.data[i];
		one.python.data_count = 1;
		ws_python_files files = {0};
		if (ws_python_part_list(&one, k->c->trees, k->a, &files, NULL) && files.len == 0) {
			add(k, item_at(list, i), "the pattern '%s' matches no file of the sources",
				one.python.data[0]);
		}
	}
}

static void
check_python(const struct check *k)
{
	const struct ws_json *python = ws_json_find(k->c->doc->root, "python");
	bool packages = check_python_rules(k, ws_json_find(python, "packages"), true);
	bool modules = check_python_rules(k, ws_json_find(python, "modules"), false);
	check_data(k, ws_json_find(python, "data"));
	if (packages && modules) {
		ws_python_part_list(k->c->recipe, k->c->trees, k->a, &k->c->python, NULL);
	}
}

/* An estimate that matches nothing is a slip of the pen that nobody else would notice. */
static void
check_estimates(const struct check *k)
{
	const struct ws_recipe *recipe = k->c->recipe;
	const struct ws_json *list = ws_json_find(k->c->doc->root, "estimates");
	for (size_t i = 0; i < recipe->estimate_count; i++) {
		const char *match = recipe->estimates[i].match;
		bool found = false;
		for (size_t e = 0; e < recipe->extension_count && !found; e++) {
			const ws_unit_list *units = &k->c->units[e];
			for (size_t u = 0; u < units->len && !found; u++) {
				found = fnmatch(match, units->at[u].path, 0) == 0;
			}
			const struct ws_extension *extension = &recipe->extensions[e];
			for (size_t o = 0; o < extension->override_count && !found; o++) {
				const struct ws_override *override = &extension->overrides[o];
				for (size_t s = 0; s < override->add_source_count && !found; s++) {
					found = fnmatch(match, override->add_sources[s], 0) == 0;
				}
			}
		}
		if (!found) {
			add(k, ws_json_find(item_at(list, i), "match"), "'%s' matches none of the sources",
				match);
		}
	}
}

void
ws_recipe_check_sources(struct ws_recipe_checked *checked, struct ws_problems *problems)
{
	struct check k = {checked, problems, problems->a};
	const struct ws_recipe *recipe = checked->recipe;
	checked->units = WS_NEW_N(k.a, ws_unit_list, recipe->extension_count);
	for (size_t i = 0; i < recipe->extension_count; i++) {
		check_extension(&k, i);
	}
	check_python(&k);
	const struct ws_json *metadata = ws_json_find(checked->doc->root, "metadata");
	check_files(&k, ws_json_find(metadata, "license_files"), "licence file");
	const struct ws_json *description = ws_json_find(metadata, "description_file");
	if (description && !in_any_tree(&k, has_file, description->text)) {
		add(&k, description, "the sources have no file '%s'", description->text);
	}
	check_estimates(&k);
}

void
ws_recipe_check_place(const struct ws_recipe_checked *checked, struct ws_problems *problems)
{
	struct ws_recipe_checked copy = *checked;
	struct check k = {&copy, problems, problems->a};
	const struct ws_recipe *recipe = checked->recipe;
	const struct ws_json *root = checked->doc->root;
	const char *folder = ws_path_base(checked->folder);
	if (strcmp(ws_package_normal(folder, k.a), recipe->name) != 0) {
		add(&k, ws_json_find(root, "name"), "it lies in the folder '%s' and is looked for in '%s'",
			folder, recipe->name);
	}
	const char *file = ws_path_base(checked->doc->name);
	size_t len = strlen(file);
	struct ws_version version;
	if (!ws_ends_with(file, ".json")
		|| !ws_version_parse(ws_arena_copy(k.a, file, len - 5), k.a, &version)
		|| ws_version_cmp(&version, &recipe->version) != 0) {
		add(&k, ws_json_find(root, "version"), "its file is '%s' and is looked for as '%s.json'",
			file, recipe->version.text);
	}
}
