/**
 * recipe_parts.h - the larger parts of a recipe, as types for its table
 *
 * For recipe.c alone. Each fills the struct of model/recipe.h named beside it.
 */
#ifndef WS_CONFIG_RECIPE_PARTS_H
#define WS_CONFIG_RECIPE_PARTS_H

#include "base/table.h"
#include "model/recipe.h"

extern const struct ws_type ws_type_extension;   /**< struct ws_extension */
extern const struct ws_type ws_type_binding;     /**< enum ws_binding */
extern const struct ws_type ws_type_module;      /**< const char *: a dotted import name */
extern const struct ws_type ws_type_python_part; /**< struct ws_python_part */
extern const struct ws_type ws_type_metadata;    /**< struct ws_metadata */
extern const struct ws_type ws_type_prebuilt;    /**< struct ws_prebuilt */

/** Adds the members of 'every_extension' to each extension, after the whole recipe was read. */
bool ws_extensions_complete(struct ws_reader *r, struct ws_recipe *recipe);

/**
 * Whether the template of @a prebuilt, which was read from @a item, names wheels of @a recipe, and
 * each of its placeholders has a list and each list a placeholder.
 */
bool ws_prebuilt_check(struct ws_reader *r, const struct ws_json *item,
	const struct ws_recipe *recipe, const struct ws_prebuilt *prebuilt);

#endif
