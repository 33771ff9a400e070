/**
 * update.cuh - new rows for a convolution whose last rows are kept (decode)
 *
 * A thread owns neighbouring channels of some entries of the batch. A state that two entries of
 * the batch name is written by both, in no order.
 */
#ifndef WSK_DEVICE_CONV_UPDATE_CUH
#define WSK_DEVICE_CONV_UPDATE_CUH

#include "../common/elements.cuh"
#include "weights.cuh"

namespace wsk
{

/** One entry of the batch: where its state is, and at which row the new ones begin. */
struct entry {
	int64_t batch, state;
	int from;    /**< circular: the row of the first new one */
	bool exists; /**< false: a padding slot, or one that there is not */

	WSK_DEVICE
	entry(const wsk_conv_update_params &p, int64_t b) : batch(b), state(b), from(0)
	{
		if (p.indices) {
			state = reinterpret_cast<const int *>(p.indices)[b];
		}
		exists = state >= 0 && state < p.entries;
		if (p.cache_seqlens) {
			from = reinterpret_cast<const int *>(p.cache_seqlens)[b] % p.state_length;
			from += from < 0 ? p.state_length : 0;
		}
	}
};

template <typename E>
static WSK_DEVICE E *
address(const wsk_view &v, int64_t batch, int64_t channel)
{
	return reinterpret_cast<E *>(v.data) + batch * v.batch + channel * v.head;
}

/** The threads' channels and entries; @a channels of each thread. */
struct update_place {
	int64_t channel, batch, last; /**< entries [batch, last) */

