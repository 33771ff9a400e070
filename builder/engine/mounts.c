/* mounts.c - the first part of a name against the names of mounts. */
#include "engine/mounts.h"

#include "base/fs.h"

#include <string.h>

const struct ws_mount *
ws_mount_of(const struct ws_action *action, const char *name, const char **rest)
{
	size_t len = strcspn(name, "/");
	if (name[0] == '/' || name[len] == '\0') {
		return NULL;
	}
	for (size_t i = 0; i < action->mount_count; i++) {
		const struct ws_mount *mount = &action->mounts[i];
		if (strlen(mount->name) == len && memcmp(mount->name, name, len) == 0) {
			*rest = name + len + 1;
			return mount;
		}
	}
	return NULL;
}

bool
ws_names_is_outside(const struct ws_action *action, const char *name)
{
	const char *rest;
	const struct ws_mount *mount = ws_mount_of(action, name, &rest);
	return !mount || !mount->tree;
}

const char *
ws_names_path(const struct ws_action *action, const char *name, struct ws_arena *a)
{
	const char *rest;
	const struct ws_mount *mount = ws_mount_of(action, name, &rest);
	return mount ? ws_path_join(a, mount->path, rest, NULL) : name;
}
