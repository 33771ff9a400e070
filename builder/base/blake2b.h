/**
 * blake2b.h - BLAKE2b with 32 bytes (RFC 7693): "blake2_256_digest" of package indexes
 *
 * The upload API of package indexes knows it beside SHA-256; nothing here trusts it. libcrypto 3.0 has 64 bytes
 * alone, which is another hash and not a longer one.
 */
#ifndef WS_BASE_BLAKE2B_H
#define WS_BASE_BLAKE2B_H

#include <stddef.h>
#include <stdint.h>

#define WS_BLAKE2B_BYTES 32

struct ws_blake2b {
	uint64_t state[8];
	uint64_t length_bytes;    /**< hashed so far */
	unsigned char block[128]; /**< not hashed yet */
	size_t held;
};

void ws_blake2b_begin(struct ws_blake2b *b);
void ws_blake2b_add(struct ws_blake2b *b, const void *bytes, size_t len);
void ws_blake2b_finish(struct ws_blake2b *b, unsigned char digest[WS_BLAKE2B_BYTES]);

#endif
