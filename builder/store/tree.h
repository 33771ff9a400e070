/**
 * tree.h - immutable folders with a digest
 *
 * Every archive kit and every source is one. A tree is built in partial/, its listing is hashed,
 * and it is renamed to trees/<name>-<digest>/, with the listing in <name>-<digest>.list. Two
 * builders of the same tree do not conflict: the second finds it.
 */
#ifndef WS_STORE_TREE_H
#define WS_STORE_TREE_H

#include "base/crypto.h"
#include "base/listing.h"
#include "store/store.h"

#include <sys/types.h>

/** Appends the text of sorted entries; @a sized: with sizes. */
void ws_tree_list_write(
	const struct ws_tree_entry *entries, size_t count, bool sized, struct ws_buf *text);

/** The entries and their digest, in @a a; false: not a listing. @a sized: all have sizes. */
bool ws_tree_list_read(struct ws_str text, struct ws_arena *a, struct ws_tree_entry **entries,
	size_t *count, struct ws_digest *digest, bool *sized);

/** The digest of a tree with these files; sorts them. */
struct ws_digest ws_tree_digest(struct ws_tree_entry *entries, size_t count);

/* ---- listings ----
 * One line an entry, sorted by path in byte order: "f <sha256>/<size> <path>", "x
 * <sha256>/<size> <path>" for an executable, "l <target>\t<path>". The digest of a tree, which
 * locks contain, is that of the lines without "/<size>", as older stores have them. */

/** A finished tree. */
struct ws_tree {
	const char *name;                    /**< "torch-2.5.1" */
	const char *path;                    /**< absolute folder */
	struct ws_digest digest;             /**< of the listing */
	const struct ws_tree_entry *entries; /**< sorted by path, byte order */
	size_t count;
	const char *note; /**< a line that is remembered with it (ws_tree_remember); NULL: none */
};

/** A tree under construction. */
struct ws_tree_builder;

struct ws_tree_builder *ws_tree_begin(
	const struct ws_store *store, const char *name, struct ws_arena *a, struct ws_err *err);

/**
 * Opens a new file of the tree for writing; close it with ws_tree_close_file. The path must be
 * inside (ws_path_is_inside) and unused; one file is open at a time.
 */
bool ws_tree_open_file(
	struct ws_tree_builder *b, const char *path, bool executable, struct ws_err *err);
bool ws_tree_write(struct ws_tree_builder *b, const void *bytes, size_t len, struct ws_err *err);
/** @a digest (may be NULL) gets the SHA-256 of the file. */
bool ws_tree_close_file(struct ws_tree_builder *b, struct ws_digest *digest, struct ws_err *err);

/** Adds a small file at once. */
bool ws_tree_add_file(struct ws_tree_builder *b, const char *path, const void *bytes, size_t len,
	bool executable, struct ws_err *err);

/** Adds a link whose target is inside the tree. */
bool ws_tree_add_link(
	struct ws_tree_builder *b, const char *path, const char *target, struct ws_err *err);

/** A path where others may create a file (then call ws_tree_adopt); checked as in
 * ws_tree_open_file. NULL on failure. */
const char *ws_tree_place(struct ws_tree_builder *b, const char *path, struct ws_err *err);

/** Makes an added file executable. */
bool ws_tree_set_executable(struct ws_tree_builder *b, const char *path, struct ws_err *err);

/** The entry added at @a path, or NULL. */
const struct ws_tree_entry *ws_tree_added(const struct ws_tree_builder *b, const char *path);

/** The folder of the builder, for tools that write there (git checkout). */
const char *ws_tree_folder(const struct ws_tree_builder *b);

/** Adds the files that such a tool created: files, executables, links; other kinds are refused. */
bool ws_tree_adopt(struct ws_tree_builder *b, struct ws_err *err);

/** Hashes the listing and moves the tree into place. Releases the builder, also on failure. */
bool ws_tree_commit(
	struct ws_tree_builder *b, struct ws_arena *a, struct ws_tree *tree, struct ws_err *err);

/** Removes the folder and releases the builder. NULL is fine. */
void ws_tree_abandon(struct ws_tree_builder *b);

/**
 * Loads the tree of this name and digest; false without an error: there is none. The first time
 * in a run the tree is compared with its listing: by size, times and inode of each file, and by
 * bytes where these changed. A tree with a changed, missing or additional file is removed with a
 * warning. Sizes are added to a listing without them.
 */
bool ws_tree_find(const struct ws_store *store, const char *name, const char *digest,
	struct ws_arena *a, struct ws_tree *tree);

/** Compares the bytes of the tree in the folder "<name>-<digits>" with its listing; a damaged
 * tree is removed with a warning. */
bool ws_tree_verify(const struct ws_store *store, const char *folder, struct ws_arena *a);

/** Called after a tree was created and its files were hashed: ws_tree_find need not hash them
 * again. */
void ws_tree_note(const struct ws_store *store, const struct ws_tree *tree);

/** Its files, borrowed from it. */
static inline struct ws_listing
ws_tree_listing(const struct ws_tree *tree)
{
	return (struct ws_listing){tree->entries, tree->count};
}

/** As ws_listing_find. */
const struct ws_tree_entry *ws_tree_lookup(const struct ws_tree *tree, const char *path);

/**
 * Remembers the tree of a definition, and its note. @a key: a digest over everything that
 * determines it (a kit definition; an archive's sha256 and patches). ws_tree_recall: false if
 * unknown or the tree is missing.
 */
bool ws_tree_remember(
	const struct ws_store *store, const char *key, const struct ws_tree *tree, struct ws_err *err);
bool ws_tree_recall(
	const struct ws_store *store, const char *key, struct ws_arena *a, struct ws_tree *tree);

/** The remembered text: name, digest and note of a tree. False: not such a text. */
void ws_tree_memo_write(const struct ws_tree *tree, struct ws_buf *text);
bool ws_tree_memo_read(struct ws_str text, struct ws_arena *a, struct ws_tree *tree);

#endif