	WSK_DEVICE bool
	find(const wsk_conv_update_params &p, int channels)
	{
		unsigned tile = blockIdx.x * WSK_CONV_THREADS + threadIdx.x;
		channel = (int64_t)(tile % (unsigned)p.groups) * channels;
		batch = (int64_t)(tile / (unsigned)p.groups) * p.each;
		last = batch + p.each < p.batch ? batch + p.each : p.batch;
		return batch < p.batch;
	}
};

template <int W, int N> struct update_taps {
	float w[W][N], bias[N];
};

/** One element, or pieces of several: the type in the loop over rows. */
template <typename E, int N> struct some {
	piece<E, N> v;
	WSK_DEVICE void
	load(const E *from)
	{
		v.load_words(from);
	}
	WSK_DEVICE void
	store(E *to) const
	{
		v.store(to);
	}
	WSK_DEVICE float
	at(int i) const
	{
		return v.at(i);
	}
	WSK_DEVICE void
	pack(const float (&f)[N])
	{
		v.pack(f);
	}
};

template <typename E> struct some<E, 1> {
	E v;
	WSK_DEVICE void
	load(const E *from)
	{
		v = *from;
	}
	WSK_DEVICE void
	store(E *to) const
	{
		*to = v;
	}
	WSK_DEVICE float
	at(int) const
	{
		return to_float(v);
	}
	WSK_DEVICE void
	pack(const float (&f)[1])
	{
		v = from_float<E>(f[0]);
	}
};

template <int W, int N>
static WSK_DEVICE void
one_row(const update_taps<W, N> &t, const float (&x)[W][N], bool silu, float (&y)[N])
{
#pragma unroll
	for (int i = 0; i < N; i++) {
		y[i] = t.bias[i];
#pragma unroll
		for (int k = 0; k < W; k++) {
			y[i] = fmaf(t.w[k][i], x[k][i], y[i]);
		}
	}
	activate(y, silu);
}

/** Any number of new rows, any state. Rows of N channels are loaded and stored at once. */
template <typename E, int W, int N> struct rows_of_state {
	const wsk_conv_update_params &p;
	E *state, *out;
	const E *x;
	float old[W][N];

	/** The W - 1 rows before the new ones, and the state moved up by as many as are new. */
	WSK_DEVICE void
	shift()
	{
		int keep = p.state_length - p.length;
		some<E, N> v;
		for (int s = 0; s < p.state_length; s++) {
			int from_end = s - (p.state_length - (W - 1)), to = s - p.length;
			if (from_end < 0 && to < 0) {
				continue;
			}
			v.load(state + s * p.state.row);
#pragma unroll
			for (int k = 0; k + 1 < W; k++) {
#pragma unroll
				for (int i = 0; i < N; i++) {
					old[k][i] = from_end == k ? v.at(i) : old[k][i];
				}
			}
			if (to >= 0 && to < keep) {
				v.store(state + to * p.state.row);
			}
		}
	}

	WSK_DEVICE int
	next(int s) const
	{
		return s + 1 == p.state_length ? 0 : s + 1;
	}

	/** The W - 1 rows before the new ones, in a circle. */
	WSK_DEVICE void
	gather(int from)
	{
		int s = from - (W - 1);
		s += s < 0 ? p.state_length : 0;
#pragma unroll
		for (int k = 0; k + 1 < W; k++) {
			some<E, N> v;
			v.load(state + s * p.state.row);
#pragma unroll
			for (int i = 0; i < N; i++) {
				old[k][i] = v.at(i);
			}
			s = next(s);
		}
	}

	WSK_DEVICE void
	run(const update_taps<W, N> &t, int from)
	{
		if (p.cache_seqlens) {
			gather(from);
		} else {
			shift();
		}
		int s = p.cache_seqlens ? from : p.state_length - p.length;
		for (int l = 0; l < p.length; l++) {
			some<E, N> v, r;
			float y[N];
			v.load(x + l * p.x.row);
			if (s >= 0) {
				v.store(state + s * p.state.row);
			}
			s = p.cache_seqlens ? next(s) : s + 1;
#pragma unroll
			for (int i = 0; i < N; i++) {
				old[W - 1][i] = v.at(i);
			}
			one_row<W, N>(t, old, p.silu, y);
			r.pack(y);
			r.store(out + l * p.out.row);
#pragma unroll
			for (int k = 0; k + 1 < W; k++) {
#pragma unroll
				for (int i = 0; i < N; i++) {
					old[k][i] = old[k + 1][i];
				}
			}
		}
	}

	WSK_DEVICE void
	clear()
	{
		float nothing[N] = {};
		some<E, N> v;
		v.pack(nothing);
		for (int l = 0; l < p.length; l++) {
			v.store(out + l * p.out.row);
		}
	}
};

template <typename E, int W, int N>
static WSK_DEVICE void
update_any(const wsk_conv_update_params &p)
{
	update_place own;
	if (!own.find(p, N)) {
		return;
	}
	update_taps<W, N> t;
	load_weights(p, (int)own.channel, N, t.w, t.bias);
	for (int64_t b = own.batch; b < own.last; b++) {
		entry e(p, b);
		rows_of_state<E, W, N> rows = {p, nullptr, address<E>(p.out, e.batch, own.channel),
			address<E>(p.x, e.batch, own.channel), {}};
		if (e.exists) {
			rows.state = address<E>(p.state, e.state, own.channel);
			rows.run(t, e.from);
		} else {
			rows.clear();
		}
	}
}

/** The S rows of a state, side by side: N channels are N * S elements at 16 bytes. */
template <typename E, int S, int N> struct rows_together {
	static constexpr int CHANNELS = N, V = 16 / (int)sizeof(E), PIECES = N * S / V;
	static_assert(N * S % V == 0, "whole vectors");
	piece<E, V> v[PIECES];

	WSK_DEVICE void
	load(const wsk_conv_update_params &, const E *from)
	{
#pragma unroll
		for (int i = 0; i < PIECES; i++) {
			v[i].load_words(from + i * V);
		}
	}

	WSK_DEVICE float
	at(int channel, int row) const
	{
		int i = channel * S + row;
		return v[i / V].at(i % V);
	}

	/** Each channel's rows moved up by one, its newest behind them. */
	WSK_DEVICE void
	push(const wsk_conv_update_params &, E *to, const some<E, N> &x) const
	{
		float f[PIECES][V];
#pragma unroll
		for (int c = 0; c < N; c++) {
#pragma unroll
			for (int s = 0; s < S; s++) {
				int i = c * S + s;
				f[i / V][i % V] = s + 1 < S ? at(c, s + 1) : x.at(c);
			}
		}
#pragma unroll
		for (int i = 0; i < PIECES; i++) {
			piece<E, V> r;
			r.pack(f[i]);
			r.store(to + i * V);
		}
	}
};

/** The S rows of a state, each of contiguous channels. */
template <typename E, int S> struct rows_apart {
	static constexpr int CHANNELS = 16 / (int)sizeof(E);
	some<E, CHANNELS> v[S];

	WSK_DEVICE void
	load(const wsk_conv_update_params &p, const E *from)
	{
#pragma unroll
		for (int s = 0; s < S; s++) {
			v[s].load(from + s * p.state.row);
		}
	}

	WSK_DEVICE float
	at(int channel, int row) const
	{
		return v[row].at(channel);
	}

	WSK_DEVICE void
	push(const wsk_conv_update_params &p, E *to, const some<E, CHANNELS> &x) const
	{
#pragma unroll
		for (int s = 0; s < S; s++) {
			(s + 1 < S ? v[s + 1 < S ? s + 1 : s] : x).store(to + s * p.state.row);
		}
	}
};

/** Entries [batch, last) of those that @a COUNT has room for: all are loaded before the first is
 * computed. */
template <typename STATE, typename E, int W, int S, int COUNT, int N>
static WSK_DEVICE void
update_entries(const wsk_conv_update_params &p, const update_taps<W, N> &t, int64_t batch,
	int64_t last, int64_t channel)
{
	STATE state[COUNT];
	some<E, N> x[COUNT];
	int64_t slot[COUNT];
#pragma unroll
	for (int b = 0; b < COUNT; b++) {
		slot[b] = -1;
		if (batch + b < last) {
			entry e(p, batch + b);
			slot[b] = e.exists ? e.state : -1;
			x[b].load(address<E>(p.x, batch + b, channel));
			if (e.exists) {
				state[b].load(p, address<E>(p.state, e.state, channel));
			}
		}
	}
#pragma unroll
	for (int b = 0; b < COUNT; b++) {
		if (batch + b >= last) {
			break;
		}
		float rows[W][N], y[N] = {};
		if (slot[b] >= 0) {
#pragma unroll
			for (int i = 0; i < N; i++) {
				rows[W - 1][i] = x[b].at(i);
#pragma unroll
				for (int k = 0; k + 1 < W; k++) {
					rows[k][i] = state[b].at(i, S - (W - 1) + k);
				}
			}
			one_row<W, N>(t, rows, p.silu, y);
			state[b].push(p, address<E>(p.state, slot[b], channel), x[b]);
		}
		some<E, N> r;
		r.pack(y);
		r.store(address<E>(p.out, batch + b, channel));
	}
}

/** Appends one new row to a state of S rows. */
template <typename STATE, typename E, int W, int S, int COUNT>
static WSK_DEVICE void
update_small(const wsk_conv_update_params &p)
{
	constexpr int N = STATE::CHANNELS;
	update_place own;
	if (!own.find(p, N)) {
		return;
	}
	update_taps<W, N> t;
	load_weights(p, (int)own.channel, N, t.w, t.bias);
#pragma unroll 1
	for (int64_t b = own.batch; b < own.last; b += COUNT) {
		update_entries<STATE, E, W, S, COUNT>(p, t, b, own.last, own.channel);
	}
}

template <typename E, int W, int S>
static WSK_DEVICE void
update_by_layout(const wsk_conv_update_params &p)
{
	constexpr int V = 16 / (int)sizeof(E), N = S == 3 ? V : V / S;
	if (p.layout == WSK_CONV_UPDATE_APART) {
		update_small<rows_apart<E, S>, E, W, S, 2>(p);
	} else {
		update_small<rows_together<E, S, N>, E, W, S, S == 3 ? 2 : 4>(p);
	}
}

template <typename E, int W>
static WSK_DEVICE void
update(const wsk_conv_update_params &p)
{
	if (p.layout == WSK_CONV_UPDATE_CHANNELS) {
		update_any<E, W, 16 / (int)sizeof(E)>(p);
	} else if (p.layout == WSK_CONV_UPDATE_ANY) {
		update_any<E, W, 1>(p);
	} else if (p.state_length == 4) {
		update_by_layout<E, W, 4>(p);
	} else if (p.state_length == 3) {
		update_by_layout<E, W, 3>(p);
	} else if constexpr (W < 4) {
		update_by_layout<E, W, 2>(p);
	}
}

} // namespace wsk

#endif
