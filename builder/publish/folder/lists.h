/**
 * lists.h - manifest.json and index.json of a snapshot: read, compared, and what to do about damage
 *
 * manifest.json lists every page with its SHA-256, also index.json, which has those of all wheels,
 * so one signature over the bytes of manifest.json covers everything. The signature is
 * manifest.json.sig; it expires, so that an old snapshot cannot pass as current forever. Everything
 * in an index is made from these two files, so damaged ones are never overwritten. Schemas:
 * schemas/manifest-1.json, schemas/index-1.json (catalog.h).
 */
#ifndef WS_PUBLISH_FOLDER_LISTS_H
#define WS_PUBLISH_FOLDER_LISTS_H

#include "base/table.h"
#include "publish/folder/index_folder.h"

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
