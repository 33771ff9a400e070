/**
 * audit.h - checks that an index is what was published, and finds files that publishing did not
 * make
 *
 * The audit reads every byte of the visible snapshot and of its wheels and uses no cached digest.
 * It returns the first fault, WS_ERR_PUBLISH; it changes nothing and takes no lock.
 *
 * A stray is anything in the folder that installers may reach and publishing did not make. Somebody
 * with write access could redirect a path ("all -> ../evil") or add a wheel without changing a page
 * or a signature. These are not strays: at the top, a snapshot, a link "NAME -> current/NAME" for a
 * name of the visible snapshot, or another link into a snapshot; in the visible snapshot, the pages
 * of its manifest; in files/, the wheels of any snapshot and their METADATA. Plain files at the top
 * that no snapshot has (robots.txt) and names with a leading dot belong to the owner.
 */
#ifndef WS_PUBLISH_FOLDER_AUDIT_H
#define WS_PUBLISH_FOLDER_AUDIT_H

#include "publish/catalog.h"
#include "publish/folder/index_folder.h"

/** Moves a stray to the folder ".stray". */
bool ws_index_stray_move(const struct ws_index_folder *t, const char *path, struct ws_err *err);

/**
 * Moves all strays and restores the links; @a count is the number of strays. @a damaged: a page of
 * the visible snapshot is missing or has another size. Needs the lock.
 */
bool ws_index_strays_mend(struct ws_index_folder *t, const struct ws_index_catalog *catalog,
	size_t *count, bool *damaged, struct ws_err *err);

/** No snapshot lists this file of files/. False if an older snapshot is unreadable. */
bool ws_index_is_stray_file(
	const struct ws_index_folder *t, const struct ws_index_catalog *catalog, const char *name);

struct ws_index_audit {
	const char *snapshot; /**< "2026-11-21.1" */
	size_t pages, wheels; /**< checked */
	bool is_signed;       /**< its validity is checked with a key only */
};

/**
 * With @a key the index must be signed by that key, and the signature not expired at @a now_us.
 * Pages are compared with the manifest; wheels and their METADATA with index.json.
 */
bool ws_index_audit(const char *target, const struct ws_sign_key *key, int64_t now_us,
	struct ws_stop *stop, struct ws_arena *a, struct ws_index_audit *audit, struct ws_err *err);

#endif
