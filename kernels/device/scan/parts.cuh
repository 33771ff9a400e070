/**
 * parts.cuh - the selective scan of time that is split into parts: what is carried over, and sums
 *
 * Where batch and channels do not fill the device, parts of time are computed side by side, in
 * three steps, the usual ones of a chunked scan (Blelloch, "Prefix Sums and Their Applications"):
 *
 *   scan_local     each part by itself, from h = 0: h and the sum of delta at its end; for backward
 *                  at each 64 steps as well, and the gradient of h that arrives at the part's begin
 *                  from its own dy
 *   scan_combine   a thread for each channel and state goes over the parts: exp(A sum of delta) is
 *                  the whole decay of a part, so it takes no more than these
 *   the scan       of all parts (forward.cuh, backward.cuh), with what was carried over
 *
 * scan_local is laid out as scan_backward is. Shared memory: B and C, and three exchanges a warp,
 * 14 KiB. scan_sum adds up what parts and blocks left in the workspace, in their order: the same
 * bits each time.
 */
#ifndef WSK_DEVICE_SCAN_PARTS_CUH
#define WSK_DEVICE_SCAN_PARTS_CUH

#include "segment.cuh"

namespace wsk
{

/** The steps of a tile: h goes on; WITH_ENDS: what dy of each step gives to the gradient of the
 * part's begin. */
template <bool WITH_ENDS>
WSK_DEVICE void
local_tile(float (&h)[STATES], float (&g)[STATES], float (&reach)[STATES], float &sum,
	const float (&delta)[TILE], const float (&du)[TILE], const float (&dy)[TILE],
	const float (&a)[STATES], const matrices &bc, int step, const place &w)
{
#pragma unroll
	for (int j = 0; j < TILE; j++) {
		float b[STATES], c[STATES];
		read_matrix(b, bc, step + j, 0, w);
		if (WITH_ENDS) {
			read_matrix(c, bc, step + j, 1, w);
		}
#pragma unroll
		for (int i = 0; i < STATES; i++) {
			float decay = exp2_fast(delta[j] * a[i]);
			h[i] = fmaf(decay, h[i], du[j] * b[i]);
			if (WITH_ENDS) {
				reach[i] *= decay;
				g[i] = fmaf(reach[i] * c[i], dy[j], g[i]);
			}
		}
		sum += delta[j];
	}
}

/** h, and the sum of delta since the part began, as number @a kept of what is kept. */
WSK_DEVICE void
keep_state(const float (&h)[STATES], float sum, const wsk_scan_params &p, const place &w, int kept)
{
	store_states(h, p, w, p.states, state_index(p, w, p.kept, kept));
	if (w.there && w.side == 0) {
		reinterpret_cast<float *>(p.sums)[channel_index(p, w, p.kept, kept)] = sum;
	}
}

/** States from 0 on at the end of each `every` steps; WITH_ENDS: the gradient that arrives at the
 * begin. */
template <typename T, bool WITH_ENDS>
WSK_DEVICE void
scan_local(const wsk_scan_params &p)
{
	__shared__ matrices bc;
	__shared__ exchange steps[WARPS][3];
	const place w = find_place<STATES>(p);
	exchange &shared_delta = steps[w.warp][0], &shared_du = steps[w.warp][1];
	exchange &shared_dy = steps[w.warp][2];
	float a[STATES], h[STATES] = {}, g[STATES] = {}, reach[STATES];
	load_a(a, p, w);
	if (WITH_ENDS) {
		load_weights(reach, p, w);
	}
	const float bias = scalar(p.bias, w);
	const T *u_row = row_of<T>(p.u, w), *delta_row = row_of<T>(p.delta, w);
	const T *dout_row = row_of<T>(p.dout, w), *z_row = row_of<T>(p.z, w);
	float sum = 0.0f;
	segment_part<T> next_bc;
	fetch_segment<T>(next_bc, p, w, w.begin);
	int own = w.begin + 4 * w.side;
	piece<T, 4> u4 = fetch<T>(u_row, own, p, w), delta4 = fetch<T>(delta_row, own, p, w);
	for (int t = w.begin; t < w.end; t += SEGMENT) {
		__syncthreads();
		put_segment<T>(bc, next_bc, p, w, t);
		__syncthreads();
		const int end = min(t + SEGMENT, w.end);
		fetch_segment<T>(next_bc, p, w, t + SEGMENT);
#pragma unroll 1
		for (int s = t; s < end; s += TILE) {
			own = s + 4 * w.side;
			__syncwarp();
			share_steps<T>(shared_delta, shared_du, u4, delta4, bias, p, w, own);
			if (WITH_ENDS) {
				float dy4[4];
				gated<T>(
					dy4, fetch<T>(dout_row, own, p, w), fetch<T>(z_row, own, p, w), p.z.data != 0);
				shared_dy.four(w.column, w.side) = as_float4(dy4);
			}
			__syncwarp();
			u4 = fetch<T>(u_row, own + TILE, p, w);
			delta4 = fetch<T>(delta_row, own + TILE, p, w);
			float delta[TILE], du[TILE], dy[TILE];
			read_tile(delta, shared_delta, w);
			read_tile(du, shared_du, w);
			if (WITH_ENDS) {
				read_tile(dy, shared_dy, w);
			}
			local_tile<WITH_ENDS>(h, g, reach, sum, delta, du, dy, a, bc, s - t, w);
		}
		if (end % p.every == 0 || end == p.length) {
			keep_state(h, sum, p, w, (end - 1) / p.every);
		}
	}
	if (WITH_ENDS) {
		store_states(g, p, w, p.ends, state_index(p, w, p.parts, w.part));
	}
}

/** Carries states forward over the parts, and gradients backward. A thread for each channel and
 * state. */
WSK_DEVICE void
scan_combine(const wsk_scan_params &p)
{
	const int64_t inner = (int64_t)p.channels * p.states_count;
	const int64_t all = inner * p.batch;
	const int64_t index = (int64_t)blockIdx.x * WSK_SCAN_THREADS + threadIdx.x;
	if (index >= all) {
		return;
	}
	const int batch = index / inner, channel = index % inner / p.states_count;
	const int state = index % p.states_count;
	const float a =
		reinterpret_cast<const float *>(p.a)[channel * p.a_channel + state * p.a_state] * LOG2E;
	float *states =
		reinterpret_cast<float *>(p.states) + (int64_t)batch * p.kept * inner + index % inner;
	const float *sums =
		reinterpret_cast<const float *>(p.sums) + (int64_t)batch * p.kept * p.channels + channel;
	const int each = p.part / p.every;
	constexpr int AHEAD = 8;
	float before = 0.0f, h = 0.0f;
	for (int first = 0; first < p.kept; first += AHEAD) {
		float sum[AHEAD], own[AHEAD]; /* all are read before one is written */
#pragma unroll
		for (int i = 0; i < AHEAD; i++) {
			int k = min(first + i, p.kept - 1);
			sum[i] = sums[(int64_t)k * p.channels];
			own[i] = states[k * inner];
		}
#pragma unroll
		for (int i = 0; i < AHEAD; i++) {
			int k = first + i;
			before = k % each == 0 ? h : before;
			h = fmaf(exp2_fast(a * sum[i]), before, own[i]);
			if (k >= each && k < p.kept) {
				states[k * inner] = h;
			}
		}
	}
	if (!p.with_ends) {
		return;
	}
	float *ends =
		reinterpret_cast<float *>(p.ends) + (int64_t)batch * p.parts * inner + index % inner;
	float g = 0.0f;
	for (int k = p.parts - 1; k >= 0; k--) {
		float own = ends[k * inner];
		ends[k * inner] = g;
		int last = min((k + 1) * each, p.kept) - 1;
		g = fmaf(exp2_fast(a * sums[(int64_t)last * p.channels]), g, own);
	}
}

/** Sums that do not depend on each other, blocks of threads after blocks of threads. */
WSK_DEVICE void
scan_sum(const wsk_scan_sums_params &all)
{
	int64_t block = blockIdx.x;
	int which = 0;
	while (block >= all.sums[which].blocks) {
		block -= all.sums[which++].blocks;
	}
	const wsk_scan_sum &p = all.sums[which];
	const int64_t i = block * WSK_SCAN_THREADS + threadIdx.x;
	if (i >= p.count) {
		return;
	}
	const float *from = reinterpret_cast<const float *>(p.from) + i;
	float sum = 0.0f;
#pragma unroll 8
	for (int k = 0; k < p.terms; k++) {
		sum += from[k * p.stride];
	}
	if (p.factor) {
		sum *= reinterpret_cast<const float *>(p.factor)[i];
	}
	store_any(p.to, p.type, i, sum);
}

} // namespace wsk

#endif
