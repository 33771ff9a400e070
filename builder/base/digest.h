/**
 * digest.h - SHA-256, the one hash: RECORD, index fragments, keys, trees
 *
 * A digest is carried as 64 lower-case hexadecimal digits, because that is how every file and
 * every person writes it. libcrypto is behind digest.c and nowhere else.
 */
#ifndef WS_BASE_DIGEST_H
#define WS_BASE_DIGEST_H

#include "base/err.h"

#include <stdint.h>

struct ws_digest {
	char hex[65]; /**< NUL-terminated; "" means "none" */
};

/** Digits of a digest in URL-safe base64 without padding (RECORD), and the terminator. */
#define WS_DIGEST_BASE64 44

struct ws_digest ws_digest_bytes(const void *bytes, size_t len);

/** Of the file's contents, read once; @a size (may be NULL) gets their length. */
bool ws_digest_file(const char *path, struct ws_digest *digest, uint64_t *size, struct ws_err *err);

bool ws_digest_is(const struct ws_digest *digest, const char *hex);
bool ws_digest_eq(const struct ws_digest *x, const struct ws_digest *y);

/** From 64 hexadecimal digits, either case. False when @a hex is anything else. */
bool ws_digest_parse(const char *hex, struct ws_digest *digest);

/** As RECORD writes it (binary distribution format): URL-safe base64, no '='. */
void ws_digest_base64(const struct ws_digest *digest, char text[WS_DIGEST_BASE64]);

/** A digest that is fed in pieces. */
struct ws_hasher;

struct ws_hasher *ws_hasher_make(void);
void ws_hasher_add(struct ws_hasher *h, const void *bytes, size_t len);
/** Adds the length as eight little-endian bytes, then the text: fields cannot run together. */
void ws_hasher_add_field(struct ws_hasher *h, const char *text);
/** The digest; @a h is released. */
struct ws_digest ws_hasher_finish(struct ws_hasher *h);
/** For a hasher that is given up. NULL is fine. */
void ws_hasher_drop(struct ws_hasher *h);

#endif
