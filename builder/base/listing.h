/**
 * listing.h - the paths of a tree
 *
 * Names, kinds and digests of a tree's files, so that sources are judged without opening a file.
 * The caller owns the listing. Trees: store/tree.h.
 */
#ifndef WS_BASE_LISTING_H
#define WS_BASE_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ws_tree_kind {
	WS_TREE_FILE,
	WS_TREE_EXECUTABLE,
	WS_TREE_LINK,
};

struct ws_tree_entry {
	const char *path; /**< relative, '/' between parts */
	enum ws_tree_kind kind;
	const char *value;   /**< FILE: SHA-256 in hex; LINK: the target */
	uint64_t size_bytes; /**< bytes of the file; 0 for a link, and where the size was not read */
};

struct ws_listing {
	const struct ws_tree_entry *entries; /**< sorted by path, byte order */
	size_t count;
};

/** qsort/bsearch comparison of entries by path. */
int ws_tree_entry_cmp(const void *x, const void *y);

/** The entry at exactly @a path; NULL when the tree has none. */
const struct ws_tree_entry *ws_listing_at(const struct ws_listing *listing, const char *path);

/** The file at @a path, after following links; NULL when the tree has none. */
const struct ws_tree_entry *ws_listing_find(const struct ws_listing *listing, const char *path);

/** True for a folder. Links on the way are followed; a link to a folder is not a folder. */
bool ws_listing_is_folder(const struct ws_listing *listing, const char *path);

/** True when the tree has a file below @a folder; "." and "" are the top. */
bool ws_listing_has_folder(const struct ws_listing *listing, const char *folder);

#endif
