/**
 * record_text.h - a record with the name of who vouches for it
 *
 *   wheelsmith.record/1
 *   KIND KEY
 *   SIGNER SIGNATURE
 *   the text
 *
 * SIGNER is the name of an Ed25519 key (base/sign.h) and SIGNATURE, in hex, is over all but its own
 * line: a text that was put under another key, or is of another kind, is not what was signed. Pure.
 */
#ifndef WS_REMOTE_RECORD_TEXT_H
#define WS_REMOTE_RECORD_TEXT_H

#include "base/crypto.h"
#include "base/text.h"
#include "store/shared_entries.h"

/** Keys whose records count. */
struct ws_signers {
	struct ws_sign_key *const *keys;
	size_t count;
};

void ws_signed_text_write(const struct ws_sign_key *key, const char *kind, const char *record_key,
	struct ws_str text, struct ws_buf *out);

/** True with @a text, borrowed from @a whole, when one of @a signers has signed just this. */
bool ws_signed_text_read(struct ws_str whole, const struct ws_signers *signers, const char *kind,
	const char *record_key, struct ws_str *text);

/* ---- a text as an ActionResult ---- */

/** The digest of the Action of a record. Where not NULL, @a command and @a action get what it
 * consists of. */
struct ws_digest ws_action_result_key(
	const char *kind, const char *key, struct ws_buf *command, struct ws_buf *action);

/** Appends the message of @a text, which speaks of @a files. */
void ws_action_result_write(struct ws_str text, const struct ws_shared_file *files,
	size_t file_count, struct ws_buf *message);

/** The text and its files, in @a a; false: not such a message, or one without a text. */
bool ws_action_result_read(struct ws_str message, struct ws_arena *a, struct ws_str *text,
	struct ws_shared_file **files, size_t *file_count);

#endif
