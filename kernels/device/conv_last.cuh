/**
 * conv_last.cuh - the convolution of rows of contiguous channels (channel-last)
 *
 * A thread owns neighbouring channels and goes down a run of rows, with the last ones in registers.
 * seq_idx, where there is one, says which of them belong to the same sequence.
 */
#ifndef WSK_DEVICE_CONV_LAST_CUH
#define WSK_DEVICE_CONV_LAST_CUH

#include "conv_params.h"
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

/** Gradients on their way to rows of x: of the newest row, and of the W - 1 before it. */
template <int W, int N, bool SEQ> struct backward_window {
	float dx[W][N]; /**< the last one is the newest */

	/** Makes room for a new row: what is in front is complete. */
	WSK_DEVICE void
	shift()
	{
#pragma unroll
		for (int i = 0; i < N; i++) {
#pragma unroll
			for (int k = 0; k + 1 < W; k++) {
				dx[k][i] = dx[k + 1][i];
			}
			dx[W - 1][i] = 0.f;
		}
	}

	WSK_DEVICE void
	add(const channel_taps<W, N> &t, const window<W, N, SEQ> &win, const float (&g)[N])
	{
#pragma unroll
		for (int k = 0; k < W; k++) {
#pragma unroll
			for (int i = 0; i < N; i++) {
				dx[k][i] = fmaf(t.w[k][i], win.sees(k) ? g[i] : 0.f, dx[k][i]);
			}
		}
	}
};

/** A thread's run of rows; planes are found again where they are needed, which keeps registers free. */
template <typename E, int W, int N, bool WIDE> struct back_run {
	const wsk_conv_params &p;
	int batch, channel, first, last;

	WSK_DEVICE column<E, N, WIDE>
	of(const wsk_conv_view &v) const
	{
		return column<E, N, WIDE>(v, batch, channel, p.dim - channel);
	}

	WSK_DEVICE int
	seq(int l) const
	{
		return reinterpret_cast<const int *>(p.seq_idx)[(int64_t)batch * p.length + l];
	}

	/** Writes the gradient of row @a l, which may be one of the initial states or of another run. */
	WSK_DEVICE void
	emit(float (&f)[N], int l) const
	{
		int of_final = l - (p.length - (W - 1));
		if (p.dfinal.data && of_final >= 0) {
			piece<E, N> v;
			of(p.dfinal).load(v, of_final, true);
#pragma unroll
			for (int i = 0; i < N; i++) {
				f[i] += v.at(i);
			}
		}
		if (l >= first) {
			of(p.dx).store(f, l);
		} else if (l < 0 && p.dinitial.data) {
			of(p.dinitial).store(f, l + W - 1);
		}
	}
};

/** Sums of the block's warps for each channel, in an order that is always the same. */
template <int W, int N>
static WSK_DEVICE void
write_block_sums(
	const wsk_conv_params &p, const float (&sums)[W + 1][N], int part, int64_t block_channel)
{
	constexpr int WARPS = WSK_CONV_THREADS / 32, VALUES = 32 * N * (W + 1);
	__shared__ float all[WARPS][VALUES];
	int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
#pragma unroll
	for (int k = 0; k <= W; k++) {
#pragma unroll
		for (int i = 0; i < N; i++) {
			all[warp][(k * N + i) * 32 + lane] = sums[k][i];
		}
	}
	__syncthreads();
	float *to =
		reinterpret_cast<float *>(p.scratch) + ((int64_t)part * p.dim + block_channel) * (W + 1);
	for (int at = (int)threadIdx.x; at < VALUES; at += WSK_CONV_THREADS) {
		int channel = at / (W + 1), k = at % (W + 1);
		int from = (k * N + channel % N) * 32 + channel / N;
		float sum = 0.f;
#pragma unroll
		for (int w = 0; w < WARPS; w++) {
			sum += all[w][from];
		}
		if (block_channel + channel < p.dim) {
			to[at] = sum;
		}
	}
}

template <int W, int N, typename WINDOW>
static WSK_DEVICE void
add_sums(const WINDOW &win, const float (&g)[N], float (&sums)[W + 1][N])
{
#pragma unroll
	for (int i = 0; i < N; i++) {
#pragma unroll
		for (int k = 0; k < W; k++) {
			float x = win.sees(k) ? win.x[k][i] : 0.f;
			sums[k][i] = fmaf(g[i], x, sums[k][i]);
		}
		sums[W][i] += win.sees(W - 1) ? g[i] : 0.f;
	}
}

/** Rows of x and of the output's gradient. */
template <typename E, int N, int AHEAD> struct row_pairs {
	piece<E, N> x[AHEAD], dout[AHEAD];
};

/**
 * The rows @a v, which begin at @a l. @a INSIDE: all belong to the run, as do those that become
 * complete; otherwise each is asked, up to the W - 1 behind the run that its last ones reach.
 */
