/**
 * names.h - what a canonical name stands for now
 *
 * "torch/include/c10/x.h" is a file of a mounted tree: the tree's listing knows its digest. A name
 * in a mount without a tree, and an absolute one, is a file outside every tree: its digest comes
 * from the ledger's memory of file digests. Answers are kept for the run; a file that changes
 * while a build runs is seen by the next one.
 */
#ifndef WS_ENGINE_NAMES_H
#define WS_ENGINE_NAMES_H

#include "base/map.h"
#include "engine/action.h"
#include "store/ledger.h"

/** Owned by the engine. */
struct ws_names {
	struct ws_ledger *ledger;
	struct ws_arena *a;
	struct ws_map outside; /**< real path -> digest text; "" when there is no such file */
	int64_t since_ns;      /**< when the run began (CLOCK_REALTIME_COARSE); 0: not known */
};

/** The digest of the file, or NULL when there is none. Borrowed. */
const char *ws_names_digest(
	struct ws_names *names, const struct ws_action *action, const char *name);

/** True when there is such a file; does not hash. */
bool ws_names_exists(struct ws_names *names, const struct ws_action *action, const char *name);

/** True when the name lies in no tree of @a action: its digest may change between two runs. */
bool ws_names_is_outside(const struct ws_action *action, const char *name);

/**
 * True for a file outside every tree that was touched since the run began: a command may have read
 * other contents than those that its digest, taken before or after, tells of.
 */
bool ws_names_changed(
	const struct ws_names *names, const struct ws_action *action, const char *name);

#endif
