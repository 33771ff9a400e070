/**
 * backward.cuh - the selective scan, backward: every gradient, and no state kept but one in 64
 * steps
 *
 * With g the gradient of h(t), and dy = dout silu(z):
 *
 *     g(t) = C dy + g'(t + 1),  g' = exp(delta A) g
 *     dB = g delta u;  dC = dy h;  dA = sum over time of g' delta h(t - 1)
 *     du = delta S + D dy;  ddelta = u S + sum over states of g' A h(t - 1);  S = sum over states of g B
 *
 * A block goes over its part of time from the end, in segments of 64 steps: forward once through
 * the segment, from the kept state, for h at the begin of each tile of 8 steps; then backward by
 * half tiles, whose four h are computed again and stay in registers. (Recomputation instead of
 * storage is the paper's, arXiv:2312.00752, section 3.3.2; the cut into tiles is ours.)
 *
 * A thread owns 8 states of a channel (block.cuh): g, dA and the weights' sums are in its
 * registers. dB and dC, 16 states each, are sums over channels: 16 lanes add up theirs by a
 * butterfly that leaves one sum a lane, warps theirs in shared memory, blocks in the workspace
 * (part_bc) by scan_sum(). No atomics. Shared memory, 46.5 KiB: B and C, three exchanges a warp, dB
 * and dC of a tile, h at 7 tiles' begins.
 */
#ifndef WSK_DEVICE_SCAN_BACKWARD_CUH
#define WSK_DEVICE_SCAN_BACKWARD_CUH

#include "segment.cuh"

