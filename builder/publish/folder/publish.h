/**
 * publish.h - publishes wheels in an index, all or none
 *
 * Uses admit.h, snapshot.h and index_folder.h. The same wheels again change nothing. A refusal is
 * WS_ERR_PUBLISH, names the wheel and leaves the index as it was.
 */
#ifndef WS_PUBLISH_FOLDER_PUBLISH_H
#define WS_PUBLISH_FOLDER_PUBLISH_H

#include "publish/folder/index_folder.h"
#include "store/ledger.h"

struct ws_index_order {
	const char *target;              /**< the folder of the index */
	const char *const *sources;      /**< folders (without subfolders) or wheels */
	size_t source_count;             /**< 0: only edit the index or sign it again */
	const struct ws_sign_key *key;   /**< signs; NULL: unsigned */
	const struct ws_sign_key *trust; /**< must have signed the current index; NULL: key */
	uint64_t valid_s;                /**< lifetime of a signature */
	size_t keep;                     /**< number of snapshots to keep */
	const char *const *
		gpu_checks; /**< results of GPU checks (admit.h): every new wheel that is not pure Python needs a pass */
	size_t gpu_check_count;   /**< 0: not required */
	bool variants;            /**< also make wheel variants (variant_wheel.h) */
	bool force;               /**< publish wheels that fail a check, and record it */
	bool rewrite;             /**< make a snapshot also without changes */
	const char *yank;         /**< file name, or "NAME==VERSION"; NULL: none */
	bool sign_unsigned;       /**< with a key: sign an unsigned index */
	const char *title;        /**< title of the page for people; NULL: unchanged; "": none */
	bool only_visible;        /**< pages of older snapshots are not kept */
	const char *reason;       /**< reason; NULL: take the yank back */
	struct ws_ledger *ledger; /**< caches digests; may be NULL */
	struct ws_stop *stop;     /**< may be NULL */
	int64_t now_us;           /**< since 1970 */
	void (*wait)(void *self, const char *path); /**< another publisher is active; may be NULL */
	void (*warn)(void *self, const char *file,
		const char *wrong); /**< published with --force; may be NULL */
	void (*restricted)(
		void *self, const char *file, const char *licence); /**< restricting licence; may be NULL */
	void *self;
};

struct ws_index_outcome {
	const char *snapshot; /**< the visible one: "2026-11-21.1"; NULL: none */
	bool changed;
	size_t added, wheels;      /**< new wheels, all wheels */
	size_t restored;           /**< damaged or missing wheels that were restored */
	size_t variants;           /**< new variants */
	size_t unplaced;           /**< new wheels that are listed in all/ only */
	const char *unplaced_file; /**< the first of these */
	const char *const *paths;  /**< "cu124-torch2.5", "variants"; without all/ */
	size_t path_count;
	size_t pages, new_pages; /**< pages of the snapshot, and those that changed */
	size_t removed;          /**< removed snapshots */
	size_t strays;           /**< moved strays (audit.h) */
};

/** Publishes. Texts of @a outcome live in @a a. */
bool ws_index_publish(const struct ws_index_order *order, struct ws_arena *a,
	struct ws_index_outcome *outcome, struct ws_err *err);

/** Makes an older snapshot visible ("@2026-11-21.1", or without "@"). */
bool ws_index_roll_back(const struct ws_index_order *order, const char *snapshot,
	struct ws_arena *a, struct ws_err *err);

#endif
