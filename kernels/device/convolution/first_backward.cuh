/**
 * first_backward.cuh - the convolution of rows that are contiguous (channel-first), backward
 *
 * A warp owns what it owns forward (first.cuh) and goes from the end of it to the begin: the
 * gradients of the elements behind a chunk come from the lane behind. A warp adds up the gradients
 * of its channel's weights and bias in registers, then by a butterfly, and writes one row of the
 * scratch, which reduce_sums() adds up (last_backward.cuh).
 */
#ifndef WSK_DEVICE_CONV_FIRST_BACKWARD_CUH
#define WSK_DEVICE_CONV_FIRST_BACKWARD_CUH

#include "first.cuh"

namespace wsk
{

/** The first 3 gradients behind a part, of which lane i computes the i-th; 0 beyond the row. */
template <typename E, int W> struct elements_behind {
	E x[W], dout;
	bool there;

	WSK_DEVICE void
	ask(const part_of_row<E> &own, const E *row, const E *grad)
	{
		int at = own.last + own.lane;
		there = own.lane < 3 && at < own.length;
		if (there) {
			dout = grad[at];
#pragma unroll
			for (int i = 0; i < W; i++) {
				x[i] = row[at - (W - 1) + i >= 0 ? at - (W - 1) + i : 0];
			}
		}
	}

	WSK_DEVICE void
	gradients(const wsk_conv_params &p, const taps<W> &t, const part_of_row<E> &own, float (&g)[3])
	{
		float mine[1] = {0.f}, sum[1] = {0.f};
		if (there) {
			float f[4] = {};
#pragma unroll
			for (int i = 0; i < W; i++) {
				bool inside = own.last + own.lane - (W - 1) + i >= 0;
				f[4 - W + i] = inside ? to_float(x[i]) : 0.f;
			}
			sum[0] = t.convolve(f);
			mine[0] = to_float(dout);
			before_activation(mine, sum, p.silu);
		}
#pragma unroll
		for (int i = 0; i < 3; i++) {
			g[i] = __shfl_sync(ALL, mine[0], i);
		}
	}
};

/** Sums of one warp, in an order that is always the same, into its row of the scratch. */
template <int W>
static WSK_DEVICE void
write_sums(float (&sums)[W + 1], float *to, int lane)
{
#pragma unroll
	for (int k = 0; k <= W; k++) {
#pragma unroll
		for (int away = 16; away > 0; away /= 2) {
			sums[k] += __shfl_xor_sync(ALL, sums[k], away);
		}
		if (lane == 0) {
			to[k] = sums[k];
		}
	}
}

/** The planes of backward, at the row of a warp. */
template <typename E> struct row_planes {
	const E *x, *dout;
	E *dx;
};

/** Steps of x, of the output's gradient, and of the elements of x before each. */
template <typename E> struct back_steps {
	static constexpr int N = 16 / (int)sizeof(E), STEPS = WSK_CONV_BACK_STEPS;
	piece<E, N> x[STEPS], dout[STEPS];
	piece<E, 4> before[STEPS]; /**< read again: the lane before has just asked for the same line */

	template <bool EVEN>
	WSK_DEVICE void
	load(int j, const part_of_row<E> &own, const row_planes<E> &planes, int at)
	{
		load_step<EVEN>(dout[j], own, planes.dout, at);
		load_step<EVEN>(x[j], own, planes.x, at);
		if (!EVEN) {
			load_step<false>(before[j], own, planes.x, at - 4);
		} else if (at >= 4 && at < own.length) {
			before[j].load(planes.x + at - 4);
		} else {
			before[j].clear();
		}
	}

	WSK_DEVICE void
	load_all(bool even, const part_of_row<E> &own, const row_planes<E> &planes, int start)
	{
#pragma unroll
		for (int j = STEPS - 1; even && j >= 0; j--) {
			load<true>(j, own, planes, start + (j * 32 + own.lane) * N);
		}
#pragma unroll
		for (int j = STEPS - 1; !even && j >= 0; j--) {
			load<false>(j, own, planes, start + (j * 32 + own.lane) * N);
		}
	}
};

/**
 * Computes dx of one chunk, whose steps are in v, and its contributions to the sums. @a behind: the
 * 3
 * gradients behind it, for lane 31. @a next: the chunk in front of it is there and even, and is
 * asked for step by step.
 */
template <typename E, int W, bool EVEN>
static WSK_DEVICE void
backward_chunk(const wsk_conv_params &p, const taps<W> &t, const part_of_row<E> &own,
	const row_planes<E> &planes, const row_planes<E> &ahead, int start, int start_ahead, bool next,
	back_steps<E> &v, float (&behind)[3], float (&sums)[W + 1])
{
	constexpr int N = back_steps<E>::N, STEPS = WSK_CONV_BACK_STEPS;
	int first = hidden(start + own.lane * N);
#pragma unroll
	for (int j = STEPS - 1; j >= 0; j--) {
		int at = first + j * 32 * N;
		float f[N + 3], g[N + 3], mine[N], sum[N];
		floats_of<EVEN>(v.before[j], v.x[j], own, at, f);
#pragma unroll
		for (int i = 0; i < N; i++) {
			mine[i] = v.dout[j].at(i);
		}
		if (next) {
			v.template load<true>(j, own, ahead, at + (start_ahead - start));
		}
		if (start + j * 32 * N >= own.length) {
			continue;
		}
#pragma unroll
		for (int i = 0; i < N; i++) {
			sum[i] = t.convolve(f + i);
		}
		before_activation(mine, sum, p.silu);
#pragma unroll
		for (int i = 0; i < N; i++) {
			g[i] = mine[i];
		}
		if (!EVEN && (at < 0 || at + N > own.length)) {
#pragma unroll
			for (int i = 0; i < N; i++) { /* an infinite sum outside of the row would make it NaN */
				g[i] = at + i >= 0 && at + i < own.length ? g[i] : 0.f;
			}
		}
#pragma unroll
		for (int i = 0; i < 3; i++) {
			float turned = __shfl_sync(ALL, g[i], (own.lane + 1) & 31);
			g[N + i] = own.lane == 31 ? behind[i] : turned;
			behind[i] = turned;
		}
#pragma unroll
		for (int i = 0; i < N; i++) {
			mine[i] = 0.f;
#pragma unroll
			for (int k = 0; k < W; k++) {
				mine[i] = fmaf(t.w[k][0], g[i + W - 1 - k], mine[i]);
				sums[k] = fmaf(g[i], f[i + 4 - W + k], sums[k]);
			}
			sums[W] += g[i];
		}
		store_step<EVEN>(mine, own, planes.dx, at);
	}
}

template <typename E, int W>
static WSK_DEVICE void
first_backward(const wsk_conv_params &p)
{
	constexpr int CHUNK = WSK_CONV_CHUNK(sizeof(E), WSK_CONV_BACK_STEPS);
	part_of_row<E> own;
	if (!own.find(p)) {
		return;
	}
	row_planes<E> planes = {hidden<E>(own.of(p.x)), own.of(p.dout), own.of(p.dx)};
	own.begin(p, planes.x, planes.dout, planes.dx);
	float sums[W + 1] = {}, behind[3];
	if (own.first < own.last) { /* not a last part that the rows' shift has emptied */
		own.around = own.is_amid(p, p.x) && own.is_amid(p, p.dout);
		int start = own.first + (own.last - own.first - 1) / CHUNK * CHUNK;
		bool even = own.even(start, CHUNK);
		back_steps<E> v;
		v.load_all(even, own, planes, start);
		elements_behind<E, W> after;
		after.ask(own, planes.x, planes.dout);
		taps<W> t;
		load_weights(p, own.channel, 1, t.w, t.bias);
		after.gradients(p, t, own, behind);
		int rows = own.rows(p);
#pragma unroll 1
		for (;;) {
			bool more = start - CHUNK >= own.first;
			bool next = more ? own.even(start - CHUNK, CHUNK) : rows > 1;
			int start_ahead = more ? start - CHUNK : start;
			row_planes<E> ahead = planes;
			if (!more) {
				ahead.x += p.x.batch, ahead.dout += p.dout.batch, ahead.dx += p.dx.batch;
			}
			if (even) {
				backward_chunk<E, W, true>(
					p, t, own, planes, ahead, start, start_ahead, next, v, behind, sums);
			} else {
				backward_chunk<E, W, false>(
					p, t, own, planes, ahead, start, start_ahead, next, v, behind, sums);
			}
			if (!more && --rows == 0) {
				break;
			}
			if (!more) {
				behind[0] = behind[1] = behind[2] = 0.f;
			}
			planes = ahead, start = start_ahead;
			if (!next) {
				v.load_all(false, own, planes, start);
			}
			even = next;
		}
	}
	int64_t to = (own.batch / p.rows * p.pieces + own.part) * p.dim + own.channel;
	write_sums<W>(sums, reinterpret_cast<float *>(p.scratch) + to * (W + 1), own.lane);
}

} // namespace wsk

#endif
