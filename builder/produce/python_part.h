/**
 * python_part.h - which Python files of the sources go into the wheel
 *
 * As setuptools' find_packages takes them: the .py files of each package folder, and of every
 * folder below that is a package itself; other files only when the recipe's `data` names them, so
 * that sdist and git checkout give the same wheel. Reads listings, no files.
 */
#ifndef WS_PRODUCE_PYTHON_PART_H
#define WS_PRODUCE_PYTHON_PART_H

#include "base/vec.h"
#include "model/recipe.h"
#include "store/tree.h"

/** One file of the Python part. */
struct ws_python_file {
	const char *path; /**< in the wheel: "flash_attn/ops/rotary.py" */
	const char *from; /**< in the source tree */
	bool executable;
};

typedef WS_VEC(struct ws_python_file) ws_python_files;

/**
 * Appends them, sorted by path. A package or module that the sources do not have is WS_ERR_CONFIG.
 */
bool ws_python_part_list(const struct ws_recipe *recipe, const struct ws_tree *source,
	struct ws_arena *a, ws_python_files *files, struct ws_err *err);

#endif
