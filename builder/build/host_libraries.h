/**
 * host_libraries.h - the libraries of this host that a module will load
 *
 * glibc's, the compiler's own, and those that a recipe links with -l, as far as the compiler knows
 * where they are. The check reads them; torch's and CUDA's are the kits'.
 */
#ifndef WS_BUILD_HOST_LIBRARIES_H
#define WS_BUILD_HOST_LIBRARIES_H

#include "kit/hostcc.h"
#include "model/recipe.h"

/** Their paths, normalised. What the compiler does not know is left out. */
const char *const *ws_host_libraries(
	const struct ws_hostcc *cxx, const struct ws_recipe *recipe, struct ws_arena *a, size_t *count);

#endif
