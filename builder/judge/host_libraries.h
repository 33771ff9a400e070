/**
 * host_libraries.h - the libraries of this host that a module will load
 *
 * glibc's, the compiler's own, and those that a recipe links with -l, as far as the compiler knows
 * where they are. The check reads them; torch's and CUDA's are the kits'.
 */
#ifndef WS_JUDGE_HOST_LIBRARIES_H
#define WS_JUDGE_HOST_LIBRARIES_H

#include "engine/action.h"
#include "kit/hostcc/hostcc.h"
#include "model/recipe.h"

/** Adds the paths, normalised, of glibc's and the compiler's own. What it does not know is left
 * out. */
void ws_host_libraries(
	struct ws_ledger *ledger, const struct ws_hostcc *cxx, struct ws_arena *a, ws_name_list *paths);

/**
 * As ws_host_libraries where there is no compiler: by the loader's usual folders, those of @a
 * prefix ("/opt/conda", of an interpreter) before the system's. NULL: the system's only.
 */
void ws_host_libraries_usual(const char *prefix, struct ws_arena *a, ws_name_list *paths);

/**
 * The folders that the loader searches without being told (/etc/ld.so.conf, its own), those of
 * @a prefix first; see above.
 */
void ws_host_library_folders(const char *prefix, struct ws_arena *a, ws_name_list *folders);

/** Adds those that @a recipe links. */
void ws_host_libraries_linked(struct ws_ledger *ledger, const struct ws_hostcc *cxx,
	const struct ws_recipe *recipe, struct ws_arena *a, ws_name_list *paths);

#endif
