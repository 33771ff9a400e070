/**
 * random.cuh - which probabilities dropout keeps: Philox 4x32 (Salmon et al. 2011), ten rounds
 *
 * A number stands for a query, a key, a head and a sequence, not for a thread: every kernel finds
 * the same. One draw of 128 bits is 8 numbers of 16 bits: those that one lane has of a fragment of
 * 16 queries x 16 keys.
 */
#ifndef WSK_DEVICE_RANDOM_CUH
#define WSK_DEVICE_RANDOM_CUH

#include "../common/device.cuh"
#include "params.h"

namespace wsk
{

/** Numbers of one lane of a fragment. */
struct kept {
	uint32_t word[4], keep;

	/** Is the number of row half @a h (0, 1), key half @a n and column @a e (0, 1) of the lane
	 * kept? */
	WSK_DEVICE bool
	has(int h, int n, int e) const
	{
		return (word[2 * h + n] >> 16 * e & 0xffff) < keep;
	}
};

/** Of a head of a sequence: draws by where a fragment lies. The seed is read for each: registers
 * are dear. */
struct dropout {
	const wsk_attn_params &p;
	uint32_t head;

	WSK_DEVICE
	dropout(const wsk_attn_params &params, int b, int head_of_q)
		: p(params), head(b * params.heads + head_of_q)
	{
	}
	/** Of queries from @a row on and keys from @a first_key on, multiples of 16, for lane @a
	 * lane. */
	WSK_DEVICE kept
	draw(int row, int first_key, int lane) const
	{
		uint32_t c[4] = {(uint32_t)row / 16, (uint32_t)first_key / 16, head, (uint32_t)lane};
		const uint64_t *seed = (const uint64_t *)p.random;
		uint64_t mixed = seed[0] ^ (seed[1] << 32 | seed[1] >> 32);
		uint32_t k[2] = {(uint32_t)mixed, (uint32_t)(mixed >> 32)};
#pragma unroll
		for (int round = 0; round < 10; round++) {
			uint32_t low[2] = {0xD2511F53u * c[0], 0xCD9E8D57u * c[2]};
			uint32_t high[2] = {__umulhi(0xD2511F53u, c[0]), __umulhi(0xCD9E8D57u, c[2])};
			c[0] = high[1] ^ c[1] ^ k[0], c[1] = low[1];
			c[2] = high[0] ^ c[3] ^ k[1], c[3] = low[0];
			k[0] += 0x9E3779B9u, k[1] += 0xBB67AE85u;
		}
		return {{c[0], c[1], c[2], c[3]}, p.keep};
	}
};

} // namespace wsk

#endif
