/**
 * sign.h - Ed25519 signatures (RFC 8032), with keys in files
 *
 * The second door to libcrypto. A key is a PEM file, as `openssl genpkey -algorithm ed25519` makes
 * it; a signature is its 64 bytes, which `openssl pkeyutl -verify -rawin` checks too. What is
 * signed and who is trusted is the caller's.
 */
#ifndef WS_BASE_SIGN_H
#define WS_BASE_SIGN_H

#include "base/digest.h"

#define WS_SIGNATURE_BYTES 64

struct ws_sign_key;

/**
 * Makes a pair: @a path (mode 0600) and "PATH.pub". Neither may be there. Errors are WS_ERR_IO.
 */
bool ws_sign_key_make(const char *path, struct ws_err *err);

/**
 * Reads a private key. A file that others of the host may read, and a key of another kind, are
 * refused: WS_ERR_CONFIG. NULL on failure.
 */
struct ws_sign_key *ws_sign_key_read(const char *path, struct ws_err *err);

/** Reads a public key, with which nothing can be signed. */
struct ws_sign_key *ws_sign_key_read_public(const char *path, struct ws_err *err);

/** NULL is fine. */
void ws_sign_key_drop(struct ws_sign_key *key);

/** SHA-256 of the 32 bytes of the public half: the key's name. */
struct ws_digest ws_sign_key_id(const struct ws_sign_key *key);

/** @a key is a private one. */
void ws_sign_bytes(const struct ws_sign_key *key, const void *bytes, size_t len,
	unsigned char signature[WS_SIGNATURE_BYTES]);

/** True when @a signature, of @a signature_len bytes, is this key's over these bytes. */
bool ws_sign_holds(const struct ws_sign_key *key, const void *bytes, size_t len,
	const void *signature, size_t signature_len);

#endif
