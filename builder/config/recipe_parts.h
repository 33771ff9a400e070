/**
 * recipe_parts.h - the larger parts of a recipe, as types for its table
 *
 * For recipe.c alone. Each fills the struct of model/recipe.h named beside it.
 */
#ifndef WS_CONFIG_RECIPE_PARTS_H
#define WS_CONFIG_RECIPE_PARTS_H

#include "config/fields.h"

extern const struct ws_type ws_type_source;      /**< struct ws_source_spec */
extern const struct ws_type ws_type_patch;       /**< struct ws_patch */
extern const struct ws_type ws_type_extension;   /**< struct ws_extension */
extern const struct ws_type ws_type_python_part; /**< struct ws_python_part */
extern const struct ws_type ws_type_metadata;    /**< struct ws_metadata */

#endif
