/**
 * dkdv.cuh - gradients of k and v: a warp owns 16 keys and both of their gradients
 *
 * It goes over the queries that see them, of every head of the group. S^T = K Q^T and dP^T = V dO^T
 * come out as the very fragments that dV += P^T dO and dK += dS^T Q need. ANY is the form with a
 * cap and dropout.
 */
#ifndef WSK_DEVICE_DKDV_CUH
#define WSK_DEVICE_DKDV_CUH

#include "backward.cuh"

namespace wsk
{

/**
 * How much of K and V a warp keeps as fragments, beside two accumulators of their size, without
 * spilling: measured with ptxas for sm_75. The rest stays in shared memory.
 */
template <int D, bool ANY> struct dkdv_shape {
	static constexpr int queries = D > 80 ? 16 : 32; /**< rows of one tile */
	static constexpr bool keeps_k = D <= (ANY ? 64 : 80), keeps_v = D <= (ANY ? 80 : 96);
	static constexpr int buffers = D > 96 ? 1 : 2;
};

/** lse and delta of one tile's queries. */
template <int Q> struct row_values {
	float lse[Q], delta[Q];
};

/**
 * The elements of P^T that dropout keeps, of a lane's 8: bit 4 n + i, in the order of
 * differentiate().
 * They are those of two lanes of dq's fragment: keys and queries have changed places.
 */
WSK_DEVICE uint32_t
kept_of_keys(const dropout &random, int first_row, int first_key)
{
	const int lane = threadIdx.x & 31;
	uint32_t bits = 0;
#pragma unroll
	for (int e = 0; e < 2; e++) {
		const kept own = random.draw(first_row, first_key, (2 * (lane & 3) + e) * 4 + lane / 8);
#pragma unroll
		for (int j = 0; j < 4; j++) {
			bits |= (uint32_t)own.has(j / 2, j & 1, lane / 4 & 1)
				<< (4 * (j / 2) + 2 * (j & 1) + e);
		}
	}
	return bits;
}

/** For 16 queries: P^T and dS^T of a warp's keys as A fragments. */
template <bool ANY>
WSK_DEVICE void
differentiate(float (&s)[2][4], float (&dp)[2][4], const float *lse, const float *delta,
	const wsk_attn_params &p, uint32_t keep, bool partly, const sight &see, int first_key,
	int first_row)
{
	const int lane = threadIdx.x & 31, column = 2 * (lane & 3);
#pragma unroll
	for (int n = 0; n < 2; n++) {
		float2 l = *(const float2 *)(lse + n * 8 + column);
		float2 d = *(const float2 *)(delta + n * 8 + column);
#pragma unroll
		for (int i = 0; i < 4; i++) {
			const float slope = ANY && p.softcap != 0 ? 1 - s[n][i] * s[n][i] : 1;
			float probability = exp2_fast(fmaf(s[n][i], p.scale_log2, i & 1 ? -l.y : -l.x));
			if (partly) {
				int key = first_key + lane / 4 + 8 * (i / 2);
				int row = first_row + n * 8 + column + (i & 1);
				probability = key >= see.first(row) && key <= see.last(row) ? probability : 0;
			}
			s[n][i] = probability;
			if (ANY && p.keep < WSK_KEEPS_ALL) {
				const bool keeps = keep >> (4 * n + i) & 1;
				s[n][i] = keeps ? probability : 0;
				dp[n][i] = if_kept(keeps, dp[n][i], p.keep_scale);
			}
			dp[n][i] = slope * probability * (dp[n][i] - (i & 1 ? d.y : d.x));
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

template <class T, int D, bool ANY>
WSK_DEVICE void
dkdv(const wsk_attn_params &p)
{
	using shape = dkdv_shape<D, ANY>;
	constexpr int keys = 64, queries = shape::queries;
	constexpr int buffer = 2 * queries * tile<D>::pitch, kept = keys * tile<D>::pitch;
	constexpr int k_bytes = shape::keeps_k ? 0 : kept, v_bytes = shape::keeps_v ? 0 : kept;
	/* K, V, tiles of Q and dO; what is kept as fragments passes through the tiles' place. */
	constexpr int passing = shape::keeps_k || shape::keeps_v ? kept : 0;
	constexpr int tiles = shape::buffers * buffer > passing ? shape::buffers * buffer : passing;
	constexpr int bytes = k_bytes + v_bytes + tiles; /* at least 64 rows, for what goes out */
	__shared__ __align__(128) unsigned char shared[bytes];
	__shared__ __align__(16) row_values<queries> values[2];
	static_assert(bytes + sizeof(values) <= 49152, "too much shared memory");

	const tile_place at(p.heads / p.group, p.batch);
	const span q_span = span_of_q(p, at.b), k_span = span_of_k(p, at.b);
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
		k_span.length, p.chunks, p.wide);
	__syncthreads();
	if constexpr (shape::keeps_k) {
		load_rows<D>(k[0], k_row, warp * 16);
		apply_sign(k[0], p.sign);
		__syncthreads();
	}
	load_tile<D, keys>(v_tile, rows_of<T>(p.v, k_span, p.cu_k, at.b, at.head), p.v.row, first_key,
		k_span.length, p.chunks, p.wide);
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
	/* Queries that see a key of the block: key j is seen by all i >= j - offset - right. */
	const int last_key = min(first_key + keys, k_span.length) - 1;
	const int first = max(first_key - see.offset - see.right, 0) / queries * queries;
	const int end =
		last_key < first_key ? 0 : min(last_key - see.offset + see.left + 1, q_span.length);

	for (int head = at.head * p.group; head < (at.head + 1) * p.group; head++) {
		pair_loader<D, queries> loader(rows_of<T>(p.q, q_span, p.cu_q, at.b, head), p.q.row,
			rows_of<T>(p.dout, q_span, p.cu_q, at.b, head), p.dout.row, p.chunks);
		const dropout random(p, at.b, head);
		const float *from = threadIdx.x < queries
			? (const float *)p.lse + lse_at(p, q_span, at.b, head)
			: (const float *)p.delta + delta_at(p, q_span, at.b, head);
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
				uint32_t keep = 0;
				if (ANY && p.keep < WSK_KEEPS_ALL) {
					keep = kept_of_keys(random, row + step, warp_key);
				}
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
				if (ANY && p.softcap != 0) {
					cap_scores(s[0], p.softcap);
				}
				differentiate<ANY>(s[0], dp[0], values[turn].lse + step, values[turn].delta + step,
					p, keep, partly, see, warp_key, row + step);
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
	unsigned char *out = shared + warp * 16 * tile<D>::pitch;
	put_rows<T, D>(out, dk[0], 0, 0, p.scale, p.scale);
	__syncwarp();
	store_tile<D, D, 16>(out, rows_of<T>(p.dk, k_span, p.cu_k, at.b, at.head), p.dk.row, warp_key,
		0, k_span.length, k_span.given, p.chunks, p.wide);
	__syncwarp();
	const float kept_scale = ANY ? p.keep_scale : 1;
	put_rows<T, D>(out, dv[0], 0, 0, kept_scale, kept_scale);
	__syncwarp();
	store_tile<D, D, 16>(out, rows_of<T>(p.dv, k_span, p.cu_k, at.b, at.head), p.dv.row, warp_key,
		0, k_span.length, k_span.given, p.chunks, p.wide);
}

} // namespace wsk

#endif
