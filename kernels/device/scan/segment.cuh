/**
 * segment.cuh - the selective scan: B and C of 64 time steps, and what a tile of 8 steps needs once
 *
 * A segment is 64 time steps, a tile 8. Shared memory of scan_local() and of backward (forward:
 * forward.cuh):
 *
 *   matrices   [64 steps][B of 16 states, C of 16 states] float, of the whole block: 8 KiB. A lane
 *              reads 8 neighbouring numbers, the same for its 16 channels: a broadcast.
 *   exchange   [16 channels][8 steps] float for each warp and quantity (delta, delta u; for
 *              gradients: the gated dout): 512 bytes. Each of the two lanes of a channel computes
 *              four of the steps (softplus, gate), both read all eight. The halves of every other
 *              four channels change places, so that neither writes nor reads of 16 bytes meet in a
 *              bank.
 *
 * All threads of a block fetch B and C, 8 steps of two rows each, into registers; scan_local() does
 * so while the segment before is computed. put_segment() makes floats of them. Steps beyond the end
 * have delta = 0 and change nothing.
 */
#ifndef WSK_DEVICE_SCAN_SEGMENT_CUH
#define WSK_DEVICE_SCAN_SEGMENT_CUH

#include "block.cuh"

namespace wsk
{

/** Four elements from @a at, of which the first @a count are there; the others are 0. */
template <typename T>
WSK_DEVICE piece<T, 4>
load_four(const T *at, int count, bool wide)
{
	piece<T, 4> v;
	if (wide && count >= 4) {
		return *reinterpret_cast<const piece<T, 4> *>(at);
	}
	v.load_some(at, 0, count);
	return v;
}

template <typename T>
WSK_DEVICE void
store_four(T *at, const float (&x)[4], int count, bool wide)
{
	piece<T, 4> v;
	v.pack(x);
	if (wide && count >= 4) {
		v.store(at);
	} else {
		v.store_some(at, 0, count);
	}
}

/** B and C of a segment: [time][B of 16 states, C of 16 states]. */
struct matrices {
	float4 at[SEGMENT][2 * HALF / 4];
};

/** One number for each channel of a warp and step of a tile, without bank conflicts for four at
 * once. */
struct exchange {
	float4 at[HALF][TILE / 4];
	WSK_DEVICE float4 &
	four(int channel, int which)
	{
		return at[channel][which ^ ((channel >> 2) & 1)];
	}
};

/** The part that one thread loads: eight steps of two of the 32 rows. */
template <typename T> struct segment_part {
	piece<T, 4> r[2][2];
};

/** Row @a row of the segment: B of state row, or C of state row - 16; NULL: it does not vary, or is
 * not. */
template <typename T>
WSK_DEVICE const T *
matrix_row(const wsk_scan_params &p, const place &w, int row)
{
	const wsk_scan_matrix &m = row < HALF ? p.b : p.c;
	int state = p.first_state + row % HALF;
	if (!m.varies || state >= p.states_count) {
		return nullptr;
	}
	return reinterpret_cast<const T *>(m.at.data) + w.batch * m.at.batch + w.group * m.at.head
		+ state * m.at.row;
}

template <typename T>
WSK_DEVICE void
fetch_segment(segment_part<T> &part, const wsk_scan_params &p, const place &w, int t)
{
	const int step = t + threadIdx.x / HALF * TILE;
#pragma unroll
	for (int which = 0; which < 2; which++) {
		const T *row = matrix_row<T>(p, w, which * HALF + threadIdx.x % HALF);
		int left = row ? w.end - step : 0;
		part.r[which][0] = load_four<T>(row + step, left, p.wide_bc);
		part.r[which][1] = load_four<T>(row + step + 4, left - 4, p.wide_bc);
	}
}

template <typename T>
WSK_DEVICE void
put_segment(
	matrices &to, const segment_part<T> &part, const wsk_scan_params &p, const place &w, int t)
{
	const int step = threadIdx.x / HALF * TILE, state = threadIdx.x % HALF;
	float *flat = &to.at[0][0].x;
#pragma unroll
	for (int which = 0; which < 2; which++) {
		bool varies = which ? p.c.varies : p.b.varies;
		bool exists = p.first_state + state < p.states_count;
#pragma unroll
		for (int k = 0; k < 2; k++) {
			float x[4];
			part.r[which][k].unpack(x);
#pragma unroll
			for (int i = 0; i < 4; i++) {
				int s = step + 4 * k + i;
				float one = exists && t + s < w.end ? 1.0f : 0.0f;
				flat[s * 2 * HALF + which * HALF + state] = varies ? x[i] : one;
			}
		}
	}
}

/** @a which 0: B, 1: C, of a thread's states at one step. */
WSK_DEVICE void
read_matrix(float (&x)[STATES], const matrices &from, int step, int which, const place &w)
{
#pragma unroll
	for (int k = 0; k < STATES / 4; k++) {
		float4 v = from.at[step][which * (HALF / 4) + w.side * (STATES / 4) + k];
		x[4 * k] = v.x, x[4 * k + 1] = v.y, x[4 * k + 2] = v.z, x[4 * k + 3] = v.w;
	}
}

/* ---- a tile's steps ---- */

/** delta as the scan takes it, and 0 beyond the end, where nothing may change. */
WSK_DEVICE float
effective(float delta, float bias, const wsk_scan_params &p, bool inside)
{
	float x = delta + bias;
	x = p.softplus ? softplus(x) : x;
	return inside ? x : 0.0f;
}

WSK_DEVICE float4
as_float4(const float (&x)[4])
{
	return make_float4(x[0], x[1], x[2], x[3]);
}

WSK_DEVICE void
as_array(float (&x)[4], const float4 &v)
{
	x[0] = v.x, x[1] = v.y, x[2] = v.z, x[3] = v.w;
}

/** Four numbers at 16 bytes. */
WSK_DEVICE float4 &
as_four(float *x)
{
	return *reinterpret_cast<float4 *>(x);
}

WSK_DEVICE void
read_tile(float (&x)[TILE], exchange &from, const place &w)
{
#pragma unroll
	for (int k = 0; k < TILE / 4; k++) {
		float4 v = from.four(w.column, k);
		x[4 * k] = v.x, x[4 * k + 1] = v.y, x[4 * k + 2] = v.z, x[4 * k + 3] = v.w;
	}
}

/** Puts delta and delta x u of four steps of this lane where both lanes of the channel read
 * them. */
template <typename T>
WSK_DEVICE void
share_steps(exchange &delta_to, exchange &du_to, const piece<T, 4> &u4, const piece<T, 4> &delta4,
	float bias, const wsk_scan_params &p, const place &w, int t)
{
	float u[4], delta[4], du[4];
	u4.unpack(u);
	delta4.unpack(delta);
#pragma unroll
	for (int i = 0; i < 4; i++) {
		delta[i] = effective(delta[i], bias, p, w.there && t + i < w.end);
		du[i] = delta[i] * u[i];
	}
	delta_to.four(w.column, w.side) = as_float4(delta);
	du_to.four(w.column, w.side) = as_float4(du);
}

template <typename T>
WSK_DEVICE piece<T, 4>
fetch(const T *row, int t, const wsk_scan_params &p, const place &w)
{
	return load_four<T>(row + t, row && w.there ? w.end - t : 0, p.wide);
}

/**
 * Adds what launches for earlier states left at some steps, four from each RUN-th on; keeps the sum
 * where more follow. True: the last.
 */
template <int RUN = 4, int STEPS>
WSK_DEVICE bool
sum_launches(float (&x)[STEPS], uint64_t at, const wsk_scan_params &p, const place &w, int t)
{
	float *sum =
		reinterpret_cast<float *>(at) + ((int64_t)w.batch * p.channels + w.channel) * p.length + t;
	const bool first = p.first_state == 0;
	const bool last = p.first_state + HALF >= p.states_count;
	if (usually(first && last)) {
		return true;
	}
#pragma unroll
	for (int i = 0; i < STEPS; i++) {
		const int step = i / 4 * RUN + i % 4;
		if (w.there && t + step < w.end) {
			x[i] += first ? 0.0f : sum[step];
			if (!last) {
				sum[step] = x[i];
			}
		}
	}
	return last;
}

/** dout times the gate, for four steps. */
template <typename T>
WSK_DEVICE void
gated(float (&dy)[4], const piece<T, 4> &dout4, const piece<T, 4> &z4, bool with_z)
{
	float z[4];
	dout4.unpack(dy);
	z4.unpack(z);
#pragma unroll
	for (int i = 0; i < 4; i++) {
		dy[i] *= with_z ? z[i] * sigmoid(z[i]) : 1.0f;
	}
}

} // namespace wsk

#endif
