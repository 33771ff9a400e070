/**
 * import.h - the action that imports what a wheel brings, where it is to be used
 *
 * Only where this host has the Python and the torch of a cell: the recipe's `check.import` is tried
 * with the packed wheel unpacked in the work folder, which needs no network and touches no
 * environment. What the judge said of names is shown to be true of bytes. A module that this host
 * cannot import for a reason of its own (no driver, a dependency that is not installed) says
 * nothing about the wheel.
 */
#ifndef WS_MAKE_IMPORT_CHECK_H
#define WS_MAKE_IMPORT_CHECK_H

#include "engine/graph.h"
#include "kit/python/python.h"
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
 * What a finished one found, in one line: "tiny imports in Python 3.11.7 with torch 2.11.0", or why
 * nothing could be said; @a imported tells which. NULL when it cannot be read.
 */
const char *ws_import_finding(
	const struct ws_store *store, const struct ws_node *node, bool *imported, struct ws_arena *a);

#endif
