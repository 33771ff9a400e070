/**
 * forward.cuh - o = softmax(scale q k^T) v, and the logarithm of the sums
 *
 * A block of four warps takes 64 M query rows of one head, M x 16 a warp, and goes over the keys in
 * tiles of 32. The next tile is on its way from global memory while this one is computed, into the
 * other of two buffers: one barrier for each tile. Scores and probabilities stay in registers.
 *
 * Softmax: the maximum that a row subtracts is raised only when a score exceeds it by 8 (in powers
 * of two), so probabilities are at most 256 and the result is the same function of the inputs; what
 * a row does depends on that row alone. A row with no key gives 0 and -infinity.
 */
#ifndef WSK_DEVICE_FORWARD_CUH
#define WSK_DEVICE_FORWARD_CUH

#include "rows.cuh"

namespace wsk
{

constexpr float no_maximum = -1e30f; /**< below every score, yet finite: no NaN comes of it */
constexpr float slack = 8.0f;

/** Running maximum and sum of the rows of one accumulator: upper (lane / 4) and lower (+ 8). */
struct softmax_rows {
	float maximum[2] = {no_maximum, no_maximum};
	float sum[2] = {0, 0}; /**< of this lane's columns */
};

/** Scores become probabilities; true where @a factor (of what was summed before) is not 1. */
template <int N>
WSK_DEVICE bool
update_maximum(softmax_rows &rows, const float (&s)[N][4], float scale_log2, float (&factor)[2])
{
	float top[2] = {s[0][0], s[0][2]};
#pragma unroll
	for (int n = 0; n < N; n++) {
		top[0] = fmaxf(top[0], fmaxf(s[n][0], s[n][1]));
		top[1] = fmaxf(top[1], fmaxf(s[n][2], s[n][3]));
	}
	bool exceeds = top[0] * scale_log2 > rows.maximum[0] + slack
		|| top[1] * scale_log2 > rows.maximum[1] + slack;
	if (!__any_sync(ALL, exceeds)) {
		return false;
	}
#pragma unroll
	for (int i = 0; i < 2; i++) {
		float reached = row_max(top[i]) * scale_log2;
		float next = reached > rows.maximum[i] + slack ? reached : rows.maximum[i];
		factor[i] = exp2_fast(rows.maximum[i] - next);
		rows.maximum[i] = next;
		rows.sum[i] *= factor[i];
	}
	return true;
}

template <int N>
WSK_DEVICE void
exponentiate(softmax_rows &rows, float (&s)[N][4], float scale_log2)
{
#pragma unroll
	for (int n = 0; n < N; n++) {
#pragma unroll
		for (int i = 0; i < 4; i++) {
#ifdef WSK_BREAK_SCALE /* a deliberately wrong variant: the tests must notice it */
			scale_log2 *= 1.01f;
#endif
			s[n][i] = exp2_fast(fmaf(s[n][i], scale_log2, -rows.maximum[i / 2]));
			rows.sum[i / 2] += s[n][i];
		}
	}
}

/** Takes out what a row does not see: keys from @a first_key on, queries from @a first_row on. */
template <int N>
WSK_DEVICE void
mask_rows(float (&s)[N][4], const sight &see, int first_row, int first_key)
{
	int lane = threadIdx.x & 31;
#pragma unroll
	for (int h = 0; h < 2; h++) {
		int row = first_row + lane / 4 + 8 * h, key = first_key + 2 * (lane & 3);
		int first = see.first(row) - key, last = see.last(row) - key;
#pragma unroll
		for (int n = 0; n < N; n++) {
#pragma unroll
			for (int i = 0; i < 2; i++) {
				if (n * 8 + i < first || n * 8 + i > last) {
					s[n][2 * h + i] = -INFINITY;
				}
			}
		}
	}
}

/** Natural logarithm of a row's sum, and what its accumulators are to be multiplied by. */
WSK_DEVICE float
finish_row(const softmax_rows &rows, int i, float &factor)
{
	float sum = row_sum(rows.sum[i]);
	factor = sum > 0 ? 1 / sum : 0;
	return sum > 0 ? (rows.maximum[i] + log2f(sum)) * LN2 : -INFINITY;
}

/** Keys that rows [first_row, end_row) see, in tiles of 32. */
struct key_tiles {
	int next, end; /**< in keys */