template <bool INSIDE, int AHEAD, typename E, int W, int N, bool SEQ, bool WIDE>
static WSK_DEVICE void
backward_rows(const wsk_conv_params &p, const channel_taps<W, N> &t, window<W, N, SEQ> &win,
	backward_window<W, N, SEQ> &back, const back_run<E, W, N, WIDE> &run,
	const row_pairs<E, N, AHEAD> &v, int l, float (&sums)[W + 1][N])
{
#pragma unroll
	for (int r = 0; r < AHEAD; r++) {
		if (!INSIDE && l + r >= run.last + W - 1) {
			break;
		}
		float sum[N], g[N];
		win.push(v.x[r], !SEQ ? 0 : INSIDE || l + r < p.length ? run.seq(l + r) : -1);
		back.shift();
		win.convolve(t, sum);
#pragma unroll
		for (int i = 0; i < N; i++) {
			g[i] = v.dout[r].at(i);
		}
		before_activation(g, sum, p.silu);
#pragma unroll
		for (int i = 0; i < N; i++) {
			g[i] = INSIDE || l + r < p.length ? g[i] : 0.f;
		}
		back.add(t, win, g);
		if (INSIDE || l + r < run.last) {
			add_sums<W, N>(win, g, sums);
		}
		if (INSIDE) {
			run.of(p.dx).store(back.dx[0], l + r - (W - 1));
		} else {
			run.emit(back.dx[0], l + r - (W - 1));
		}
	}
}

template <typename E, int W, bool SEQ, bool WIDE, int N>
static WSK_DEVICE void
backward_run(const wsk_conv_params &p, int batch, int channel, int first, float (&sums)[W + 1][N])
{
	constexpr int AHEAD = 2;
	const back_run<E, W, N, WIDE> run = {
		p, batch, channel, first, first + p.piece < p.length ? first + p.piece : p.length};
	const column<E, N, WIDE> x = run.of(p.x), dout = run.of(p.dout);
	int behind = run.last + W - 1 < p.length ? run.last + W - 1 : p.length;
	piece<E, N> before[W - 1];
	row_pairs<E, N, AHEAD> v;
	window<W, N, SEQ>::ask(before, x, run.of(p.initial), first);
	ask_rows<AHEAD>(v.x, x, first, behind);
	ask_rows<AHEAD>(v.dout, dout, first, behind);
	channel_taps<W, N> t;
	load_weights(p, channel, p.dim - channel, t.w, t.bias);
	window<W, N, SEQ> win;
	win.start(before, reinterpret_cast<const int *>(p.seq_idx) + (int64_t)batch * p.length, first);
	backward_window<W, N, SEQ> back = {};
#pragma unroll 1
	for (int l = first; l < run.last + W - 1; l += AHEAD) {
		row_pairs<E, N, AHEAD> next;
		ask_rows<AHEAD>(next.x, x, l + AHEAD, behind);
		ask_rows<AHEAD>(next.dout, dout, l + AHEAD, behind);
		if (l >= first + W - 1 && l + AHEAD <= run.last) {
			backward_rows<true>(p, t, win, back, run, v, l, sums);
		} else {
			backward_rows<false>(p, t, win, back, run, v, l, sums);
		}
		v = next;
	}
}

template <typename E, int W, bool SEQ>
static WSK_DEVICE void
last_backward(const wsk_conv_params &p)
{
	constexpr int N = WSK_CONV_CHANNELS, WARPS = WSK_CONV_THREADS / 32;
	unsigned part = blockIdx.x / (unsigned)p.groups;
	int block_channel = (int)(blockIdx.x % (unsigned)p.groups) * 32 * N;
	int batch = (int)(part / (unsigned)p.pieces);
	int64_t first = ((int64_t)(part % (unsigned)p.pieces) * WARPS + threadIdx.x / 32) * p.piece;
	int channel = block_channel + (int)(threadIdx.x % 32) * N;
	float sums[W + 1][N] = {};
	if (channel < p.dim && first < p.length) {
		if (p.wide) {
			backward_run<E, W, SEQ, true>(p, batch, channel, (int)first, sums);
		} else {
			backward_run<E, W, SEQ, false>(p, batch, channel, (int)first, sums);
		}
	}
	write_block_sums<W, N>(p, sums, (int)part, block_channel);
}

/** The sums of all parts of each weight and bias; threads share one sum, in an order that is always the same. */
static WSK_DEVICE void
reduce_sums(const wsk_conv_params &p)
{
	__shared__ float shares[WSK_CONV_SHARES][WSK_CONV_SUMS];
	int64_t columns = (int64_t)p.dim * (p.width + 1);
	int64_t at = (int64_t)blockIdx.x * WSK_CONV_SUMS + threadIdx.x % WSK_CONV_SUMS;
	int share = (int)threadIdx.x / WSK_CONV_SUMS;
	const float *from = reinterpret_cast<const float *>(p.scratch);
	float sum = 0.f;
	if (at < columns) {
#pragma unroll 8
#ifdef WSK_BREAK_SUMS /* a deliberately wrong variant: the tests must notice it */
		for (int part = share; part < p.parts - 1; part += WSK_CONV_SHARES) {
#else
		for (int part = share; part < p.parts; part += WSK_CONV_SHARES) {
#endif
			sum += from[part * columns + at];
		}
	}
	shares[share][threadIdx.x % WSK_CONV_SUMS] = sum;
	__syncthreads();
	if (share > 0 || at >= columns) {
		return;
	}
#pragma unroll
	for (int i = 1; i < WSK_CONV_SHARES; i++) {
		sum += shares[i][threadIdx.x];
	}
	int64_t channel = at / (p.width + 1), k = at % (p.width + 1);
	if (k < p.width) {
		int64_t to = channel * p.dweight_channel + k * p.dweight_tap;
		store_any(p.dweight, p.grad_type, to, sum, p.accumulate);
	} else if (p.dbias) {
		store_any(p.dbias, p.grad_type, channel, sum, p.accumulate);
	}
}

} // namespace wsk

#endif
