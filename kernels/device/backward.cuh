/**
 * backward.cuh - gradients of q, k and v, each element by one thread in one order
 *
 * Three kernels without atomics, so the same inputs give the same bits:
 *   delta   sum of dO x O of each query row
 *   dk, dv  a warp owns 16 keys, goes over the queries that see them, of every head of the group:
 *           S^T = K Q^T and dP^T = V dO^T come out as the very fragments that dV += P^T dO and
 *           dK += dS^T Q need, so P and dS never leave registers
 *   dq      a warp owns 16 M queries and goes over the keys
 * P = exp(scale S - lse); dS = P (dP - delta). A row whose lse is -infinity sees no key: its P is 0.
 */
#ifndef WSK_DEVICE_BACKWARD_CUH
#define WSK_DEVICE_BACKWARD_CUH

#include "rows.cuh"

namespace wsk
{

/** What exp2 subtracts from a score: a row without keys, or past the end, gets probabilities of 0. */
WSK_DEVICE float
to_log2(float lse)
{
	return lse == -INFINITY ? INFINITY : lse * LOG2E;
}

/* ---- delta ---- */

constexpr int delta_lanes = 8; /**< lanes of one row */
constexpr int delta_rows = WSK_THREADS / delta_lanes;

template <class T>
WSK_DEVICE float
dot(const uint4 &x, const uint4 &y)
{
	const uint32_t a[4] = {x.x, x.y, x.z, x.w}, b[4] = {y.x, y.y, y.z, y.w};
	float sum = 0;
#pragma unroll
	for (int i = 0; i < 4; i++) {
		float2 f = T::unpack(a[i]), g = T::unpack(b[i]);
		sum = fmaf(f.x, g.x, fmaf(f.y, g.y, sum));
	}
	return sum;
}

template <class T, int D>
WSK_DEVICE void
delta(const wsk_attn_params &p)
{
	const place at(p.heads, p.batch);
	const span s = find_span(p.cu_q, p.used_q, at.b, p.seq_q, p.total_q);
	const int row = at.tile * delta_rows + threadIdx.x / delta_lanes;
	const int lane = threadIdx.x % delta_lanes;
	float sum = 0;
	if (row < s.length) {
		const uint16_t *o = rows_of<T>(p.o, s, p.cu_q, at.b, at.head) + row * p.o.row;
		const uint16_t *d = rows_of<T>(p.dout, s, p.cu_q, at.b, at.head) + row * p.dout.row;
		for (int c = lane; c < D / 8; c += delta_lanes) {
			uint4 x = p.wide ? *(const uint4 *)(o + c * 8) : load_narrow(o + c * 8);
			uint4 y = p.wide ? *(const uint4 *)(d + c * 8) : load_narrow(d + c * 8);
			sum += dot<T>(x, y);
		}
	}
#pragma unroll
	for (int i = 1; i < delta_lanes; i *= 2) {
		sum += __shfl_xor_sync(ALL, sum, i);
	}
	if (lane == 0 && row < s.given) {
		((float *)p.delta)[row_value(p, s, at.b, at.head) + row] = sum;
	}
}

/* ---- dk, dv ---- */

/**
 * How much of K and V a warp keeps as fragments, beside two accumulators of their size, without
 * spilling: measured with ptxas for sm_75. What is not kept stays in shared memory.
 */
template <int D> struct dkdv_shape {
	static constexpr int queries = D > 80 ? 16 : 32; /**< rows of one tile */
	static constexpr bool keeps_k = D <= 80, keeps_v = D <= 96;
	static constexpr int buffers = D > 96 ? 1 : 2;
};

/** lse and delta of one tile's queries. */
template <int Q> struct row_values {
	float lse[Q], delta[Q];
};

/** For 16 queries: P^T and dS^T of a warp's keys as A fragments. */
template <class T>
WSK_DEVICE void
differentiate(float (&s)[2][4], float (&dp)[2][4], const float *lse, const float *delta,
	float scale_log2, bool partly, const sight &see, int first_key, int first_row)
{
	const int lane = threadIdx.x & 31, column = 2 * (lane & 3);
#pragma unroll
	for (int n = 0; n < 2; n++) {
		float2 l = *(const float2 *)(lse + n * 8 + column);
		float2 d = *(const float2 *)(delta + n * 8 + column);
#pragma unroll
		for (int i = 0; i < 4; i++) {
			float probability = exp2_fast(fmaf(s[n][i], scale_log2, i & 1 ? -l.y : -l.x));
			if (partly) {
				int key = first_key + lane / 4 + 8 * (i / 2);
				int row = first_row + n * 8 + column + (i & 1);
				probability = key >= see.first(row) && key <= see.last(row) ? probability : 0;
			}
			s[n][i] = probability;
			dp[n][i] = probability * (dp[n][i] - (i & 1 ? d.y : d.x));
		}
	}
}

/** c += (16 rows of a tile) x b, where fragments of those rows are not kept. */
template <class T, int D>
WSK_DEVICE void
multiply_tiles(float (&c)[2][4], const typename tile<D>::lane &a_row, uint32_t first_row,
	uint32_t sign, const typename tile<D>::lane &by_column, uint32_t first_column)
{
#pragma unroll 2
	for (int k = 0; k < D / 16; k++) {
		uint32_t a[1][4], b[4];
		load_matrices(a[0], a_row.at(first_row, k));
		apply_sign(a, sign);
		load_matrices(b, by_column.at(first_column, k));
		T::mma(c[0], a[0], b[0], b[1]);
		T::mma(c[1], a[0], b[2], b[3]);
	}
}

template <class T, int D>
WSK_DEVICE void
dkdv(const wsk_attn_params &p)
{
	using shape = dkdv_shape<D>;
	constexpr int keys = 64, queries = shape::queries;
	constexpr int buffer = 2 * queries * tile<D>::pitch, kept = keys * tile<D>::pitch;
	constexpr int k_bytes = shape::keeps_k ? 0 : kept, v_bytes = shape::keeps_v ? 0 : kept;
	/* K, V, tiles of Q and dO; what is kept as fragments passes through the tiles' place. */
	constexpr int passing = shape::keeps_k || shape::keeps_v ? kept : 0;
	constexpr int tiles = shape::buffers * buffer > passing ? shape::buffers * buffer : passing;
	constexpr int bytes = k_bytes + v_bytes + tiles; /* at least 64 rows, for what goes out */
	static_assert(bytes + 2 * sizeof(row_values<queries>) <= 49152, "too much shared memory");
	__shared__ __align__(128) unsigned char shared[bytes];
	__shared__ __align__(16) row_values<queries> values[2];

	const place at(p.heads / p.group, p.batch);
	const span q_span = find_span(p.cu_q, p.used_q, at.b, p.seq_q, p.total_q);
	const span k_span = find_span(p.cu_k, p.used_k, at.b, p.seq_k, p.total_k);
	const int first_key = at.tile * keys, warp = threadIdx.x / 32;
	if (first_key >= k_span.given) {
		return;
	}
	const sight see(p, q_span, k_span);
	const chosen blocks(p, at.b, at.head);
	const int warp_key = first_key + warp * 16;

	unsigned char *const stage = shared + k_bytes + v_bytes;
	unsigned char *const k_tile = shape::keeps_k ? stage : shared;
	unsigned char *const v_tile = shape::keeps_v ? stage : shared + k_bytes;
	const auto k_row = lane_by_row<D>(shared_address(k_tile));
	const auto v_row = lane_by_row<D>(shared_address(v_tile));
	uint32_t k[1][D / 16][4], v[1][D / 16][4];
	load_tile<D, keys>(k_tile, rows_of<T>(p.k, k_span, p.cu_k, at.b, at.head), p.k.row, first_key,
		k_span.length, p.wide);
	__syncthreads();
	if constexpr (shape::keeps_k) {
		load_rows<D>(k[0], k_row, warp * 16);
		apply_sign(k[0], p.sign);
		__syncthreads();
	}
	load_tile<D, keys>(v_tile, rows_of<T>(p.v, k_span, p.cu_k, at.b, at.head), p.v.row, first_key,
		k_span.length, p.wide);
	__syncthreads();
	if constexpr (shape::keeps_v) {
		load_rows<D>(v[0], v_row, warp * 16);
		__syncthreads();
	}

	float dk[1][D / 8][4], dv[1][D / 8][4];
	clear(dk[0]);
	clear(dv[0]);
	const auto by_row = lane_by_row<D>(shared_address(stage));
	const auto by_column = lane_by_column<D>(shared_address(stage));
	/* Queries that see some key of the block: a key j is seen by i from j - offset - right on. */
	const int last_key = min(first_key + keys, k_span.length) - 1;
	const int first = max(first_key - see.offset - see.right, 0) / queries * queries;
	const int end =
		last_key < first_key ? 0 : min(last_key - see.offset + see.left + 1, q_span.length);

	for (int head = at.head * p.group; head < (at.head + 1) * p.group; head++) {
		pair_loader<D, queries> loader(rows_of<T>(p.q, q_span, p.cu_q, at.b, head), p.q.row,
			rows_of<T>(p.dout, q_span, p.cu_q, at.b, head), p.dout.row);
		const int64_t value_at = row_value(p, q_span, at.b, head);
		const float *from = (const float *)(threadIdx.x < queries ? p.lse : p.delta) + value_at;
		float value = 0;
		auto seek = [&](int row) {
			while (row < end && !blocks.has(row, first_key)) {
				row += queries;
			}
			return row;
		};
		auto fetch = [&](int row) {
			int own = row + threadIdx.x % queries;
			loader.fetch(row, q_span.length, p.wide);
			if (threadIdx.x < 2 * queries) {
				value = own < q_span.length ? from[own] : threadIdx.x < queries ? -INFINITY : 0;
			}
		};
		auto store = [&](int turn, int row) {
			loader.store(stage + turn * buffer, row, q_span.length, p.wide);
			if (threadIdx.x < queries) {
				values[turn].lse[threadIdx.x] = to_log2(value);
			} else if (threadIdx.x < 2 * queries) {
				values[turn].delta[threadIdx.x - queries] = value;
			}
		};
		int row = seek(first);
		if (row < end) {
			fetch(row);
			store(0, row);
		}
		__syncthreads();
		for (int turn = 0; row < end; turn ^= shape::buffers - 1) {
			const int next = seek(row + queries);
			if (next < end) {
				fetch(next);
			}
			const bool partly =
				warp_key + 15 > see.last(row) || warp_key < see.first(row + queries - 1);
#pragma unroll 1 /* unrolled, it spills */
			for (int step = 0; step < queries; step += 16) {
				const uint32_t q_row = turn * 2 * queries + step, do_row = q_row + queries;
				float s[1][2][4], dp[1][2][4];
				uint32_t a[1][1][4];
				clear(s[0]);
				clear(dp[0]);
				if constexpr (shape::keeps_k) {
					multiply_rows<T, D>(s, k, by_column, q_row);
				} else {
					multiply_tiles<T, D>(s[0], k_row, warp * 16, p.sign, by_column, q_row);
				}
				if constexpr (shape::keeps_v) {
					multiply_rows<T, D>(dp, v, by_column, do_row);
				} else {
					multiply_tiles<T, D>(dp[0], v_row, warp * 16, 0, by_column, do_row);
				}
				differentiate<T>(s[0], dp[0], values[turn].lse + step, values[turn].delta + step,
					p.scale_log2, partly, see, warp_key, row + step);
				pack_rows<T>(a[0], s[0]);
				multiply_columns<T, D>(dv, a, by_row, do_row);
				pack_rows<T>(a[0], dp[0]);
				multiply_columns<T, D>(dk, a, by_row, q_row);
			}
			if (shape::buffers == 1) {
				__syncthreads();
			}
			if (next < end) {
				store(turn ^ (shape::buffers - 1), next);
			}
			__syncthreads();
			row = next;
		}
	}
	unsigned char *mine = shared + warp * 16 * tile<D>::pitch;
	const int lane = threadIdx.x & 31;
	put_rows<T, D>(mine, dk[0], 0, p.scale, p.scale);
	__syncwarp();
	store_tile<D, 16>(mine, rows_of<T>(p.dk, k_span, p.cu_k, at.b, at.head), p.dk.row, warp_key,
		k_span.length, k_span.given, p.wide, lane, 32);
	__syncwarp();
	put_rows<T, D>(mine, dv[0], 0, 1, 1);
	__syncwarp();
	store_tile<D, 16>(mine, rows_of<T>(p.dv, k_span, p.cu_k, at.b, at.head), p.dv.row, warp_key,
		k_span.length, k_span.given, p.wide, lane, 32);
}

/* ---- dq ---- */

template <class T, int D, int M>
WSK_DEVICE void
dq(const wsk_attn_params &p)
{
	constexpr int rows_a_warp = 16 * M, rows = 64 * M, keys = 32;
	constexpr int buffer = 2 * keys * tile<D>::pitch;
	constexpr int bytes = 2 * buffer > rows * tile<D>::pitch ? 2 * buffer : rows * tile<D>::pitch;
	static_assert(bytes <= 49152, "too much shared memory");
	__shared__ __align__(128) unsigned char shared[bytes];

	const place at(p.heads, p.batch);
	const int kv_head = at.head / p.group;
	const span q_span = find_span(p.cu_q, p.used_q, at.b, p.seq_q, p.total_q);
	const span k_span = find_span(p.cu_k, p.used_k, at.b, p.seq_k, p.total_k);
	const int first_row = (p.tiles - 1 - at.tile) * rows;
	if (first_row >= q_span.given) {
		return;
	}
	const int warp = threadIdx.x / 32, lane = threadIdx.x & 31;
	const int warp_row = first_row + warp * rows_a_warp;
	const int end_row = min(first_row + rows, q_span.length);
	const sight see(p, q_span, k_span);
	const chosen blocks(p, at.b, kv_head);
	/* Where the sequence ends with the first block of queries, there is no set of the second. */
	const int block_row = M > 1 && first_row + 64 >= end_row ? first_row : warp_row;

	uint32_t q[M][D / 16][4], dout[M][D / 16][4];
	const auto by_row = lane_by_row<D>(shared_address(shared));
	load_tile<D, rows>(shared, rows_of<T>(p.q, q_span, p.cu_q, at.b, at.head), p.q.row, first_row,
		q_span.length, p.wide);
	__syncthreads();
#pragma unroll
	for (int m = 0; m < M; m++) {
		load_rows<D>(q[m], by_row, warp * rows_a_warp + m * 16);
		apply_sign(q[m], p.sign);
	}
	__syncthreads();
	load_tile<D, rows>(shared, rows_of<T>(p.dout, q_span, p.cu_q, at.b, at.head), p.dout.row,
		first_row, q_span.length, p.wide);
	__syncthreads();
#pragma unroll
	for (int m = 0; m < M; m++) {
		load_rows<D>(dout[m], by_row, warp * rows_a_warp + m * 16);
	}
	__syncthreads();

	const int64_t value_at = row_value(p, q_span, at.b, at.head);
	float lse[M][2], delta[M][2], dq[M][D / 8][4];
#pragma unroll
	for (int m = 0; m < M; m++) {
		clear(dq[m]);
#pragma unroll
		for (int i = 0; i < 2; i++) {
			int row = warp_row + m * 16 + lane / 4 + 8 * i;
			bool counts = row < q_span.length;
			lse[m][i] = to_log2(counts ? ((const float *)p.lse)[value_at + row] : -INFINITY);
			delta[m][i] = counts ? ((const float *)p.delta)[value_at + row] : 0;
		}
	}
	pair_loader<D, keys> loader(rows_of<T>(p.k, k_span, p.cu_k, at.b, kv_head), p.k.row,
		rows_of<T>(p.v, k_span, p.cu_k, at.b, kv_head), p.v.row);
	const int first = max(see.first(first_row), 0) & ~31;
	const int end = end_row > first_row ? see.last(end_row - 1) + 1 : 0;
	auto seek = [&](int key) {
		while (key < end && !blocks.has(first_row, key)
			&& !(M > 1 && first_row + 64 < end_row && blocks.has(first_row + 64, key))) {
			key += keys;
		}
		return key;
	};
	int key = seek(first);
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
		const int last_row = warp_row + rows_a_warp - 1;
		if (key <= see.last(last_row) && key + keys > see.first(warp_row)
			&& blocks.has(block_row, key)) {
			const bool partly = key < see.first(last_row) || key + keys - 1 > see.last(warp_row);
#pragma unroll 1 /* likewise */
			for (int step = 0; step < keys; step += 16) {
				const uint32_t k_row = turn * 2 * keys + step, v_row = k_row + keys;
				float s[M][2][4], dp[M][2][4];
				uint32_t ds[M][1][4];
#pragma unroll
				for (int m = 0; m < M; m++) {
					clear(s[m]);
					clear(dp[m]);
				}
				multiply_rows<T, D>(s, q, by_column, k_row);
				multiply_rows<T, D>(dp, dout, by_column, v_row);
#pragma unroll
				for (int m = 0; m < M; m++) {
#pragma unroll
					for (int n = 0; n < 2; n++) {
#pragma unroll
						for (int i = 0; i < 4; i++) {
							float x = exp2_fast(fmaf(s[m][n][i], p.scale_log2, -lse[m][i / 2]));
							if (partly) {
								int row = warp_row + m * 16 + lane / 4 + 8 * (i / 2);
								int own = key + step + n * 8 + 2 * (lane & 3) + (i & 1);
								x = own >= see.first(row) && own <= see.last(row) ? x : 0;
							}
							dp[m][n][i] = x * (dp[m][n][i] - delta[m][i / 2]);
						}
					}
					pack_rows<T>(ds[m], dp[m]);
				}
				multiply_columns<T, D>(dq, ds, by_row, k_row);
			}
		}
		if (next < end) {
			loader.store(shared + (turn ^ 1) * buffer, next, see.keys, p.wide);
		}
		__syncthreads();
		key = next;
	}
	unsigned char *mine = shared + warp * rows_a_warp * tile<D>::pitch;
#pragma unroll
	for (int m = 0; m < M; m++) {
		put_rows<T, D>(mine, dq[m], m * 16, p.scale, p.scale);
	}
	__syncwarp();
	store_tile<D, rows_a_warp>(mine, rows_of<T>(p.dq, q_span, p.cu_q, at.b, at.head), p.dq.row,
		warp_row, q_span.length, q_span.given, p.wide, lane, 32);
}

} // namespace wsk

#endif
