/**
 * generate.h - files that a script of the sources makes
 *
 * The script runs twice, each time in a new folder that holds its inputs and nothing else, without
 * a network and with a fixed environment. What it writes must be what the recipe names, and the
 * same both times. It is a program of the sources all the same: it may read what its user may
 * (SECURITY.md). Entering the files into a tree is source.c's.
 */
#ifndef WS_FETCH_GENERATE_H
#define WS_FETCH_GENERATE_H

#include "fetch/fetch.h"
#include "model/recipe.h"
#include "store/tree.h"

struct ws_generated {
	const char *folder;       /**< NULL: there is none */
	const char *const *paths; /**< below folder, in byte order */
	size_t count;
};

/**
 * Runs @a generator over @a sources. WS_ERR_CONFIG when it writes anything else than it shall,
 * WS_ERR_BUILD when it fails. @a made is to be removed also on failure.
 */
bool ws_generate(const struct ws_fetch *fetch, const struct ws_generator *generator,
	const struct ws_tree *sources, struct ws_arena *a, struct ws_generated *made,
	struct ws_err *err);

void ws_generated_remove(struct ws_generated *made);

#endif
