/**
 * record_text.h - the text of a record, its signature, and its form on a server
 *
 *   wheelsmith.record/1
 *   KIND KEY
 *   SIGNER SIGNATURE
 *   the text
 *
 * SIGNER is the id of an Ed25519 key (base/crypto.h). SIGNATURE, in hex, covers all other
 * lines: a text that was moved to a different key is not valid.
 *
 * Servers store ActionResults under digests of Actions. So a record is the ActionResult of an
 * Action that is never run ("wheelsmith-record", kind, key): the text is its stdout_raw, and its
 * files are the output files, so that servers keep or remove them together. Pure.
 * https://github.com/bazelbuild/remote-apis, remote_execution.proto
 */
#ifndef WS_REMOTE_RECORD_TEXT_H
#define WS_REMOTE_RECORD_TEXT_H

#include "base/crypto.h"
#include "store/shared_entries.h"

/** Keys whose records are trusted. */
struct ws_signers {
	struct ws_sign_key *const *keys;
	size_t count;
};

void ws_signed_text_write(const struct ws_sign_key *key, const char *kind, const char *record_key,
	struct ws_str text, struct ws_buf *out);

/** True, with @a text borrowed from @a whole, if one of @a signers signed it. */
bool ws_signed_text_read(struct ws_str whole, const struct ws_signers *signers, const char *kind,
	const char *record_key, struct ws_str *text);

/* ---- ActionResults ---- */

/** The digest of a record's Action. @a command and @a action get its messages. */
struct ws_digest ws_action_result_key(
	const char *kind, const char *key, struct ws_buf *command, struct ws_buf *action);

/** Appends the ActionResult of @a text and its @a files. */
void ws_action_result_write(struct ws_str text, const struct ws_shared_file *files,
	size_t file_count, struct ws_buf *message);

/** The text and its files, in @a a; false: not such a message, or without a text. */
bool ws_action_result_read(struct ws_str message, struct ws_arena *a, struct ws_str *text,
	struct ws_shared_file **files, size_t *file_count);

#endif
