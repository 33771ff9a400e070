/* blake2b.c - RFC 7693, 3.1 and 3.2, without a key. Held against the reference by its test. */
#include "base/blake2b.h"

#include <string.h>

static const uint64_t start[8] = {
	0x6a09e667f3bcc908,
	0xbb67ae8584caa73b,
	0x3c6ef372fe94f82b,
	0xa54ff53a5f1d36f1,
	0x510e527fade682d1,
	0x9b05688c2b3e6c1f,
	0x1f83d9abfb41bd6b,
	0x5be0cd19137e2179,
};

static const unsigned char sigma[10][16] = {
	{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
	{14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
	{11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
	{7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
	{9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
	{2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
	{12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
	{13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
	{6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
	{10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
};

static uint64_t
rotate_right(uint64_t x, unsigned bits)
{
	return x >> bits | x << (64 - bits);
}

static void
mix(uint64_t *a, uint64_t *b, uint64_t *c, uint64_t *d, uint64_t x, uint64_t y)
{
	*a += *b + x;
	*d = rotate_right(*d ^ *a, 32);
	*c += *d;
	*b = rotate_right(*b ^ *c, 24);
	*a += *b + y;
	*d = rotate_right(*d ^ *a, 16);
	*c += *d;
	*b = rotate_right(*b ^ *c, 63);
}

static void
compress(struct ws_blake2b *b, const unsigned char *block, int last)
{
	uint64_t v[16], m[16];
	for (size_t i = 0; i < 16; i++) {
		m[i] = 0;
		for (size_t j = 0; j < 8; j++) {
			m[i] |= (uint64_t)block[8 * i + j] << (8 * j);
		}
	}
	memcpy(v, b->state, sizeof(b->state));
	memcpy(v + 8, start, sizeof(start));
	v[12] ^= b->length_bytes; /* the upper half of the count is 0: no file is that long */
	v[14] ^= last ? UINT64_MAX : 0;
	for (size_t round = 0; round < 12; round++) {
		const unsigned char *s = sigma[round % 10];
		for (size_t i = 0; i < 4; i++) {
			mix(&v[i], &v[4 + i], &v[8 + i], &v[12 + i], m[s[2 * i]], m[s[2 * i + 1]]);
		}
		for (size_t i = 0; i < 4; i++) {
			mix(&v[i], &v[4 + (i + 1) % 4], &v[8 + (i + 2) % 4], &v[12 + (i + 3) % 4],
				m[s[8 + 2 * i]], m[s[9 + 2 * i]]);
		}
	}
	for (size_t i = 0; i < 8; i++) {
		b->state[i] ^= v[i] ^ v[8 + i];
	}
}

void
ws_blake2b_begin(struct ws_blake2b *b)
{
	*b = (struct ws_blake2b){.held = 0};
	memcpy(b->state, start, sizeof(start));
	b->state[0] ^= 0x01010000 ^ WS_BLAKE2B_BYTES;
}

void
ws_blake2b_add(struct ws_blake2b *b, const void *bytes, size_t len)
{
	const unsigned char *from = bytes;
	while (len > 0) {
		if (b->held == sizeof(b->block)) { /* the last block waits for ws_blake2b_finish */
			b->length_bytes += b->held;
			compress(b, b->block, 0);
			b->held = 0;
		}
		size_t room = sizeof(b->block) - b->held;
		size_t take = len < room ? len : room;
		memcpy(b->block + b->held, from, take);
		b->held += take;
		from += take;
		len -= take;
	}
}

void
ws_blake2b_finish(struct ws_blake2b *b, unsigned char digest[WS_BLAKE2B_BYTES])
{
	b->length_bytes += b->held;
	memset(b->block + b->held, 0, sizeof(b->block) - b->held);
	compress(b, b->block, 1);
	for (size_t i = 0; i < WS_BLAKE2B_BYTES; i++) {
		digest[i] = (unsigned char)(b->state[i / 8] >> (8 * (i % 8)));
	}
}
