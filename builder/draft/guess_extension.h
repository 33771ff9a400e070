/**
 * guess_extension.h - the modules of a draft
 *
 * For recipe_guess.c alone.
 */
#ifndef WS_DRAFT_GUESS_EXTENSION_H
#define WS_DRAFT_GUESS_EXTENSION_H

#include "draft/recipe_draft.h"
#include "draft/setup_py.h"
#include "store/tree.h"

/** Fills extensions, archs and cxx_std; @a setup is what setup.py says, perhaps nothing. */
void ws_guess_extensions(
	const struct ws_tree *tree, const struct ws_setup_py *setup, struct ws_recipe_draft *draft);

#endif
