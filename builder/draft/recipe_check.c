/* recipe_check.c - problems as errors, each at its place in the text. What is wrong beside the
 * sources is recipe/view.h's to find. */
#include "draft/recipe_check.h"

#include "base/fs.h"
#include "base/text.h"
#include "config/recipe.h"
#include "model/wheel_name.h"

#include <string.h>

struct check {
	const struct ws_recipe_checked *c;
	struct ws_problems *problems;
	struct ws_arena *a;
};

void
ws_problems_add(struct ws_problems *problems, const struct ws_err *err)
{
	for (size_t i = 0; i < problems->list.len; i++) { /* what every extension has is one mistake */
		const struct ws_err *other = problems->list.at[i];
		if (err->place[0] && strcmp(other->place, err->place) == 0
			&& strcmp(other->text, err->text) == 0) {
			return;
		}
	}
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

void
ws_recipe_check_sources(struct ws_recipe_checked *checked, struct ws_problems *problems)
{
	const struct ws_json_doc *doc = checked->doc;
	struct ws_arena *a = problems->a;
	struct ws_listing *listings = WS_NEW_N(a, struct ws_listing, checked->tree_count);
	for (size_t i = 0; i < checked->tree_count; i++) {
		listings[i] = ws_tree_listing(&checked->trees[i]);
	}
	ws_recipe_check(checked->recipe, listings, checked->tree_count, a, &checked->view);
	for (size_t i = 0; i < checked->view.problems.list.len; i++) {
		const struct ws_recipe_problem *problem = &checked->view.problems.list.at[i];
		struct ws_err err;
		const struct ws_json *value = ws_recipe_value_at(doc->root, problem->where, a);
		ws_err_set(&err, WS_ERR_CONFIG, "%s", problem->text);
		ws_err_at(&err, doc->name, doc->text, value->offset, value->len);
		if (problem->cure) {
			ws_err_cure(&err, "%s", problem->cure);
		}
		ws_problems_add(problems, &err);
	}
}

void
ws_recipe_check_place(const struct ws_recipe_checked *checked, struct ws_problems *problems)
{
	struct check k = {checked, problems, problems->a};
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
