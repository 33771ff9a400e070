/**
 * archive_kit.h - a tree assembled from a pinned list of archives and a map of paths
 *
 * Archives in their order; inside one the first map entry that matches a member wins, what matches
 * none is left out, and so is every __init__.py. A path may come twice only with the same bytes.
 * Literal files and links of the definition take the place of members. Modes are the definition's,
 * never an archive's: wheels of CUDA 13 have tools that only their owner may start. Knows nothing
 * of CUDA.
 */
#ifndef WS_KIT_ARCHIVE_KIT_H
#define WS_KIT_ARCHIVE_KIT_H

#include "fetch/fetch.h"
#include "model/kit_def.h"
#include "net/index_page.h"
#include "store/tree.h"

enum ws_archive_files_result {
	WS_ARCHIVE_FILES_THERE,
	/** no mirror is known, or it does not have a package; err says so */
	WS_ARCHIVE_FILES_NO_DEBIAN,
	WS_ARCHIVE_FILES_FAILED,
};

/**
 * Assembles the tree, or finds it in the store: then nothing is asked of the network. Wheels are
 * found through the index by package, name and digest, Debian packages below a mirror, anything
 * else by its URL.
 */
enum ws_archive_files_result ws_archive_kit_make(const struct ws_fetch *fetch,
	const struct ws_kit_def *def, struct ws_arena *a, struct ws_tree *tree, struct ws_err *err);

/**
 * Where @a member of @a archive goes; NULL when it is left out. The tree refuses a path outside the
 * kit.
 */
const char *ws_archive_kit_place(const struct ws_kit_def *def, const struct ws_kit_archive *archive,
	const char *member, struct ws_arena *a);

#endif
