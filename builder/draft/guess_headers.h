/**
 * guess_headers.h - what the sources of a module include, and so what it is bound to
 */
#ifndef WS_DRAFT_GUESS_HEADERS_H
#define WS_DRAFT_GUESS_HEADERS_H

#include "draft/source_files.h"
#include "model/recipe.h"

struct ws_guess_headers {
	ws_texts include; /**< folders it needs beyond those it was given */
	ws_texts missing; /**< names in quotes that nothing in the tree answers */
	enum ws_binding binding;
	const char *why; /**< of binding: one line */
};

/** Follows the includes of @a sources through the headers of the tree; @a given are searched first. */
void ws_guess_headers(const struct ws_tree *tree, const ws_texts *sources, const ws_texts *given,
	struct ws_arena *a, struct ws_guess_headers *found);

#endif
