/* append.cu - puts new keys and values behind those of a cache, and turns keys and queries by their
 * positions
 *
 * A thread has two elements of one row, those that rotary embedding turns together; rows that the
 * cache has no room for are left out. Products and sums are fp32. */
#include "../common/instructions.cuh"
#include "append_params.h"

namespace wsk
{

/** The tensor and row of a thread's two elements. */
struct append_place {
	int pair, head, row, b;

	WSK_DEVICE
	append_place(int64_t index, int pairs, int heads, int rows)
	{
		pair = (int)(index % pairs), index /= pairs;
		head = (int)(index % heads), index /= heads;
		row = (int)(index % rows);
		b = (int)(index / rows);
	}
	WSK_DEVICE uint16_t *
	in(const wsk_view &view) const
	{
		return (uint16_t *)view.data + b * view.batch + row * view.row + head * view.head;
	}
};

/** Columns of a row's pair; the pairs that are turned come first. */
WSK_DEVICE void
find_columns(const wsk_append_params &p, int pair, int &first, int &second)
{
	const int turned = p.cos ? p.rotary / 2 : 0;
	if (pair < turned && !p.interleaved) {
		first = pair, second = pair + turned;
	} else {
		first = 2 * pair, second = first + 1;
	}
}

/** The pair of @a from goes to @a to, turned by position @a at where it is one of those. */
template <class T>
WSK_DEVICE void
turn(const wsk_append_params &p, const uint16_t *from, uint16_t *to, int pair, int at, bool turns)
{
	int first, second;
	find_columns(p, pair, first, second);
	uint32_t word = from[first] | (uint32_t)from[second] << 16;
	if (turns && p.cos && pair < p.rotary / 2) {
		const int64_t i = (int64_t)min(max(at, 0), p.turning_rows - 1) * (p.rotary / 2) + pair;
		const float2 x = T::unpack(word);
		const float2 angle =
			T::unpack(((const uint16_t *)p.cos)[i] | (uint32_t)((const uint16_t *)p.sin)[i] << 16);
		word = T::pack(x.x * angle.x - x.y * angle.y, x.x * angle.y + x.y * angle.x);
	}
	to[first] = (uint16_t)word;
	to[second] = (uint16_t)(word >> 16);
}

/** Where row @a at of the cache of a sequence begins; NULL: it has no such row. */
WSK_DEVICE uint16_t *
cache_row(const wsk_append_params &p, const wsk_view &view, const append_place &own, int at)
{
	if (at < 0 || at >= p.length_k) {
		return nullptr;
	}
	int entry = p.entries ? ((const int *)p.entries)[own.b] : own.b, row = at;
	int count = p.entries ? p.entry_count : p.batch;
	if (p.pages) {
		entry = ((const int *)p.pages)[own.b * p.pages_batch + at / p.page_rows];
		row = at % p.page_rows, count = p.page_count;
	}
	if (entry < 0 || entry >= count) {
		return nullptr;
	}
	return (uint16_t *)view.data + entry * view.batch + row * view.row + own.head * view.head;
}

template <class T>
WSK_DEVICE void
append(const wsk_append_params &p)
{
	int64_t index = (int64_t)blockIdx.x * WSK_APPEND_THREADS + threadIdx.x;
	if (index >= p.count) {
		return;
	}
	const int64_t of_q = p.q_out.data ? (int64_t)p.batch * p.length_q * p.heads_q * p.pairs : 0;
	if (index < of_q) {
		const append_place own(index, p.pairs, p.heads_q, p.length_q);
		int at = ((const int *)p.lengths)[own.b] + (p.each_row ? own.row : 0);
		turn<T>(p, own.in(p.q), own.in(p.q_out), own.pair, at, true);
		return;
	}
	index -= of_q;
	const int64_t of_k = (int64_t)p.batch * p.length_new * p.heads_k * p.pairs;
	const bool is_v = index >= of_k;
	const append_place own(is_v ? index - of_k : index, p.pairs, p.heads_k, p.length_new);
	const int at = ((const int *)p.lengths)[own.b] + own.row;
	uint16_t *to = cache_row(p, is_v ? p.v : p.k, own, at);
	if (to) {
		turn<T>(p, own.in(is_v ? p.v_new : p.k_new), to, own.pair, at, !is_v);
	}
}

} // namespace wsk

#define WSK_APPEND(type, suffix) \
	extern "C" __global__ void __launch_bounds__(WSK_APPEND_THREADS) \
		wsk_append_##suffix(const __grid_constant__ wsk_append_params p) \
	{ \
		wsk::append<wsk::type>(p); \
	}

WSK_APPEND(half, f16)
#if __CUDA_ARCH__ >= 800
WSK_APPEND(bfloat, bf16)
#endif
