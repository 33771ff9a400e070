/**
 * tree_list.h - the text of a tree's listing
 *
 * One line an entry, sorted by path in byte order: "f <sha256>/<size> <path>", "x <sha256>/<size>
 * <path>" for what is executable, "l <target>\t<path>". The digest of a tree is that of the same
 * lines without "/<size>", which is how older stores have them; it stands in locks. Pure.
 */
#ifndef WS_STORE_TREE_LIST_H
#define WS_STORE_TREE_LIST_H

#include "base/buf.h"
#include "base/digest.h"
#include "base/listing.h"

/** Appends the text of sorted entries. */
void ws_tree_list_write(const struct ws_tree_entry *entries, size_t count, struct ws_buf *text);

/** The entries and their digest, in @a a; false: not a listing. @a sized: all have their sizes. */
bool ws_tree_list_read(struct ws_str text, struct ws_arena *a, struct ws_tree_entry **entries,
	size_t *count, struct ws_digest *digest, bool *sized);

/** The digest that a tree of these files has; sorts them. */
struct ws_digest ws_tree_digest(struct ws_tree_entry *entries, size_t count);

#endif
