/**
 * audit.h - is an index still what was published?
 *
 * Reads every byte of the visible snapshot and of its wheels; believes no memory of digests. What
 * it finds first is the error, WS_ERR_PUBLISH. Changes nothing and takes no lock.
 */
#ifndef WS_PUBLISH_FOLDER_AUDIT_H
#define WS_PUBLISH_FOLDER_AUDIT_H

#include "base/crypto.h"
#include "sys/stop.h"

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
