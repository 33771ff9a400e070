/**
 * random.cuh - which probabilities dropout keeps: Philox 4x32 (Salmon et al. 2011), seven rounds
 *
 * A number stands for a query, a key, a head and a sequence, not for a thread: every kernel finds
 * the same, and for a seed and an offset flash-attn 2 does, whose layout this is. One draw of 128
 * bits is 16 numbers of 8 bits: those that one lane has of 16 queries x 32 keys.
 */
#ifndef WSK_DEVICE_RANDOM_CUH
#define WSK_DEVICE_RANDOM_CUH

#include "../common/device.cuh"
#include "params.h"

namespace wsk
{

/** Numbers of one lane of a fragment of 16 queries x 16 keys; of 8 keys a word. */
struct kept {
	uint32_t word[2], keep;

	/** Is the number of row half @a h (0, 1), key half @a n and column @a e (0, 1) of the lane
	 * kept? */
	WSK_DEVICE bool
	has(int h, int n, int e) const
	{
		return (word[n] >> 8 * (2 * h + e) & 0xff) <= keep;
	}
};

/** Random numbers for one head of a sequence, drawn by the position of a fragment. Seed and offset
 * are read for each:
 * registers are scarce. */
struct dropout {
	const wsk_attn_params &p;
	uint32_t head;

	WSK_DEVICE
	dropout(const wsk_attn_params &params, int b, int head_of_q)
		: p(params), head(b * params.heads + head_of_q)
	{
	}
	/** For queries starting at @a row and keys starting at @a first_key, both multiples of 16. */
	WSK_DEVICE kept
	draw(int row, int first_key, int lane) const
	{
		const uint32_t *random = (const uint32_t *)p.random, own = head * 32 + lane;
		uint32_t c[4] = {random[2] + own, random[3], (uint32_t)row / 16, (uint32_t)first_key / 32};
		c[1] += c[0] < own;
		uint32_t k[2] = {random[0], random[1]};
#pragma unroll
		for (int round = 0; round < 7; round++) {
			uint32_t low[2] = {0xD2511F53u * c[0], 0xCD9E8D57u * c[2]};
			uint32_t high[2] = {__umulhi(0xD2511F53u, c[0]), __umulhi(0xCD9E8D57u, c[2])};
			c[0] = high[1] ^ c[1] ^ k[0], c[1] = low[1];
			c[2] = high[0] ^ c[3] ^ k[1], c[3] = low[0];
			k[0] += 0x9E3779B9u, k[1] += 0xBB67AE85u;
		}
		const bool second = first_key & 16;
		return {{second ? c[2] : c[0], second ? c[3] : c[1]}, p.keep};
	}
};

} // namespace wsk

#endif
