/**
 * import_check.h - the action that imports the modules of a packed wheel
 *
 * Runs only where this host has the Python and the torch of a cell: the wheel is unpacked in
 * the work folder and the modules of the recipe's `check.import` are imported, without network and
 * without touching an environment. It confirms the verdict of the judge. An import that fails
 * because of the host (no driver, a missing dependency) gives no result.
 */
#ifndef WS_MAKE_IMPORT_CHECK_H
#define WS_MAKE_IMPORT_CHECK_H

#include "engine/graph.h"
#include "kit/torch/torch.h"
#include "model/recipe.h"

struct ws_import_order {
	const struct ws_recipe *recipe;
	const char *group; /**< the cell's name */
	const struct ws_node *pack;
	const struct ws_python_kit *python;
	const struct ws_torch_kit *torch; /**< as @a python has it */
};

/** The action. Its key holds the interpreter, its torch's RECORD and the wheel. */
const struct ws_action *ws_import_action(const struct ws_import_order *order, struct ws_arena *a);

/**
 * The result of a finished action in one line: "tiny imports in Python 3.11.7 with torch 2.11.0",
 * or why the import was not possible; @a imported is true for the first. NULL when it cannot be
 * read.
 */
const char *ws_import_finding(
	const struct ws_store *store, const struct ws_node *node, bool *imported, struct ws_arena *a);

#endif
