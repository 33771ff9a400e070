/**
 * last.cuh - the convolution of rows of contiguous channels (channel-last), forward
 *
 * A thread owns 4 neighbouring channels (WSK_CONV_CHANNELS) and goes down a run of rows, with the
 * last W rows of x in registers as floats (window); the next ones are loaded meanwhile (rows.cuh
 * documents the shared memory). Neighbouring threads have neighbouring channels,
 * so a row of a warp is one piece of memory; groups of channels, runs of rows and the batch make up
 * the grid. No thread waits for another. seq_idx, where there is one, says which rows belong to the
 * same sequence. The contract is that of causal_conv1d 1.5.3.post1; that the host chooses runs by
 * the shape alone is what makes sums the same on every device.
 */
#ifndef WSK_DEVICE_CONV_LAST_CUH
#define WSK_DEVICE_CONV_LAST_CUH

#include "rows.cuh"
#include "weights.cuh"

namespace wsk
{

template <int W, int N> struct channel_taps {
	float w[W][N], bias[N];
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

	/** Loads the W - 1 rows before @a first: from x, from the initial states, or zeros. */
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

/** Asks for the first rows of a run, as many as @a queue has places; @a columns: one for each
 * plane. */
template <typename E, int N, bool WIDE, int PLANES, typename QUEUE>
static WSK_DEVICE void
ask_first(QUEUE &queue, column<E, N, WIDE> *const (&columns)[PLANES], int rows)
{
#pragma unroll
	for (int l = 0; l < QUEUE::AHEAD; l++) {
#pragma unroll
		for (int plane = 0; plane < PLANES; plane++) {
			queue.ask(l % ROWS, plane, *columns[plane], l < rows);
			columns[plane]->next();
		}
		queue.asked();
		if (l % ROWS == ROWS - 1) {
			queue.turn();
		}
	}
}

/** The number of rows before @a last among the ROWS rows that start at @a l. */
template <typename E, int W, int N, bool SEQ, bool WIDE, typename QUEUE>
static WSK_DEVICE void
forward_rows(const wsk_conv_params &p, const channel_taps<W, N> &t, window<W, N, SEQ> &win,
	QUEUE &queue, column<E, N, WIDE> &x, column<E, N, WIDE> &out, const int *idx, int l, int last)
{
#pragma unroll
	for (int r = 0; r < ROWS; r++) {
		float y[N];
		queue.wait();
		win.push(queue.take(r, 0), !SEQ ? 0 : l + r < last ? idx[l + r] : -1);
		queue.ask(r, 0, x, l + r + QUEUE::AHEAD < last);
		queue.asked();
		x.next();
		win.convolve(t, y);
		activate(y, p.silu);
#pragma unroll
		for (int i = 0; i < N; i++) {
			y[i] = win.sees(W - 1) ? y[i] : 0.f;
		}
		if (l + r < last) {
			out.store(y, 0);
		}
		out.next();
	}
	queue.turn();
}

template <typename E, int W, bool SEQ, bool WIDE>
static WSK_DEVICE void
forward_run(const wsk_conv_params &p, int64_t batch, int channel, int first)
{
	constexpr int N = WSK_CONV_CHANNELS;
	int last = first + p.piece < p.length ? first + p.piece : p.length;
	int count = p.dim - channel;
	column<E, N, WIDE> x(p.x, batch, channel, count), out(p.out, batch, channel, count);
	column<E, N, WIDE> initial(p.initial, batch, channel, count);
	const int *idx = reinterpret_cast<const int *>(p.seq_idx) + batch * p.length;
	piece<E, N> before[W - 1];
	window<W, N, SEQ>::ask(before, x, initial, first);
	row_queue<E, N, WIDE, 1, WSK_ASYNC> queue(block_memory<QUEUE_BYTES<E, N, 1>>());
	column<E, N, WIDE> *const planes[1] = {&x};
	x.down(first);
	out.down(first);
	ask_first(queue, planes, last - first);
	channel_taps<W, N> t;
	load_weights(p, channel, count, t.w, t.bias);
	window<W, N, SEQ> win;
	win.start(before, idx, first);
#pragma unroll 1
	for (int l = first; l < last; l += ROWS) {
		forward_rows(p, t, win, queue, x, out, idx, l, last);
	}
	if (last == p.length && p.final.data) { /* the last rows of x, read again */
		column<E, N, WIDE> from(p.x, batch, channel, count), final(p.final, batch, channel, count);
		window<W, N, SEQ>::ask(before, from, initial, last);
#pragma unroll
		for (int k = 0; k + 1 < W; k++) {
			float f[N];
#pragma unroll
			for (int i = 0; i < N; i++) {
				f[i] = before[k].at(i);
			}
			final.store(f, k);
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
