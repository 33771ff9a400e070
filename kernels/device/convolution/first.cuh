/**
 * first.cuh - the convolution of rows that are contiguous (channel-first), forward
 *
 * A warp owns a part of one row of one channel, or, where rows are one whole chunk and many, the
 * row of that channel in two sequences, one after the other. It goes over it in chunks, 16 bytes
 * for each lane and step, four steps. A lane gets its neighbours' elements from their registers;
 * the kernel uses no shared memory, and warps do not wait for each other. A row that does not
 * begin at 16 bytes is taken as one that begins earlier, with elements that do not count.
 */
#ifndef WSK_DEVICE_CONV_FIRST_CUH
#define WSK_DEVICE_CONV_FIRST_CUH

#include "../common/elements.cuh"
#include "weights.cuh"

namespace wsk
{

/** The work of a warp: one part of a row of one channel, in p.rows sequences. Elements count in
 * [0, length). */
template <typename E> struct part_of_row {
	static constexpr int N = 16 / (int)sizeof(E);
	int64_t batch;
	int channel, part, lane;
	int first, last; /**< [first, last), first may be a little before the row */
	int length, shift;
	bool wide;   /**< every plane's rows begin alike, `shift` elements behind 16 bytes */
	bool around; /**< a piece that is partly in the row may be read, with some of the rows beside */

	/** False where there is nothing for this warp. */
	WSK_DEVICE bool
	find(const wsk_conv_params &p)
	{
		unsigned tile = blockIdx.x, pieces = (unsigned)p.pieces;
		unsigned row = tile / pieces * (WSK_CONV_THREADS / 32) + threadIdx.x / 32;
		lane = (int)(threadIdx.x % 32);
		part = (int)(tile % pieces);
		batch = (int64_t)(row / (unsigned)p.dim) * p.rows;
		channel = (int)(row % (unsigned)p.dim);
		length = p.length;
		return batch < p.batch;
	}

	/** Rows of this warp: of one channel, in sequences one behind the other. */
	WSK_DEVICE int
	rows(const wsk_conv_params &p) const
	{
		return batch + p.rows <= p.batch ? p.rows : (int)(p.batch - batch);
	}

	WSK_DEVICE E *
	of(const wsk_view &v) const
	{
		return reinterpret_cast<E *>(v.data) + batch * v.batch + channel * v.head;
	}

	WSK_DEVICE void
	begin(const wsk_conv_params &p, const E *a, const E *b, const E *c)
	{
		unsigned at = (unsigned)(reinterpret_cast<uint64_t>(a) % 16);
		wide = at == reinterpret_cast<uint64_t>(b) % 16 && at == reinterpret_cast<uint64_t>(c) % 16;
		shift = wide ? (int)(at / sizeof(E)) : 0;
		first = part * p.piece - shift;
		last = first + p.piece < length ? first + p.piece : length;
	}

	/** Between the first and the last element of a plane, everything may be read. */
	WSK_DEVICE bool
	is_amid(const wsk_conv_params &p, const wsk_view &v) const
	{
		int64_t before = batch * v.batch + channel * v.head;
		int64_t last_row = (p.batch - 1) * v.batch + (p.dim - 1) * v.head;
		return before >= N - 1 && last_row - before >= N - 1;
	}

	/** True if each piece of a chunk is at 16 bytes, and all of it in the row or all of it
	 * behind. */
	WSK_DEVICE bool
	even(int start, int chunk) const
	{
		return wide && start >= 0 && (start + chunk <= length || (length - start) % N == 0);
	}
};

/** @a x itself: the compiler would make it anew, or keep what it makes of it for each step in
 * registers. */
static WSK_DEVICE int
hidden(int x)
{
	asm volatile("" : "+r"(x));
	return x;
}

template <typename E>
static WSK_DEVICE const E *
hidden(const E *x)
{
	asm volatile("" : "+l"(x));
	return x;
}

/**
 * Loads N elements: @a at is the first. @a EVEN: of a chunk that is even; 0 behind the row. Else
 * those outside of the row have any value: a load of each element, which waits for it, is only for
 * the ends of a plane.
 */
template <bool EVEN, typename E, int N>
static WSK_DEVICE void
load_step(piece<E, N> &v, const part_of_row<E> &own, const E *row, int at)
{
	bool some = at + N > 0 && at < own.length, all = at >= 0 && at + N <= own.length;
	if (EVEN ? at < own.length : own.wide && (own.around ? some : all)) {
		v.load(row + at);
	} else if (!EVEN && some) {
		v.load_some(row + at, -at, own.length - at);
	} else {
		v.clear();
	}
}

template <bool EVEN, typename E, int N>
static WSK_DEVICE void
store_step(const float (&f)[N], const part_of_row<E> &own, E *row, int at)
{
	piece<E, N> v;
	v.pack(f);
	if (EVEN ? at < own.length : own.wide && at >= 0 && at + N <= own.length) {
		v.store(row + at);
	} else if (!EVEN) {
		v.store_some(row + at, -at, own.length - at);
	}
}

/** Loads @a STEPS pieces of @a plane, starting at @a start. */
template <int STEPS, typename E, int N>
static WSK_DEVICE void
load_steps(bool even, piece<E, N> (&v)[STEPS], const part_of_row<E> &own, const E *plane, int start)
{
	if (even) {
#pragma unroll
		for (int j = 0; j < STEPS; j++) {
			load_step<true>(v[j], own, plane, start + (j * 32 + own.lane) * N);
		}
	} else {
#pragma unroll
		for (int j = 0; j < STEPS; j++) {
			load_step<false>(v[j], own, plane, start + (j * 32 + own.lane) * N);
		}
	}
}

/** The 3 elements before @a at, then the lane's own; 0 beyond the row. */
template <bool EVEN, typename E, int N>
static WSK_DEVICE void
floats_of(const piece<E, 4> &before, const piece<E, N> &v, const part_of_row<E> &own, int at,
	float (&f)[N + 3])
{
#pragma unroll
	for (int i = 0; i < 3; i++) {
#ifdef WSK_BREAK_HALO /* a deliberately wrong variant: the tests must notice it */
		f[i] = before.at(1);
#else
		f[i] = before.at(i + 1);
#endif
	}
#pragma unroll
	for (int i = 0; i < N; i++) {
		f[i + 3] = v.at(i);
	}
	if (!EVEN && (at < 3 || at + N > own.length)) {
#pragma unroll
		for (int i = 0; i < N + 3; i++) {
			f[i] = at + i >= 3 && at + i < own.length + 3 ? f[i] : 0.f;
		}
	}
}

/**
 * The 4 elements before a lane's own: the last ones of the lane before. Lane 0 takes @a edge, which
 * becomes what it needs for the next step: the last ones of lane 31.
 */
template <typename E, int N>
static WSK_DEVICE piece<E, 4>
take_before(const piece<E, N> &v, piece<E, 4> &edge, int lane)
{
	constexpr int WORDS = piece<E, 4>::WORDS;
	piece<E, 4> before, turned;
	turned.w[0] = 0;
#pragma unroll
	for (int i = sizeof(E) == 4; i < WORDS; i++) {
		turned.w[i] = __shfl_sync(ALL, v.w[piece<E, N>::WORDS - WORDS + i], (lane + 31) & 31);
	}
#pragma unroll
	for (int i = 0; i < WORDS; i++) {
		before.w[i] = lane == 0 ? edge.w[i] : turned.w[i];
	}
	edge = turned;
	return before;
}

template <int W> struct taps {
	float w[W][1], bias[1];

	/** For the element whose 3 predecessors are f[0] to f[2]. */
	WSK_DEVICE float
	convolve(const float *f) const
	{
		float sum = bias[0];
#pragma unroll
		for (int k = 0; k < W; k++) {
			sum = fmaf(w[k][0], f[k + 4 - W], sum);
		}
		return sum;
	}
};

/**
 * A chunk whose steps are in @a v. Once a step is taken, the one of the next chunk is asked for in
 * its place: @a next says that that chunk is there and even.
 */
template <typename E, int W, bool EVEN>
static WSK_DEVICE void
forward_chunk(const wsk_conv_params &p, const taps<W> &t, const part_of_row<E> &own, const E *ahead,
	E *out, int start, int until, piece<E, 16 / (int)sizeof(E)> (&v)[WSK_CONV_STEPS],
	piece<E, 4> &edge)
{
	constexpr int N = 16 / (int)sizeof(E);
	int first = hidden(start + own.lane * N);
#pragma unroll
	for (int j = 0; j < WSK_CONV_STEPS && start + j * 32 * N < own.length; j++) {
		int at = first + j * 32 * N;
		float f[N + 3], y[N];
		floats_of<EVEN>(take_before(v[j], edge, own.lane), v[j], own, at, f);
		if (at < until) {
			v[j].load(ahead + at);
		}
#pragma unroll
		for (int i = 0; i < N; i++) {
			y[i] = t.convolve(f + i);
		}
		activate(y, p.silu);
		store_step<EVEN>(y, own, out, at);
	}
}

template <typename E, int W>
static WSK_DEVICE void
first_forward(const wsk_conv_params &p)
{
	constexpr int N = 16 / (int)sizeof(E), CHUNK = WSK_CONV_CHUNK(sizeof(E), WSK_CONV_STEPS);
	part_of_row<E> own;
	if (!own.find(p)) {
		return;
	}
	const E *x = hidden<E>(own.of(p.x));
	E *out = own.of(p.out);
	own.begin(p, x, out, out);
	if (own.first >= own.last) {
		return;
	}
	own.around = own.is_amid(p, p.x);
	/* The weights after the elements: both are on their way at once. */
	piece<E, 16 / (int)sizeof(E)> v[WSK_CONV_STEPS];
	piece<E, 4> edge;
	bool even = own.even(own.first, CHUNK);
	load_steps(even, v, own, x, own.first);
	edge.clear();
	if (own.lane == 0 && own.first > 0) {
		load_step<false>(edge, own, x, own.first - 4);
	}
	taps<W> t;
	load_weights(p, own.channel, 1, t.w, t.bias);
	int rows = own.rows(p);
#pragma unroll 1
	for (int start = own.first;;) {
		bool more = start + CHUNK < own.last,
			 next = more ? own.even(start + CHUNK, CHUNK) : rows > 1;
		const E *ahead = x + (more ? CHUNK : p.x.batch);
		int until = next ? own.length - (more ? CHUNK : 0) : -N;
		if (even) {
			forward_chunk<E, W, true>(p, t, own, ahead, out, start, until, v, edge);
		} else {
			forward_chunk<E, W, false>(p, t, own, ahead, out, start, until, v, edge);
		}
		if (more) {
			start += CHUNK;
		} else if (--rows > 0) {
			x = ahead, out += p.out.batch;
			edge.clear();
		} else {
			break;
		}
		if (!next) {
			load_steps(false, v, own, x, start);
		}
		even = next;
	}
}

} // namespace wsk

#endif
