/**
 * dkdv_pair.cuh - gradients of k and v where one warp has no registers for both: two own 16 keys
 *
 * The first keeps K and makes S^T = K Q^T, P and dV; the second keeps V and makes dP^T = V dO^T and
 * dK. Each has the registers of one, and both are busy; P goes from the first to the second by way
 * of shared memory. The longest rows have two such pairs for 16 keys, each with half of the
 * columns. A block goes over the queries in tiles of 16.
 */
#ifndef WSK_DEVICE_DKDV_PAIR_CUH
#define WSK_DEVICE_DKDV_PAIR_CUH

#include "dkdv.cuh"

namespace wsk
{

/** The tiles of 16 queries that a block goes over: rows of Q and dO, their lse and delta. */
template <class T, int D> struct query_tiles {
	static constexpr int queries = 16;
	static constexpr int buffers = D > 128 ? 1 : 2, buffer = 2 * queries * tile<D>::pitch;

	const wsk_attn_params &p;
	const int length;
	unsigned char *stage;
	row_values<queries> *values;
	const float *from; /**< this thread's of lse or of delta */
	pair_loader<D, queries> loader;
	float value = 0;

	WSK_DEVICE
	query_tiles(const wsk_attn_params &params, const tile_place &at, const span &s,
		unsigned char *tiles, row_values<queries> *of_rows, int head)
		: p(params), length(s.length), stage(tiles), values(of_rows),
		  from(threadIdx.x < queries ? (const float *)p.lse + lse_at(p, s, at.b, head)
									 : (const float *)p.delta + delta_at(p, s, at.b, head)),
		  loader(rows_of<T>(p.q, s, p.cu_q, at.b, head), p.q.row,
			  rows_of<T>(p.dout, s, p.cu_q, at.b, head), p.dout.row, p.chunks)
	{
	}
	WSK_DEVICE void
	fetch(int row)
	{
		const int own = row + threadIdx.x % queries;
		loader.fetch(row, length, p.wide);
		if (threadIdx.x < 2 * queries) {
			value = own < length ? from[own] : threadIdx.x < queries ? -INFINITY : 0;
		}
	}
	WSK_DEVICE void
	store(int turn, int row)
	{
		loader.store(stage + turn * buffer, row, length, p.wide);
		if (threadIdx.x < queries) {
			values[turn].lse[threadIdx.x] = to_log2(value);
		} else if (threadIdx.x < 2 * queries) {
			values[turn].delta[threadIdx.x - queries] = value;
		}
	}
};

/** S^T becomes P, and what the other warp gets: P times the slope of the cap. */
template <bool ANY>
WSK_DEVICE void
probabilities(float (&s)[2][4], float4 *to, const float *lse, const wsk_attn_params &p,
	uint32_t keep, bool partly, const sight &see, int first_key, int first_row)
{
	const int lane = threadIdx.x & 31, column = 2 * (lane & 3);
	if (ANY && p.softcap != 0) {
		cap_scores(s, p.softcap);
	}
#pragma unroll
	for (int n = 0; n < 2; n++) {
		const float2 l = *(const float2 *)(lse + n * 8 + column);
		float sloped[4];
#pragma unroll
		for (int i = 0; i < 4; i++) {
			const float slope = ANY && p.softcap != 0 ? 1 - s[n][i] * s[n][i] : 1;
			float probability = exp2_fast(fmaf(s[n][i], p.scale_log2, i & 1 ? -l.y : -l.x));
			if (partly) {
				int key = first_key + lane / 4 + 8 * (i / 2);
				int row = first_row + n * 8 + column + (i & 1);
				probability = key >= see.first(row) && key <= see.last(row) ? probability : 0;
			}
			sloped[i] = slope * probability;
			s[n][i] = ANY && !(keep >> (4 * n + i) & 1) ? 0 : probability;
		}
		to[32 * n + lane] = make_float4(sloped[0], sloped[1], sloped[2], sloped[3]);
	}
}

/** dP^T becomes dS^T. */
template <bool ANY>
WSK_DEVICE void
differences(float (&dp)[2][4], const float4 *from, const float *delta, const wsk_attn_params &p,
	uint32_t keep)
{
	const int lane = threadIdx.x & 31, column = 2 * (lane & 3);
#pragma unroll
	for (int n = 0; n < 2; n++) {
		const float2 d = *(const float2 *)(delta + n * 8 + column);
		const float4 x = from[32 * n + lane];
		const float sloped[4] = {x.x, x.y, x.z, x.w};
#pragma unroll
		for (int i = 0; i < 4; i++) {
			float own = ANY ? if_kept(keep >> (4 * n + i) & 1, dp[n][i], p.keep_scale) : dp[n][i];
			dp[n][i] = sloped[i] * (own - (i & 1 ? d.y : d.x));
		}
	}
}

template <class T, int D, bool ANY>
WSK_DEVICE void
dkdv_pair(const wsk_attn_params &p)
{
	using tiles = query_tiles<T, D>;
	constexpr int C = WSK_SHARED_BY(D), keys = 32 / C, queries = tiles::queries;
	using mine = sharing<D, C>;
	constexpr int kept = keys * tile<D>::pitch, all = tiles::buffers * tiles::buffer;
	__shared__ __align__(128) unsigned char shared[all > kept ? all : kept];
	__shared__ typename mine::template room<2> others;
	__shared__ __align__(16) row_values<queries> values[2];
	__shared__ float4 handed[2][64]; /* P, of each pair */
	static_assert(sizeof(shared) + sizeof(others) + sizeof(values) + sizeof(handed) <= 49152,
		"too much shared memory");

	const tile_place at(p.heads / p.group, p.batch);
	const span q_span = span_of_q(p, at.b), k_span = span_of_k(p, at.b);
	const mine own;
	const int warp = threadIdx.x / 32, first_key = at.tile * keys;
	const bool second = warp / C & 1;
	const int pair = C > 1 ? warp % C : warp / 2, within = C > 1 ? 0 : pair * 16;
	if (first_key >= k_span.given) {
		return;
	}
	const sight see(p, q_span, k_span);
	const chosen blocks(p, at.b, at.head);
	const int warp_key = first_key + within;

	uint32_t keeps[1][mine::count / 16][4]; /* of K or of V */
	const auto by_row = lane_by_row<D>(shared_address(shared)).moved(own.first);
	const auto by_column = lane_by_column<D>(shared_address(shared)).moved(own.first);
#pragma unroll 1
	for (int turn = 0; turn < 2; turn++) {
		const wsk_view &view = turn ? p.v : p.k;
		load_tile<D, keys>(shared, rows_of<T>(view, k_span, p.cu_k, at.b, at.head), view.row,
			first_key, k_span.length, p.chunks, p.wide);
		__syncthreads();
		if (second == turn) {
			load_rows<D>(keeps[0], by_row, within);
			apply_sign(keeps[0], second ? 0 : p.sign);
		}
		__syncthreads();
	}
	float sum[1][mine::count / 8][4]; /* dV or dK */
	clear(sum[0]);
	/* Queries that see a key of the block: key j is seen by all i >= j - offset - right. */
	const int last_key = min(first_key + keys, k_span.length) - 1;
	const int first = max(first_key - see.offset - see.right, 0) / queries * queries;
	const int end =
		last_key < first_key ? 0 : min(last_key - see.offset + see.left + 1, q_span.length);

	for (int head = at.head * p.group; head < (at.head + 1) * p.group; head++) {
		tiles next_tile(p, at, q_span, shared, values, head);
		auto seek = [&](int row) {
			while (row < end && !blocks.has(row, first_key)) {
				row += queries;
			}
			return row;
		};
		int row = seek(first);
		if (row < end) {
			next_tile.fetch(row);
			next_tile.store(0, row);
		}
		__syncthreads();
		for (int turn = 0; row < end; turn ^= tiles::buffers - 1) {
			const int next = seek(row + queries);
			if (next < end) {
				next_tile.fetch(next);
			}
			const bool partly =
				warp_key + 15 > see.last(row) || warp_key < see.first(row + queries - 1);
			const uint32_t q_row = turn * 2 * queries, do_row = q_row + queries;
			float x[1][2][4];
			uint32_t a[1][1][4], keep = 255;
			if (ANY && p.keep < WSK_KEEPS_ALL) {
				keep = kept_of_keys(dropout(p, at.b, head), row, warp_key);
			}
			clear(x[0]);
			multiply_rows<T, D>(x, keeps, by_column, second ? do_row : q_row);
			own.show(x[0], others, 0);
			own.meet();
			own.add_other(x[0], others, 0);
			if (!second) {
				probabilities<ANY>(
					x[0], handed[pair], values[turn].lse, p, keep, partly, see, warp_key, row);
			}
			meet_pair(1 + mine::groups + pair);
			if (second) {
				differences<ANY>(x[0], handed[pair], values[turn].delta, p, keep);
			}
			pack_rows<T>(a[0], x[0]);
			multiply_columns<T, D>(sum, a, by_row, second ? q_row : do_row);
			if (tiles::buffers == 1) {
				__syncthreads();
			}
			if (next < end) {
				next_tile.store(turn ^ (tiles::buffers - 1), next);
			}
			__syncthreads();
			row = next;
		}
	}
	/* Each pair's place: dV goes out, then dK. */
	unsigned char *out = shared + within * tile<D>::pitch;
	const float scale = second ? p.scale : ANY ? p.keep_scale : 1;
	const wsk_view &view = second ? p.dk : p.dv;
#pragma unroll 1
	for (int turn = 0; turn < 2; turn++) {
		if (second == turn) {
			put_rows<T, D>(out, sum[0], 0, own.first, scale, scale);
			__syncwarp();
			store_tile<D, mine::count, 16>(out, rows_of<T>(view, k_span, p.cu_k, at.b, at.head),
				view.row, warp_key, own.first, k_span.length, k_span.given, p.chunks, p.wide);
		}
		__syncthreads();
	}
}

} // namespace wsk

#endif
