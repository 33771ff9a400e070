/**
 * lock.h - the pin of everything that came from outside
 *
 * Plain data, read and written by config/lock.c as <matrix stem>.lock.json. Planning reads it to
 * know what was built under which pins; building extends it; --locked refuses to.
 */
#ifndef WS_MODEL_LOCK_H
#define WS_MODEL_LOCK_H

#include "base/arena.h"
#include "base/vec.h"

#include <stdbool.h>

/** The sources of one recipe. */
struct ws_pin_source {
	const char *package, *version;
	const char *how;    /**< "sdist", "git", "archive", "folder" */
	const char *from;   /**< file name, URL, or path */
	const char *sha256; /**< of the file; NULL for git and folders */
	const char *commit; /**< git; else NULL */
	const char *tree;   /**< digest of the tree, before patches */
	/** Over all of the recipe that determines the tree (fetch/source.h); NULL: a folder, or not known. */
	const char *definition;
};

/** A CUDA kit. */
struct ws_pin_cuda {
	const char *cuda;       /**< "12.4" */
	const char *how;        /**< "host", "archive", "redist" */
	const char *name;       /**< "cuda-12.4", or the toolkit's path on the host */
	const char *digest;     /**< tree digest, or the fingerprint of a host toolkit */
	const char *definition; /**< archive kits: sha256 of the definition file; else NULL */
	/** Where Debian archives came from: "mirror" or "redist"; NULL when none was needed. */
	const char *debian;
};

/** A torch release. */
struct ws_pin_torch {
	const char *version; /**< as the matrix says: "2.5.1", "2.5.1+cu121" */
	const char *wheel;   /**< file name */
	const char *sha256;  /**< the index's, of the whole wheel; "" when it gave none */
	const char *record;  /**< sha256 of RECORD */
	const char *tree;    /**< digest of the kit */
	const char *cuda;    /**< what version.py says: "12.4" */
	int cxx11abi;
};

/** The export list of a torch release that ships with no list. Made of its libraries: found by this, not enforced. */
struct ws_pin_exports {
	const char *torch;      /**< as the matrix says */
	const char *definition; /**< over all that determines the list (kit/torch/exports.h) */
	const char *tree;       /**< digest of the tree that holds it */
};

/** A prebuilt wheel that was used. */
struct ws_pin_prebuilt {
	const char *package, *version; /**< the recipe's */
	const char *wheel;             /**< file name, which has one content for a package */
	const char *from;              /**< URL without a login, or the path of a folder's file */
	const char *sha256;            /**< of the wheel */
};

struct ws_lock {
	WS_VEC(struct ws_pin_source) sources;
	WS_VEC(struct ws_pin_cuda) cuda;
	WS_VEC(struct ws_pin_torch) torch;
	WS_VEC(struct ws_pin_exports) exports;
	WS_VEC(struct ws_pin_prebuilt) prebuilt;
};

const struct ws_pin_source *ws_lock_source(
	const struct ws_lock *lock, const char *package, const char *version);
const struct ws_pin_cuda *ws_lock_cuda(const struct ws_lock *lock, const char *cuda);
const struct ws_pin_torch *ws_lock_torch(const struct ws_lock *lock, const char *version);
const struct ws_pin_exports *ws_lock_exports(const struct ws_lock *lock, const char *torch);
const struct ws_pin_prebuilt *ws_lock_prebuilt(
	const struct ws_lock *lock, const char *package, const char *wheel);

/**
 * Takes out the pins that @a name means: "torch", "cuda", those of a package, or "all". Returns how
 * many there were.
 */
size_t ws_lock_forget(struct ws_lock *lock, const char *name);

/** Adds the pin, or replaces the one of the same name; true when anything changed. */
bool ws_lock_put_source(struct ws_lock *lock, const struct ws_pin_source *pin, struct ws_arena *a);
bool ws_lock_put_cuda(struct ws_lock *lock, const struct ws_pin_cuda *pin, struct ws_arena *a);
bool ws_lock_put_torch(struct ws_lock *lock, const struct ws_pin_torch *pin, struct ws_arena *a);
bool ws_lock_put_exports(
	struct ws_lock *lock, const struct ws_pin_exports *pin, struct ws_arena *a);
bool ws_lock_put_prebuilt(
	struct ws_lock *lock, const struct ws_pin_prebuilt *pin, struct ws_arena *a);

/**
 * Does to @a into what made @a is of @a was: puts the pins that were added or changed, takes out those
 * that were forgotten and that nobody changed meanwhile. Pins are shared, lists are not: into an empty
 * lock, from an empty one, it copies.
 */
void ws_lock_merge(
	struct ws_lock *into, const struct ws_lock *was, const struct ws_lock *is, struct ws_arena *a);

#endif
