/**
 * mounts.h - in which mount of an action a canonical name lies
 *
 * Pure: nothing is looked up.
 */
#ifndef WS_ENGINE_MOUNTS_H
#define WS_ENGINE_MOUNTS_H

#include "engine/action.h"

/** The mount that @a name lies in, and the rest of the name; NULL when in none. */
const struct ws_mount *ws_mount_of(
	const struct ws_action *action, const char *name, const char **rest);

/** True when the name lies in no tree of @a action: its digest may change between two runs. */
bool ws_names_is_outside(const struct ws_action *action, const char *name);

/** Where the file is on this host; @a name may be all of it. */
const char *ws_names_path(const struct ws_action *action, const char *name, struct ws_arena *a);

#endif
