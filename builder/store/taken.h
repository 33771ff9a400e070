/**
 * taken.h - what a piece of work took out of the store
 *
 * While ws_store.taken is set, cas.h and tree.h note here whatever they find and hand out. So
 * an export has just what a build asks for: nobody has to know what that is.
 */
#ifndef WS_STORE_TAKEN_H
#define WS_STORE_TAKEN_H

#include "base/map.h"
#include "store/tree.h"

/** Zeroed but for the arena, nothing was taken. */
struct ws_taken {
	struct ws_arena *a;
	struct ws_map trees; /**< by path: const struct ws_tree * */
	struct ws_map files; /**< digests of cas.h */
};

/** Each does nothing where @a store does not note what is taken. */
void ws_taken_tree(const struct ws_store *store, const struct ws_tree *tree);
void ws_taken_file(const struct ws_store *store, const char *digest);

#endif
