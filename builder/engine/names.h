/**
 * names.h - digest and existence of the files behind canonical names
 *
 * "torch/include/c10/x.h" is a file of a mounted tree: the tree's listing has its digest. A name
 * in a mount without a tree, or an absolute name, is outside every tree: its digest comes from
 * the ledger or, for an action of workers, from their reports (worker_files.h). Answers are
 * cached for the run; changed_since.h checks for changes during a build.
 */
#ifndef WS_ENGINE_NAMES_H
#define WS_ENGINE_NAMES_H

#include "engine/action.h"
#include "store/ledger.h"

/** Owned by the engine. */
struct ws_names {
	struct ws_ledger *ledger;
	struct ws_arena *a;
	struct ws_map outside; /**< real path -> digest; "" if the file does not exist */
	struct ws_map exists;  /**< real path -> result of ws_names_exists */
};

/** The digest of the file, or NULL if it does not exist. Borrowed. */
const char *ws_names_digest(
	struct ws_names *names, const struct ws_action *action, const char *name);

/** True if only a worker can know the name and none reported it or, with @a contents, none
 * reported its digest. */
bool ws_names_is_unknown(const struct ws_action *action, const char *name, bool contents);

/** True if the file exists; does not hash it. */
bool ws_names_exists(struct ws_names *names, const struct ws_action *action, const char *name);

/** True for a folder; false for a link to a folder, and for a name that is not in its tree. */
bool ws_names_is_folder(const struct ws_action *action, const char *name);

#endif
