/**
 * torch_exports.h - the export list of a torch release, out of its wheels
 *
 * For releases whose list does not ship with the program, and for making those that do. The whole
 * libraries are needed, 500 to 800 MB of them packed: a library's names lie at its end, and packed
 * bytes cannot be entered in the middle. They pass one by one through one scratch file. What a list
 * holds is elf/exports.h's.
 */
#ifndef WS_KIT_TORCH_EXPORTS_H
#define WS_KIT_TORCH_EXPORTS_H

#include "fetch/fetch.h"
#include "model/facts.h"

/**
 * Writes the list of @a version to @a path: libtorch_python of every Python that has a wheel, the
 * other libraries of CPython 3.11's, or the newest's. The same wheels give the same bytes.
 */
bool ws_torch_exports_make(const struct ws_fetch *fetch, const struct ws_facts *facts,
	const struct ws_version *version, const char *path, struct ws_err *err);

/** The list in the store, made the first time it is asked for. NULL on failure. */
const char *ws_torch_exports_find(const struct ws_fetch *fetch, const struct ws_facts *facts,
	const struct ws_version *version, struct ws_arena *a, struct ws_err *err);

#endif
