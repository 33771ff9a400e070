/**
 * places.h - files that look like interpreters, and what their names say
 *
 * Behind find.c. Nothing is run here: a name can be wrong, an interpreter broken.
 */
#ifndef WS_KIT_PYTHON_PLACES_H
#define WS_KIT_PYTHON_PLACES_H

#include "kit/python/python.h"

struct ws_python_candidate {
	const char *path;         /**< absolute */
	struct ws_python_tag tag; /**< major 0: the name does not say */
	const char *version; /**< "3.11.7" when a folder of pyenv, uv or manylinux says so; else NULL */
};

typedef WS_VEC(struct ws_python_candidate) ws_python_candidates;

/**
 * Everything below @a places, each real file once, those with a version first. pyenv's shims are
 * left out: the versions behind them are listed.
 */
void ws_python_gather(
	const struct ws_python_places *places, struct ws_arena *a, ws_python_candidates *list);

#endif
