/**
 * recipe.h - a recipe file into model/recipe.h
 *
 * Keys: recipes/README.md. Which recipes there are: recipes.h.
 */
#ifndef WS_CONFIG_RECIPE_H
#define WS_CONFIG_RECIPE_H

#include "base/json.h"
#include "model/recipe.h"

/**
 * From a document, whose texts it borrows; @a doc must live as long. Patches and local sources
 * are looked for in @a folder; a patch that is not there or has another sha256 is a mistake.
 */
bool ws_recipe_parse(const struct ws_json_doc *doc, const char *folder, struct ws_arena *a,
	struct ws_recipe *recipe, struct ws_err *err);

/**
 * The same for `recipe check`: every mistake is given to @a report, and reading goes on where it
 * can. False when there was one.
 */
bool ws_recipe_parse_all(const struct ws_json_doc *doc, const char *folder, struct ws_arena *a,
	struct ws_recipe *recipe, void (*report)(void *self, const struct ws_err *err), void *self);

bool ws_recipe_read(
	const char *path, struct ws_arena *a, struct ws_recipe *recipe, struct ws_err *err);

/**
 * Where in the text of a recipe the value stands that is at @a where of what was read:
 * "extensions/1/include/0" may be said by 'every_extension'. The nearest value that there is.
 */
const struct ws_json *ws_recipe_value_at(
	const struct ws_json *root, const char *where, struct ws_arena *a);

#endif
