#include "recipe/units.h"

void
ws_recipe_problem_add(struct ws_recipe_problems *problems, const char *list, size_t index,
	const char *cure, const char *format, ...)
{
	va_list values;
	if (!problems) {
		return;
	}
	struct ws_recipe_problem *problem = ws_vec_push(&problems->list, problems->a);
	va_start(values, format);
	problem->text = ws_arena_vprintf(problems->a, format, values);
	va_end(values);
	problem->where = ws_arena_printf(problems->a, "%s/%zu", list, index);
	problem->cure = cure;
}
