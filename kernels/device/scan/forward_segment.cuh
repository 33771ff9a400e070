/**
 * forward_segment.cuh - the selective scan, forward: a segment's steps, brought and finished
 *
 * forward.cuh explains the layout in shared memory and which thread loads which part. This file
 * loads the inputs of a segment, one segment ahead, and writes its results except the states.
 */
#ifndef WSK_DEVICE_SCAN_FORWARD_SEGMENT_CUH
#define WSK_DEVICE_SCAN_FORWARD_SEGMENT_CUH

#include "segment.cuh"

namespace wsk
{

/** Eight steps of one state: one read of 16 bytes, or two. */
template <typename T> struct alignas(16) eight {
	piece<T, 4> r[2];
};

template <typename T, int N> struct alignas(16) forward_shared {
	piece<T, 4> matrix[2 * HALF][SEGMENT / 4 + 16 / sizeof(piece<T, 4>)];
	float delta[WARPS][lanes<N>::COLUMNS][SEGMENT + 8];
	float du[WARPS][lanes<N>::COLUMNS][SEGMENT + 8];
	float4 parts[WARPS][32][lanes<N>::COUNT];

	/** A lane's part of y of the @a four -th four steps of a run: neither lanes nor fours meet in a
	 * bank. */
	WSK_DEVICE float4 &
	part(const place &w, int lane, int four)
	{
		return parts[w.warp][lane][four ^ (lane % lanes<N>::COUNT)];
	}
};

/** Which rows of B or C a half warp brings, eight for each warp: B for the first two; four steps
 * for each lane. */
template <typename T> struct brought_rows {
	static constexpr int ROWS = 2 * HALF / WARPS / 2;
	const T *first;
	int64_t stride;
	/** rows that exist from the first on, below 0 or above ROWS too; 0 where they do not vary */
	int left;

	WSK_DEVICE
	brought_rows(const wsk_scan_params &p, const place &w)
	{
		const wsk_scan_matrix &m = w.warp < WARPS / 2 ? p.b : p.c;
		int state = p.first_state + row(w, 0) % HALF;
		asm volatile("" : "+r"(state)); /* found anew, as in row_of() */
		first = reinterpret_cast<const T *>(m.at.data) + w.batch * m.at.batch + w.group * m.at.head
			+ state * m.at.row + w.lane % HALF * 4;
		stride = 2 * m.at.row;
		left = m.varies ? (p.states_count - state + 1) / 2 : 0;
	}

	/** Number of the half warp's @a k -th row among the block's 32: B of 16 states, then C. */
	static WSK_DEVICE int
	row(const place &w, int k)
	{
		return w.warp * 2 * ROWS + 2 * k + w.lane / HALF;
	}
};

/** B and C of a segment on their way; a row is one line of memory where elements have 16 bits. */
template <typename T, int N> struct matrix_segment {
	static constexpr int ROWS = brought_rows<T>::ROWS;
	piece<T, 4> r[ROWS];

	/** @a whole: all steps are there, and aligned. */
	WSK_DEVICE void
	fetch(const wsk_scan_params &p, const place &w, int t, bool whole)
	{
		const brought_rows<T> rows(p, w);
		const T *at = rows.first + t;
		if (usually(whole && rows.left >= ROWS)) {
#pragma unroll
			for (int k = 0; k < ROWS; k++) {
				r[k] = *reinterpret_cast<const piece<T, 4> *>(at + k * rows.stride);
			}
			return;
		}
		const int steps = w.end - t - w.lane % HALF * 4;
#pragma unroll
		for (int k = 0; k < ROWS; k++) {
			r[k] = load_four<T>(at + k * rows.stride, k < rows.left ? steps : 0, whole);
		}
	}

	/** 1 for what does not vary, which is a weight. */
	WSK_DEVICE void
	put(forward_shared<T, N> &to, const wsk_scan_params &p, const place &w) const
	{
		const bool varies = w.warp < WARPS / 2 ? p.b.varies : p.c.varies;
#pragma unroll
		for (int k = 0; k < ROWS; k++) {
			const int row = brought_rows<T>::row(w, k);
			const float one = p.first_state + row % HALF < p.states_count ? 1.0f : 0.0f;
			piece<T, 4> ones;
			ones.pack({one, one, one, one});
			to.matrix[row][w.lane % HALF] = varies ? r[k] : ones;
		}
	}
};

/** Where a lane's steps are of a segment that begins at 0; of z it is found again, which keeps
 * registers free. */
template <typename T> struct own_rows {
	const T *u, *delta;

	WSK_DEVICE
	own_rows(const wsk_scan_params &p, const place &w)
		: u(row_of<T>(p.u, w) + 4 * w.side), delta(row_of<T>(p.delta, w) + 4 * w.side)
	{
	}
};

/** The steps of a segment that a lane brings: four of each run. */
template <typename T, int N> struct own_steps {
	static constexpr int RUNS = lanes<N>::RUNS, RUN = lanes<N>::RUN;
	piece<T, 4> u[RUNS], delta[RUNS], z[RUNS];

	/** @a whole: all steps of the segment are there, and aligned. */
	WSK_DEVICE void
	fetch(const own_rows<T> &rows, const wsk_scan_params &p, const place &w, int t, bool whole)
	{
		const T *of_u = rows.u + t, *of_delta = rows.delta + t;
		/* Any value if z is absent: it is unused. */
		const T *of_z = p.z.data ? row_of<T>(p.z, w) + 4 * w.side + t : of_u;
		if (usually(whole)) {
#pragma unroll
			for (int k = 0; k < RUNS; k++) {
				u[k] = *reinterpret_cast<const piece<T, 4> *>(of_u + k * RUN);
				delta[k] = *reinterpret_cast<const piece<T, 4> *>(of_delta + k * RUN);
				z[k] = *reinterpret_cast<const piece<T, 4> *>(of_z + k * RUN);
			}
			return;
		}
#pragma unroll
		for (int k = 0; k < RUNS; k++) {
			const int left = w.end - t - 4 * w.side - k * RUN;
			u[k] = load_four<T>(of_u + k * RUN, left, false);
			delta[k] = load_four<T>(of_delta + k * RUN, left, false);
			z[k] = load_four<T>(of_z + k * RUN, left, false);
		}
	}

	/** delta and delta u to where all lanes of the channel read them. Returns the sum of delta. */
	WSK_DEVICE float
	share(forward_shared<T, N> &to, float bias, const wsk_scan_params &p, const place &w, int t,
		bool whole) const
	{
		float x[4 * RUNS], d[4 * RUNS], sum = 0.0f;
		unpack_all(x, u);
		unpack_all(d, delta);
#pragma unroll
		for (int i = 0; i < 4 * RUNS; i++) {
			d[i] += bias;
		}
		if (p.softplus) {
#pragma unroll
			for (int i = 0; i < 4 * RUNS; i++) {
				d[i] = softplus(d[i]);
			}
		}
		if (!whole) {
#pragma unroll
			for (int i = 0; i < 4 * RUNS; i++) { /* where nothing may change */
				d[i] = t + i / 4 * RUN + 4 * w.side + i % 4 < w.end ? d[i] : 0.0f;
			}
		}
#pragma unroll
		for (int i = 0; i < 4 * RUNS; i++) {
			x[i] *= d[i];
			sum += d[i];
		}
#pragma unroll
		for (int k = 0; k < RUNS; k++) {
			int step = k * RUN + 4 * w.side;
			as_four(&to.delta[w.warp][w.column][step]) =
				make_float4(d[4 * k], d[4 * k + 1], d[4 * k + 2], d[4 * k + 3]);
			as_four(&to.du[w.warp][w.column][step]) =
				make_float4(x[4 * k], x[4 * k + 1], x[4 * k + 2], x[4 * k + 3]);
		}
		return sum;
	}

	WSK_DEVICE static void
	store(T *at, const float (&x)[4 * RUNS], int left, bool whole)
	{
		if (usually(whole)) {
#pragma unroll
			for (int k = 0; k < RUNS; k++) {
				piece<T, 4> v;
				v.pack({x[4 * k], x[4 * k + 1], x[4 * k + 2], x[4 * k + 3]});
				v.store(at + k * RUN);
			}
			return;
		}
#pragma unroll
		for (int i = 0; i < 4 * RUNS; i++) {
			if (i / 4 * RUN + i % 4 < left) {
				at[i / 4 * RUN + i % 4] = from_float<T>(x[i]);
			}
		}
	}

	/** D u and the gate; out and out_z. */
	WSK_DEVICE void
	finish(float (&y)[4 * RUNS], float d, const wsk_scan_params &p, const place &w, int t,
		bool whole) const
	{
		t += 4 * w.side;
		if (!sum_launches<RUN>(y, p.sum_y, p, w, t) || !w.there) {
			return;
		}
		const int left = w.end - t;
		float x[4 * RUNS];
		unpack_all(x, u);
#pragma unroll
		for (int i = 0; i < 4 * RUNS; i++) {
			y[i] = fmaf(d, x[i], y[i]);
		}
		if (p.out.data) {
			store(row_of<T>(p.out, w) + t, y, left, whole);
		}
		if (p.z.data) {
			unpack_all(x, z);
#pragma unroll
			for (int i = 0; i < 4 * RUNS; i++) {
				y[i] *= x[i] * sigmoid(x[i]);
			}
			store(row_of<T>(p.out_z, w) + t, y, left, whole);
		}
	}
};

} // namespace wsk

#endif
