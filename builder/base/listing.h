/**
 * listing.h - which files a tree has
 *
 * The names and kinds of a tree's files, without their contents: what a source holds can be judged
 * by it, and no file is opened. Whoever hands a listing in owns it. Trees themselves: store/tree.h.
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
	const char *value;   /**< 64 digits of the contents, or the target of a link */
	uint64_t size_bytes; /**< of the file in a tree; 0 of a link, and where nobody asked */
};

struct ws_listing {
	const struct ws_tree_entry *entries; /**< sorted by path, byte order */
	size_t count;
};

/** qsort/bsearch comparison of entries by path. */
int ws_tree_entry_cmp(const void *x, const void *y);

/** The file at @a path, links on the way and at its end followed; NULL: there is none. */
const struct ws_tree_entry *ws_listing_find(const struct ws_listing *listing, const char *path);

/** True for a folder; links on the way are followed, a link to a folder is not one. */
bool ws_listing_is_folder(const struct ws_listing *listing, const char *path);

/** True when a file lies below @a folder; "." and "" are the top. */
bool ws_listing_has_folder(const struct ws_listing *listing, const char *folder);

#endif
