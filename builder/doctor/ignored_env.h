/**
 * ignored_env.h - variables that steer other builds and not ours
 *
 * setup.py, torch and nvcc read them from the environment; a build here depends on recipe, matrix
 * and options alone, so that equal input gives equal wheels. Whoever has one set is reported once
 * what takes its place. Nothing is changed or unset.
 */
#ifndef WS_DOCTOR_IGNORED_ENV_H
#define WS_DOCTOR_IGNORED_ENV_H

#include "base/arena.h"

struct ws_ignored_variable {
	const char *name;    /**< "MAX_JOBS" */
	const char *instead; /**< what to do here: "-j N, or --memory SIZE" */
};

typedef WS_VEC(struct ws_ignored_variable) ws_ignored_list;

/** Those that are set and not empty in @a vars ("NAME=value", NULL-terminated). */
void ws_ignored_env_list(const char *const *vars, struct ws_arena *a, ws_ignored_list *list);

/**
 * One line for all of them: "these variables are ignored: CC (...), MAX_JOBS (-j N, or --memory
 * SIZE)". NULL when none is set.
 */
const char *ws_ignored_env_warning(const char *const *vars, struct ws_arena *a);

#endif
