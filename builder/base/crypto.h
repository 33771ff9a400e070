/**
 * crypto.h - SHA-256 digests and Ed25519 signatures
 *
 * SHA-256 is the one hash: RECORD, index fragments, keys, trees. A digest is 64 lower-case
 * hexadecimal digits, as files and people write it. crypto.c is the only door to libcrypto.
 */
#ifndef WS_BASE_CRYPTO_H
#define WS_BASE_CRYPTO_H

#include "base/err.h"

#include <stdint.h>

struct ws_digest {
	char hex[65]; /**< NUL-terminated; "" means "none" */
};

/** Digits of a digest in URL-safe base64 without padding (RECORD), and the terminator. */
#define WS_DIGEST_BASE64 44

struct ws_digest ws_digest_bytes(const void *bytes, size_t len);

/** Hashes a file in one read. @a size (may be NULL) gets its length. */
bool ws_digest_file(const char *path, struct ws_digest *digest, uint64_t *size, struct ws_err *err);

bool ws_digest_is(const struct ws_digest *digest, const char *hex);
bool ws_digest_eq(const struct ws_digest *x, const struct ws_digest *y);

/** Parses 64 hexadecimal digits of either case; false for any other text. */
bool ws_digest_parse(const char *hex, struct ws_digest *digest);

/** Writes URL-safe base64 without padding, the form of RECORD (binary distribution format). */
void ws_digest_base64(const struct ws_digest *digest, char text[WS_DIGEST_BASE64]);

/** A digest over bytes that come in pieces. */
struct ws_hasher;

struct ws_hasher *ws_hasher_make(void);
void ws_hasher_add(struct ws_hasher *h, const void *bytes, size_t len);
/** Adds the length as eight little-endian bytes, then the text: fields cannot run together. */
void ws_hasher_add_field(struct ws_hasher *h, const char *text);
/** The digest; @a h is released. */
struct ws_digest ws_hasher_finish(struct ws_hasher *h);
/** The digest over these fields alone; the last argument is NULL. */
struct ws_digest ws_digest_fields(const char *first, ...) __attribute__((sentinel));
/** Releases a hasher without a digest. NULL is allowed. */
void ws_hasher_drop(struct ws_hasher *h);

/* ---- signatures ---- */

#define WS_SIGNATURE_BYTES 64

struct ws_sign_key;

/**
 * Makes a key pair: @a path (mode 0600) and "PATH.pub". Both must be absent. Errors are
 * WS_ERR_IO.
 */
bool ws_sign_key_make(const char *path, struct ws_err *err);

/**
 * Reads a private key; NULL on failure. A file that other users may read, or a key that is not
 * Ed25519, gives WS_ERR_CONFIG.
 */
struct ws_sign_key *ws_sign_key_read(const char *path, struct ws_err *err);

/** Reads a public key, which can only verify. */
struct ws_sign_key *ws_sign_key_read_public(const char *path, struct ws_err *err);

/** NULL is allowed. */
void ws_sign_key_drop(struct ws_sign_key *key);

/** SHA-256 of the 32 bytes of the public half: the key's name. */
struct ws_digest ws_sign_key_id(const struct ws_sign_key *key);

/** Signs; @a key is a private key. */
void ws_sign_bytes(const struct ws_sign_key *key, const void *bytes, size_t len,
	unsigned char signature[WS_SIGNATURE_BYTES]);

/** True when @a signature (@a signature_len bytes) is a signature of @a key over these bytes. */
bool ws_sign_holds(const struct ws_sign_key *key, const void *bytes, size_t len,
	const void *signature, size_t signature_len);

#endif
