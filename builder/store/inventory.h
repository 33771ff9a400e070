/**
 * inventory.h - contents of a store, and their removal when it must shrink
 *
 * Files by digest, texts by key, trees, mirrors of git, partial downloads: each with its size
 * and last use. A lookup uses a text (results.h sets its mtime), and with it the files and trees
 * that the text names. Removal needs LOCK alone.
 */
#ifndef WS_STORE_INVENTORY_H
#define WS_STORE_INVENTORY_H

#include "store/store.h"

struct ws_stop;

enum ws_room {
	WS_ROOM_FILES,   /**< cas/ */
	WS_ROOM_RESULTS, /**< ac/ */
	WS_ROOM_TREES,
	WS_ROOM_GIT,
	WS_ROOM_PARTIAL,
};

#define WS_ROOMS (WS_ROOM_PARTIAL + 1)

struct ws_store_item {
	enum ws_room room;
	const char *path;  /**< absolute */
	const char *name;  /**< digest, key, or name of a folder */
	uint64_t bytes;    /**< of a tree: its files and its listing */
	int64_t used_s;    /**< last use */
	bool named;        /**< a text of ac/ names it */
	bool keep_longest; /**< a wheel, or named by a lock: removed last */
};

struct ws_inventory {
	struct ws_arena *a;
	WS_VEC(struct ws_store_item) items;
	uint64_t bytes;           /**< of all items */
	const char *const *locks; /**< borrowed from the caller of ws_inventory_take */
	size_t lock_count;
};

/** "files", "results", "trees", "git", "partial". */
const char *ws_room_name(enum ws_room room);

/** Lists the store. @a locks: texts of lock files; what they name by digest is removed last. */
bool ws_inventory_take(const struct ws_store *store, const char *const *locks, size_t lock_count,
	struct ws_arena *a, struct ws_inventory *inventory, struct ws_err *err);

/** Totals of removed or damaged items. */
struct ws_inventory_gone {
	unsigned count;
	uint64_t bytes;
};

/**
 * Lists the store again under LOCK, and removes the least recently used items until the rest has
 * at most @a most_bytes. WS_ERR_IO if another process uses the store.
 */
bool ws_inventory_shrink(struct ws_store *store, struct ws_inventory *inventory,
	uint64_t most_bytes, struct ws_inventory_gone *gone, struct ws_err *err);

/**
 * Reads all items and verifies their digests. Damaged items are removed with a warning. False if
 * an item cannot be read or the run was stopped.
 */
bool ws_inventory_verify(const struct ws_store *store, const struct ws_inventory *inventory,
	struct ws_stop *stop, struct ws_inventory_gone *damaged, struct ws_err *err);

#endif
