/**
 * names.h - what a canonical name stands for now
 *
 * "torch/include/c10/x.h" is a file of a mounted tree: the tree's listing knows its digest. A name
 * in a mount without a tree, and an absolute one, is a file outside every tree: its digest comes
 * from the ledger's memory of file digests, or, for an action that runs on other hosts, from what
 * those told (worker_files.h). Answers are kept for the run; what changes while a build runs is
 * reads_manifest.h's.
 */
#ifndef WS_ENGINE_NAMES_H
#define WS_ENGINE_NAMES_H

#include "base/arena.h"
#include "engine/action.h"
#include "store/ledger.h"

/** Owned by the engine. */
struct ws_names {
	struct ws_ledger *ledger;
	struct ws_arena *a;
	struct ws_map outside; /**< real path -> digest text; "" when there is no such file */
	struct ws_map exists;  /**< real path -> what ws_names_exists found */
};

/** The digest of the file, or NULL when there is none. Borrowed. */
const char *ws_names_digest(
	struct ws_names *names, const struct ws_action *action, const char *name);

/** True for one that only hosts of the action's platform know, and none has told of; or, where its
 * @a contents count, none has told those. */
bool ws_names_is_unknown(const struct ws_action *action, const char *name, bool contents);

/** True when there is such a file; does not hash. */
bool ws_names_exists(struct ws_names *names, const struct ws_action *action, const char *name);

/** True for a folder, and for a name that a tree does not hold; a link to a folder is not one. */
bool ws_names_is_folder(const struct ws_action *action, const char *name);

#endif
