/**
 * guess.h - what the parts of recipe_guess.h share
 *
 * For recipe_guess.c, guess_extension.c, guess_headers.c and guess_flags.c alone.
 */
#ifndef WS_DRAFT_GUESS_H
#define WS_DRAFT_GUESS_H

#include "draft/recipe_guess.h"
#include "draft/setup_py.h"

typedef WS_VEC(const char *) ws_texts;

/** Adds @a text unless it is there; true when it was not. */
bool ws_texts_add(ws_texts *list, const char *text, struct ws_arena *a);

/** "a, b, c and 4 more", for notes. */
const char *ws_texts_list(const ws_texts *list, size_t most, struct ws_arena *a);

/** Appends a file of the tree, at most 1 MiB; false when it is not there. */
bool ws_guess_read(const struct ws_tree *tree, const char *path, struct ws_buf *text);

/** It lies in a folder of tests, examples, documents, tools. */
bool ws_guess_is_aside(const char *path);

/** Neither that, nor in a folder of other people's sources. */
bool ws_guess_is_own(const char *path);

/** The folder is there: something lies in it. "." is. */
bool ws_guess_has_folder(const struct ws_tree *tree, const char *folder);

/** Fills extensions, archs and cxx_std. */
void ws_guess_extensions(const struct ws_tree *tree, struct ws_recipe_draft *draft);

/** What the sources of a module include, and so what it is bound to. */
struct ws_guess_headers {
	ws_texts include; /**< folders it needs beyond those it was given */
	ws_texts missing; /**< names in quotes that nothing in the tree answers */
	enum ws_binding binding;
	const char *why; /**< of binding: one line */
};

/** Follows the includes of @a sources through the headers of the tree; @a given are searched first. */
void ws_guess_headers(const struct ws_tree *tree, const ws_texts *sources, const ws_texts *given,
	struct ws_arena *a, struct ws_guess_headers *found);

/** Flags of one kind, as a recipe may name them. */
struct ws_guess_flags {
	ws_texts flags;
	ws_texts conditional; /**< only under a condition of setup.py */
	ws_texts archs;       /**< "8.0": named by what was left out */
	unsigned cxx_std;     /**< the largest -std= that was left out; 0: none */
};

/** Sorts out @a words; adds to @a found. */
void ws_guess_flags(const ws_setup_words *words, struct ws_arena *a, struct ws_guess_flags *found);

#endif
