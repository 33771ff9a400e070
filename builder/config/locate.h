/**
 * locate.h - where the data lies that came with the program
 *
 * The root holds recipes/, matrix/facts/ and matrix/kits/. A program that runs in its build tree
 * uses the repository's own folders, an installed one <prefix>/share/wheelsmith.
 */
#ifndef WS_CONFIG_LOCATE_H
#define WS_CONFIG_LOCATE_H

#include "base/arena.h"
#include "base/err.h"

#include <stddef.h>

struct ws_data {
	const char *root;
	const char *facts;        /**< "<root>/matrix/facts" */
	const char *kits;         /**< "<root>/matrix/kits" */
	const char *draft_reader; /**< "<root>/builder/draft/reader" */
	const char *entry_points; /**< "<root>/builder/doctor/entry_points.py" */
};

/** @a executable: the running program; NULL asks /proc/self/exe. */
bool ws_data_locate(
	const char *executable, struct ws_arena *a, struct ws_data *data, struct ws_err *err);

/**
 * The folders to search for recipes, in order: @a option (--recipes; may be NULL), @a matrix (its
 * `recipes` key; may be NULL), those of the configuration, the program's own.
 */
const char *const *ws_data_recipe_folders(const struct ws_data *data, const char *option,
	const char *matrix, const char *const *configured, size_t configured_count, struct ws_arena *a,
	size_t *count);

#endif