	WSK_DEVICE
	key_tiles(const sight &see, int first_row, int end_row)
		: next(max(see.first(first_row), 0) & ~31), end(see.last(end_row - 1) + 1)
	{
	}
};

template <class T, int D, int M>
WSK_DEVICE void
forward(const wsk_attn_params &p)
{
	constexpr int rows_a_warp = 16 * M, rows = 64 * M, keys = 32;
	constexpr int buffer = 2 * keys * tile<D>::pitch;
	constexpr int bytes = 2 * buffer > rows * tile<D>::pitch ? 2 * buffer : rows * tile<D>::pitch;
	static_assert(bytes <= 49152, "more shared memory than a kernel has without asking");
	__shared__ __align__(128) unsigned char shared[bytes];

	const place at(p.heads, p.batch);
	const int kv_head = at.head / p.group;
	const span q_span = find_span(p.cu_q, p.used_q, at.b, p.seq_q, p.total_q);
	const span k_span = find_span(p.cu_k, p.used_k, at.b, p.seq_k, p.total_k);
	const int first_row = (p.tiles - 1 - at.tile) * rows; /* the longest first */
	if (first_row >= q_span.given) {
		return;
	}
	const int warp = threadIdx.x / 32, warp_row = first_row + warp * rows_a_warp;
	const int end_row = min(first_row + rows, q_span.length);
	const sight see(p, q_span, k_span);
	const chosen blocks(p, at.b, kv_head);
	/* Where the sequence ends with the first block of queries, there is no set of the second. */
	const int block_row = M > 1 && first_row + 64 >= end_row ? first_row : warp_row;

	load_tile<D, rows>(shared, rows_of<T>(p.q, q_span, p.cu_q, at.b, at.head), p.q.row, first_row,
		q_span.length, p.wide);
	__syncthreads();
	uint32_t q[M][D / 16][4];
	const auto by_row = lane_by_row<D>(shared_address(shared));
#pragma unroll
	for (int m = 0; m < M; m++) {
		load_rows<D>(q[m], by_row, warp * rows_a_warp + m * 16);
		apply_sign(q[m], p.sign);
	}
	__syncthreads();

	float o[M][D / 8][4];
	softmax_rows softmax[M];
#pragma unroll
	for (int m = 0; m < M; m++) {
		clear(o[m]);
	}
	pair_loader<D, keys> loader(rows_of<T>(p.k, k_span, p.cu_k, at.b, kv_head), p.k.row,
		rows_of<T>(p.v, k_span, p.cu_k, at.b, kv_head), p.v.row);
	key_tiles range(see, first_row, end_row);
	const int end = end_row > first_row ? range.end : 0;
	/* The next tile that some of the rows have chosen, or `end`. */
	auto seek = [&](int key) {
		while (key < end && !blocks.has(first_row, key)
			&& !(M > 1 && first_row + 64 < end_row && blocks.has(first_row + 64, key))) {
			key += keys;
		}
		return key;
	};
	int key = seek(range.next);
	if (key < end) {
		loader.fetch(key, see.keys, p.wide);
		loader.store(shared, key, see.keys, p.wide);
	}
	__syncthreads();
	const auto by_column = lane_by_column<D>(shared_address(shared));
	for (int turn = 0; key < end; turn ^= 1) {
		const int next = seek(key + keys);
		if (next < end) {
			loader.fetch(next, see.keys, p.wide);
		}
		if (key <= see.last(warp_row + rows_a_warp - 1) && key + keys > see.first(warp_row)
			&& blocks.has(block_row, key)) {
			const uint32_t k_row = turn * 2 * keys, v_row = k_row + keys;
			float s[M][keys / 8][4];
			uint32_t probability[M][keys / 16][4];
#pragma unroll
			for (int m = 0; m < M; m++) {
				clear(s[m]);
			}
			multiply_rows<T, D>(s, q, by_column, k_row);
			const bool partly =
				key < see.first(warp_row + rows_a_warp - 1) || key + keys - 1 > see.last(warp_row);
#pragma unroll
			for (int m = 0; m < M; m++) {
				float factor[2];
				if (partly) {
					mask_rows(s[m], see, warp_row + m * 16, key);
				}
				if (update_maximum(softmax[m], s[m], p.scale_log2, factor)) {
#pragma unroll
					for (int n = 0; n < D / 8; n++) {
						o[m][n][0] *= factor[0];
						o[m][n][1] *= factor[0];
						o[m][n][2] *= factor[1];
						o[m][n][3] *= factor[1];
					}
				}
				exponentiate(softmax[m], s[m], p.scale_log2);
				pack_rows<T>(probability[m], s[m]);
			}
			multiply_columns<T, D>(o, probability, by_row, v_row);
		}
		if (next < end) {
			loader.store(shared + (turn ^ 1) * buffer, next, see.keys, p.wide);
		}
		__syncthreads();
		key = next;
	}

	float *lse = (float *)p.lse + row_value(p, q_span, at.b, at.head);
#pragma unroll
	for (int m = 0; m < M; m++) {
		float factor[2];
#pragma unroll
		for (int i = 0; i < 2; i++) {
			float value = finish_row(softmax[m], i, factor[i]);
			int row = warp_row + m * 16 + (threadIdx.x & 31) / 4 + 8 * i;
			if (p.lse && (threadIdx.x & 3) == 0 && row < q_span.given) {
				lse[row] = row < q_span.length ? value : -INFINITY;
			}
		}
		put_rows<T, D>(shared, o[m], warp * rows_a_warp + m * 16, factor[0], factor[1]);
	}
	__syncwarp();
	store_tile<D, rows_a_warp>(shared + warp * rows_a_warp * tile<D>::pitch,
		rows_of<T>(p.o, q_span, p.cu_q, at.b, at.head), p.o.row, warp_row, q_span.length,
		q_span.given, p.wide, threadIdx.x & 31, 32);
}

} // namespace wsk

#endif
