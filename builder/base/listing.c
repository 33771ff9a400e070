#include "base/listing.h"

#include "base/fs.h"

int
ws_tree_entry_cmp(const void *x, const void *y)
{
	const struct ws_tree_entry *left = x;
	const struct ws_tree_entry *right = y;
	return strcmp(left->path, right->path);
}

const struct ws_tree_entry *
ws_listing_at(const struct ws_listing *listing, const char *path)
{
	struct ws_tree_entry wanted = {.path = path};
	return listing->count ? bsearch(&wanted, listing->entries, listing->count,
			   sizeof(*listing->entries), ws_tree_entry_cmp)
						  : NULL;
}

/* Replaces the first part of @a path that is a link by its target; NULL when no part is one. */
static char *
follow_one(const struct ws_listing *listing, const char *path, struct ws_arena *a)
{
	for (const char *end = path; *end;) {
		end += strcspn(end, "/");
		const char *part = ws_arena_copy(a, path, (size_t)(end - path));
		const struct ws_tree_entry *entry = ws_listing_at(listing, part);
		if (entry && entry->kind == WS_TREE_LINK) {
			return ws_path_normal(
				a, ws_arena_printf(a, "%s/%s%s", ws_path_dir(a, part), entry->value, end));
		}
		end += *end == '/';
	}
	return NULL;
}

const struct ws_tree_entry *
ws_listing_find(const struct ws_listing *listing, const char *path)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	for (unsigned depth = 0; path && depth <= 8; depth++) {
		const struct ws_tree_entry *found = ws_listing_at(listing, path);
		if (found && found->kind != WS_TREE_LINK) {
			return found;
		}
		path = follow_one(listing, path, a);
	}
	return NULL;
}

bool
ws_listing_has_folder(const struct ws_listing *listing, const char *folder)
{
	size_t len = strlen(folder);
	for (size_t i = 0; i < listing->count; i++) {
		const char *path = listing->entries[i].path;
		if (strncmp(path, folder, len) == 0 && path[len] == '/') {
			return true;
		}
	}
	return len == 0 || strcmp(folder, ".") == 0;
}

bool
ws_listing_is_folder(const struct ws_listing *listing, const char *path)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	for (unsigned depth = 0; path && depth < 8; depth++) {
		if (ws_listing_at(listing, path)) {
			return false;
		}
		if (ws_listing_has_folder(listing, path)) {
			return true;
		}
		path = follow_one(listing, path, a);
	}
	return false;
}
