/**
 * decode.cuh - few queries, many keys: the keys are split among blocks of threads
 *
 * A block takes 16 rows, which are the queries of all heads of a group, so that K and V are read
 * once for the group; a warp takes every fourth block of 16 keys of its split. Fragments come
 * straight from global memory, 16 bytes a lane: the sum over the head dimension and the order of
 * the output columns are free, so lane c of a quad takes 8 neighbouring elements where the fragment
 * has pairs. Then the warps' results are put together, and by a second kernel those of the splits,
 * in one order.
 *
 * Rows in pages: a block of 16 keys is inside one page, because the rows of a page are a multiple
 * of 16.
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
 * The part of a row that a lane holds for a sum over D: pieces of 32 elements, 8 a lane, and for D
 * % 32 ==
 * 16 one of 16, 4 a lane. Word s of a piece is what the fragment of step s holds.
 */
template <int D> struct row_words {
	static constexpr int wide_pieces = D / 32, words = D / 8;
	uint32_t w[words];

	WSK_DEVICE void
	load(const uint16_t *row, bool inside, int chunks, bool wide)
	{
		int c = threadIdx.x & 3;
#pragma unroll
		for (int j = 0; j < wide_pieces; j++) {
			load_words(*(uint32_t(*)[4])(w + 4 * j), row + 32 * j + 8 * c,
				inside && 4 * j + c < chunks, wide);
		}
		if constexpr (D % 32 == 16) {
			load_words(*(uint32_t(*)[2])(w + 4 * wide_pieces), row + D - 16 + 4 * c,
				inside && D / 8 - 2 + c / 2 < chunks, wide);
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

	/** @a v: the first of the 16 keys' rows, of which @a count are there. */
	WSK_DEVICE void
	load(const uint16_t *v, int64_t step, int count, int chunks, bool wide)
	{
		int c = threadIdx.x & 3, g = (threadIdx.x & 31) / 4;
#pragma unroll
		for (int i = 0; i < 4; i++) {
			int own = 2 * c + (i & 1) + 4 * (i & 2);
			const uint16_t *row = v + own * step;
#pragma unroll
			for (int j = 0; j < pieces; j++) {
				load_words(*(uint32_t(*)[4])(w[i] + 4 * j), row + 64 * j + 8 * g,
					own < count && 8 * j + g < chunks, wide);
			}
			if constexpr (rest > 0) {
				load_words(*(uint32_t(*)[rest / 2])(w[i] + 4 * pieces),
					row + 64 * pieces + rest * g, own < count && 8 * pieces + rest * g / 8 < chunks,
					wide);
			}
		}
	}
	/** Column @a x of this lane's, of the first or second pair of keys, as a B fragment. */
	WSK_DEVICE uint32_t
	pair(int x, int second) const
	{
		return __byte_perm(w[2 * second][x / 2], w[2 * second + 1][x / 2], x & 1 ? 0x7632 : 0x5410);
	}
	/** The first column of the head dimension in accumulator @a x of lane quad member @a c. */
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

	const tile_place at(p.heads / p.group, p.batch, p.splits);
	const int split = at.part, kv_head = at.head, b = at.b;
	const span q_span = span_of_q(p, b), k_span = span_of_k(p, b);
	const decode_rows own = {p.seq_q * p.group, p.group, at.tile * rows};
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
			counts, p.chunks, p.wide);
#pragma unroll
		for (int j = 0; j < row_words<D>::words; j++) {
			q[i][j] = words.w[j] ^ p.sign;
		}
		first[i] = counts ? see.first(s) : 0;
		last[i] = counts ? see.last(s) : -1;
	}
	/* The union of the keys of all rows, split into whole blocks of 64 keys. */
	const int from = max(see.first(own.query(0)), 0) & ~63;
	const int until = see.last(own.query(rows - 1)) + 1;
	const int part = (max(until - from, 0) + 64 * p.splits - 1) / (64 * p.splits) * 64;
	const int begin = from + split * part, end = min(begin + part, until);

	const int entry = entry_of(p, b);
	const uint16_t *k = rows_of<T>(p.k, k_span, p.pages, entry, kv_head);
	const uint16_t *v = rows_of<T>(p.v, k_span, p.pages, entry, kv_head);
	const paged_rows k_pages(p, p.k, b), v_pages(p, p.v, b);
	float o[D / 8][4];
	clear(o);
	softmax_rows softmax;
	row_words<D> k_words[2];
	value_words<D> v_words;
	auto load_k = [&](int key) {
		const uint16_t *first = k + (key < end ? k_pages.at(key) : 0);
#pragma unroll
		for (int n = 0; n < 2; n++) {
			int own = n * 8 + g;
			k_words[n].load(first + own * p.k.row, key + own < end, p.chunks, p.wide);
		}
	};
	auto load_v = [&](int key) {
		v_words.load(v + (key < end ? v_pages.at(key) : 0), p.v.row, end - key, p.chunks, p.wide);
	};
	int key = begin + warp * keys;
	load_k(key);
	load_v(key);
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
		load_k(next);
		if (p.softcap != 0) {
			cap_scores(s, p.softcap);
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
		load_v(next);
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
	const int row = at % p.seq_q, head = at / p.seq_q % p.heads, b = at / p.seq_q / p.heads;
	const span s = span_of_q(p, b);
	if (row >= s.given) {
		return;
	}
	/* The parts of an invalid row may be unwritten. */
	const int splits = row < s.length ? p.splits : 0;
	const float *part = (const float *)p.part + at * pitch;
	float maximum = no_maximum, sum = 0, value[(D + 63) / 64][2] = {}, factor;
	for (int i = 0; i < splits; i++) {
		maximum = fmaxf(maximum, part[i * all * pitch + D]);
	}
	for (int i = 0; i < splits; i++) {
		const float *of = part + i * all * pitch;
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
	float lse = -INFINITY;
	factor = 0;
	if (row < s.length) {
		lse = finish_row(p, head, maximum, sum, factor);
	}
	uint16_t *o = rows_of<T>(p.o, s, p.cu_q, b, head) + row * p.o.row;
#pragma unroll
	for (int j = 0; j < (D + 63) / 64; j++) {
		if (64 * j + 2 * lane < 8 * p.chunks) {
			uint32_t w = T::pack(value[j][0] * factor, value[j][1] * factor);
			o[64 * j + 2 * lane] = (uint16_t)w;
			o[64 * j + 2 * lane + 1] = (uint16_t)(w >> 16);
		}
	}
	if (p.lse && lane == 0) {
		((float *)p.lse)[lse_at(p, s, b, head) + row] = lse;
	}
}

} // namespace wsk

#endif
