/**
 * update.cuh - one time step of the scan for every sequence: state = exp(dt A) state + dt B x
 *
 * The state is read and written once, and that is what takes the time: 16 bytes of a sequence for a
 * thread, while neighbouring lanes have the channel's others.
 */
#ifndef WSK_DEVICE_UPDATE_CUH
#define WSK_DEVICE_UPDATE_CUH

#include "../common/elements.cuh"
#include "../common/fast_math.cuh"
#include "params.h"

namespace wsk
{

WSK_DEVICE float
load_any(const wsk_update_view &v, int64_t at)
{
	return load_any(v.data, v.type, at);
}

WSK_DEVICE int64_t
at_channel(const wsk_update_view &v, int batch, int head, int channel)
{
	return batch * v.stride[0] + head * v.stride[1] + channel * v.stride[2];
}

/** dt with its bias and softplus; the same for a head's channels where it is tied. */
WSK_DEVICE float
load_dt(const wsk_state_update_params &p, int batch, int head, int channel)
{
	float dt = load_any(p.dt, at_channel(p.dt, batch, head, channel));
	if (p.dt_bias.data) {
		dt += load_any(p.dt_bias, head * p.dt_bias.stride[0] + channel * p.dt_bias.stride[1]);
	}
	return p.softplus ? softplus(dt) : dt;
}

/** y of a channel, after all lanes that have its states have added up: D x and the gate. */
WSK_DEVICE void
finish_update(float y, float x, const wsk_state_update_params &p, int batch, int head, int channel)
{
	if (p.d.data) {
		y += x * load_any(p.d, head * p.d.stride[0] + channel * p.d.stride[1]);
	}
	if (p.z.data) {
		float z = load_any(p.z, at_channel(p.z, batch, head, channel));
		y *= z * sigmoid(z);
	}
	store_any(p.out.data, p.out.type, at_channel(p.out, batch, head, channel), y);
}

/** @a from, @a count times @a bytes further. */
WSK_DEVICE const char *
advance(const char *from, uint32_t count, uint32_t bytes)
{
	return from + (uint64_t)count * bytes;
}

template <typename E>
WSK_DEVICE E
load_at(const char *from)
{
	return *reinterpret_cast<const E *>(from);
}

template <typename E>
WSK_DEVICE void
store_at(const char *to, E value)
{
	*reinterpret_cast<E *>(const_cast<char *>(to)) = value;
}

/** States that a thread has: 16 bytes. */
template <typename T> constexpr int STATES_OF = 16 / sizeof(T);

/** COUNT neighbouring states of A, B or C, at a multiple of four elements. */
template <typename M, int COUNT> struct matrix_part {
	piece<M, 4> fours[COUNT / 4];

	WSK_DEVICE void
	load(const char *from)
	{
#pragma unroll
		for (int k = 0; k < COUNT / 4; k++) {
			fours[k] = reinterpret_cast<const piece<M, 4> *>(from)[k];
		}
	}
	WSK_DEVICE void
	unpack(float (&x)[COUNT]) const
	{
		unpack_all(x, fours);
	}
};

WSK_DEVICE uint32_t
divide(uint32_t x, const wsk_divisor &by)
{
	return (__umulhi(x, by.factor) + x) >> by.shift;
}

WSK_DEVICE const char *
address(const wsk_wide_rows &v, uint32_t head, uint32_t channel)
{
	return advance(
		advance(reinterpret_cast<const char *>(v.data), head, v.head), channel, v.channel);
}

WSK_DEVICE const char *
address(const wsk_wide_pairs &v, uint32_t first, uint32_t second)
{
	return advance(
		advance(reinterpret_cast<const char *>(v.data), first, v.stride[0]), second, v.stride[1]);
}

/**
 * The part of a thread: 16 bytes of neighbouring states of one channel, in every sequence of its
 * block. No branch comes before the last load: a thread without a channel or states reads those
 * of a neighbour, and the host gives absent tensors a valid address.
 */
template <typename T, typename X, typename M> struct channel_part {
	static constexpr int COUNT = STATES_OF<T>;
	const char *state, *x, *dt, *z, *out, *b, *c; /**< of the first entry and sequence */
	bool there;                                   /**< the channel and its states */
	bool writes;                                  /**< out, for all lanes of the channel */
	float a[COUNT];                               /**< one where they are tied */
	uint32_t d, bias;                             /**< as they lie in memory */

	WSK_DEVICE
	channel_part(const wsk_update_wide_params &p, uint32_t head)
	{
		const uint32_t lane = threadIdx.x & ((1u << p.lane_bits) - 1);
		const uint32_t wanted = (blockIdx.x * WSK_SCAN_THREADS + threadIdx.x) >> p.lane_bits;
		const uint32_t channel = min(wanted, p.channels - 1);
		const uint32_t group = divide(head, p.by_group_heads);
		there = wanted < p.channels && lane < p.lanes;
		writes = wanted < p.channels && lane == 0;
		const uint32_t n = lane < p.lanes ? lane * COUNT : 0;
		state = address(p.state, head, channel) + n * sizeof(T);
		dt = address(p.dt, head, channel);
		x = address(p.x, head, channel);
		z = address(p.z, head, channel);
		out = address(p.out, head, channel);
		b = address(p.b, 0, group) + n * sizeof(M);
		c = address(p.c, 0, group) + n * sizeof(M);
		bias = load_weight(address(p.dt_bias, head, channel), p.flags & WSK_UPDATE_FLOAT_BIAS);
		d = load_weight(address(p.d, head, channel), p.flags & WSK_UPDATE_FLOAT_D);
		const char *row = address(p.a, head, channel);
		if (p.flags & WSK_UPDATE_TIED) {
			a[0] = load_at<float>(row);
		} else {
			matrix_part<float32, COUNT> v;
			v.load(row + n * sizeof(float));
			v.unpack(a);
		}
	}

	static WSK_DEVICE uint32_t
	load_weight(const char *from, bool is_float)
	{
		return is_float ? load_at<uint32_t>(from) : load_at<uint16_t>(from);
	}
	static WSK_DEVICE float
	weight(uint32_t bits, bool exists, bool is_float)
	{
		return !exists ? 0.0f : is_float ? __uint_as_float(bits) : to_float(from_bits<X>(bits));
	}

	/** Sequences [batch, last) of those that @a S has room for: all are loaded before the first is
	 * computed. */
	template <int S>
	WSK_DEVICE void
	update(const wsk_update_wide_params &p, int batch, int last) const
	{
		piece<T, COUNT> states[S];
		matrix_part<M, COUNT> bs[S], cs[S];
		X xs[S], dts[S], zs[S];
		int entry[S];
		float y[S];
#pragma unroll
		for (int k = 0; k < S; k++) {
			const int sequence = min(batch + k, last - 1);
			entry[k] = sequence;
			if (p.indices) {
				entry[k] = reinterpret_cast<const int32_t *>(p.indices)[sequence];
				entry[k] = entry[k] < p.entries ? entry[k] : -1;
			}
			dts[k] = load_at<X>(advance(dt, sequence, p.dt.batch));
			states[k] = load_at<piece<T, COUNT>>(advance(state, max(entry[k], 0), p.state.batch));
			xs[k] = load_at<X>(advance(x, sequence, p.x.batch));
			bs[k].load(advance(b, sequence, p.b.stride[0]));
			cs[k].load(advance(c, sequence, p.c.stride[0]));
			zs[k] = load_at<X>(advance(z, sequence, p.z.batch));
		}
		const float to_dt =
			weight(bias, p.flags & WSK_UPDATE_BIAS, p.flags & WSK_UPDATE_FLOAT_BIAS);
#pragma unroll
		for (int k = 0; k < S; k++) {
			float matrix[COUNT], s[COUNT], sum = 0.0f;
			float rate = to_float(dts[k]) + to_dt;
			rate = p.flags & WSK_UPDATE_SOFTPLUS ? softplus(rate) : rate;
			const float dx = rate * to_float(xs[k]);
			rate *= LOG2E;
			states[k].unpack(s);
			bs[k].unpack(matrix);
			const float tied = exp2_fast(rate * a[0]);
#pragma unroll
			for (int i = 0; i < COUNT; i++) {
				const float decay = p.flags & WSK_UPDATE_TIED ? tied : exp2_fast(rate * a[i]);
				s[i] = fmaf(decay, s[i], dx * matrix[i]);
			}
			cs[k].unpack(matrix);
#pragma unroll
			for (int i = 0; i < COUNT; i++) {
				sum = fmaf(s[i], matrix[i], sum);
			}
			y[k] = there ? sum : 0.0f;
			if (there && entry[k] >= 0 && batch + k < last) {
				states[k].pack(s);
				store_at(advance(state, entry[k], p.state.batch), states[k]);
			}
		}
		finish<S>(p, batch, last, entry, xs, zs, y);
	}

	/** y of all states of a channel, D x and the gate. */
	template <int S>
	WSK_DEVICE void
	finish(const wsk_update_wide_params &p, int batch, int last, const int (&entry)[S],
		const X (&xs)[S], const X (&zs)[S], float (&y)[S]) const
	{
		float gate[S];
#pragma unroll
		for (int k = 0; k < S; k++) {
			const float value = to_float(zs[k]);
#ifdef WSK_BREAK_GATE /* a deliberately wrong variant: the tests must notice it */
			gate[k] = p.flags & WSK_UPDATE_Z ? sigmoid(value) : 1.0f;
#else
			gate[k] = p.flags & WSK_UPDATE_Z ? value * sigmoid(value) : 1.0f;
#endif
		}
		for (int o = 1 << p.lane_bits >> 1; o > 0; o >>= 1) {
#pragma unroll
			for (int k = 0; k < S; k++) {
				y[k] += __shfl_xor_sync(ALL, y[k], o);
			}
		}
		const float by_x = weight(d, true, p.flags & WSK_UPDATE_FLOAT_D);
#pragma unroll
		for (int k = 0; k < S; k++) {
			if (writes && batch + k < last) {
				const float sum = fmaf(to_float(xs[k]), by_x, y[k]) * gate[k];
				store_at(advance(out, batch + k, p.out.batch),
					from_float<X>(entry[k] >= 0 ? sum : 0.0f));
			}
		}
	}
};

/** Sequences of a block, @a S at a time. M: the type of B and C. */
template <typename T, typename X, typename M, int S>
WSK_DEVICE void
update_sequences(const wsk_update_wide_params &p)
{
	const int first = S == 1 ? blockIdx.z : blockIdx.z * p.each;
	const int last = S == 1 ? first + 1 : min(first + p.each, p.batch);
	const channel_part<T, X, M> own(p, blockIdx.y);
#pragma unroll 1
	for (int batch = first; batch < last; batch += S) {
		own.template update<S>(p, batch, last);
	}
}

/**
 * The usual case: x, dt, z and out of type X, B and C of X or float, A float, contiguous states. A
 * thread has 16 states on their way at once. Where there are few sequences a block has one, with
 * code of its own: the way to the loads is what takes the time then.
 */
template <typename T, typename X>
WSK_DEVICE void
state_update_wide(const wsk_update_wide_params &p)
{
	constexpr int S = 16 / STATES_OF<T>;
	if (p.each > 1) {
		update_sequences<T, X, X, S>(p);
	} else if (p.flags & WSK_UPDATE_FLOAT_BC) {
		update_sequences<T, X, float32, 1>(p);
	} else {
		update_sequences<T, X, X, 1>(p);
	}
}

/**
 * One sequence of one head as a model of Mamba decodes it: WSK_UPDATE_ALONE_STATES, A for each of
 * them, z, D and dt_bias, no indices, and a channel for all threads of all blocks. The code is that
 * of any sequence; with these constants the compiler removes half of its instructions.
 */
template <typename T, typename X>
WSK_DEVICE void
state_update_alone(const wsk_update_wide_params &p)
{
	constexpr int LANES = WSK_UPDATE_ALONE_STATES / STATES_OF<T>;
	static_assert(LANES == 2 || LANES == 4, "lanes of a channel");
	wsk_update_wide_params known = p;
	known.indices = 0;
	known.batch = known.entries = 1;
	known.channels = UINT32_MAX;
	known.lanes = LANES;
	known.lane_bits = LANES / 2;
	/* softplus is not a constant here: its branch keeps the code that needs dt behind the last
	 * load. */
	known.flags &= ~WSK_UPDATE_TIED;
	known.flags |= WSK_UPDATE_Z | WSK_UPDATE_BIAS;
	channel_part<T, X, X>(known, 0).template update<1>(known, 0, 1);
}

/** Any types and strides, one state after the other. T: the type of the state. */
template <typename T>
WSK_DEVICE void
state_update_any(const wsk_state_update_params &p)
{
	uint32_t rest = blockIdx.x;
	const uint32_t block = rest % p.blocks;
	rest /= p.blocks;
	const int head = rest % p.heads, batch = rest / p.heads, group = head / p.group_heads;
	const uint32_t lane = threadIdx.x % p.lanes;
	const int wanted = (block * WSK_SCAN_THREADS + threadIdx.x) / p.lanes;
	const int channel = min(wanted, p.channels - 1);
	int entry = p.indices ? reinterpret_cast<const int32_t *>(p.indices)[batch] : batch;
	const bool there = wanted < p.channels && entry >= 0 && entry < p.entries;
	T *states = reinterpret_cast<T *>(p.state) + (there ? entry : 0) * p.state_entry
		+ head * p.state_head + channel * p.state_channel;
	const float dt = load_dt(p, batch, head, channel);
	const float x = load_any(p.x, at_channel(p.x, batch, head, channel));
	float y = 0.0f;
	for (int n = lane; there && n < p.states; n += p.lanes) {
		float a = load_any(p.a, at_channel(p.a, head, channel, n));
		float b = load_any(p.b, at_channel(p.b, batch, group, n));
		float c = load_any(p.c, at_channel(p.c, batch, group, n));
		T &state = states[n * p.state_state];
		float s = fmaf(exp2_fast(dt * a * LOG2E), to_float(state), dt * x * b);
		state = from_float<T>(s);
		y = fmaf(s, c, y);
	}
	for (int o = p.lanes / 2; o > 0; o /= 2) {
		y += __shfl_xor_sync(ALL, y, o);
	}
	if (lane == 0 && there) {
		finish_update(y, x, p, batch, head, channel);
	} else if (lane == 0 && wanted < p.channels) {
		store_any(p.out.data, p.out.type, at_channel(p.out, batch, head, channel), 0.0f);
	}
}

} // namespace wsk

#endif
