/**
 * decode.cuh - few queries, many keys: the keys are split among blocks of threads
 *
 * A block takes 16 rows, which are the queries of all heads of a group, so that K and V are read once
 * for the group; a warp takes every fourth block of 16 keys of its split. Fragments come straight from
 * global memory, 16 bytes a lane: the sum over the head dimension and the order of the output columns
 * are free, so lane c of a quad takes 8 neighbouring elements where the fragment has pairs. Then the
 * warps' results are put together, and by a second kernel those of the splits, in one order.
 */
#ifndef WSK_DEVICE_DECODE_CUH
#define WSK_DEVICE_DECODE_CUH

#include "forward.cuh"

namespace wsk
{

/** N words (of two elements) of one row; zeros where @a inside is false. */
template <int N>
WSK_DEVICE void
load_words(uint32_t (&w)[N], const uint16_t *p, bool inside, bool wide)
{
#pragma unroll
	for (int i = 0; i < N; i++) {
		w[i] = 0;
	}
	if (!inside) {
		return;
	}
	if (!wide) {
#pragma unroll
		for (int i = 0; i < N; i++) {
			w[i] = p[2 * i] | (uint32_t)p[2 * i + 1] << 16;
		}
	} else if constexpr (N == 4) {
		uint4 x = __ldg((const uint4 *)p);
		w[0] = x.x, w[1] = x.y, w[2] = x.z, w[3] = x.w;
	} else if constexpr (N == 2) {
		uint2 x = __ldg((const uint2 *)p);
		w[0] = x.x, w[1] = x.y;
	} else {
		w[0] = __ldg((const uint32_t *)p);
	}
}

/**
 * What a lane holds of a row for a sum over D: pieces of 32 elements, 8 a lane, and for D % 32 == 16
 * one of 16, 4 a lane. Word s of a piece is what the fragment of step s holds.
 */
template <int D> struct row_words {
	static constexpr int wide_pieces = D / 32, words = D / 8;
	uint32_t w[words];

	WSK_DEVICE void
	load(const uint16_t *row, bool inside, bool wide)
	{
		int c = threadIdx.x & 3;
#pragma unroll
		for (int j = 0; j < wide_pieces; j++) {
			load_words(*(uint32_t(*)[4])(w + 4 * j), row + 32 * j + 8 * c, inside, wide);
		}
		if constexpr (D % 32 == 16) {
			load_words(*(uint32_t(*)[2])(w + 4 * wide_pieces), row + D - 16 + 4 * c, inside, wide);
		}
	}
};

/**
 * V for 16 keys: pieces of 64 columns, 8 a lane, and a rest of 16 or 32, 2 or 4 a lane, of the four
 * keys 2 c, 2 c + 1, 2 c + 8, 2 c + 9. Column i of a lane's piece is column lane / 4 of product i.
 */
template <int D> struct value_words {
	static constexpr int pieces = D / 64, rest = D % 64 / 8, words = 4 * pieces + rest / 2;
	uint32_t w[4][words];

	WSK_DEVICE void
	load(const uint16_t *v, int64_t step, int key, int end, bool wide)
	{
		int c = threadIdx.x & 3, g = (threadIdx.x & 31) / 4;
#pragma unroll
		for (int i = 0; i < 4; i++) {
			int own = key + 2 * c + (i & 1) + 4 * (i & 2);
			const uint16_t *row = v + own * step;
#pragma unroll
			for (int j = 0; j < pieces; j++) {
				load_words(*(uint32_t(*)[4])(w[i] + 4 * j), row + 64 * j + 8 * g, own < end, wide);
			}
			if constexpr (rest > 0) {
				load_words(*(uint32_t(*)[rest / 2])(w[i] + 4 * pieces),
					row + 64 * pieces + rest * g, own < end, wide);
			}
		}
	}
	/** Column @a x of this lane's, of the first or second pair of keys, as a B fragment. */
	WSK_DEVICE uint32_t
	pair(int x, int second) const
	{
		return __byte_perm(w[2 * second][x / 2], w[2 * second + 1][x / 2], x & 1 ? 0x7632 : 0x5410);
	}
	/** The column of the head dimension that accumulator @a x of lane quad member @a c starts at. */
	static WSK_DEVICE int
	column(int x, int half)
	{
		int g = 2 * (threadIdx.x & 3) + half;
		return x < 8 * pieces ? x / 8 * 64 + 8 * g + x % 8
							  : 64 * pieces + rest * g + x - 8 * pieces;
	}
};

/** The rows of one block: query s of head g of the group is row s x group + g. */
struct decode_rows {
	int count, group, first;

