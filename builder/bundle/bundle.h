/**
 * bundle.h - two kinds of archive: a bundle (all inputs of one matrix) and an export (results)
 *
 * Both are tar files of entries of the store that depend neither on time nor on place. A bundle is
 * for hosts without a network: the matrix, its lock and its recipes (a tree of their own), trees of
 * sources, kits and export lists, and accepted prebuilt wheels; it has no results. An export has
 * results of actions, for stores that trust each other. Members, in this order:
 *
 *   bundle/<sha256 of this member>.json      the list (schemas/bundle-1.json)
 *   blobs/<sha256>                           a file of the cas
 *   trees/<name>-<digest, 16 digits>/...     a tree
 *
 * The reader trusts no content: files and trees are checked against their digests, and names stay
 * below the store. An entry of a bundle is used only if a lock names its digest, or if this host
 * would make the same.
 */
#ifndef WS_BUNDLE_BUNDLE_H
#define WS_BUNDLE_BUNDLE_H

#include "make/result.h"
#include "produce/selection.h"
#include "store/inventory.h"

#define WS_BUNDLE_SCHEMA "wheelsmith.bundle/1"
#define WS_RESULTS_SCHEMA "wheelsmith.results/1"

/** The tree with the matrix, and where things lie in it. */
#define WS_BUNDLE_TREE "bundle"
#define WS_BUNDLE_MATRIX "matrix.json"
#define WS_BUNDLE_RECIPES "recipes"

/** The options that were typed beside the matrix; NULL: not typed. The policy is the effective
 * one. */
struct ws_bundle_asked {
	const char *only, *shard, *policy, *debug_info, *glibc, *kits;
	bool torch_window;
};

/** The first member. */
struct ws_bundle_head {
	struct ws_bundle_asked asked;
	struct ws_digest folder;     /**< of the tree WS_BUNDLE_TREE, which is among `trees` too */
	const struct ws_tree *trees; /**< a reader has their names and digests */
	size_t tree_count;
	const char *const *blobs; /**< digests */
	size_t blob_count;
	const char *const *results; /**< keys; of an export of results, which has no folder and trees */
	size_t result_count;
};

void ws_bundle_head_write(const struct ws_bundle_head *head, struct ws_buf *out);

/**
 * @a path is for messages. WS_ERR_FETCH: it is not a head, one of a newer program, or asks for what
 * is not possible.
 */
bool ws_bundle_head_read(const char *path, const struct ws_buf *text, struct ws_arena *a,
	struct ws_bundle_head *head, struct ws_err *err);

/** The name of a tree's folder, in the archive and in the store. */
const char *ws_bundle_tree_name(const struct ws_tree *tree, struct ws_arena *a);

/** The order for a bundle. */
struct ws_bundle_order {
	const char *path; /**< the file to write */
	struct ws_bundle_asked asked;
	struct ws_selection *selection;
	const struct ws_supplies *supplies;
	struct ws_store *store;
};

struct ws_bundle_made {
	uint64_t bytes;
	struct ws_digest digest; /**< of the file */
};

/**
 * True if a bundle may be written at @a path: the file does not exist, is empty, or is a bundle
 * (also a truncated one), which is replaced. WS_ERR_USAGE: it is something else, as the matrix
 * itself.
 */
bool ws_bundle_may_write(const char *path, struct ws_err *err);

/**
 * Writes the file in one step, after all that it needs was fetched and pinned: each part is looked
 * up once more, without a network. WS_ERR_CONFIG where something cannot be carried, as sources in a
 * folder that is not beside their recipe.
 */
bool ws_bundle_write(const struct ws_context *ctx, const struct ws_bundle_order *order,
	struct ws_bundle_made *made, struct ws_err *err);

/** The result of reading. */
struct ws_bundle {
	struct ws_bundle_asked asked;
	const char *folder; /**< of the matrix and the recipes, in the store; read-only */
};

/**
 * Puts what the file holds into the store. WS_ERR_FETCH: it is not a bundle, is cut, or was
 * changed.
 */
bool ws_bundle_read(const struct ws_store *store, const char *path, struct ws_stop *stop,
	struct ws_arena *a, struct ws_bundle *bundle, struct ws_err *err);

/* ---- results of builds, from one store to another: `cache export`, `cache import` ----
 * The same format with another first member, and after the blobs
 *
 *   results/<key>   a text of results.h, its checksum first
 *
 * Checksums detect damage, not a false result: import only from somebody whose compiler you would
 * run. */

struct ws_bundle_count {
	size_t results, files;
	uint64_t bytes; /**< unpacked; of an import: those that the store did not have */
};

/** Writes the results of @a store, and the files that they name, to @a path in one step. */
bool ws_bundle_export(const struct ws_store *store, const struct ws_inventory *inventory,
	const char *path, struct ws_stop *stop, struct ws_bundle_count *count, struct ws_err *err);

/** Copies them into @a store. WS_ERR_FETCH: it is not such a file, is truncated, or was changed. */
bool ws_bundle_import(const struct ws_store *store, const char *path, struct ws_stop *stop,
	struct ws_arena *a, struct ws_bundle_count *count, struct ws_err *err);

#endif
