/**
 * recipe_check.h - whether a recipe says what its sources hold
 *
 * What can be checked without compiling: the file is where it is looked for, and every path,
 * pattern and folder that it names is in the sources. Brings nothing and reads no file but
 * listings. All problems are reported, each at its place in the recipe; mistakes of the text itself
 * are config/'s.
 */
#ifndef WS_DRAFT_RECIPE_CHECK_H
#define WS_DRAFT_RECIPE_CHECK_H

#include "base/json.h"
#include "recipe/recipe_view.h"
#include "store/tree.h"

/** As many problems of one recipe are kept; more are counted. */
#define WS_PROBLEMS_KEPT 50

/** Problems in the order they were found; each is a whole error. */
struct ws_problems {
	WS_VEC(struct ws_err *) list;
	size_t more; /**< found beyond WS_PROBLEMS_KEPT */
	struct ws_arena *a;
};

/** Adds a copy of @a err. */
void ws_problems_add(struct ws_problems *problems, const struct ws_err *err);

/** A recipe, the text it was read from, and what its sources turned out to be. */
struct ws_recipe_checked {
	const struct ws_recipe *recipe;
	const struct ws_json_doc *doc;
	const char *folder; /**< absolute: the one that the file lies in */
	/** The sources with the patches that always apply, then once for each conditional patch. */
	const struct ws_tree *trees;
	size_t tree_count;
	/* Filled in. */
	struct ws_recipe_view view;
};

/** The file is <package>/<version>.json of what it describes. */
void ws_recipe_check_place(const struct ws_recipe_checked *checked, struct ws_problems *problems);

/** Everything that needs the sources. */
void ws_recipe_check_sources(struct ws_recipe_checked *checked, struct ws_problems *problems);

#endif
