/**
 * audit.h - is an index still what was published?
 *
 * Reads every byte of the visible snapshot and of its wheels; believes no memory of digests. What
 * it finds first is the error, WS_ERR_PUBLISH. Changes nothing and takes no lock.
 */
#ifndef WS_PUBLISH_FOLDER_AUDIT_H
#define WS_PUBLISH_FOLDER_AUDIT_H

#include "base/crypto.h"
#include "publish/catalog.h"
#include "publish/folder/index_folder.h"
#include "sys/stop.h"

/** @a path is below the folder: "all", "files/x.whl". False, with err set, ends the search. */
typedef bool (*ws_index_stray_fn)(void *self, const char *path, struct ws_err *err);

/** Of the index as @a t has it, whose visible catalog is @a catalog. An older one that cannot be
 * read is an error. */
bool ws_index_strays(const struct ws_index_folder *t, const struct ws_index_catalog *catalog,
	ws_index_stray_fn on_stray, void *self, struct ws_err *err);

/** Moves a stray to the folder ".stray". */
bool ws_index_stray_move(const struct ws_index_folder *t, const char *path, struct ws_err *err);

/**
 * Moves all of them and makes the links anew; @a count is how many there were. @a damaged: a page
 * of the visible snapshot is missing or has another size. For who publishes.
 */
bool ws_index_strays_mend(struct ws_index_folder *t, const struct ws_index_catalog *catalog,
	size_t *count, bool *damaged, struct ws_err *err);

/** A file of files/ that no snapshot lists; where an older one cannot be read, none is known to
 * be. */
bool ws_index_is_stray_file(
	const struct ws_index_folder *t, const struct ws_index_catalog *catalog, const char *name);

struct ws_arena;

struct ws_index_audit {
	const char *snapshot; /**< "2026-11-21.1" */
	size_t pages, wheels; /**< that were read */
	bool is_signed;       /**< whether the signature holds was asked only with a key */
	const char *expires;  /**< of the signature; NULL: not signed */
};

/**
 * With @a key the index must be signed by it, and the signature not expired at @a now_us. Every
 * page is as the manifest says, none is beside it; every wheel and its METADATA are as index.json
 * says.
 */
bool ws_index_audit(const char *target, const struct ws_sign_key *key, int64_t now_us,
	struct ws_stop *stop, struct ws_arena *a, struct ws_index_audit *audit, struct ws_err *err);

#endif
