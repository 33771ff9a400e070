/**
 * used_entries.h - what a piece of work took out of the store
 *
 * While ws_store.used is set, cas.h and tree.h note here whatever they find and hand out. So
 * an export has just what a build asks for: nobody has to know what that is.
 */
#ifndef WS_STORE_USED_ENTRIES_H
#define WS_STORE_USED_ENTRIES_H

#include "base/map.h"
#include "store/tree.h"

/** Zeroed but for the arena, nothing was taken. */
struct ws_used_entries {
	struct ws_arena *a;
	struct ws_map trees; /**< by path: const struct ws_tree * */
	struct ws_map files; /**< digests of cas.h */
};

/** Each does nothing where @a store does not note what is taken. */
void ws_used_entries_add_tree(const struct ws_store *store, const struct ws_tree *tree);
void ws_used_entries_add_file(const struct ws_store *store, const char *digest);

#endif
