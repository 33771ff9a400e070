/**
 * last_backward.cuh - the convolution of contiguous channels (channel-last), backward, and its sums
 *
 * Threads own what they own forward (last.cuh), but a warp has 128 channels and the four warps of a
 * block neighbouring runs of the same ones. A run goes down its rows once: each new row's gradient
 * of the sum is added to the W rows of dx that it saw (backward_window), of which the first is
 * complete then. To complete the last ones a run reads W - 1 rows behind its end; of those it
 * writes nothing and adds nothing to weights.
 *
 * Gradients of weights and bias are in registers over the run. Shared memory: the rows on their way
 * (rows.cuh, 16 KiB), and in the same place, once all have come, [4 warps][(W + 1) x 4 channels][32
 * lanes] floats, by which a block adds up its warps and writes one row of the scratch.
 * reduce_sums() adds up the rows. Both orders are fixed, so the same inputs give the same bits.
 */
#ifndef WSK_DEVICE_CONV_LAST_BACKWARD_CUH
#define WSK_DEVICE_CONV_LAST_BACKWARD_CUH

#include "last.cuh"

namespace wsk
{

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

/** Where a run's next rows are: those to ask for, and that of dx to write. */
template <typename E, int N, bool WIDE> struct back_columns {
	column<E, N, WIDE> x, dout, dx;
};

/** A thread's run of rows; planes are found again where they are needed, which keeps registers
 * free. */
template <typename E, int W, int N, bool WIDE> struct back_run {
	const wsk_conv_params &p;
	int batch, channel, first, last;

	WSK_DEVICE column<E, N, WIDE>
	of(const wsk_view &v) const
	{
		return column<E, N, WIDE>(v, batch, channel, p.dim - channel);
	}

	WSK_DEVICE int
	seq(int l) const
	{
		return reinterpret_cast<const int *>(p.seq_idx)[(int64_t)batch * p.length + l];
	}

	/**
	 * Writes the gradient of row @a l, which may belong to the initial states or to a different
	 * run.
	 * Few rows come here: their addresses are hidden from the compiler, which would keep them in
	 * registers.
	 */
	WSK_DEVICE void
	emit(float (&f)[N], int l, const column<E, N, WIDE> &dx) const
	{
		back_run here = *this;
		asm volatile("" : "+r"(here.batch), "+r"(here.channel));
		int of_final = l - (p.length - (W - 1));
		if (p.dfinal.data && of_final >= 0) {
			piece<E, N> v;
			here.of(p.dfinal).load(v, of_final, true);
#pragma unroll
			for (int i = 0; i < N; i++) {
				f[i] += v.at(i);
			}
		}
		if (l >= first) {
			dx.store(f, 0);
		} else if (l < 0 && p.dinitial.data) {
			here.of(p.dinitial).store(f, l + W - 1);
		}
	}
};

/** Shared memory of a block: its rows, then its sums, of any width. */
template <typename E, int N, int SUMS = WSK_CONV_THREADS *N * 5 * 4>
constexpr int BACK_BYTES = SUMS > QUEUE_BYTES<E, N, 2> ? SUMS : QUEUE_BYTES<E, N, 2>;

/** Sums of the block's warps for each channel, in an order that is always the same. */
template <typename E, int W, int N>
static WSK_DEVICE void
write_block_sums(const wsk_conv_params &p, const float (&sums)[W + 1][N], int part,
	int64_t block_channel, char *memory)
{
	constexpr int WARPS = WSK_CONV_THREADS / 32, VALUES = 32 * N * (W + 1);
	static_assert(sizeof(float) * WARPS * VALUES <= BACK_BYTES<E, N>, "the block's memory");
	float(*all)[VALUES] = reinterpret_cast<float(*)[VALUES]>(memory);
	__syncthreads(); /* rows were there */
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

/**
 * The ROWS rows that begin at @a l. A warp has one run, so that all of it takes the same branches.
 * Rows from @a plain on, and those before the run, are not only to be stored when they become
 * complete.
 */
template <typename E, int W, int N, bool SEQ, bool WIDE, typename QUEUE>
static WSK_DEVICE void
backward_rows(const wsk_conv_params &p, const channel_taps<W, N> &t, window<W, N, SEQ> &win,
	backward_window<W, N, SEQ> &back, const back_run<E, W, N, WIDE> &run, QUEUE &queue,
	back_columns<E, N, WIDE> &at, int l, int behind, int plain, float (&sums)[W + 1][N])
{
#pragma unroll
	for (int r = 0; r < ROWS; r++) {
		int done = l + r - (W - 1); /* the row of dx that becomes complete */
		float sum[N], g[N];
		queue.wait();
		const piece<E, N> dout = queue.take(r, 1);
		win.push(queue.take(r, 0), !SEQ ? 0 : l + r < p.length ? run.seq(l + r) : -1);
#pragma unroll
		for (int i = 0; i < N; i++) {
			g[i] = dout.at(i);
		}
		bool there = l + r + QUEUE::AHEAD < behind;
		queue.ask(r, 0, at.x, there);
		queue.ask(r, 1, at.dout, there);
		queue.asked();
		at.x.next();
		at.dout.next();
		back.shift();
		win.convolve(t, sum);
		before_activation(g, sum, p.silu);
#pragma unroll
		for (int i = 0; i < N; i++) {
			g[i] = l + r < behind ? g[i] : 0.f;
		}
		back.add(t, win, g);
		if (l + r < run.last) {
			add_sums<W, N>(win, g, sums);
		}
		if (done >= run.first && done < plain) {
			at.dx.store(back.dx[0], 0);
		} else if (done < run.last) {
			run.emit(back.dx[0], done, at.dx);
		}
		at.dx.next();
	}
	queue.turn();
}

template <typename E, int W, bool SEQ, bool WIDE, int N>
static WSK_DEVICE void
backward_run(const wsk_conv_params &p, int batch, int channel, int first, float (&sums)[W + 1][N],
	char *memory)
{
	const back_run<E, W, N, WIDE> run = {
		p, batch, channel, first, first + p.piece < p.length ? first + p.piece : p.length};
	back_columns<E, N, WIDE> at = {run.of(p.x), run.of(p.dout), run.of(p.dx)};
	int behind = run.last + W - 1 < p.length ? run.last + W - 1 : p.length;
	int plain = p.dfinal.data && p.length - (W - 1) < run.last ? p.length - (W - 1) : run.last;
	piece<E, N> before[W - 1];
	window<W, N, SEQ>::ask(before, at.x, run.of(p.initial), first);
	row_queue<E, N, WIDE, 2, WSK_ASYNC> queue(memory);
	column<E, N, WIDE> *const planes[2] = {&at.x, &at.dout};
	at.x.down(first);
	at.dout.down(first);
	at.dx.down(first - (W - 1));
	ask_first(queue, planes, behind - first);
	channel_taps<W, N> t;
	load_weights(p, channel, p.dim - channel, t.w, t.bias);
	window<W, N, SEQ> win;
	win.start(before, reinterpret_cast<const int *>(p.seq_idx) + (int64_t)batch * p.length, first);
	backward_window<W, N, SEQ> back = {};
#pragma unroll 1
	for (int l = first; l < run.last + W - 1; l += ROWS) {
		backward_rows(p, t, win, back, run, queue, at, l, behind, plain, sums);
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
	char *memory = block_memory<BACK_BYTES<E, N>>();
	float sums[W + 1][N] = {};
	if (channel < p.dim && first < p.length) {
		if (p.wide) {
			backward_run<E, W, SEQ, true>(p, batch, channel, (int)first, sums, memory);
		} else {
			backward_run<E, W, SEQ, false>(p, batch, channel, (int)first, sums, memory);
		}
	}
	write_block_sums<E, W, N>(p, sums, (int)part, block_channel, memory);
}

/** The sums of all parts of each weight and bias; threads share one sum, in an order that is always
 * the same. */
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
	const uint64_t into = k < p.width ? p.dweight : p.dbias;
	int64_t to = k < p.width ? channel * p.dweight_channel + k * p.dweight_tap : channel;
	if (into) {
		sum += p.accumulate ? load_any(into, p.grad_type, to) : 0.f;
		store_any(into, p.grad_type, to, sum);
	}
}

} // namespace wsk

#endif
