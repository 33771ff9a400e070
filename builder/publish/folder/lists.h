/**
 * lists.h - index.json and manifest.json of a snapshot: whether they agree, and what to do where
 * they do not hold
 *
 * All of an index is made from these two, so a damaged one is never written over. Reading them is
 * catalog.h's and manifest.h's.
 */
#ifndef WS_PUBLISH_FOLDER_LISTS_H
#define WS_PUBLISH_FOLDER_LISTS_H

#include "base/crypto.h"
#include "base/text.h"
#include "publish/folder/index_folder.h"

#define WS_INDEX_MANIFEST "manifest.json"
#define WS_INDEX_SIGNATURE "manifest.json.sig"

struct ws_index_manifest {
	const char *snapshot;                   /**< "2026-11-21.1" */
	const char *created;                    /**< "2026-11-21T08:30:00.000000Z" */
	const char *expires;                    /**< likewise; NULL: it is not signed, and never does */
	const char *key;                        /**< ws_sign_key_id of the signer; NULL: not signed */
	const struct ws_index_page_file *files; /**< sorted by path */
	size_t count;
};

/** Microseconds since 1970 as "2026-11-21T08:30:00.000000Z" (PEP 700); such texts sort as their
 * times do. */
const char *ws_index_time_text(int64_t us, struct ws_arena *a);

/** Appends the text. Sorts the files. */
void ws_index_manifest_write(
	struct ws_index_manifest *manifest, struct ws_index_page_file *files, struct ws_buf *out);

/**
 * The manifest of the visible snapshot and its text; @a is_signed says whether a signature lies
 * beside it, which must then be @a key's. With a NULL @a key nothing is checked. WS_ERR_PUBLISH.
 */
bool ws_index_manifest_read(const struct ws_index_folder *t, const struct ws_sign_key *key,
	struct ws_arena *a, struct ws_index_manifest *manifest, bool *is_signed, struct ws_err *err);

/** ws_index_manifest_read, with ws_index_lists_cure for one that is damaged. */
bool ws_index_lists_read(const struct ws_index_folder *t, const struct ws_sign_key *key,
	struct ws_index_manifest *manifest, bool *is_signed, struct ws_err *err);

/** The visible index.json is the one that @a manifest lists. WS_ERR_PUBLISH. */
bool ws_index_lists_agree(
	const struct ws_index_folder *t, const struct ws_index_manifest *manifest, struct ws_err *err);

/** For who found that those of the visible snapshot do not hold: adds which one to roll
 * back to, or what else helps; nothing where a cure was given already. Returns false. */
bool ws_index_lists_cure(const struct ws_index_folder *t, struct ws_err *err);

#endif
