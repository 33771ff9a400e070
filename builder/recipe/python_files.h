/**
 * python_files.h - which Python files of the sources go into the wheel
 *
 * As setuptools' find_packages takes them: the .py files of each package folder, and of every
 * folder below that is a package itself; other files only when the recipe's `data` names them, so
 * that sdist and git checkout give the same wheel. Reads listings, no files.
 */
#ifndef WS_RECIPE_PYTHON_FILES_H
#define WS_RECIPE_PYTHON_FILES_H

#include "base/listing.h"
#include "model/recipe.h"
#include "recipe/problem.h"

/** One file of the Python part. */
struct ws_python_file {
	const char *path; /**< in the wheel: "flash_attn/ops/rotary.py" */
	const char *from; /**< in the source tree */
	bool executable;
};

typedef WS_VEC(struct ws_python_file) ws_python_files;

/** Appends them, sorted by path. Problems: a package or a module that takes no file. */
void ws_python_files_list(const struct ws_recipe *recipe, const struct ws_listing *listing,
	struct ws_arena *a, ws_python_files *files, struct ws_recipe_problems *problems);

/** Problems: a pattern of `data` that matches no file, which hurts no build. */
void ws_python_files_check_data(const struct ws_recipe *recipe, const struct ws_listing *listing,
	struct ws_recipe_problems *problems);

#endif
