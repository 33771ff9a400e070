/**
 * recipe_draft.h - the draft of a recipe, for a person to finish
 *
 * A recipe as far as it could be read off sources, and notes about what was guessed.
 * Written as text in the order of recipes/README.md; each note becomes a line "// check: ..." above
 * the key that it is about. The text is right as far as `recipe check` can tell without the sources.
 */
#ifndef WS_DRAFT_RECIPE_DRAFT_H
#define WS_DRAFT_RECIPE_DRAFT_H

#include "base/buf.h"
#include "base/vec.h"
#include "model/recipe.h"

struct ws_draft_note {
	const char *key;  /**< "archs", "metadata.license", "0.sources" of the first extension */
	const char *text; /**< one line, without line breaks */
};

struct ws_recipe_draft {
	struct ws_recipe recipe;  /**< archs excepted: see below */
	const char *const *archs; /**< "8.0"; struct ws_arch_set would need them parsed */
	size_t arch_count;
	const char *from; /**< what it was read off: "demo-1.0.tar.gz"; NULL: nothing, it is a form */
	size_t missing_sources; /**< files that setup.py compiles and these sources do not have */
	const char *repository; /**< URL of a git repository, a guess; NULL */
	WS_VEC(struct ws_draft_note) notes;
	struct ws_arena *a;
};

/** Adds a note; control characters in it are made harmless. */
void ws_draft_note(struct ws_recipe_draft *draft, const char *key, const char *format, ...)
	WS_PRINTF(3, 4);

/** Appends the text of the recipe's file. */
void ws_recipe_draft_write(const struct ws_recipe_draft *draft, struct ws_buf *out);

#endif
