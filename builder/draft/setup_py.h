/**
 * setup_py.h - what a setup.py says about extension modules, as far as reading shows
 *
 * setup_reader.py, which ships with the program, follows the text in a child: calls of CUDAExtension,
 * CppExtension and the like, through functions, loops and branches. Nothing of setup.py is run, so what
 * only running could tell is missing, and what depends on it is marked. Branches for other platforms and
 * for environment variables are not taken. Good enough for a draft that a person reads.
 */
#ifndef WS_DRAFT_SETUP_PY_H
#define WS_DRAFT_SETUP_PY_H

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"

struct ws_setup_word {
	const char *text; /**< a path or a flag */
	bool conditional; /**< only if something holds that reading does not tell */
};

typedef WS_VEC(struct ws_setup_word) ws_setup_words;

/** One call. */
struct ws_setup_extension {
	const char *callee;             /**< "CUDAExtension" */
	const char *module;             /**< "demo._C"; NULL: not known */
	const char *module_like;        /**< "demo._*": what is known of it; NULL: nothing, or all */
	const char *suffix;             /**< ".so", ".abi3.so"; NULL: Python's own */
	bool conditional;               /**< the call itself is */
	ws_setup_words sources;         /**< paths from the top of the sources */
	ws_setup_words include;         /**< folders likewise; "." is the top */
	ws_setup_words cxx, nvcc, link; /**< flags, macros and libraries as words of commands */
};

typedef WS_VEC(struct ws_setup_extension) ws_setup_extensions;

/** A setup.py and the files that setuptools would look at beside it. */
struct ws_setup_py {
	ws_setup_extensions extensions; /**< each module once, a CUDAExtension before others */
	ws_setup_words
		data; /**< patterns of data files that the wheel gets, below the packages' root */
	ws_setup_words unmatched; /**< patterns that no file matches */
};

/** How setup_reader.py is started. */
struct ws_setup_reader {
	const char *script;        /**< its path */
	const char *path_variable; /**< where to look for python3: "/usr/bin:/bin" */
};

/** Reads <folder>/setup.py. False when there is no Python, or the text is not Python 3. */
bool ws_setup_py_read(const struct ws_setup_reader *reader, const char *folder, struct ws_arena *a,
	struct ws_setup_py *found, struct ws_err *err);

#endif
