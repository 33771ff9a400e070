/**
 * problem.h - what is wrong with a recipe beside its sources
 *
 * Values, so that `recipe check` can report all of them and a build can fail with the first. Mistakes
 * of the text itself are found by config/ while it reads.
 */
#ifndef WS_RECIPE_PROBLEM_H
#define WS_RECIPE_PROBLEM_H

#include "base/attr.h"
#include "base/vec.h"

struct ws_recipe_problem {
	const char
		*where; /**< the value in the recipe's JSON, for ws_json_at: "extensions/0/include/1" */
	const char *text; /**< one line */
	const char *cure; /**< what to do about it; NULL: the text says it */
};

/** In the order in which they were found. */
struct ws_recipe_problems {
	WS_VEC(struct ws_recipe_problem) list;
	struct ws_arena *a; /**< holds the texts */
};

/** Adds one, at item @a index of the list @a list. @a problems may be NULL. */
void ws_recipe_problem_add(struct ws_recipe_problems *problems, const char *list, size_t index,
	const char *cure, const char *format, ...) WS_PRINTF(5, 6);

#endif
