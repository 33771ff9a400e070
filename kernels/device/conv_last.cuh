/**
 * conv_last.cuh - the convolution of rows of contiguous channels (channel-last), forward
 *
 * A thread owns 4 neighbouring channels (WSK_CONV_CHANNELS) and goes down a run of rows, with the last W rows of
 * x in registers as floats (window); the next 2 or 4 rows are on their way meanwhile. Neighbouring threads have
 * neighbouring channels, so a row of a warp is one piece of memory; groups of channels, runs of rows and the
 * batch make up the grid. Nothing is in shared memory, and no thread waits for another. seq_idx, where there
 * is one, says which rows belong to the same sequence. The contract is that of causal_conv1d 1.5.3.post1; that
 * the host chooses runs by the shape alone is what makes sums the same on every device.
 */
#ifndef WSK_DEVICE_CONV_LAST_CUH
#define WSK_DEVICE_CONV_LAST_CUH

#include "conv_weights.cuh"
#include "elements.cuh"

namespace wsk
{

template <int W, int N> struct channel_taps {
	float w[W][N], bias[N];
};

/** Rows of one sequence of the batch, of the channels of a thread. @a WIDE: all of them, at one piece. */
template <typename E, int N, bool WIDE> struct column {
	E *data;
	int64_t row;
	int count; /**< channels that there are; 0: none */

	WSK_DEVICE
	column(const wsk_conv_view &v, int64_t batch, int channel, int channels)
		: data(reinterpret_cast<E *>(v.data) + batch * v.batch + channel * v.channel), row(v.row),
		  count(v.data ? channels : 0)
	{
	}

	WSK_DEVICE void
	load(piece<E, N> &v, int at, bool there) const
	{
		if (!WIDE) {
			v.load_some(data + at * row, 0, there ? count : 0);
		} else if (there) {
			v.load(data + at * row);
		} else {
			v.clear();
		}
	}

	WSK_DEVICE void
	store(const float (&f)[N], int at) const
	{
		piece<E, N> v;
		v.set(f);
		if (WIDE) {
			v.store(data + at * row);
		} else {
			v.store_some(data + at * row, 0, count);
		}
	}
};

/** The last W rows as floats, and the sequence that each belongs to. */
template <int W, int N, bool SEQ> struct window {
	float x[W][N]; /**< the last one is the newest */
	int seq[W];

	template <typename E>
	WSK_DEVICE void
	push(const piece<E, N> &v, int of)
	{
#pragma unroll
		for (int k = 0; k + 1 < W; k++) {
			seq[k] = seq[k + 1];
#pragma unroll
			for (int i = 0; i < N; i++) {
				x[k][i] = x[k + 1][i];
			}
		}
		seq[W - 1] = of;
#pragma unroll
		for (int i = 0; i < N; i++) {
			x[W - 1][i] = v.at(i);
		}
	}

	/** The W - 1 rows before @a first, of x, of the initial states, or 0: asked for, then taken in. */
	template <typename E, bool WIDE>
	static WSK_DEVICE void
	ask(piece<E, N> (&v)[W - 1], const column<E, N, WIDE> &of_x, const column<E, N, WIDE> &initial,
		int first)
	{
#pragma unroll
		for (int k = 0; k + 1 < W; k++) {
			int l = first - (W - 1) + k;
			if (l >= 0) {
				of_x.load(v[k], l, true);
			} else {
				initial.load(v[k], l + W - 1, initial.count > 0);
			}
		}
	}

	template <typename E>
	WSK_DEVICE void
	start(const piece<E, N> (&v)[W - 1], const int *idx, int first)
	{
#pragma unroll
		for (int k = 0; k + 1 < W; k++) {
			int l = first - (W - 1) + k;
			push(v[k], SEQ && l >= 0 ? idx[l] : -1);
		}
	}

	/** True if tap @a k of the newest row counts. */
	WSK_DEVICE bool
	sees(int k) const
	{
		return !SEQ || (seq[W - 1] >= 0 && seq[k] == seq[W - 1]);
	}

	WSK_DEVICE void
	convolve(const channel_taps<W, N> &t, float (&sum)[N]) const
	{
#pragma unroll
		for (int i = 0; i < N; i++) {
			sum[i] = t.bias[i];
#pragma unroll
			for (int k = 0; k < W; k++) {
				sum[i] = fmaf(t.w[k][i], sees(k) ? x[k][i] : 0.f, sum[i]);
			}
		}
	}
};

/** Rows from @a l on, those before @a last: on their way. */
template <int ROWS, typename E, int N, bool WIDE>
static WSK_DEVICE void
ask_rows(piece<E, N> (&v)[ROWS], const column<E, N, WIDE> &x, int l, int last)
{
#pragma unroll
	for (int r = 0; r < ROWS; r++) {
		x.load(v[r], l + r, l + r < last);
	}
}

/** The rows before @a last of @a v, which begin at @a l. */
template <int ROWS, typename E, int W, int N, bool SEQ, bool WIDE>
static WSK_DEVICE void
forward_rows(const wsk_conv_params &p, const channel_taps<W, N> &t, window<W, N, SEQ> &win,
	const piece<E, N> (&v)[ROWS], const column<E, N, WIDE> &out, const int *idx, int l, int last)
{
#pragma unroll
	for (int r = 0; r < ROWS; r++) {
		if (l + r < last) {
			float y[N];
			win.push(v[r], SEQ ? idx[l + r] : 0);
			win.convolve(t, y);
			activate(y, p.silu);
#pragma unroll
			for (int i = 0; i < N; i++) {
				y[i] = win.sees(W - 1) ? y[i] : 0.f;
			}
			out.store(y, l + r);
		}
	}
}

template <typename E, int W, bool SEQ, bool WIDE>
static WSK_DEVICE void
forward_run(const wsk_conv_params &p, int64_t batch, int channel, int first)
{
	constexpr int N = WSK_CONV_CHANNELS, AHEAD = sizeof(E) == 4 ? 2 : 4;
	int last = first + p.piece < p.length ? first + p.piece : p.length;
	int count = p.dim - channel;
	column<E, N, WIDE> x(p.x, batch, channel, count), out(p.out, batch, channel, count);
	column<E, N, WIDE> initial(p.initial, batch, channel, count);
	const int *idx = reinterpret_cast<const int *>(p.seq_idx) + batch * p.length;
	piece<E, N> before[W - 1], v[AHEAD];
	window<W, N, SEQ>::ask(before, x, initial, first);
	ask_rows<AHEAD>(v, x, first, last);
	channel_taps<W, N> t;
	load_weights(p, channel, count, t.w, t.bias);
	window<W, N, SEQ> win;
	win.start(before, idx, first);
#pragma unroll 1
	for (int l = first; l < last; l += AHEAD) {
		piece<E, N> next[AHEAD];
		ask_rows<AHEAD>(next, x, l + AHEAD, last);
		forward_rows<AHEAD>(p, t, win, v, out, idx, l, l + AHEAD <= last ? l + AHEAD : last);
#pragma unroll
		for (int r = 0; r < AHEAD; r++) {
			v[r] = next[r];
		}
	}
	if (last == p.length && p.final.data) {
		column<E, N, WIDE> final(p.final, batch, channel, count);
#pragma unroll
		for (int k = 0; k + 1 < W; k++) {
			final.store(win.x[k + 1], k);
		}
	}
}

template <typename E, int W, bool SEQ>
static WSK_DEVICE void
last_forward(const wsk_conv_params &p)
{
	unsigned tile = blockIdx.x * WSK_CONV_THREADS + threadIdx.x;
	int channel = (int)(tile % (unsigned)p.groups) * WSK_CONV_CHANNELS;
	tile /= (unsigned)p.groups;
	int first = (int)(tile % (unsigned)p.pieces) * p.piece;
	int64_t batch = tile / (unsigned)p.pieces;
	if (batch >= p.batch) {
		return;
	}
	if (p.wide) {
		forward_run<E, W, SEQ, true>(p, batch, channel, first);
	} else {
		forward_run<E, W, SEQ, false>(p, batch, channel, first);
	}
}

} // namespace wsk

#endif
