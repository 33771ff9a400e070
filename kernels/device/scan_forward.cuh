/**
 * scan_forward.cuh - the selective scan, forward: y, its gate, and the states that upstream keeps
 *
 * A block goes over its part of time in segments of 64 and tiles of 8 steps. Each thread has 8 states h of
 * its channel in registers; its y is a part of the sum over 16 states, and the two lanes of a channel add
 * theirs up for four steps each, which they finish (D u, the gate) and write, 4 elements at once. The next
 * tile's u, delta and z are on their way meanwhile. Where time is split, h begins with what scan_combine()
 * left of the parts before (scan_parts.cuh). Shared memory: B and C, and two exchanges a warp, 12 KiB.
 */
#ifndef WSK_DEVICE_SCAN_FORWARD_CUH
#define WSK_DEVICE_SCAN_FORWARD_CUH

#include "scan_segment.cuh"

namespace wsk
{

/** y of four steps: D u, the gate, and out. */
template <typename T>
WSK_DEVICE void
finish_forward(float (&y)[4], const typename T::four &u4, const typename T::four &z4, float d,
	const wsk_scan_params &p, const place &w, int t)
{
	if (!sum_launches(y, p.sum_y, p, w, t) || !w.there) {
		return;
	}
	float u[4], z[4];
	T::unpack(u, u4);
#pragma unroll
	for (int i = 0; i < 4; i++) {
		y[i] += d * u[i];
	}
	typename T::element *out = row_of<T>(p.out, w);
	if (out) {
		store_four<T>(out + t, y, w.end - t, p.wide);
	}
	if (p.z.data) {
		T::unpack(z, z4);
#pragma unroll
		for (int i = 0; i < 4; i++) {
			y[i] *= z[i] * sigmoid(z[i]);
		}
		store_four<T>(row_of<T>(p.out_z, w) + t, y, w.end - t, p.wide);
	}
}

/** The state at the end of each 2048 steps, with the product of exp(delta A) until there. */
WSK_DEVICE void
save_state(const float (&h)[STATES], const float (&a)[STATES], float sum, const wsk_scan_params &p,
	const place &w, int end)
{
	if (!p.x || !w.there || (end % WSK_SCAN_SAVED != 0 && end != p.length)) {
		return;
	}
	int row = (end - 1) / WSK_SCAN_SAVED;
	float *x = reinterpret_cast<float *>(p.x)
		+ ((((int64_t)w.batch * p.channels + w.channel) * p.rows + row) * p.states_count + w.first)
			* 2;
#pragma unroll
	for (int i = 0; i < STATES; i++) {
		if (w.first + i < p.states_count) {
			float b = p.b.varies ? 1.0f : constant(p.b, w, w.first + i);
			x[2 * i] = exp2_fast(sum * a[i]);
			x[2 * i + 1] = h[i] * b;
		}
	}
}

/** The sum of delta over what the parts before this one have. */
WSK_DEVICE float
earlier_sum(const wsk_scan_params &p, const place &w)
{
	float sum = 0.0f;
	for (int k = 0; k < w.part; k++) {
		int kept = min((k + 1) * (p.part / p.every), p.kept) - 1;
		sum += reinterpret_cast<const float *>(p.sums)[channel_index(p, w, p.kept, kept)];
	}
	return sum;
}

/** The steps of a tile, which begins at @a step of its segment: h goes on, y = C h of the thread's states. */
template <bool WEIGHTED>
WSK_DEVICE void
forward_tile(float (&h)[STATES], float (&y)[TILE], float &sum, const float (&delta)[TILE],
	const float (&du)[TILE], const float (&a)[STATES], const float (&weight)[STATES],
	const matrices &bc, int step, const place &w)
{
#pragma unroll
	for (int j = 0; j < TILE; j++) {
		float b[STATES], c[STATES];
		read_matrix(b, bc, step + j, 0, w);
		read_matrix(c, bc, step + j, 1, w);
		y[j] = 0.0f;
#pragma unroll
		for (int i = 0; i < STATES; i++) {
			h[i] = fmaf(exp2_fast(delta[j] * a[i]), h[i], du[j] * b[i]);
			y[j] = fmaf(WEIGHTED ? h[i] * weight[i] : h[i], c[i], y[j]);
		}
		sum += delta[j];
	}
}

/** out, out_z and x. WEIGHTED: B or C does not vary with time. */
template <typename T, bool WEIGHTED>
WSK_DEVICE void
scan_forward(const wsk_scan_params &p)
{
	__shared__ matrices bc;
	__shared__ exchange steps[WARPS][2];
	const place w = find_place(p);
	exchange &shared_delta = steps[w.warp][0], &shared_du = steps[w.warp][1];
	float a[STATES], h[STATES] = {}, weight[STATES];
	load_a(a, p, w);
	if (WEIGHTED) {
		load_weights(weight, p, w);
	}
	const float d = scalar(p.d, w), bias = scalar(p.bias, w);
	const typename T::element *u_row = row_of<T>(p.u, w), *delta_row = row_of<T>(p.delta, w);
	const typename T::element *z_row = row_of<T>(p.z, w);
	float sum = 0.0f;
	if (w.part > 0) {
		int kept = w.part * (p.part / p.every) - 1;
		load_states(h, p, w, p.states, state_index(p, w, p.kept, kept));
		sum = earlier_sum(p, w);
	}
	segment_part<T> next_bc;
	fetch_segment<T>(next_bc, p, w, w.begin);
	int own = w.begin + 4 * w.side;
	typename T::four u4 = fetch<T>(u_row, own, p, w), delta4 = fetch<T>(delta_row, own, p, w);
	typename T::four z4 = fetch<T>(z_row, own, p, w);
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
			__syncwarp();
			typename T::four u_now = u4, z_now = z4;
			u4 = fetch<T>(u_row, own + TILE, p, w);
			delta4 = fetch<T>(delta_row, own + TILE, p, w);
			z4 = fetch<T>(z_row, own + TILE, p, w);
			float delta[TILE], du[TILE], y[TILE];
			read_tile(delta, shared_delta, w);
			read_tile(du, shared_du, w);
			forward_tile<WEIGHTED>(h, y, sum, delta, du, a, weight, bc, s - t, w);
			float mine[4];
			gather_own(mine, y, w);
			finish_forward<T>(mine, u_now, z_now, d, p, w, own);
		}
		save_state(h, a, sum, p, w, end);
	}
}

} // namespace wsk

#endif
