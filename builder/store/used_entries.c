/* used_entries.c - two sets; what is in them outlives who took it. */
#include "store/used_entries.h"

void
ws_used_entries_add_tree(const struct ws_store *store, const struct ws_tree *tree)
{
	struct ws_used_entries *used = store->used;
	if (!used || ws_map_get(&used->trees, tree->path)) {
		return;
	}
	struct ws_tree *kept = WS_NEW(used->a, struct ws_tree);
	struct ws_tree_entry *entries = WS_NEW_N(used->a, struct ws_tree_entry, tree->count + 1);
	for (size_t i = 0; i < tree->count; i++) {
		const struct ws_tree_entry *entry = &tree->entries[i];
		entries[i] = (struct ws_tree_entry){ws_arena_strdup(used->a, entry->path), entry->kind,
			ws_arena_strdup(used->a, entry->value), entry->size_bytes};
	}
	*kept = (struct ws_tree){ws_arena_strdup(used->a, tree->name),
		ws_arena_strdup(used->a, tree->path), tree->digest, entries, tree->count, NULL};
	ws_map_put(&used->trees, kept->path, kept, used->a);
}

void
ws_used_entries_add_file(const struct ws_store *store, const char *digest)
{
	struct ws_used_entries *used = store->used;
	if (used && !ws_map_get(&used->files, digest)) {
		const char *kept = ws_arena_strdup(used->a, digest);
		ws_map_put(&used->files, kept, kept, used->a);
	}
}
