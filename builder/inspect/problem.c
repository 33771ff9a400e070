/* problem.c - a list that does not grow for ever. */
#include "inspect/facts.h"

void
ws_wheel_problem_add(struct ws_wheel_problems *problems, const char *about, const char *format, ...)
{
	if (problems->count++ >= WS_MOST_WHEEL_PROBLEMS) {
		return;
	}
	va_list values;
	va_start(values, format);
	*ws_vec_push(&problems->kept, problems->a) =
		(struct ws_wheel_problem){about, ws_arena_vprintf(problems->a, format, values)};
	va_end(values);
}
