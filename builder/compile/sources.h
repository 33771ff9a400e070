/**
 * sources.h - which files an extension is made of
 *
 * A recipe's paths and patterns against the listing of a source tree. Needs no kit: whether a recipe
 * names what its sources hold can be told before anything is compiled. What overrides change for a
 * target is target.h's.
 */
#ifndef WS_COMPILE_SOURCES_H
#define WS_COMPILE_SOURCES_H

#include "base/vec.h"
#include "model/recipe.h"
#include "store/tree.h"

/** One source file to compile. */
struct ws_unit {
	const char *path; /**< relative to the source tree */
	bool cuda;        /**< for nvcc; else for the host compiler */
};

typedef WS_VEC(struct ws_unit) ws_unit_list;

/** By its ending; false for what is not compiled. */
bool ws_unit_kind(const char *path, bool *cuda);

/** Adds one path. One that is not in @a source or is not compiled is WS_ERR_CONFIG. */
bool ws_units_add(const struct ws_recipe *recipe, const struct ws_tree *source, const char *path,
	struct ws_arena *a, ws_unit_list *units, struct ws_err *err);

/**
 * Adds the paths of @a list, or what its pattern matches, sorted; '*' and '?' stay inside one folder. A
 * pattern that matches another number of files than the recipe says is WS_ERR_CONFIG as well.
 */
bool ws_units_add_list(const struct ws_recipe *recipe, const struct ws_tree *source,
	const struct ws_source_list *list, struct ws_arena *a, ws_unit_list *units, struct ws_err *err);

#endif
