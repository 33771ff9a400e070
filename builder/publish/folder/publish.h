/**
 * publish.h - wheels into an index, all or nothing
 *
 * Composes admit.h, snapshot.h and target.h. The same wheels again change nothing. Every
 * refusal is WS_ERR_PUBLISH, names the wheel, and leaves the index as it was.
 */
#ifndef WS_PUBLISH_FOLDER_PUBLISH_H
#define WS_PUBLISH_FOLDER_PUBLISH_H

#include "base/crypto.h"
#include "publish/folder/index_folder.h"
#include "store/ledger.h"

struct ws_index_order {
	const char *target;              /**< the folder of the index */
	const char *const *sources;      /**< folders with wheels, not below them, or wheels */
	size_t source_count;             /**< 0: change what is there, or sign it again */
	const struct ws_sign_key *key;   /**< signs; NULL: nothing is signed */
	const struct ws_sign_key *trust; /**< of the index as it is; NULL: key */
	uint64_t valid_s;                /**< for how long a signature holds */
	size_t keep;                     /**< snapshots that stay */
	const char *const
		*gpu_checks;          /**< files with results (gpu_check.h), one for each new wheel that
										is not Python alone; they must have passed */
	size_t gpu_check_count;   /**< 0: none is asked for */
	bool variants;            /**< make wheel variants too (variant_wheel.h) */
	bool force;               /**< publish wheels that are wrong, and record it */
	bool rewrite;             /**< make a snapshot even when nothing changed */
	const char *yank;         /**< file name, or "NAME==VERSION"; NULL: none */
	bool sign_unsigned;       /**< with a key: also an index that has no signature */
	const char *title;        /**< of the page for people; NULL: as it is; "": none */
	bool only_visible;        /**< of a snapshot that is not visible no pages are kept */
	const char *reason;       /**< why; NULL: take the yank back */
	struct ws_ledger *ledger; /**< remembers digests; NULL: none does */
	struct ws_stop *stop;     /**< NULL: never */
	int64_t now_us;           /**< since 1970 */
	void (*wait)(void *self, const char *path); /**< another publishes; or NULL */
	void (*warn)(
		void *self, const char *file, const char *wrong); /**< published all the same; or NULL */
	void (*restricted)(
		void *self, const char *file, const char *licence); /**< not for all; or NULL */
	void *self;
};

struct ws_index_outcome {
	const char *snapshot; /**< the visible one: "2026-11-21.1"; NULL: there is none */
	bool changed;
	size_t added, wheels;      /**< new ones, all of them */
	size_t restored;           /**< that were published, and damaged or gone */
	size_t variants;           /**< wheel variants that are new */
	size_t unplaced;           /**< of the new ones, those that are in all/ alone */
	const char *unplaced_file; /**< the first of them */
	const char *const *paths;  /**< "cu124-torch2.5", "variants", without all/ */
	size_t path_count;
	size_t pages, new_pages; /**< of the snapshot, those that were written anew */
	size_t removed;          /**< old snapshots that went */
	size_t strays;           /**< that were moved or left behind (strays.h) */
};

/** Publishes; what @a outcome points to is @a a's. */
bool ws_index_publish(const struct ws_index_order *order, struct ws_arena *a,
	struct ws_index_outcome *outcome, struct ws_err *err);

/** Makes an older snapshot visible ("@2026-11-21.1", or without "@"). */
bool ws_index_roll_back(const struct ws_index_order *order, const char *snapshot,
	struct ws_arena *a, struct ws_err *err);

#endif
