/**
 * source_tree.h - a source tree in the making
 *
 * Files come from an archive, a commit or a folder; the top folder is removed. Files that a patch
 * names are kept in memory, patched, and entered last; all others go straight into a tree of the
 * store. The caller has checked names with archive/members.h.
 *
 * A compiled source or header that is a git-LFS pointer, three lines of text in place of the file,
 * is refused by name: a compiler would only say it is odd.
 */
#ifndef WS_FETCH_SOURCE_TREE_H
#define WS_FETCH_SOURCE_TREE_H

#include "archive/unpack.h"
#include "fetch/git.h"
#include "fetch/patch.h"
#include "model/recipe.h"
#include "store/ledger.h"
#include "store/tree.h"

/** Changes to the incoming files. */
struct ws_source_tree_plan {
	const char *tree;  /**< name of the tree: "src-flash-attn-2.8.3" */
	const char *from;  /**< where files come from, for messages: "x.tar.gz" */
	const char *strip; /**< top folder to take off; NULL: the single one there is; "": none */
	const struct ws_patch_file *patches;
	size_t patch_count;
	struct ws_stop *stop; /**< asked at every piece of a file; NULL: never asked */
};

/**
 * The sink takes members in the order they come. Folders are not kept: a tree has none of its own.
 * @a plan is borrowed. NULL on failure.
 */
struct ws_unpack_sink *ws_source_tree_begin(const struct ws_store *store,
	const struct ws_source_tree_plan *plan, struct ws_arena *a, struct ws_err *err);

/** Patches what was held back and puts the tree in place. @a into is gone afterwards, also on
 * failure. */
bool ws_source_tree_commit(
	struct ws_unpack_sink *into, struct ws_arena *a, struct ws_tree *tree, struct ws_err *err);

/** Gives up. NULL is fine. */
void ws_source_tree_abandon(struct ws_unpack_sink *into);

/* ---- a local folder as sources ----
 * Copied, because sources must not change while they are compiled; without ".git". The rules of
 * archive/members.h hold, so a link that leaves the folder is refused by name. */

/**
 * The digest that the tree of a copy would have now; files that did not change are not read again.
 * False if unknown: a file that a copy would refuse, or more than 1 GiB.
 */
bool ws_folder_digest(const char *path, struct ws_ledger *ledger, struct ws_digest *digest);

/** @a whole: ".git" too, as in a tree of the store. */
bool ws_folder_copy(const char *path, bool whole, struct ws_unpack_sink *into, struct ws_err *err);

/* ---- a commit, with the submodules that were chosen, into a source tree ----
 * Walks the objects of the commit and hands files to a source tree; no work tree, no index. The
 * store keeps a cache of each repository, so that a second checkout needs no network. Files are
 * taken as they
 * are: no filters, no end-of-line conversion, no export-subst. A submodule is the commit that its
 * parent names, from the URL that .gitmodules of the parent's commit gives, by the same rules as
 * the parent's; those that were not chosen stay empty. */

struct ws_checkout {
	struct ws_source_spec spec; /**< url, commit, tree, submodules */
	/* Results. */
	char found_tree[WS_GIT_ID]; /**< the commit's tree */
	bool is_damaged;            /**< a cache was, and is removed: once more fetches it anew */
};

/** Refuses by the rules of archive/members.h, named after member and rule. */
bool ws_checkout(struct ws_git *git, const struct ws_store *store, struct ws_checkout *checkout,
	struct ws_unpack_sink *into, struct ws_err *err);

/** The tree id of a commit that the store's cache has; asks no server. */
bool ws_checkout_recall(struct ws_git *git, const struct ws_store *store, const char *url,
	const char *commit, char tree[WS_GIT_ID]);

/* ---- .gitmodules ---- */

struct ws_gitmodule {
	const char *name; /**< of its section */
	const char *path; /**< in the repository; NULL when the section gives none */
	const char *url;  /**< as written; NULL when the section gives none */
};

typedef WS_VEC(struct ws_gitmodule) ws_gitmodule_list;

/**
 * Parses by git-config(1), "Configuration file, Syntax". Lines that continue on the next one are
 * refused. The errors (WS_ERR_FETCH) name the line.
 */
bool ws_gitmodules_parse(
	struct ws_str text, struct ws_arena *a, ws_gitmodule_list *modules, struct ws_err *err);

/** The module at this path; NULL when there is none, or more than one. */
const struct ws_gitmodule *ws_gitmodules_find(const ws_gitmodule_list *modules, const char *path);

#endif
