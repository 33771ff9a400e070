/**
 * lock.h - the pin of everything that came from outside
 *
 * Plain data, read and written by config/lock.c as <matrix stem>.lock.json. Planning reads the
 * pins; building adds pins, unless --locked.
 */
#ifndef WS_MODEL_LOCK_H
#define WS_MODEL_LOCK_H

#include "base/arena.h"

/** The sources of one recipe. */
struct ws_pin_source {
	const char *package, *version;
	const char *how;    /**< "sdist", "git", "folder" */
	const char *from;   /**< file name, URL, or path */
	const char *sha256; /**< of the file; NULL for git and folders */
	const char *commit; /**< git; else NULL */
	const char *tree;   /**< digest of the tree, before patches */
	/** Over all of the recipe that determines the tree (fetch/source.h); NULL: a folder, or not
	 * known. */
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
	const char *version; /**< as in the matrix: "2.5.1", "2.5.1+cu121" */
	const char *wheel;   /**< file name */
	const char *sha256;  /**< the index's, of the whole wheel; "" when it gave none */
	const char *record;  /**< sha256 of RECORD */
	const char *tree;    /**< digest of the kit */
	const char *cuda;    /**< what version.py says: "12.4" */
	int cxx11abi;
};

/** The export list of a torch release that ships with no list. Made of its libraries: found by
 * this, not enforced. */
struct ws_pin_exports {
	const char *torch;      /**< as in the matrix */
	const char *definition; /**< over all that determines the list (kit/torch/export_lists.h) */
	const char *tree;       /**< digest of the tree that holds it */
};

/** A prebuilt wheel that was used. */
struct ws_pin_prebuilt {
	const char *package, *version; /**< the recipe's */
	const char *wheel;             /**< file name; others of that name have other bytes */
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

/* ---- what a pin is made of: reading, writing, comparing and ordering follow from it ---- */

enum ws_pin_kind {
	WS_PIN_SOURCE,
	WS_PIN_CUDA,
	WS_PIN_TORCH,
	WS_PIN_EXPORTS,
	WS_PIN_PREBUILT,
	WS_PIN_KINDS,
};

/** The type of a member of a pin: texts, and one int. */
enum ws_pin_value {
	WS_PIN_LINE,
	WS_PIN_PACKAGE,
	WS_PIN_SHA256,
	WS_PIN_COMMIT,
	WS_PIN_WHEEL,
	WS_PIN_SOURCE_HOW,
	WS_PIN_CUDA_HOW,
	WS_PIN_DEBIAN,
	WS_PIN_ABI, /**< int */
};

enum ws_pin_field_flags {
	WS_PIN_ID = 1,     /**< two pins that are equal in these are of one thing */
	WS_PIN_NEEDED = 2, /**< never NULL */
	/** Where this differs, something else was found than what is pinned. */
	WS_PIN_BINDS = 4,
	WS_PIN_FOLLOWS = 8, /**< tells how it is found again: becomes what was found, without a word */
};

/** A member of a pin. */
struct ws_pin_field {
	const char *key; /**< in the file */
	enum ws_pin_value value;
	unsigned flags;
	size_t at; /**< its offset */
};

/** A kind of pin, whose list struct ws_lock has. */
struct ws_pin_type {
	const char *key;  /**< of the list in the file */
	const char *what; /**< "the pin of a source" */
	const char *name; /**< what `lock --update` calls all of them; NULL: each by its package */
	size_t list_at, count_at; /**< offsets of the list and of its `len` in struct ws_lock */
	size_t size;              /**< of a pin */
	const struct ws_pin_field *fields;
	size_t field_count;
};

/** In the order of the file. */
extern const struct ws_pin_type ws_pin_types[WS_PIN_KINDS];

/** Compares the identifying members. */
int ws_pin_cmp(enum ws_pin_kind kind, const void *x, const void *y);

/** The number of pins, and one pin. */
size_t ws_lock_count(const struct ws_lock *lock, enum ws_pin_kind kind);
const void *ws_lock_at(const struct ws_lock *lock, enum ws_pin_kind kind, size_t index);

/* ---- one pin ---- */

/** The pin of what @a like identifies; NULL: there is none, or no @a lock. */
const void *ws_lock_find(const struct ws_lock *lock, enum ws_pin_kind kind, const void *like);

static inline const struct ws_pin_source *
ws_lock_source(const struct ws_lock *lock, const char *package, const char *version)
{
	const struct ws_pin_source like = {.package = package, .version = version};
	return ws_lock_find(lock, WS_PIN_SOURCE, &like);
}

static inline const struct ws_pin_cuda *
ws_lock_cuda(const struct ws_lock *lock, const char *cuda)
{
	return ws_lock_find(lock, WS_PIN_CUDA, &(const struct ws_pin_cuda){.cuda = cuda});
}

static inline const struct ws_pin_torch *
ws_lock_torch(const struct ws_lock *lock, const char *version)
{
	return ws_lock_find(lock, WS_PIN_TORCH, &(const struct ws_pin_torch){.version = version});
}

static inline const struct ws_pin_exports *
ws_lock_exports(const struct ws_lock *lock, const char *torch)
{
	return ws_lock_find(lock, WS_PIN_EXPORTS, &(const struct ws_pin_exports){.torch = torch});
}

/**
 * The pin of a wheel of that name with these bytes (@a sha256, NULL: not known); else of the one
 * that came
 * @a from there, whose bytes are others then. NULL: none.
 */
const struct ws_pin_prebuilt *ws_lock_prebuilt(const struct ws_lock *lock, const char *package,
	const char *wheel, const char *sha256, const char *from);

/** Something that was found, beside its pin. */
struct ws_pin_change {
	const void *pin;     /**< to put: found, or the pin with those members that follow */
	bool binds;          /**< it is not pinned, or something else is */
	const char *subject; /**< "torch 2.5.1" */
	const char *was;     /**< the pinned digest; NULL: no pin */
	const char *is;      /**< the digest that was found */
	const char *name;    /**< for `lock --update` */
};

/** Compares @a found with its pin. Without one, a kind without binding members does not bind. */
struct ws_pin_change ws_lock_compare(
	const struct ws_lock *lock, enum ws_pin_kind kind, const void *found, struct ws_arena *a);

/** Adds @a pin, or replaces the one of the same thing; true when anything changed. */
bool ws_lock_put(struct ws_lock *lock, enum ws_pin_kind kind, const void *pin, struct ws_arena *a);

/* ---- all ---- */

/**
 * Takes out the pins that @a name means: "torch", "cuda", those of a package, or "all". Returns how
 * many there were.
 */
size_t ws_lock_forget(struct ws_lock *lock, const char *name);

/**
 * Applies to @a into the changes from @a was to @a is: puts added and changed pins, and
 * removes removed pins that @a into has unchanged. Pins are shared, lists are copied.
 */
void ws_lock_merge(
	struct ws_lock *into, const struct ws_lock *was, const struct ws_lock *is, struct ws_arena *a);

#endif
