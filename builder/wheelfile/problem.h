/**
 * problem.h - what is wrong with a wheel, thing by thing
 */
#ifndef WS_WHEELFILE_PROBLEM_H
#define WS_WHEELFILE_PROBLEM_H

#include "base/vec.h"

/** One thing that is wrong. */
struct ws_wheel_problem {
	const char *about; /**< "zip", "file name", "WHEEL", "METADATA", "RECORD", "names", "module" */
	const char *text;  /**< one line */
};

/** In the order in which they were found. A hostile wheel has millions: the first many are kept. */
struct ws_wheel_problems {
	struct ws_arena *a;
	WS_VEC(struct ws_wheel_problem) kept;
	size_t count; /**< all of them */
};

#define WS_MOST_WHEEL_PROBLEMS 200

void ws_wheel_problem_add(
	struct ws_wheel_problems *problems, const char *about, const char *format, ...) WS_PRINTF(3, 4);

#endif
