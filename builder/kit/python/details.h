/**
 * details.h - build-details.json, what every answer about a Python must hold, and the
 * environment it is asked in
 *
 * For kit/'s own files. Nothing is run here.
 */
#ifndef WS_KIT_PYTHON_DETAILS_H
#define WS_KIT_PYTHON_DETAILS_H

#include "base/json.h"
#include "kit/python/python.h"

/** What was said of a Python, besides what goes into the kit as it is. */
struct ws_python_said {
	const char *path;              /**< who said it, for messages */
	const char *implementation;    /**< "cpython"; NULL: not said */
	const struct ws_json *version; /**< major, minor, micro, releaselevel, serial */
	bool free_threaded;
	const char *multiarch; /**< "x86_64-linux-gnu"; NULL or "": not said */
};

/**
 * Fills tag, version and platform_include of @a kit, whose other members are set. Refuses what is
 * no CPython 3 and what lacks include or ext_suffix (WS_ERR_CONFIG).
 */
bool ws_python_accept(const struct ws_python_said *said, struct ws_arena *a,
	struct ws_python_kit *kit, struct ws_err *err);

/**
 * What an interpreter is run with, NULL-terminated: LANG=C, and what a shim of pyenv or an
 * interpreter outside the linker's folders needs to start. In ask.c.
 */
const char *const *ws_python_env(struct ws_arena *a);

/** Reads a build-details.json of schema 1. */
bool ws_python_read_details(
	const char *path, struct ws_arena *a, struct ws_python_kit *kit, struct ws_err *err);

#endif
