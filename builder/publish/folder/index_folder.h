/**
 * index_folder.h - the folder of an index: its snapshots, and which one is visible
 *
 *   files/NAME.whl  files/NAME.whl.metadata     written once, never changed
 *   @2026-11-21.1/                              a snapshot: index.json, manifest.json,
 *                                               PATH/simple/..., files ->
 *   current -> @2026-11-21.1                    the visible one
 *   PATH -> current/PATH  index.json -> ...     stable addresses
 *   .lock  .new-XXXXXX/                         lock, and the unfinished snapshot
 *
 * A snapshot is made in .new-XXXXXX. One rename of the link `current` makes it visible, so a killed
 * publisher leaves the index as it was; the next one removes the rest. Unchanged pages are hard
 * links to those of the snapshot before. Errors are WS_ERR_PUBLISH.
 */
#ifndef WS_PUBLISH_FOLDER_INDEX_FOLDER_H
#define WS_PUBLISH_FOLDER_INDEX_FOLDER_H

#include "base/table.h"
#include "sys/stop.h"

#define WS_INDEX_NEW ".new-"

/** A file of the new snapshot. */
struct ws_index_page_file {
	const char *path; /**< "cu124-torch2.5/simple/demo/index.html" */
	struct ws_digest sha256;
	uint64_t size_bytes;
};

struct ws_index_folder {
	const char *path;    /**< of the folder */
	const char *current; /**< "2026-11-21.1"; NULL: empty index */
	bool is_dangling;    /**< `current` exists and is not a link to a snapshot */
	const char *made;    /**< .new-XXXXXX, with files/ and tree/; NULL: not begun */
	WS_VEC(struct ws_index_page_file) pages; /**< of the new snapshot, in order */
	size_t new_pages;                        /**< pages that differ from the snapshot before */
	struct ws_arena *a;
	int lock_fd;
};

/**
 * Opens and locks the folder. Waits for another publisher and reports that once to @a wait (may be
 * NULL). Removes unfinished snapshots. @a make: creates a missing folder; else a folder without
 * snapshots is an error. A folder with other contents is an error.
 */
bool ws_index_folder_open(const char *path, bool make, struct ws_stop *stop,
	void (*wait)(void *self, const char *path), void *self, struct ws_arena *a,
	struct ws_index_folder *t, struct ws_err *err);

/**
 * False if `current` is not a link to a snapshot while there are several: a new index would lose
 * all wheels. A single snapshot without `current` is fine: the first publisher was killed.
 * ws_index_folder_show repairs it.
 */
bool ws_index_folder_check_current(const struct ws_index_folder *t, struct ws_err *err);

/** Opens the folder for reading: no lock, no changes. Another folder than an index is an error. */
bool ws_index_folder_look(
	const char *path, struct ws_arena *a, struct ws_index_folder *t, struct ws_err *err);

/** Removes the unfinished snapshot and unlocks. May be called twice. */
void ws_index_folder_close(struct ws_index_folder *t);

#define WS_AUTO_INDEX_FOLDER __attribute__((cleanup(ws_index_folder_close)))

/** A path in the visible snapshot: "index.json". NULL: there is none. */
const char *ws_index_folder_path(const struct ws_index_folder *t, const char *below);

/** All snapshots, oldest first. */
const char *const *ws_index_folder_snapshots(const struct ws_index_folder *t, size_t *count);

/** @a path is a link with this text. */
bool ws_index_leads_to(const char *path, const char *where);

/** "2026-11-21.1" of "@2026-11-21.1"; NULL: not the name of a snapshot's folder. */
const char *ws_index_snapshot_of(const char *name);

/**
 * The name of the next snapshot, on the day of @a now_us, or of the last one if that is later:
 * "2026-11-21.2".
 */
const char *ws_index_folder_next(const struct ws_index_folder *t, int64_t now_us);

/** Begins a snapshot, once. */
bool ws_index_folder_begin(struct ws_index_folder *t, struct ws_err *err);

/** Path for a new file of files/, after the begin. */
const char *ws_index_folder_new_file(const struct ws_index_folder *t, const char *name);

/** Adds a page to the new snapshot; an unchanged page is linked. */
bool ws_index_folder_put(
	struct ws_index_folder *t, const char *path, const void *bytes, size_t len, struct ws_err *err);

/** Makes the new snapshot visible as @a name, with its new files. */
bool ws_index_folder_commit(struct ws_index_folder *t, const char *name, struct ws_err *err);

/** Makes an existing snapshot visible. */
bool ws_index_folder_show(struct ws_index_folder *t, const char *name, struct ws_err *err);

/**
 * Removes the oldest snapshots until @a keep are left, never the visible one; returns their number.
 */
size_t ws_index_folder_retain(struct ws_index_folder *t, size_t keep);

/* ---- manifest.json and index.json of a snapshot: read, compared, and what to do about damage ----
 * manifest.json lists every page with its SHA-256, also index.json, which has those of all wheels,
 * so one signature over the bytes of manifest.json covers everything. The signature is
 * manifest.json.sig; it expires, so that an old snapshot cannot pass as current forever. Everything
 * in an index is made from these two files, so damaged ones are never overwritten. Schemas:
 * schemas/manifest-1.json, schemas/index-1.json (catalog.h). */

#define WS_INDEX_MANIFEST "manifest.json"
#define WS_INDEX_SIGNATURE "manifest.json.sig"

struct ws_index_manifest {
	const char *snapshot;                   /**< "2026-11-21.1" */
	const char *created;                    /**< "2026-11-21T08:30:00.000000Z" */
	const char *expires;                    /**< likewise; NULL: not signed */
	const char *key;                        /**< ws_sign_key_id of the signer; NULL: not signed */
	const struct ws_index_page_file *files; /**< sorted by path */
	size_t count;
	bool is_signed; /**< there is a signature */
};

/** manifest.json. */
extern const struct ws_table ws_index_manifest_table;

/** Microseconds since 1970 as "2026-11-21T08:30:00.000000Z" (PEP 700). The texts sort by time. */
const char *ws_index_time_text(int64_t us, struct ws_arena *a);

/**
 * Reads the manifest of the visible snapshot. If there is a signature, it must be that of @a key
 * (NULL: not checked). WS_ERR_PUBLISH.
 */
bool ws_index_manifest_read(const struct ws_index_folder *t, const struct ws_sign_key *key,
	struct ws_index_manifest *manifest, struct ws_err *err);

/** ws_index_manifest_read, with ws_index_lists_cure after damage. */
bool ws_index_lists_read(const struct ws_index_folder *t, const struct ws_sign_key *key,
	struct ws_index_manifest *manifest, struct ws_err *err);

/** The visible index.json has the digest in @a manifest. WS_ERR_PUBLISH. */
bool ws_index_lists_agree(
	const struct ws_index_folder *t, const struct ws_index_manifest *manifest, struct ws_err *err);

/**
 * Adds to @a err which snapshot to roll back to, or another cure, unless it has one. Returns false.
 */
bool ws_index_lists_cure(const struct ws_index_folder *t, struct ws_err *err);

#endif
