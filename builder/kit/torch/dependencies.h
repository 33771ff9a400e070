/**
 * dependencies.h - which lists tell what comes beside torch's own libraries
 *
 * A torch wheel requires NVIDIA's wheels and carries smaller libraries; the driver and Python
 * belong to no release. What they export ships as lists (elf/exports.h), one for each different
 * content; a table (matrix/facts/exports/brought.json) says which release brings which. Made by
 * ./dev exports.
 */
#ifndef WS_KIT_TORCH_DEPENDENCIES_H
#define WS_KIT_TORCH_DEPENDENCIES_H

#include "base/arena.h"
#include "base/err.h"
#include "model/version.h"

typedef WS_VEC(const char *) ws_list_paths;

/**
 * Adds the paths of the lists of @a release, of which there may be none, and of what belongs to no
 * release. @a release NULL: only the latter. @a facts is the folder of the facts.
 */
bool ws_torch_dependencies(const char *facts, const struct ws_version *release, struct ws_arena *a,
	ws_list_paths *paths, struct ws_err *err);

#endif
