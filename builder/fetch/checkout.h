/**
 * checkout.h - a commit, with the submodules that were chosen, into a source tree
 *
 * Walks the objects of the commit and hands files to a source tree; no work tree, no index. Of each
 * repository the store keeps a cache, so a second time needs no network. Files are taken as they
 * are: no filters, no end-of-line conversion, no export-subst. A submodule is the commit that its
 * parent names, from the URL that .gitmodules of the parent's commit gives, by the same rules as
 * the parent's; those that were not chosen stay empty.
 */
#ifndef WS_FETCH_CHECKOUT_H
#define WS_FETCH_CHECKOUT_H

#include "fetch/git.h"
#include "fetch/source_tree.h"

struct ws_checkout {
	const char *url;
	const char *commit;            /**< 40 digits */
	const char *tree;              /**< tree id it must have; NULL: any */
	const char *const *submodules; /**< paths to bring, also of submodules in submodules */
	size_t submodule_count;
	/* Filled in. */
	char found_tree[WS_GIT_ID]; /**< the commit's tree */
	bool is_damaged;            /**< a cache was, and is removed: once more fetches it anew */
};

/** Refuses by the rules of archive/members.h, named after member and rule. */
bool ws_checkout(struct ws_git *git, const struct ws_store *store, struct ws_checkout *checkout,
	struct ws_source_tree *into, struct ws_err *err);

/** The tree id of a commit that the store's cache has; asks no server. */
bool ws_checkout_recall(struct ws_git *git, const struct ws_store *store, const char *url,
	const char *commit, char tree[WS_GIT_ID]);

#endif
