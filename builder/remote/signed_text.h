/**
 * signed_text.h - a record with the name of who vouches for it
 *
 *   wheelsmith.record/1
 *   KIND KEY
 *   SIGNER SIGNATURE
 *   the text
 *
 * SIGNER is the name of an Ed25519 key (base/sign.h) and SIGNATURE, in hex, is over all but its own
 * line: a text that was put under another key, or is of another kind, is not what was signed. Pure.
 */
#ifndef WS_REMOTE_SIGNED_TEXT_H
#define WS_REMOTE_SIGNED_TEXT_H

#include "base/buf.h"
#include "base/sign.h"

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

#endif
