/**
 * target.h - the folder of an index: what is visible, what was, and how the one becomes the other
 *
 *   files/NAME.whl  files/NAME.whl.metadata     written once, never again
 *   @2026-11-21.1/                              a snapshot: index.json, manifest.json,
 *                                               PATH/simple/..., files ->
 *   current -> @2026-11-21.1                    the one that is visible
 *   PATH -> current/PATH  index.json -> ...     so addresses do not change
 *   .lock  .new-XXXXXX/                         who publishes, and what is not visible yet
 *
 * A snapshot is made in .new-XXXXXX and becomes visible by one rename, of the link `current`. So
 * whoever is killed, at any moment, leaves the index as it was; the next publisher removes what is
 * left. Pages that did not change are hard links to those of the snapshot before. Errors are
 * WS_ERR_PUBLISH.
 */
#ifndef WS_PUBLISH_FOLDER_INDEX_FOLDER_H
#define WS_PUBLISH_FOLDER_INDEX_FOLDER_H

#include "base/arena.h"
#include "base/crypto.h"
#include "sys/stop.h"

#define WS_INDEX_NEW ".new-"

/** A file of a snapshot that is being made. */
struct ws_index_page_file {
	const char *path; /**< "cu124-torch2.5/simple/demo/index.html" */
	struct ws_digest sha256;
	uint64_t size_bytes;
};

struct ws_index_folder {
	const char *path;    /**< of the folder */
	const char *current; /**< "2026-11-21.1"; NULL: nothing was published yet */
	bool is_dangling;    /**< there is a `current` that does not lead to a snapshot */
	const char *made;    /**< .new-XXXXXX, with files/ and tree/; NULL: not begun */
	WS_VEC(struct ws_index_page_file) pages; /**< that were put, in that order */
	size_t new_pages;                        /**< of them, those that the snapshot before lacks */
	struct ws_arena *a;
	int lock_fd;
};

/**
 * Opens the folder for publishing alone: waits for another publisher, after telling @a wait (may be
 * NULL) once. Removes what dead ones left. With @a make a folder that is not there is made;
 * without, one that has no snapshot is refused. A folder that has something else in it is refused.
 */
bool ws_index_folder_open(const char *path, bool make, struct ws_stop *stop,
	void (*wait)(void *self, const char *path), void *self, struct ws_arena *a,
	struct ws_index_folder *t, struct ws_err *err);

/**
 * False where `current` is not what publishing left: a new index in its place would lose all
 * wheels. With no `current` and one snapshot nothing is lost: the first publisher was killed.
 * ws_index_folder_show mends it.
 */
bool ws_index_folder_check_current(const struct ws_index_folder *t, struct ws_err *err);

/** For who only reads: takes no lock, makes nothing. One that is not an index is an error. */
bool ws_index_folder_look(
	const char *path, struct ws_arena *a, struct ws_index_folder *t, struct ws_err *err);

/** Removes what was begun and lets go. Twice is fine. */
void ws_index_folder_close(struct ws_index_folder *t);

#define WS_AUTO_INDEX_FOLDER __attribute__((cleanup(ws_index_folder_close)))

/** A path of the snapshot that is visible: "index.json". NULL where there is none. */
const char *ws_index_folder_path(const struct ws_index_folder *t, const char *below);

/** All snapshots there are, oldest first. */
const char *const *ws_index_folder_snapshots(
	const struct ws_index_folder *t, struct ws_arena *a, size_t *count);

/** @a path is a link with this text. */
bool ws_index_leads_to(const char *path, const char *where);

/** "@2026-11-21.1", as a name in the folder. */
bool ws_index_is_snapshot(const char *name);

/** The next one's name, on the day of @a now_us, or of the last one if that is later:
 * "2026-11-21.2". */
const char *ws_index_folder_next(const struct ws_index_folder *t, int64_t now_us);

/** Begins one, unless it has begun. */
bool ws_index_folder_begin(struct ws_index_folder *t, struct ws_err *err);

/** Where a new file of files/ is to be written, once it has begun. */
const char *ws_index_folder_new_file(const struct ws_index_folder *t, const char *name);

/** A page of the new snapshot: the one of the snapshot before, where it is the same. */
bool ws_index_folder_put(
	struct ws_index_folder *t, const char *path, const void *bytes, size_t len, struct ws_err *err);

/** Makes the new snapshot visible, called @a name, with its new files. */
bool ws_index_folder_commit(struct ws_index_folder *t, const char *name, struct ws_err *err);

/** Makes a snapshot visible that is there. */
bool ws_index_folder_show(struct ws_index_folder *t, const char *name, struct ws_err *err);

/** Removes the oldest snapshots until @a keep are left, never the visible one; how many went. */
size_t ws_index_folder_retain(struct ws_index_folder *t, size_t keep);

#endif