namespace wsk
{

/** Adds up 2 WIDTH values that are spread over as many lanes; each lane keeps its own sums. */
template <int WIDTH>
WSK_DEVICE void
sum_columns(float (&v)[HALF], const place &w)
{
	const bool upper = w.column & WIDTH;
#pragma unroll
	for (int i = 0; i < WIDTH; i++) {
		float keep = upper ? v[i + WIDTH] : v[i], send = upper ? v[i] : v[i + WIDTH];
		v[i] = keep + __shfl_xor_sync(ALL, send, WIDTH);
	}
}

/** Adds up 16 values that are spread over 16 lanes; returns the sum with the lane's number. */
WSK_DEVICE float
sum_columns(float (&v)[HALF], const place &w)
{
	sum_columns<8>(v, w);
	sum_columns<4>(v, w);
	sum_columns<2>(v, w);
	sum_columns<1>(v, w);
	return v[0];
}

/** Sums of one tile's dB and dC: [warp][lane, as sum_columns() leaves them][time]; 9 keeps the
 * banks apart. */
struct columns {
	float at[WARPS][32][TILE + 1];
};

/** Adds up the warps and writes the block's part of dB and dC for the steps that start at @a t. */
WSK_DEVICE void
put_columns(const columns &from, const wsk_scan_params &p, const place &w, int t)
{
	const int step = threadIdx.x % TILE;
#pragma unroll
	for (int k = 0; k < 2; k++) {
		int lane = k * HALF + threadIdx.x / TILE; /* of sum_columns */
		int which = lane % HALF / STATES;
		int state = p.first_state + lane / HALF * STATES + lane % STATES;
		float sum = 0.0f;
#pragma unroll
		for (int i = 0; i < WARPS; i++) {
			sum += from.at[i][lane][step];
		}
		if (t + step < w.end && state < p.states_count) {
			int64_t row = (((int64_t)w.block * 2 + which) * p.batch + w.batch) * p.groups + w.group;
			reinterpret_cast<float *>(
				p.part_bc)[(row * p.states_count + state) * p.length + t + step] = sum;
		}
	}
}

/** The gradients of four steps, from the sums over states. */
template <typename T> struct steps_backward {
	piece<T, 4> u, delta, dout, z, out;
	float d_sum, bias_sum;

	WSK_DEVICE void
	fetch_all(const wsk_scan_params &p, const place &w, int t)
	{
		u = fetch<T>(row_of<T>(p.u, w), t, p, w);
		delta = fetch<T>(row_of<T>(p.delta, w), t, p, w);
		dout = fetch<T>(row_of<T>(p.dout, w), t, p, w);
		z = fetch<T>(row_of<T>(p.z, w), t, p, w);
		if (p.z.data) {
			out = fetch<T>(row_of<T>(p.out, w), t, p, w);
		}
	}

	WSK_DEVICE void
	finish(float (&sum_b)[4], float (&sum_q)[4], float d, float bias, const wsk_scan_params &p,
		const place &w, int t)
	{
		sum_launches(sum_b, p.sum_b, p, w, t);
		if (!sum_launches(sum_q, p.sum_q, p, w, t) || !w.there) {
			return;
		}
		float ux[4], dx[4], dy[4], du[4], ddelta[4];
		u.unpack(ux);
		delta.unpack(dx);
		gated<T>(dy, dout, z, p.z.data != 0);
#pragma unroll
		for (int i = 0; i < 4; i++) {
			bool inside = t + i < w.end;
			float x = effective(dx[i], bias, p, inside);
			du[i] = fmaf(x, sum_b[i], d * dy[i]);
			ddelta[i] = fmaf(ux[i], sum_b[i], LN2 * sum_q[i]);
			if (p.softplus && dx[i] + bias <= 20.0f) {
				ddelta[i] *= sigmoid(dx[i] + bias);
			}
			d_sum += inside ? ux[i] * dy[i] : 0.0f;
			bias_sum += inside ? ddelta[i] : 0.0f;
		}
		store_four<T>(row_of<T>(p.du, w) + t, du, w.end - t, p.wide);
		store_four<T>(row_of<T>(p.ddelta, w) + t, ddelta, w.end - t, p.wide);
		if (p.z.data) {
			finish_gate(p, w, t);
		}
	}

	WSK_DEVICE void
	finish_gate(const wsk_scan_params &p, const place &w, int t)
	{
		float zx[4], y[4], dy[4], dz[4], gated_out[4];
		z.unpack(zx);
		out.unpack(y);
		dout.unpack(dy);
#pragma unroll
		for (int i = 0; i < 4; i++) {
			float s = sigmoid(zx[i]);
			dz[i] = dy[i] * y[i] * s * (1.0f + zx[i] * (1.0f - s));
			gated_out[i] = y[i] * zx[i] * s;
		}
		store_four<T>(row_of<T>(p.dz, w) + t, dz, w.end - t, p.wide);
		if (p.out_z.data) {
			store_four<T>(row_of<T>(p.out_z, w) + t, gated_out, w.end - t, p.wide);
		}
	}
};

/** The shared memory of a block of the backward kernel. */
struct backward_shared {
	matrices bc;
	exchange steps[WARPS][3];
	columns sums;
	float4 bounds[SEGMENT / TILE - 1][STATES / 4]
				 [WSK_SCAN_THREADS]; /* states at the begin of tiles 1, 2, ... */
};
static_assert(sizeof(backward_shared) <= 49152, "more than a block has without asking");

WSK_DEVICE void
put_bound(backward_shared &to, int tile, const float (&h)[STATES])
{
#pragma unroll
	for (int k = 0; k < STATES / 4; k++) {
		to.bounds[tile - 1][k][threadIdx.x] =
			make_float4(h[4 * k], h[4 * k + 1], h[4 * k + 2], h[4 * k + 3]);
	}
}

WSK_DEVICE void
get_bound(float (&h)[STATES], const backward_shared &from, int tile)
{
#pragma unroll
	for (int k = 0; k < STATES / 4; k++) {
		float4 v = from.bounds[tile - 1][k][threadIdx.x];
		h[4 * k] = v.x, h[4 * k + 1] = v.y, h[4 * k + 2] = v.z, h[4 * k + 3] = v.w;
	}
}

/** Four steps on, from the first (@a half 0) or the fifth of a tile. */
WSK_DEVICE void
go_on(float (&h)[STATES], backward_shared &shared, const float (&a)[STATES], const place &w,
	int tile, int half)
{
	float delta[4], du[4];
	as_array(delta, shared.steps[w.warp][0].four(w.column, half));
	as_array(du, shared.steps[w.warp][1].four(w.column, half));
#pragma unroll
	for (int j = 0; j < 4; j++) {
		float b[STATES];
		read_matrix(b, shared.bc, tile * TILE + half * 4 + j, 0, w);
#pragma unroll
		for (int i = 0; i < STATES; i++) {
			h[i] = fmaf(exp2_fast(delta[j] * a[i]), h[i], du[j] * b[i]);
		}
	}
}

/** The states before the segment that begins at @a t. */
WSK_DEVICE void
load_begin(float (&h)[STATES], const wsk_scan_params &p, const place &w, int t)
{
	if (t == 0) {
#pragma unroll
		for (int i = 0; i < STATES; i++) {
			h[i] = 0.0f;
		}
		return;
	}
	load_states(h, p, w, p.states, state_index(p, w, p.kept, t / SEGMENT - 1));
}

/** Forward over a tile, with u and delta of its steps; keeps h at the begin of the next one. */
template <typename T>
WSK_DEVICE void
find_bound(float (&h)[STATES], piece<T, 4> &u4, piece<T, 4> &delta4, backward_shared &shared,
	const float (&a)[STATES], float bias, const T *u_row, const T *delta_row,
	const wsk_scan_params &p, const place &w, int t, int tile)
{
	int own = t + tile * TILE + 4 * w.side;
	__syncwarp();
	share_steps<T>(shared.steps[w.warp][0], shared.steps[w.warp][1], u4, delta4, bias, p, w, own);
	__syncwarp();
	u4 = fetch<T>(u_row, own + TILE, p, w);
	delta4 = fetch<T>(delta_row, own + TILE, p, w);
	go_on(h, shared, a, w, tile, 0);
	go_on(h, shared, a, w, tile, 1);
	put_bound(shared, tile + 1, h);
}

/** h at the begin of half a tile. */
WSK_DEVICE void
begin_half(float (&h)[STATES], backward_shared &shared, const float (&a)[STATES],
	const wsk_scan_params &p, const place &w, int t, int tile, int half)
{
	if (tile > 0) {
		get_bound(h, shared, tile);
	} else {
		load_begin(h, p, w, t);
	}
	if (half) {
		go_on(h, shared, a, w, tile, 0);
	}
}

/**
 * Backward over one step: @a before and @a after are h at its begin and end, @a g the gradient of h
 * that comes from later steps. Adds to da and dw; v is what the thread has for dB (8 states), then
 * for dC; to_b and to_q are the sums over states that the gradients of u and delta need.
 */
template <bool WEIGHTED>
WSK_DEVICE void
step_back(float (&v)[2 * STATES], float &to_b, float &to_q, float (&g)[STATES], float (&da)[STATES],
	float (&dw)[STATES], const float (&b)[STATES], const float (&c)[STATES],
	const float (&before)[STATES], const float (&after)[STATES], const float (&a)[STATES],
	float delta, float du, float dy, const wsk_scan_params &p, const place &w)
{
#pragma unroll
	for (int i = 0; i < STATES; i++) {
		float decay = exp2_fast(delta * a[i]);
		float weight = WEIGHTED ? weight_of(p, w, w.first + i) : 1.0f;
		float whole = fmaf(WEIGHTED ? c[i] * weight : c[i], dy, g[i]);
		v[i] = whole * du;
		v[STATES + i] = dy * after[i];
		if (WEIGHTED) {
			dw[i] = fmaf(v[STATES + i], c[i], dw[i]);
			v[STATES + i] *= weight;
		}
		to_b = fmaf(whole, b[i], to_b);
		g[i] = whole * decay;
		float q = g[i] * before[i];
		to_q = fmaf(q, a[i], to_q);
		da[i] = fmaf(q, delta, da[i]);
	}
}

/** The part's sums for the gradients of A, of what does not vary, of D and of delta's bias. */
template <typename T, bool WEIGHTED>
WSK_DEVICE void
store_part_sums(const float (&da)[STATES], const float (&dw)[STATES], steps_backward<T> &mine,
	const wsk_scan_params &p)
{
	const place w = find_place<STATES>(p); /* again: registers are scarcer than instructions */
	store_states(da, p, w, p.part_a, state_index(p, w, p.parts, w.part));
	if (WEIGHTED) {
		store_states(dw, p, w, p.part_w, state_index(p, w, p.parts, w.part));
	}
	mine.d_sum += __shfl_xor_sync(ALL, mine.d_sum, HALF);
	mine.bias_sum += __shfl_xor_sync(ALL, mine.bias_sum, HALF);
	if (w.there && w.side == 0 && p.first_state + HALF >= p.states_count) {
		int64_t at = channel_index(p, w, p.parts, w.part);
		reinterpret_cast<float *>(p.part_d)[at] = mine.d_sum;
		reinterpret_cast<float *>(p.part_bias)[at] = mine.bias_sum;
	}
}

/**
 * All gradients; of what several blocks or parts add to, sums in the workspace. WEIGHTED: B or C
 * does not vary with time. It is one function still because what else was taken out of it changed
 * the registers.
 */
template <typename T, bool WEIGHTED>
WSK_DEVICE void
scan_backward(const wsk_scan_params &p)
{
	__shared__ backward_shared shared;
	const place w = find_place<STATES>(p);
	exchange &shared_delta = shared.steps[w.warp][0], &shared_du = shared.steps[w.warp][1];
	exchange &shared_dy = shared.steps[w.warp][2];
	float a[STATES], g[STATES] = {}, da[STATES] = {}, dw[STATES] = {};
	load_a(a, p, w);
	const float d = scalar(p.d, w), bias = scalar(p.bias, w);
	steps_backward<T> mine;
	mine.d_sum = mine.bias_sum = 0.0f;
	if (w.part + 1 < p.parts) {
		load_states(g, p, w, p.ends, state_index(p, w, p.parts, w.part));
	}
	const T *u_row = row_of<T>(p.u, w), *delta_row = row_of<T>(p.delta, w);
	for (int t = w.begin + (w.end - w.begin - 1) / SEGMENT * SEGMENT; t >= w.begin; t -= SEGMENT) {
		segment_part<T> part;
		fetch_segment<T>(part, p, w, t);
		__syncthreads();
		put_segment<T>(shared.bc, part, p, w, t);
		__syncthreads();
		const int tiles = (min(t + SEGMENT, w.end) - t + TILE - 1) / TILE;
		float h[STATES];
		load_begin(h, p, w, t);
		/* Forward once, for the state at the begin of each tile. */
		int own = t + 4 * w.side;
		piece<T, 4> u4 = fetch<T>(u_row, own, p, w), delta4 = fetch<T>(delta_row, own, p, w);
#pragma unroll 1
		for (int tile = 0; tile + 1 < tiles; tile++) {
			find_bound<T>(h, u4, delta4, shared, a, bias, u_row, delta_row, p, w, t, tile);
		}
		/* Backward by tiles; the states of a tile are computed again and stay in registers. */
		steps_backward<T> next = mine;
		next.fetch_all(p, w, t + (tiles - 1) * TILE + 4 * w.side);
#pragma unroll 1
		for (int tile = tiles - 1; tile >= 0; tile--) {
			own = t + tile * TILE + 4 * w.side;
			float dy4[4];
			if (WEIGHTED) {
				next.fetch_all(p, w, own);
			}
			__syncwarp();
			share_steps<T>(shared_delta, shared_du, next.u, next.delta, bias, p, w, own);
			gated<T>(dy4, next.dout, next.z, p.z.data != 0);
			shared_dy.four(w.column, w.side) = as_float4(dy4);
			__syncwarp();
			if (!WEIGHTED && tile > 0) {
				next.fetch_all(p, w, own - TILE);
			}
			float sum_b[4], sum_q[4];
#pragma unroll 1
			for (int half = 1; half >= 0; half--) {
				float states[TILE / 2 + 1][STATES];
				begin_half(states[0], shared, a, p, w, t, tile, half);
				float delta[4], du[4], dy[4];
				as_array(delta, shared_delta.four(w.column, half));
				as_array(du, shared_du.four(w.column, half));
				as_array(dy, shared_dy.four(w.column, half));
				const int step = tile * TILE + half * 4;
#pragma unroll
				for (int j = 0; j < 4; j++) {
					float b[STATES];
					read_matrix(b, shared.bc, step + j, 0, w);
#pragma unroll
					for (int i = 0; i < STATES; i++) {
						states[j + 1][i] =
							fmaf(exp2_fast(delta[j] * a[i]), states[j][i], du[j] * b[i]);
					}
				}
#pragma unroll
				for (int j = 3; j >= 0; j--) {
					float b[STATES], c[STATES], v[2 * STATES];
					float to_b = 0.0f, to_q = 0.0f;
					read_matrix(b, shared.bc, step + j, 0, w);
					read_matrix(c, shared.bc, step + j, 1, w);
					step_back<WEIGHTED>(v, to_b, to_q, g, da, dw, b, c, states[j], states[j + 1], a,
						delta[j], du[j], dy[j], p, w);
					shared.sums.at[w.warp][w.lane][half * 4 + j] = sum_columns(v, w);
					to_b += __shfl_xor_sync(ALL, to_b, HALF);
					to_q += __shfl_xor_sync(ALL, to_q, HALF);
					if (half == w.side) {
						sum_b[j] = to_b;
						sum_q[j] = to_q;
					}
				}
			}
			mine.fetch_all(p, w, own); /* again: registers are scarcer than reads */
			__syncthreads();
			put_columns(shared.sums, p, w, t + tile * TILE);
			mine.finish(sum_b, sum_q, d, bias, p, w, own);
			__syncthreads();
		}
	}
	store_part_sums<T, WEIGHTED>(da, dw, mine, p);
}

} // namespace wsk

#endif
