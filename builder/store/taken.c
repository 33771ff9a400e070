/* taken.c - two sets; what is in them outlives who took it. */
#include "store/taken.h"

void
ws_taken_tree(const struct ws_store *store, const struct ws_tree *tree)
{
	struct ws_taken *taken = store->taken;
	if (!taken || ws_map_get(&taken->trees, tree->path)) {
		return;
	}
	struct ws_tree *kept = WS_NEW(taken->a, struct ws_tree);
	struct ws_tree_entry *entries = WS_NEW_N(taken->a, struct ws_tree_entry, tree->count + 1);
	for (size_t i = 0; i < tree->count; i++) {
		const struct ws_tree_entry *entry = &tree->entries[i];
		entries[i] = (struct ws_tree_entry){ws_arena_strdup(taken->a, entry->path), entry->kind,
			ws_arena_strdup(taken->a, entry->value)};
	}
	*kept = (struct ws_tree){ws_arena_strdup(taken->a, tree->name),
		ws_arena_strdup(taken->a, tree->path), tree->digest, entries, tree->count};
	ws_map_put(&taken->trees, kept->path, kept, taken->a);
}

void
ws_taken_file(const struct ws_store *store, const char *digest)
{
	struct ws_taken *taken = store->taken;
	if (taken && !ws_map_get(&taken->files, digest)) {
		const char *kept = ws_arena_strdup(taken->a, digest);
		ws_map_put(&taken->files, kept, kept, taken->a);
	}
}
