/**
 * manifest.h - what a snapshot consists of, signed: manifest.json and manifest.json.sig
 *
 * Lists every page with its SHA-256; index.json is among them and has those of all wheels. So one
 * signature covers everything. The signature is over the bytes of manifest.json (base/crypto.h). It
 * expires, so that an old snapshot cannot be passed off as today's for ever. The schema is
 * schemas/manifest-1.json.
 */
#ifndef WS_PUBLISH_MANIFEST_H
#define WS_PUBLISH_MANIFEST_H

#include "base/crypto.h"
#include "base/text.h"
#include "publish/folder/target.h"

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
bool ws_index_manifest_read(const struct ws_index_target *t, const struct ws_sign_key *key,
	struct ws_arena *a, struct ws_index_manifest *manifest, bool *is_signed, struct ws_err *err);

#endif
