/**
 * source.h - the sources of one version of one package, as a tree
 *
 * Tries a recipe's sources in their order: a source archive from an index or a URL, a commit, a
 * folder. Downloads are pinned (sha256, commit), unpacked by the rules of archive/members.h, and
 * kept as the tree "src-<name>-<version>". The store keeps downloaded archives and the tree of each
 * definition, so that each is fetched once; else the lock names the tree. A patched tree is
 * remembered by the digest of the unpatched one, whatever its source. Reading recipes is config/'s.
 */
#ifndef WS_FETCH_SOURCE_H
#define WS_FETCH_SOURCE_H

#include "fetch/fetch.h"
#include "model/lock.h"
#include "model/recipe.h"
#include "store/tree.h"

/** The sources to fetch. */
struct ws_source_wish {
	const char *name;    /**< "flash-attn" */
	const char *version; /**< "2.8.3" */
	const struct ws_source_spec *specs;
	size_t spec_count;
	const struct ws_patch *const *patches; /**< those whose condition holds, in their order */
	size_t patch_count;
	const struct ws_pin_source
		*pin; /**< the lock's; its tree is taken under its definition; NULL */
};

/** The fetched sources. */
struct ws_source_found {
	const struct ws_source_spec *spec; /**< the one that served */
	struct ws_tree tree;
	const char *tree_id; /**< GIT: the commit's tree, 40 digits; "" for others, or not known */
	bool remembered;     /**< it was there from an earlier run; nothing was unpacked */
	/** Over all that determined the tree before patches; "" for a folder, whose files may
	 * change. */
	const char *definition;
};

/**
 * WS_ERR_FETCH when every source failed, with each reason. A patch that does not apply or a full
 * disk is an error at once: another source would not help.
 */
bool ws_source_bring(const struct ws_fetch *fetch, const struct ws_source_wish *wish,
	struct ws_arena *a, struct ws_source_found *found, struct ws_err *err);

/** Takes the patched tree in place of the one in @a found; without patches it stays. */
bool ws_source_patch(const struct ws_fetch *fetch, const struct ws_source_wish *wish,
	struct ws_arena *a, struct ws_source_found *found, struct ws_err *err);

/** The tree that an earlier run had for @a wish; false when there was none, or it is gone. */
bool ws_source_recall(const struct ws_store *store, const struct ws_source_wish *wish,
	struct ws_arena *a, struct ws_tree *tree);

#endif
