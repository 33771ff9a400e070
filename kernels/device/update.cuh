/**
 * update.cuh - one time step of the scan for every sequence: state = exp(dt A) state + dt B x
 *
 * The state is read and written once, and that is what takes the time: 16 bytes for a thread, while
 * neighbouring lanes have the channel's others.
 */
#ifndef WSK_DEVICE_UPDATE_CUH
#define WSK_DEVICE_UPDATE_CUH

#include "fast_math.cuh"
#include "scan_elements.cuh"
#include "scan_params.h"

namespace wsk
{

/** An element of any type; the branch is the same for all threads. */
WSK_DEVICE float
load_any(const wsk_update_view &v, int64_t at)
{
	if (v.type == 3) {
		return reinterpret_cast<const float *>(v.data)[at];
	}
	uint16_t e = reinterpret_cast<const uint16_t *>(v.data)[at];
	return v.type == 1 ? float16::get(e) : bfloat16::get(e);
}

WSK_DEVICE void
store_any(const wsk_update_view &v, int64_t at, float x)
{
	if (v.type == 3) {
		reinterpret_cast<float *>(v.data)[at] = x;
	} else {
		reinterpret_cast<uint16_t *>(v.data)[at] = v.type == 1 ? float16::put(x) : bfloat16::put(x);
	}
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
	store_any(p.out, at_channel(p.out, batch, head, channel), y);
}

/** 16 bytes of elements. */
template <typename T> struct wide {
	static constexpr int COUNT = 16 / sizeof(typename T::element);
	static constexpr int FOURS = COUNT / 4;
	uint4 r;

	WSK_DEVICE void
	load(const typename T::element *at)
	{
		r = *reinterpret_cast<const uint4 *>(at);
	}
	WSK_DEVICE void
	store(typename T::element *at) const
	{
		*reinterpret_cast<uint4 *>(at) = r;
	}
	WSK_DEVICE void
	unpack(float (&x)[COUNT]) const
	{
		const typename T::four *fours = reinterpret_cast<const typename T::four *>(&r);
#pragma unroll
		for (int k = 0; k < FOURS; k++) {
			float four[4];
			T::unpack(four, fours[k]);
#pragma unroll
			for (int i = 0; i < 4; i++) {
				x[4 * k + i] = four[i];
			}
		}
	}
	WSK_DEVICE void
	pack(const float (&x)[COUNT])
	{
		typename T::four *fours = reinterpret_cast<typename T::four *>(&r);
#pragma unroll
		for (int k = 0; k < FOURS; k++) {
			const float four[4] = {x[4 * k], x[4 * k + 1], x[4 * k + 2], x[4 * k + 3]};
			fours[k] = T::pack(four);
		}
	}
};

/** A number of any type as it lies in memory: what is read is not looked at before all else is under way. */
WSK_DEVICE uint32_t
load_raw(const wsk_update_view &v, int64_t at)
{
	return v.type == 3 ? reinterpret_cast<const uint32_t *>(v.data)[at]
					   : reinterpret_cast<const uint16_t *>(v.data)[at];
}

WSK_DEVICE float
from_raw(uint32_t raw, int type)
{
	return type == 3 ? __uint_as_float(raw)
		: type == 1  ? float16::get((uint16_t)raw)
					 : bfloat16::get((uint16_t)raw);
}

/** Strides that fit in 32 bits, which the host has seen to: one instruction for each. */
WSK_DEVICE int64_t
at_narrow(const wsk_update_view &v, int a, int b, int c)
{
	return (int64_t)a * (int32_t)v.stride[0] + (int64_t)b * (int32_t)v.stride[1]
		+ (int64_t)c * (int32_t)v.stride[2];
}

/** Neighbouring states of B or C, of type X or float. */
template <typename X, int COUNT> struct matrix_part {
	uint4 r[COUNT / 4];

	WSK_DEVICE void
	fetch(const wsk_update_view &v, int64_t at)
	{
		if (v.type == 3) {
			const uint4 *from =
				reinterpret_cast<const uint4 *>(reinterpret_cast<const float *>(v.data) + at);
#pragma unroll
			for (int k = 0; k < COUNT / 4; k++) {
				r[k] = from[k];
			}
			return;
		}
		const uint2 *from =
			reinterpret_cast<const uint2 *>(reinterpret_cast<const uint16_t *>(v.data) + at);
#pragma unroll
		for (int k = 0; k < COUNT / 4; k++) {
			uint2 two = from[k];
			r[k].x = two.x, r[k].y = two.y;
		}
	}

	WSK_DEVICE void
	unpack(float (&x)[COUNT], int type) const
	{
#pragma unroll
		for (int k = 0; k < COUNT / 4; k++) {
			float four[4] = {__uint_as_float(r[k].x), __uint_as_float(r[k].y),
				__uint_as_float(r[k].z), __uint_as_float(r[k].w)};
			if (type != 3) {
				X::unpack(four, *reinterpret_cast<const typename X::four *>(&r[k]));
			}
#pragma unroll
			for (int i = 0; i < 4; i++) {
				x[4 * k + i] = four[i];
			}
		}
	}
};

/** What the step of one sequence and channel needs besides the weights. */
template <typename T, typename X> struct step {
	wide<T> state;
	matrix_part<X, wide<T>::COUNT> b, c;
	typename X::element x, dt, z;
	int32_t entry;

	WSK_DEVICE void
	fetch(const wsk_state_update_params &p, const typename T::element *states, int batch, int head,
		int channel, int group, int n, bool there)
	{
		typedef const typename X::element *row;
		entry = p.indices ? reinterpret_cast<const int32_t *>(p.indices)[batch] : batch;
		x = reinterpret_cast<row>(p.x.data)[at_narrow(p.x, batch, head, channel)];
		dt = reinterpret_cast<row>(p.dt.data)[at_narrow(p.dt, batch, head, channel)];
		if (p.z.data) {
			z = reinterpret_cast<row>(p.z.data)[at_narrow(p.z, batch, head, channel)];
		}
		b.fetch(p.b, at_narrow(p.b, batch, group, 0) + n);
		c.fetch(p.c, at_narrow(p.c, batch, group, 0) + n);
		entry = entry < p.entries ? entry : -1;
		if (there && entry >= 0) {
			state.load(states + (int64_t)entry * (int32_t)p.state_entry);
		}
	}
};

WSK_DEVICE uint32_t
divide(uint32_t x, const wsk_divisor &by)
{
	return (__umulhi(x, by.factor) + x) >> by.shift;
}

/**
 * The usual case, 16 bytes of state for each thread: x, dt, z and out of type X, B and C of X or float,
 * A float, contiguous states. A block does `each` sequences; the next one's loads are under way while
 * one is computed.
 */
template <typename T, typename X>
WSK_DEVICE void
state_update_wide(const wsk_state_update_params &p)
{
	constexpr int COUNT = wide<T>::COUNT;
	const uint32_t rest = divide(blockIdx.x, p.by_blocks), chunk = divide(rest, p.by_heads);
	const uint32_t block = blockIdx.x - rest * p.blocks;
	const int head = rest - chunk * p.heads, group = divide(head, p.by_group_heads);
	const int first = chunk * p.each, last = min(first + p.each, p.batch);
	const int lane = threadIdx.x & (p.lanes - 1);
	const int wanted = (block * WSK_SCAN_THREADS + threadIdx.x) >> p.lane_bits;
	const bool exists = wanted < p.channels, there = exists && lane * COUNT < p.states;
	const int channel = min(wanted, p.channels - 1), n = there ? lane * COUNT : 0;
	typename T::element *states = reinterpret_cast<typename T::element *>(p.state)
		+ (int64_t)head * (int32_t)p.state_head + (int64_t)channel * (int32_t)p.state_channel + n;
	step<T, X> next;
	next.fetch(p, states, first, head, channel, group, n, there);
	const float *a_row =
		reinterpret_cast<const float *>(p.a.data) + at_narrow(p.a, head, channel, n);
	float a[COUNT];
	if (p.tied) {
		a[0] = *a_row;
	} else {
#pragma unroll
		for (int k = 0; k < COUNT / 4; k++) {
			float4 v = reinterpret_cast<const float4 *>(a_row)[k];
			a[4 * k] = v.x, a[4 * k + 1] = v.y, a[4 * k + 2] = v.z, a[4 * k + 3] = v.w;
		}
	}
	uint32_t raw_d = 0, raw_bias = 0;
	if (p.d.data) {
		raw_d = load_raw(p.d, at_narrow(p.d, head, channel, 0));
	}
	if (p.dt_bias.data) {
		raw_bias = load_raw(p.dt_bias, at_narrow(p.dt_bias, head, channel, 0));
	}
	const float d = p.d.data ? from_raw(raw_d, p.d.type) : 0.0f;
	const float bias = p.dt_bias.data ? from_raw(raw_bias, p.dt_bias.type) : 0.0f;
	for (int batch = first; batch < last; batch++) {
		step<T, X> now = next;
		if (batch + 1 < last) {
			next.fetch(p, states, batch + 1, head, channel, group, n, there);
		}
		float b[COUNT], c[COUNT], s[COUNT];
		float dt = X::get(now.dt) + bias, x = X::get(now.x), y = 0.0f;
		dt = p.softplus ? softplus(dt) : dt;
		now.state.unpack(s);
		now.b.unpack(b, p.b.type);
		now.c.unpack(c, p.c.type);
		const float rate = dt * LOG2E, tied = exp2_fast(rate * a[0]), dx = dt * x;
#pragma unroll
		for (int i = 0; i < COUNT; i++) {
			s[i] = fmaf(p.tied ? tied : exp2_fast(rate * a[i]), s[i], dx * b[i]);
			y = fmaf(s[i], c[i], y);
		}
		const bool has = there && now.entry >= 0;
		if (has) {
			now.state.pack(s);
			now.state.store(states + (int64_t)now.entry * (int32_t)p.state_entry);
		}
		y = has ? y : 0.0f;
		for (int o = p.lanes / 2; o > 0; o /= 2) {
			y += __shfl_xor_sync(ALL, y, o);
		}
		if (exists && lane == 0) {
			y = fmaf(x, d, y);
			if (p.z.data) {
				float z = X::get(now.z);
				y *= z * sigmoid(z);
			}
			reinterpret_cast<typename X::element *>(
				p.out.data)[at_narrow(p.out, batch, head, channel)] =
				X::put(now.entry >= 0 ? y : 0.0f);
		}
	}
}

/** Any types and strides, one state after the other. T: the type of the state. */
template <typename T>
WSK_DEVICE void
state_update_any(const wsk_state_update_params &p)
{
	typedef typename T::element element;
	uint32_t rest = blockIdx.x;
	const uint32_t block = rest % p.blocks;
	rest /= p.blocks;
	const int head = rest % p.heads, batch = rest / p.heads, group = head / p.group_heads;
	const uint32_t lane = threadIdx.x % p.lanes;
	const int wanted = (block * WSK_SCAN_THREADS + threadIdx.x) / p.lanes;
	const int channel = min(wanted, p.channels - 1);
	int entry = p.indices ? reinterpret_cast<const int32_t *>(p.indices)[batch] : batch;
	const bool there = wanted < p.channels && entry >= 0 && entry < p.entries;
	element *states = reinterpret_cast<element *>(p.state) + (there ? entry : 0) * p.state_entry
		+ head * p.state_head + channel * p.state_channel;
	const float dt = load_dt(p, batch, head, channel);
	const float x = load_any(p.x, at_channel(p.x, batch, head, channel));
	float y = 0.0f;
	for (int n = lane; there && n < p.states; n += p.lanes) {
		float a = load_any(p.a, at_channel(p.a, head, channel, n));
		float b = load_any(p.b, at_channel(p.b, batch, group, n));
		float c = load_any(p.c, at_channel(p.c, batch, group, n));
		element &state = states[n * p.state_state];
		float s = fmaf(exp2_fast(dt * a * LOG2E), T::get(state), dt * x * b);
		state = T::put(s);
		y = fmaf(s, c, y);
	}
	for (int o = p.lanes / 2; o > 0; o /= 2) {
		y += __shfl_xor_sync(ALL, y, o);
	}
	if (lane == 0 && there) {
		finish_update(y, x, p, batch, head, channel);
	} else if (lane == 0 && wanted < p.channels) {
		store_any(p.out, at_channel(p.out, batch, head, channel), 0.0f);
	}
}

} // namespace wsk

#endif
