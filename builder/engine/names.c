/* names.c - finds the mount of a name, then asks its listing, the ledger or the workers'
 * reports. */
#include "engine/names.h"

#include "engine/worker_files.h"

const char *
ws_names_digest(struct ws_names *names, const struct ws_action *action, const char *name)
{
	const char *rest;
	const struct ws_mount *mount = ws_mount_of(action, name, &rest);
	if (mount && mount->tree) {
		const struct ws_tree_entry *entry = ws_tree_lookup(mount->tree, rest);
		return entry ? entry->value : NULL;
	}
	if (action->platform) {
		return ws_worker_files_digest(action->platform, name);
	}
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const char *path = ws_names_path(action, name, a);
	const char *known = ws_map_get(&names->outside, path);
	if (!known) {
		struct ws_digest digest = {""};
		bool there = ws_ledger_file_digest(names->ledger, path, &digest);
		known = there ? ws_arena_strdup(names->a, digest.hex) : "";
		ws_map_put(&names->outside, ws_arena_strdup(names->a, path), known, names->a);
	}
	return known[0] ? known : NULL;
}

bool
ws_names_is_unknown(const struct ws_action *action, const char *name, bool contents)
{
	const struct ws_worker_files *platform = action->platform;
	return platform && ws_names_is_outside(action, name)
		&& (!ws_worker_files_knows(platform, name)
			|| (contents && ws_worker_files_has_file(platform, name)
				&& !ws_worker_files_digest(platform, name)));
}

bool
ws_names_exists(struct ws_names *names, const struct ws_action *action, const char *name)
{
	const char *rest;
	const struct ws_mount *mount = ws_mount_of(action, name, &rest);
	if (mount && mount->tree) {
		return ws_tree_lookup(mount->tree, rest) != NULL;
	}
	if (action->platform) {
		return ws_worker_files_has_file(action->platform, name);
	}
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const char *path = ws_names_path(action, name, a);
	/* Units of a package check the same thousands of absent names. */
	const char *known = ws_map_get(&names->exists, path);
	if (!known) {
		const char *digest = ws_map_get(&names->outside, path);
		struct stat status;
		bool exists = digest ? digest[0] : stat(path, &status) == 0 && S_ISREG(status.st_mode);
		known = exists ? "yes" : "";
		ws_map_put(&names->exists, ws_arena_strdup(names->a, path), known, names->a);
	}
	return known[0];
}

bool
ws_names_is_folder(const struct ws_action *action, const char *name)
{
	const char *rest;
	const struct ws_mount *mount = ws_mount_of(action, name, &rest);
	if (mount && mount->tree) {
		struct ws_listing listing = ws_tree_listing(mount->tree);
		return ws_listing_is_folder(&listing, rest);
	}
	if (action->platform) {
		return ws_worker_files_has_folder(action->platform, name);
	}
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct stat status;
	return lstat(ws_names_path(action, name, a), &status) == 0 && S_ISDIR(status.st_mode);
}
