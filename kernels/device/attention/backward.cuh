/**
 * backward.cuh - gradients of q, k and v, each element by one thread in one order
 *
 * Three kernels without atomics, so the same inputs give the same bits:
 *   delta   sum of dO x O of each query row, less the gradient of its lse
 *   dk, dv  dkdv.cuh, and of long rows dkdv_pair.cuh
 *   dq      a warp owns 16 M queries and goes over the keys; of long rows two warps share 16
 * P = exp(scale S - lse); dS = P (dP - delta). A row whose lse is -infinity sees no key: its P is
 * 0.
 *
 * The last two have a second form, ANY, for what costs registers: a cap on the scores, dropout.
 */
#ifndef WSK_DEVICE_BACKWARD_CUH
#define WSK_DEVICE_BACKWARD_CUH

#include "random.cuh"
#include "rows.cuh"

namespace wsk
{

/** The value that exp2 subtracts from a score: a row without keys, or past the end, gets
 * probabilities of
 * 0. */
WSK_DEVICE float
to_log2(float lse)
{
	return lse == -INFINITY ? INFINITY : lse * LOG2E;
}

/** dP of what dropout keeps, and 0 of the rest. */
WSK_DEVICE float
if_kept(bool keeps, float dp, float scale)
{
	return keeps ? dp * scale : 0;
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
	const tile_place at(p.heads, p.batch);
	const span s = span_of_q(p, at.b);
	const int row = at.tile * delta_rows + threadIdx.x / delta_lanes;
	const int lane = threadIdx.x % delta_lanes;
	float sum = 0;
	if (row < s.length) {
		const uint16_t *o = rows_of<T>(p.o, s, p.cu_q, at.b, at.head) + row * p.o.row;
		const uint16_t *d = rows_of<T>(p.dout, s, p.cu_q, at.b, at.head) + row * p.dout.row;
		for (int c = lane; c < p.chunks; c += delta_lanes) {
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
		if (p.dlse && row < s.length) {
			sum -= ((const float *)p.dlse)[lse_at(p, s, at.b, at.head) + row];
		}
		((float *)p.delta)[delta_at(p, s, at.b, at.head) + row] = sum;
	}
}

/* ---- dq ---- */

template <class T, int D, int M, bool ANY>
WSK_DEVICE void
dq(const wsk_attn_params &p)
{
	constexpr int C = WSK_SHARED_BY(D), keys = C > 1 ? 16 : 32, buffers = C > 1 ? 1 : 2;
	using mine = sharing<D, C>;
	constexpr int rows_a_warp = 16 * M, rows = rows_a_warp * mine::groups;
	constexpr int buffer = 2 * keys * tile<D>::pitch, for_rows = rows * tile<D>::pitch;
	constexpr int bytes = buffers * buffer > for_rows ? buffers * buffer : for_rows;
	__shared__ __align__(128) unsigned char shared[bytes];
	__shared__ typename mine::template room<4 * M> others;
	static_assert(bytes + sizeof(others) <= 49152, "too much shared memory");

	const tile_place at(p.heads, p.batch);
	const int kv_head = at.head / p.group;
	const span q_span = span_of_q(p, at.b), k_span = span_of_k(p, at.b);
	const int first_row = (p.tiles - 1 - at.tile) * rows;
	if (first_row >= q_span.given) {
		return;
	}
	const mine own;
	const int lane = threadIdx.x & 31;
	const int within = own.group * rows_a_warp, warp_row = first_row + within;
	const int end_row = min(first_row + rows, q_span.length);
	const sight see(p, q_span, k_span);
	const chosen blocks(p, at.b, kv_head);
	/* If the sequence ends within the first block of queries, the second one has no set. */
	const int block_row = M > 1 && first_row + 64 >= end_row ? first_row : warp_row;

	uint32_t q[M][mine::count / 16][4], dout[M][mine::count / 16][4];
	const auto by_row = lane_by_row<D>(shared_address(shared)).moved(own.first);
	load_tile<D, rows>(shared, rows_of<T>(p.q, q_span, p.cu_q, at.b, at.head), p.q.row, first_row,
		q_span.length, p.chunks, p.wide);
	__syncthreads();
#pragma unroll
	for (int m = 0; m < M; m++) {
		load_rows<D>(q[m], by_row, within + m * 16);
		apply_sign(q[m], p.sign);
	}
	__syncthreads();
	load_tile<D, rows>(shared, rows_of<T>(p.dout, q_span, p.cu_q, at.b, at.head), p.dout.row,
		first_row, q_span.length, p.chunks, p.wide);
	__syncthreads();
#pragma unroll
	for (int m = 0; m < M; m++) {
		load_rows<D>(dout[m], by_row, within + m * 16);
	}
	__syncthreads();

	const float *lse_of = (const float *)p.lse + lse_at(p, q_span, at.b, at.head);
	const float *delta_of = (const float *)p.delta + delta_at(p, q_span, at.b, at.head);
	const dropout random(p, at.b, at.head);
	float lse[M][2], delta[M][2], dq[M][mine::count / 8][4];
#pragma unroll
	for (int m = 0; m < M; m++) {
		clear(dq[m]);
#pragma unroll
		for (int i = 0; i < 2; i++) {
			int row = warp_row + m * 16 + lane / 4 + 8 * i;
			bool counts = row < q_span.length;
			lse[m][i] = to_log2(counts ? lse_of[row] : -INFINITY);
			delta[m][i] = counts ? delta_of[row] : 0;
		}
	}
	pair_loader<D, keys> loader(rows_of<T>(p.k, k_span, p.cu_k, at.b, kv_head), p.k.row,
		rows_of<T>(p.v, k_span, p.cu_k, at.b, kv_head), p.v.row, p.chunks);
	const int first = max(see.first(first_row), 0) & ~(keys - 1);
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
	const auto by_column = lane_by_column<D>(shared_address(shared)).moved(own.first);
	for (int turn = 0; key < end; turn ^= buffers - 1) {
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
					own.show(s[m], others, 4 * m);
					own.show(dp[m], others, 4 * m + 2);
				}
				own.meet();
#pragma unroll
				for (int m = 0; m < M; m++) {
					own.add_other(s[m], others, 4 * m);
					own.add_other(dp[m], others, 4 * m + 2);
				}
				if (ANY && p.softcap != 0) {
#pragma unroll
					for (int m = 0; m < M; m++) {
						cap_scores(s[m], p.softcap);
					}
				}
#pragma unroll
				for (int m = 0; m < M; m++) {
					kept keep = {};
					if (ANY && p.keep < WSK_KEEPS_ALL) {
						keep = random.draw(warp_row + m * 16, key + step, lane);
					}
#pragma unroll
					for (int n = 0; n < 2; n++) {
#pragma unroll
						for (int i = 0; i < 4; i++) {
							const float slope =
								ANY && p.softcap != 0 ? 1 - s[m][n][i] * s[m][n][i] : 1;
							if (ANY && p.keep < WSK_KEEPS_ALL) {
								dp[m][n][i] =
									if_kept(keep.has(i / 2, n, i & 1), dp[m][n][i], p.keep_scale);
							}
							float x = exp2_fast(fmaf(s[m][n][i], p.scale_log2, -lse[m][i / 2]));
							if (partly) {
								int row = warp_row + m * 16 + lane / 4 + 8 * (i / 2);
								int own = key + step + n * 8 + 2 * (lane & 3) + (i & 1);
								x = own >= see.first(row) && own <= see.last(row) ? x : 0;
							}
							dp[m][n][i] = slope * x * (dp[m][n][i] - delta[m][i / 2]);
						}
					}
					pack_rows<T>(ds[m], dp[m]);
				}
				multiply_columns<T, D>(dq, ds, by_row, k_row);
			}
		}
		if (buffers == 1) {
			__syncthreads();
		}
		if (next < end) {
			loader.store(shared + (turn ^ (buffers - 1)) * buffer, next, see.keys, p.wide);
		}
		__syncthreads();
		key = next;
	}
	unsigned char *out = shared + within * tile<D>::pitch;
#pragma unroll
	for (int m = 0; m < M; m++) {
		put_rows<T, D>(out, dq[m], m * 16, own.first, p.scale, p.scale);
	}
	__syncwarp();
	store_tile<D, mine::count, rows_a_warp>(out, rows_of<T>(p.dq, q_span, p.cu_q, at.b, at.head),
		p.dq.row, warp_row, own.first, q_span.length, q_span.given, p.chunks, p.wide);
}

} // namespace wsk

#endif