	WSK_DEVICE int
	query(int row) const
	{
		return min(first + row, count - 1) / group;
	}
};

template <class T, int D>
WSK_DEVICE void
decode(const wsk_attn_params &p)
{
	constexpr int rows = WSK_DECODE_ROWS, warps = WSK_THREADS / 32, keys = 16, pitch = D + 2;
	__shared__ float partial[warps][rows][pitch]; /* o, maximum, sum */
	static_assert(sizeof(partial) <= 49152, "too much shared memory");

	const int split = blockIdx.x % p.splits;
	int index = blockIdx.x / p.splits;
	const int kv_heads = p.heads / p.group, kv_head = index % kv_heads;
	index /= kv_heads;
	const int b = index % p.batch;
	const span q_span = find_span(0, p.used_q, b, p.seq_q, 0);
	const span k_span = find_span(0, p.used_k, b, p.seq_k, 0);
	const decode_rows own = {p.seq_q * p.group, p.group, index / p.batch * rows};
	const sight see(p, q_span, k_span);
	const int warp = threadIdx.x / 32, g = (threadIdx.x & 31) / 4, c = threadIdx.x & 3;

	uint32_t q[2][row_words<D>::words];
	int first[2], last[2];
#pragma unroll
	for (int i = 0; i < 2; i++) {
		int row = own.first + g + 8 * i, s = own.query(g + 8 * i);
		bool counts = row < own.count && s < q_span.length;
		row_words<D> words;
		words.load(
			rows_of<T>(p.q, q_span, false, b, kv_head * p.group + row % p.group) + s * p.q.row,
			counts, p.wide);
#pragma unroll
		for (int j = 0; j < row_words<D>::words; j++) {
			q[i][j] = words.w[j] ^ p.sign;
		}
		first[i] = counts ? see.first(s) : 0;
		last[i] = counts ? see.last(s) : -1;
	}
	/* What the rows see together, in parts of whole blocks of 64 keys. */
	const int from = max(see.first(own.query(0)), 0) & ~63;
	const int until = see.last(own.query(rows - 1)) + 1;
	const int part = (max(until - from, 0) + 64 * p.splits - 1) / (64 * p.splits) * 64;
	const int begin = from + split * part, end = min(begin + part, until);

	const uint16_t *k = rows_of<T>(p.k, k_span, false, b, kv_head);
	const uint16_t *v = rows_of<T>(p.v, k_span, false, b, kv_head);
	float o[D / 8][4];
	clear(o);
	softmax_rows softmax;
	row_words<D> k_words[2];
	value_words<D> v_words;
	int key = begin + warp * keys;
#pragma unroll
	for (int n = 0; n < 2; n++) {
		k_words[n].load(k + (key + n * 8 + g) * p.k.row, key + n * 8 + g < end, p.wide);
	}
	v_words.load(v, p.v.row, key, end, p.wide);
	for (; key < end; key += warps * keys) {
		const int next = key + warps * keys;
		float s[2][4], factor[2];
		uint32_t a[1][4];
		clear(s);
#pragma unroll
		for (int j = 0; j < row_words<D>::words; j += 2) {
			const uint32_t fragment[4] = {q[0][j], q[1][j], q[0][j + 1], q[1][j + 1]};
			T::mma(s[0], fragment, k_words[0].w[j], k_words[0].w[j + 1]);
			T::mma(s[1], fragment, k_words[1].w[j], k_words[1].w[j + 1]);
		}
#pragma unroll
		for (int n = 0; n < 2; n++) {
			k_words[n].load(k + (next + n * 8 + g) * p.k.row, next + n * 8 + g < end, p.wide);
		}
#pragma unroll
		for (int n = 0; n < 2; n++) {
#pragma unroll
			for (int i = 0; i < 4; i++) {
				int j = key + n * 8 + 2 * c + (i & 1);
				s[n][i] = j >= first[i / 2] && j <= last[i / 2] && j < end ? s[n][i] : -INFINITY;
			}
		}
		if (update_maximum(softmax, s, p.scale_log2, factor)) {
#pragma unroll
			for (int n = 0; n < D / 8; n++) {
#pragma unroll
				for (int i = 0; i < 4; i++) {
					o[n][i] *= factor[i / 2];
				}
			}
		}
		exponentiate(softmax, s, p.scale_log2);
		pack_rows<T>(a, s);
#pragma unroll
		for (int x = 0; x < D / 8; x++) {
			T::mma(o[x], a[0], v_words.pair(x, 0), v_words.pair(x, 1));
		}
		v_words.load(v, p.v.row, next, end, p.wide);
	}
#pragma unroll
	for (int i = 0; i < 2; i++) {
		float sum = row_sum(softmax.sum[i]);
		float *row = partial[warp][g + 8 * i];
#pragma unroll
		for (int x = 0; x < D / 8; x++) {
			row[value_words<D>::column(x, 0)] = o[x][2 * i];
			row[value_words<D>::column(x, 1)] = o[x][2 * i + 1];
		}
		if (c == 0) {
			row[D] = softmax.maximum[i];
			row[D + 1] = sum;
		}
	}
	__syncthreads();
	for (int i = threadIdx.x; i < rows * pitch; i += WSK_THREADS) {
		int r = i / pitch, x = i % pitch, row = own.first + r;
		float maximum = no_maximum, value = 0;
		if (row >= own.count) {
			break;
		}
#pragma unroll
		for (int w = 0; w < warps; w++) {
			maximum = fmaxf(maximum, partial[w][r][D]);
		}
#pragma unroll
		for (int w = 0; w < warps; w++) {
			value += partial[w][r][x] * exp2_fast(partial[w][r][D] - maximum);
		}
		int64_t at =
			((int64_t)b * p.heads + kv_head * p.group + row % p.group) * p.seq_q + row / p.group;
		int64_t all = (int64_t)p.batch * p.heads * p.seq_q;
		((float *)p.part)[(split * all + at) * pitch + x] = x == D ? maximum : value;
	}
}

/** Puts the splits of one row together; a warp for each row. */
template <class T, int D>
WSK_DEVICE void
combine(const wsk_attn_params &p)
{
	constexpr int pitch = D + 2;
	const int64_t all = (int64_t)p.batch * p.heads * p.seq_q;
	const int64_t at = (int64_t)blockIdx.x * (WSK_THREADS / 32) + threadIdx.x / 32;
	const int lane = threadIdx.x & 31;
	if (at >= all) {
		return;
	}
	const float *part = (const float *)p.part + at * pitch;
	float maximum = no_maximum, sum = 0, value[(D + 63) / 64][2] = {};
	for (int s = 0; s < p.splits; s++) {
		maximum = fmaxf(maximum, part[s * all * pitch + D]);
	}
	for (int s = 0; s < p.splits; s++) {
		const float *of = part + s * all * pitch;
		float weight = exp2_fast(of[D] - maximum);
		sum += of[D + 1] * weight;
#pragma unroll
		for (int j = 0; j < (D + 63) / 64; j++) {
			if (64 * j + 2 * lane < D) {
				float2 x = *(const float2 *)(of + 64 * j + 2 * lane);
				value[j][0] += x.x * weight;
				value[j][1] += x.y * weight;
			}
		}
	}
	const int row = at % p.seq_q, head = at / p.seq_q % p.heads, b = at / p.seq_q / p.heads;
	const span s = find_span(0, p.used_q, b, p.seq_q, 0);
	const bool counts = row < s.length && sum > 0;
	const float factor = counts ? 1 / sum : 0;
	uint16_t *o = rows_of<T>(p.o, s, false, b, head) + row * p.o.row;
#pragma unroll
	for (int j = 0; j < (D + 63) / 64; j++) {
		if (64 * j + 2 * lane < D) {
			uint32_t w = T::pack(value[j][0] * factor, value[j][1] * factor);
			o[64 * j + 2 * lane] = (uint16_t)w;
			o[64 * j + 2 * lane + 1] = (uint16_t)(w >> 16);
		}
	}
	if (p.lse && lane == 0) {
		((float *)p.lse)[b * p.lse_batch + head * p.lse_head + row] =
			counts ? (maximum + log2f(sum)) * LN2 : -INFINITY;
	}
}

} // namespace wsk

#endif
