/**
 * recipe_guess.h - what a recipe for a source tree might say
 *
 * From the files of a source tree: PKG-INFO, setup.py (read, never run), which sources,
 * headers and packages there are. Everything that was not read off as it stands gets a note. The
 * sources are untrusted: a draft results from any.
 */
#ifndef WS_DRAFT_RECIPE_GUESS_H
#define WS_DRAFT_RECIPE_GUESS_H

#include "draft/recipe_draft.h"
#include "draft/setup_py.h"
#include "store/tree.h"

/**
 * Fills the rest of @a draft, whose recipe has name, version and its one source, and whose `from` and
 * arena are set. Reads files below tree->path. A setup.py that cannot be read is a note.
 */
void ws_recipe_guess(const struct ws_tree *tree, const struct ws_setup_reader *reader,
	struct ws_recipe_draft *draft);

/** Fills the rest likewise where there are no sources to look into: examples, all of them marked. */
void ws_recipe_guess_nothing(struct ws_recipe_draft *draft);

#endif
