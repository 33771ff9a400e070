/**
 * setup_py.h - what a setup.py says about extension modules, as far as reading tells
 *
 * Finds the calls of CUDAExtension, CppExtension and the like, and follows names to where they are
 * assigned: lists, additions, appends, os.path.join, Path / "x", glob. Nothing is run, so what only
 * running could tell is missing, and what stands under a condition is marked. Branches for other
 * platforms (ROCm, Windows, macOS) are passed over. Good enough for a draft that a person reads.
 */
#ifndef WS_DRAFT_SETUP_PY_H
#define WS_DRAFT_SETUP_PY_H

#include "base/str.h"
#include "base/vec.h"

/** Stands in a text for what only running would tell. */
#define WS_SETUP_UNKNOWN '\x01'

struct ws_setup_word {
	const char *text; /**< a path or a flag */
	bool conditional; /**< only if something holds that reading does not tell */
};

typedef WS_VEC(struct ws_setup_word) ws_setup_words;

/** One call. */
struct ws_setup_extension {
	const char *callee;      /**< "CUDAExtension" */
	const char *module;      /**< "demo._C"; NULL: not told */
	const char *module_like; /**< "demo._*": what was told of it; NULL: nothing, or all */
	ws_setup_words sources;  /**< paths from the top of the sources; with '*' where glob was used */
	ws_setup_words include;  /**< folders likewise; "" is the top */
	ws_setup_words cxx, nvcc, link; /**< flags, macros and libraries as words of commands */
};

typedef WS_VEC(struct ws_setup_extension) ws_setup_extensions;

/** Appends the calls in the order of @a text. Each module once, a CUDAExtension before others. */
void ws_setup_py_read(struct ws_str text, struct ws_arena *a, ws_setup_extensions *found);

#endif
