/**
 * check.h - whether a recipe says what its sources have, whatever the point
 *
 * For `recipe check`: everything that a view reports, and what only a person who writes a recipe wants
 * to hear: folders, licences and estimates that match nothing, overrides of every point.
 */
#ifndef WS_RECIPE_CHECK_H
#define WS_RECIPE_CHECK_H

#include "recipe/view.h"

/**
 * @a listings: the sources with the patches that always apply, then once for each patch with a
 * condition; what overrides and includes name may be in any of them. @a view is filled as by
 * ws_recipe_see for the first listing, before overrides; without files when a package is missing.
 */
void ws_recipe_check(const struct ws_recipe *recipe, const struct ws_listing *listings,
	size_t count, struct ws_arena *a, struct ws_recipe_view *view);

#endif
