/**
 * scan.cuh - the selective scan: h = exp(delta A) h + delta B u; y = C h + D u
 *
 * Time runs in a loop and channels and states side by side, so that a step is five instructions and no
 * thread waits for another. A thread has 8 states of one channel; lanes 0 to 15 of a warp are 16
 * channels with the first 8 of a launch's 16 states, lanes 16 to 31 the same channels with the others.
 * What is computed of a time step once (softplus, gates) is done for four steps by each of the two
 * lanes that share a channel.
 *
 * Where batch and channels do not fill the device, time is split into parts: a first pass finds what
 * each part adds by itself, combine() carries it over, and the parts are computed side by side.
 *
 * B and C that do not vary with time are one weight of each state: what is scanned is h / B, C varies
 * as 1, and y = (B C) (h / B).
 */
#ifndef WSK_DEVICE_SCAN_CUH
#define WSK_DEVICE_SCAN_CUH

#include "scan_elements.cuh"
#include "scan_params.h"

namespace wsk
{

constexpr int WARPS = WSK_SCAN_THREADS / 32;
constexpr int HALF = 16;  /* channels of a warp, and states of a launch */
constexpr int STATES = 8; /* of a thread */
constexpr int TILE = 8;   /* time steps that are computed together */
constexpr int SEGMENT = WSK_SCAN_SEGMENT;
constexpr unsigned ALL = 0xffffffffu;

/** B and C of a segment: [time][B of 16 states, C of 16 states]. */
struct matrices {
	float4 at[SEGMENT][2 * HALF / 4];
};

/** One number for each channel of a warp and step of a tile, without bank conflicts for four at once. */
struct exchange {
	float4 at[HALF][TILE / 4];
	WSK_DEVICE float4 &
	four(int channel, int which)
	{
		return at[channel][which ^ ((channel >> 2) & 1)];
	}
};

/** Who a thread is. */
struct place {
	int lane, warp, column,
		side; /* column: channel of the warp; side: which 8 states, which 4 steps */
	int batch, group, block, part;
	int channel;    /* of all; where there is none, that of the group's last */
	bool there;     /* the channel exists */
	int begin, end; /* time */
	int first;      /* state */
};

WSK_DEVICE place
find_place(const wsk_scan_params &p)
{
	place w;
	int rest = blockIdx.x;
	asm volatile("" : "+r"(rest)); /* found anew where it is asked for again */
	w.lane = threadIdx.x % 32;
	w.warp = threadIdx.x / 32;
	w.column = w.lane % HALF;
	w.side = w.lane / HALF;
	w.part = rest % p.parts;
	rest /= p.parts;
	w.block = rest % p.blocks;
	rest /= p.blocks;
	w.group = rest % p.groups;
	w.batch = rest / p.groups;
	int channel = w.block * WSK_SCAN_CHANNELS + w.warp * HALF + w.column;
	w.there = channel < p.group_channels;
	w.channel = w.group * p.group_channels + (w.there ? channel : p.group_channels - 1);
	w.begin = w.part * p.part;
	w.end = min(w.begin + p.part, p.length);
	w.first = p.first_state + w.side * STATES;
	return w;
}

/** Computed anew at each use: nine addresses that live through every loop would not leave room for states. */
template <typename T>
WSK_DEVICE typename T::element *
row_of(const wsk_scan_rows &rows, const place &w)
{
	int channel = w.channel;
	asm volatile("" : "+r"(channel));
	return rows.data ? reinterpret_cast<typename T::element *>(rows.data) + w.batch * rows.batch
			+ channel * rows.channel
					 : nullptr;
}

/** Index of the first of a thread's states in [batch][@a count][channel][state], at @a which of count. */
WSK_DEVICE int64_t
state_index(const wsk_scan_params &p, const place &w, int count, int which)
{
	return (((int64_t)w.batch * count + which) * p.channels + w.channel) * p.states_count + w.first;
}

WSK_DEVICE int64_t
channel_index(const wsk_scan_params &p, const place &w, int count, int which)
{
	return ((int64_t)w.batch * count + which) * p.channels + w.channel;
}

WSK_DEVICE void
load_states(float (&h)[STATES], const wsk_scan_params &p, const place &w, uint64_t from, int64_t at)
{
	const float *states = reinterpret_cast<const float *>(from) + at;
#pragma unroll
	for (int i = 0; i < STATES; i++) {
		h[i] = w.there && w.first + i < p.states_count ? states[i] : 0.0f;
	}
}

WSK_DEVICE void
store_states(
	const float (&h)[STATES], const wsk_scan_params &p, const place &w, uint64_t to, int64_t at)
{
	float *states = reinterpret_cast<float *>(to) + at;
#pragma unroll
	for (int i = 0; i < STATES; i++) {
		if (w.there && w.first + i < p.states_count) {
			states[i] = h[i];
		}
	}
}

/** A, times log2(e); states that are not there have 0. */
WSK_DEVICE void
load_a(float (&a)[STATES], const wsk_scan_params &p, const place &w)
{
	const float *from = reinterpret_cast<const float *>(p.a) + w.channel * p.a_channel;
#pragma unroll
	for (int i = 0; i < STATES; i++) {
		bool there = w.there && w.first + i < p.states_count;
		a[i] = there ? from[(w.first + i) * p.a_state] * LOG2E : 0.0f;
	}
}

WSK_DEVICE float
constant(const wsk_scan_matrix &m, const place &w, int state)
{
	int channel = w.channel;
	asm volatile("" : "+r"(channel)); /* read at each use, as in row_of() */
	return reinterpret_cast<const float *>(m.data)[channel * m.group + state * m.state];
}

/** The constant ones of B and C, multiplied, of the thread's state @a i. */
WSK_DEVICE float
weight_of(const wsk_scan_params &p, const place &w, int i)
{
	const int state = w.first + i;
	float weight = 1.0f;
	if (state < p.states_count) {
		weight *= p.b.varies ? 1.0f : constant(p.b, w, state);
		weight *= p.c.varies ? 1.0f : constant(p.c, w, state);
	}
	return weight;
}

WSK_DEVICE void
load_weights(float (&weight)[STATES], const wsk_scan_params &p, const place &w)
{
#pragma unroll
	for (int i = 0; i < STATES; i++) {
		weight[i] = weight_of(p, w, i);
	}
}

WSK_DEVICE float
scalar(uint64_t from, const place &w)
{
	return from && w.there ? reinterpret_cast<const float *>(from)[w.channel] : 0.0f;
}

/* ---- B and C of a segment ---- */

/** What one thread brings: eight steps of two of the 32 rows. */
template <typename T> struct segment_part {
	typename T::four r[2][2];
};

/** Row @a row of the segment: B of state row, or C of state row - 16; NULL: it does not vary, or is not. */
template <typename T>
WSK_DEVICE const typename T::element *
matrix_row(const wsk_scan_params &p, const place &w, int row)
{
	const wsk_scan_matrix &m = row < HALF ? p.b : p.c;
	int state = p.first_state + row % HALF;
	if (!m.varies || state >= p.states_count) {
		return nullptr;
	}
	return reinterpret_cast<const typename T::element *>(m.data) + w.batch * m.batch
		+ w.group * m.group + state * m.state;
}

template <typename T>
WSK_DEVICE void
fetch_segment(segment_part<T> &part, const wsk_scan_params &p, const place &w, int t)
{
	const int step = t + threadIdx.x / HALF * TILE;
#pragma unroll
	for (int which = 0; which < 2; which++) {
		const typename T::element *row = matrix_row<T>(p, w, which * HALF + threadIdx.x % HALF);
		int left = row ? w.end - step : 0;
		part.r[which][0] = load_four<T>(row + step, left, p.wide_bc);
		part.r[which][1] = load_four<T>(row + step + 4, left - 4, p.wide_bc);
	}
}

template <typename T>
WSK_DEVICE void
put_segment(
	matrices &to, const segment_part<T> &part, const wsk_scan_params &p, const place &w, int t)
{
	const int step = threadIdx.x / HALF * TILE, state = threadIdx.x % HALF;
	float *flat = &to.at[0][0].x;
#pragma unroll
	for (int which = 0; which < 2; which++) {
		bool varies = which ? p.c.varies : p.b.varies;
		bool exists = p.first_state + state < p.states_count;
#pragma unroll
		for (int k = 0; k < 2; k++) {
			float x[4];
			T::unpack(x, part.r[which][k]);
#pragma unroll
			for (int i = 0; i < 4; i++) {
				int s = step + 4 * k + i;
				float one = exists && t + s < w.end ? 1.0f : 0.0f;
				flat[s * 2 * HALF + which * HALF + state] = varies ? x[i] : one;
			}
		}
	}
}

/** @a which 0: B, 1: C, of a thread's states at one step. */
WSK_DEVICE void
read_matrix(float (&x)[STATES], const matrices &from, int step, int which, const place &w)
{
#pragma unroll
	for (int k = 0; k < STATES / 4; k++) {
		float4 v = from.at[step][which * (HALF / 4) + w.side * (STATES / 4) + k];
		x[4 * k] = v.x, x[4 * k + 1] = v.y, x[4 * k + 2] = v.z, x[4 * k + 3] = v.w;
	}
}

/* ---- a tile's steps ---- */

/** delta as the scan takes it, and 0 beyond the end, where nothing may change. */
WSK_DEVICE float
effective(float delta, float bias, const wsk_scan_params &p, bool inside)
{
	float x = delta + bias;
	x = p.softplus ? softplus(x) : x;
	return inside ? x : 0.0f;
}

WSK_DEVICE float4
as_float4(const float (&x)[4])
{
	return make_float4(x[0], x[1], x[2], x[3]);
}

WSK_DEVICE void
read_tile(float (&x)[TILE], exchange &from, const place &w)
{
#pragma unroll
	for (int k = 0; k < TILE / 4; k++) {
		float4 v = from.four(w.column, k);
		x[4 * k] = v.x, x[4 * k + 1] = v.y, x[4 * k + 2] = v.z, x[4 * k + 3] = v.w;
	}
}

/** Puts delta and delta x u of four steps of this lane where both lanes of the channel read them. */
template <typename T>
WSK_DEVICE void
share_steps(exchange &delta_to, exchange &du_to, const typename T::four &u4,
	const typename T::four &delta4, float bias, const wsk_scan_params &p, const place &w, int t)
{
	float u[4], delta[4], du[4];
	T::unpack(u, u4);
	T::unpack(delta, delta4);
#pragma unroll
	for (int i = 0; i < 4; i++) {
		delta[i] = effective(delta[i], bias, p, w.there && t + i < w.end);
		du[i] = delta[i] * u[i];
	}
	delta_to.four(w.column, w.side) = as_float4(delta);
	du_to.four(w.column, w.side) = as_float4(du);
}

template <typename T>
WSK_DEVICE typename T::four
fetch(const typename T::element *row, int t, const wsk_scan_params &p, const place &w)
{
	return load_four<T>(row + t, row && w.there ? w.end - t : 0, p.wide);
}

/** Of eight values that both lanes of a channel have parts of, the whole of this lane's four. */
WSK_DEVICE void
gather_own(float (&own)[4], const float (&x)[TILE], const place &w)
{
#pragma unroll
	for (int i = 0; i < 4; i++) {
		float mine = w.side ? x[4 + i] : x[i], other = w.side ? x[i] : x[4 + i];
		own[i] = mine + __shfl_xor_sync(ALL, other, HALF);
	}
}

/** Adds what launches for earlier states left at four steps; keeps the sum where more follow. True: the last. */
WSK_DEVICE bool
sum_launches(float (&x)[4], uint64_t at, const wsk_scan_params &p, const place &w, int t)
{
	float *sum =
		reinterpret_cast<float *>(at) + ((int64_t)w.batch * p.channels + w.channel) * p.length + t;
	const bool first = p.first_state == 0;
	const bool last = p.first_state + HALF >= p.states_count;
	if (first && last) {
		return true;
	}
#pragma unroll
	for (int i = 0; i < 4; i++) {
		if (w.there && t + i < w.end) {
			x[i] += first ? 0.0f : sum[i];
			if (!last) {
				sum[i] = x[i];
			}
		}
	}
	return last;
}

/* ---- forward ---- */

/** y of four steps: D u, the gate, and out. */
template <typename T>
WSK_DEVICE void
finish_forward(float (&y)[4], const typename T::four &u4, const typename T::four &z4, float d,
	const wsk_scan_params &p, const place &w, int t)
{
	if (!sum_launches(y, p.sum_y, p, w, t) || !w.there) {
		return;
	}
	float u[4], z[4];
	T::unpack(u, u4);
#pragma unroll
	for (int i = 0; i < 4; i++) {
		y[i] += d * u[i];
	}
	typename T::element *out = row_of<T>(p.out, w);
	if (out) {
		store_four<T>(out + t, y, w.end - t, p.wide);
	}
	if (p.z.data) {
		T::unpack(z, z4);
#pragma unroll
		for (int i = 0; i < 4; i++) {
			y[i] *= z[i] * sigmoid(z[i]);
		}
		store_four<T>(row_of<T>(p.out_z, w) + t, y, w.end - t, p.wide);
	}
}

/** The state at the end of each 2048 steps, with the product of exp(delta A) until there. */
WSK_DEVICE void
save_state(const float (&h)[STATES], const float (&a)[STATES], float sum, const wsk_scan_params &p,
	const place &w, int end)
{
	if (!p.x || !w.there || (end % WSK_SCAN_SAVED != 0 && end != p.length)) {
		return;
	}
	int row = (end - 1) / WSK_SCAN_SAVED;
	float *x = reinterpret_cast<float *>(p.x)
		+ ((((int64_t)w.batch * p.channels + w.channel) * p.rows + row) * p.states_count + w.first)
			* 2;
#pragma unroll
	for (int i = 0; i < STATES; i++) {
		if (w.first + i < p.states_count) {
			float b = p.b.varies ? 1.0f : constant(p.b, w, w.first + i);
			x[2 * i] = exp2_fast(sum * a[i]);
			x[2 * i + 1] = h[i] * b;
		}
	}
}

/** The sum of delta over what the parts before this one have. */
WSK_DEVICE float
earlier_sum(const wsk_scan_params &p, const place &w)
{
	float sum = 0.0f;
	for (int k = 0; k < w.part; k++) {
		int kept = min((k + 1) * (p.part / p.every), p.kept) - 1;
		sum += reinterpret_cast<const float *>(p.sums)[channel_index(p, w, p.kept, kept)];
	}
	return sum;
}

template <typename T, bool WEIGHTED>
WSK_DEVICE void
scan_forward(const wsk_scan_params &p)
{
	__shared__ matrices bc;
	__shared__ exchange steps[WARPS][2];
	const place w = find_place(p);
	exchange &shared_delta = steps[w.warp][0], &shared_du = steps[w.warp][1];
	float a[STATES], h[STATES] = {}, weight[STATES];
	load_a(a, p, w);
	if (WEIGHTED) {
		load_weights(weight, p, w);
	}
	const float d = scalar(p.d, w), bias = scalar(p.bias, w);
	const typename T::element *u_row = row_of<T>(p.u, w), *delta_row = row_of<T>(p.delta, w);
	const typename T::element *z_row = row_of<T>(p.z, w);
	float sum = 0.0f;
	if (w.part > 0) {
		int kept = w.part * (p.part / p.every) - 1;
		load_states(h, p, w, p.states, state_index(p, w, p.kept, kept));
		sum = earlier_sum(p, w);
	}
	segment_part<T> next_bc;
	fetch_segment<T>(next_bc, p, w, w.begin);
	int own = w.begin + 4 * w.side;
	typename T::four u4 = fetch<T>(u_row, own, p, w), delta4 = fetch<T>(delta_row, own, p, w);
	typename T::four z4 = fetch<T>(z_row, own, p, w);
	for (int t = w.begin; t < w.end; t += SEGMENT) {
		__syncthreads();
		put_segment<T>(bc, next_bc, p, w, t);
		__syncthreads();
		const int end = min(t + SEGMENT, w.end);
		fetch_segment<T>(next_bc, p, w, t + SEGMENT);
#pragma unroll 1
		for (int s = t; s < end; s += TILE) {
			own = s + 4 * w.side;
			__syncwarp();
			share_steps<T>(shared_delta, shared_du, u4, delta4, bias, p, w, own);
			__syncwarp();
			typename T::four u_now = u4, z_now = z4;
			u4 = fetch<T>(u_row, own + TILE, p, w);
			delta4 = fetch<T>(delta_row, own + TILE, p, w);
			z4 = fetch<T>(z_row, own + TILE, p, w);
			float delta[TILE], du[TILE], y[TILE];
			read_tile(delta, shared_delta, w);
			read_tile(du, shared_du, w);
#pragma unroll
			for (int j = 0; j < TILE; j++) {
				float b[STATES], c[STATES];
				read_matrix(b, bc, s - t + j, 0, w);
				read_matrix(c, bc, s - t + j, 1, w);
				y[j] = 0.0f;
#pragma unroll
				for (int i = 0; i < STATES; i++) {
					h[i] = fmaf(exp2_fast(delta[j] * a[i]), h[i], du[j] * b[i]);
					y[j] = fmaf(WEIGHTED ? h[i] * weight[i] : h[i], c[i], y[j]);
				}
				sum += delta[j];
			}
			float mine[4];
			gather_own(mine, y, w);
			finish_forward<T>(mine, u_now, z_now, d, p, w, own);
		}
		save_state(h, a, sum, p, w, end);
	}
}

/* ---- the first pass: what a part of time does by itself ---- */

/** dout times the gate, for four steps. */
template <typename T>
WSK_DEVICE void
gated(float (&dy)[4], const typename T::four &dout4, const typename T::four &z4, bool with_z)
{
	float z[4];
	T::unpack(dy, dout4);
	T::unpack(z, z4);
#pragma unroll
	for (int i = 0; i < 4; i++) {
		dy[i] *= with_z ? z[i] * sigmoid(z[i]) : 1.0f;
	}
}

/** States from 0 on at the end of each `every` steps; WITH_ENDS: the gradient that arrives at the begin. */
template <typename T, bool WITH_ENDS>
WSK_DEVICE void
scan_local(const wsk_scan_params &p)
{
	__shared__ matrices bc;
	__shared__ exchange steps[WARPS][3];
	const place w = find_place(p);
	exchange &shared_delta = steps[w.warp][0], &shared_du = steps[w.warp][1];
	exchange &shared_dy = steps[w.warp][2];
	float a[STATES], h[STATES] = {}, g[STATES] = {}, reach[STATES];
	load_a(a, p, w);
	if (WITH_ENDS) {
		load_weights(reach, p, w);
	}
	const float bias = scalar(p.bias, w);
	const typename T::element *u_row = row_of<T>(p.u, w), *delta_row = row_of<T>(p.delta, w);
	const typename T::element *dout_row = row_of<T>(p.dout, w), *z_row = row_of<T>(p.z, w);
	float sum = 0.0f;
	segment_part<T> next_bc;
	fetch_segment<T>(next_bc, p, w, w.begin);
	int own = w.begin + 4 * w.side;
	typename T::four u4 = fetch<T>(u_row, own, p, w), delta4 = fetch<T>(delta_row, own, p, w);
	for (int t = w.begin; t < w.end; t += SEGMENT) {
		__syncthreads();
		put_segment<T>(bc, next_bc, p, w, t);
		__syncthreads();
		const int end = min(t + SEGMENT, w.end);
		fetch_segment<T>(next_bc, p, w, t + SEGMENT);
#pragma unroll 1
		for (int s = t; s < end; s += TILE) {
			own = s + 4 * w.side;
			__syncwarp();
			share_steps<T>(shared_delta, shared_du, u4, delta4, bias, p, w, own);
			if (WITH_ENDS) {
				float dy4[4];
				gated<T>(
					dy4, fetch<T>(dout_row, own, p, w), fetch<T>(z_row, own, p, w), p.z.data != 0);
				shared_dy.four(w.column, w.side) = as_float4(dy4);
			}
			__syncwarp();
			u4 = fetch<T>(u_row, own + TILE, p, w);
			delta4 = fetch<T>(delta_row, own + TILE, p, w);
			float delta[TILE], du[TILE], dy[TILE];
			read_tile(delta, shared_delta, w);
			read_tile(du, shared_du, w);
			if (WITH_ENDS) {
				read_tile(dy, shared_dy, w);
			}
#pragma unroll
			for (int j = 0; j < TILE; j++) {
				float b[STATES], c[STATES];
				read_matrix(b, bc, s - t + j, 0, w);
				if (WITH_ENDS) {
					read_matrix(c, bc, s - t + j, 1, w);
				}
#pragma unroll
				for (int i = 0; i < STATES; i++) {
					float decay = exp2_fast(delta[j] * a[i]);
					h[i] = fmaf(decay, h[i], du[j] * b[i]);
					if (WITH_ENDS) {
						reach[i] *= decay;
						g[i] = fmaf(reach[i] * c[i], dy[j], g[i]);
					}
				}
				sum += delta[j];
			}
		}
		if (end % p.every == 0 || end == p.length) {
			int kept = (end - 1) / p.every;
			store_states(h, p, w, p.states, state_index(p, w, p.kept, kept));
			if (w.there && w.side == 0) {
				reinterpret_cast<float *>(p.sums)[channel_index(p, w, p.kept, kept)] = sum;
			}
		}
	}
	if (WITH_ENDS) {
		store_states(g, p, w, p.ends, state_index(p, w, p.parts, w.part));
	}
}

/** Carries states forward over the parts, and gradients backward. A thread for each channel and state. */
WSK_DEVICE void
scan_combine(const wsk_scan_params &p)
{
	const int64_t inner = (int64_t)p.channels * p.states_count;
	const int64_t all = inner * p.batch;
	const int64_t index = (int64_t)blockIdx.x * WSK_SCAN_THREADS + threadIdx.x;
	if (index >= all) {
		return;
	}
	const int batch = index / inner, channel = index % inner / p.states_count;
	const int state = index % p.states_count;
	const float a =
		reinterpret_cast<const float *>(p.a)[channel * p.a_channel + state * p.a_state] * LOG2E;
	float *states =
		reinterpret_cast<float *>(p.states) + (int64_t)batch * p.kept * inner + index % inner;
	const float *sums =
		reinterpret_cast<const float *>(p.sums) + (int64_t)batch * p.kept * p.channels + channel;
	const int each = p.part / p.every;
	float before = 0.0f, h = 0.0f;
#pragma unroll 4
	for (int k = 0; k < p.kept; k++) {
		if (k % each == 0) {
			before = h;
		}
		h = fmaf(exp2_fast(a * sums[(int64_t)k * p.channels]), before, states[k * inner]);
		if (k >= each) {
			states[k * inner] = h;
		}
	}
	if (!p.with_ends) {
		return;
	}
	float *ends =
		reinterpret_cast<float *>(p.ends) + (int64_t)batch * p.parts * inner + index % inner;
	float g = 0.0f;
	for (int k = p.parts - 1; k >= 0; k--) {
		float own = ends[k * inner];
		ends[k * inner] = g;
		int last = min((k + 1) * each, p.kept) - 1;
		g = fmaf(exp2_fast(a * sums[(int64_t)last * p.channels]), g, own);
	}
}

/* ---- backward ---- */

/** Of 2 WIDTH values that as many lanes have parts of, each lane keeps those that are its own. */
template <int WIDTH>
WSK_DEVICE void
sum_columns(float (&v)[HALF], const place &w)
{
	const bool upper = w.column & WIDTH;
#pragma unroll
	for (int i = 0; i < WIDTH; i++) {
		float keep = upper ? v[i + WIDTH] : v[i], send = upper ? v[i] : v[i + WIDTH];
		v[i] = keep + __shfl_xor_sync(ALL, send, WIDTH);
	}
}

/** Of 16 values that 16 lanes have parts of, the sum of the one that has the lane's number. */
WSK_DEVICE float
sum_columns(float (&v)[HALF], const place &w)
{
	sum_columns<8>(v, w);
	sum_columns<4>(v, w);
	sum_columns<2>(v, w);
	sum_columns<1>(v, w);
	return v[0];
}

/** Sums of one tile's dB and dC: [warp][B or C, state][time]; 9 keeps the banks apart. */
struct columns {
	float at[WARPS][32][TILE + 1];
};

/** Adds up the warps and writes the block's part of dB and dC for the steps from @a t on. */
WSK_DEVICE void
put_columns(const columns &from, const wsk_scan_params &p, const place &w, int t)
{
	const int step = threadIdx.x % TILE;
#pragma unroll
	for (int k = 0; k < 2; k++) {
		int lane = k * HALF + threadIdx.x / TILE; /* of sum_columns */
		int which = lane % HALF / STATES;
		int state = p.first_state + lane / HALF * STATES + lane % STATES;
		float sum = 0.0f;
#pragma unroll
		for (int i = 0; i < WARPS; i++) {
			sum += from.at[i][lane][step];
		}
		if (t + step < w.end && state < p.states_count) {
			int64_t row = (((int64_t)w.block * 2 + which) * p.batch + w.batch) * p.groups + w.group;
			reinterpret_cast<float *>(
				p.part_bc)[(row * p.states_count + state) * p.length + t + step] = sum;
		}
	}
}

/** The gradients of four steps, from the sums over states. */
template <typename T> struct steps_backward {
	typename T::four u, delta, dout, z, out;
	float d_sum, bias_sum;

	WSK_DEVICE void
	fetch_all(const wsk_scan_params &p, const place &w, int t)
	{
		u = fetch<T>(row_of<T>(p.u, w), t, p, w);
		delta = fetch<T>(row_of<T>(p.delta, w), t, p, w);
		dout = fetch<T>(row_of<T>(p.dout, w), t, p, w);
		z = fetch<T>(row_of<T>(p.z, w), t, p, w);
		if (p.z.data) {
			out = fetch<T>(row_of<T>(p.out, w), t, p, w);
		}
	}

	WSK_DEVICE void
	finish(float (&sum_b)[4], float (&sum_q)[4], float d, float bias, const wsk_scan_params &p,
		const place &w, int t)
	{
		sum_launches(sum_b, p.sum_b, p, w, t);
		if (!sum_launches(sum_q, p.sum_q, p, w, t) || !w.there) {
			return;
		}
		float ux[4], dx[4], dy[4], du[4], ddelta[4];
		T::unpack(ux, u);
		T::unpack(dx, delta);
		gated<T>(dy, dout, z, p.z.data != 0);
#pragma unroll
		for (int i = 0; i < 4; i++) {
			bool inside = t + i < w.end;
			float x = effective(dx[i], bias, p, inside);
			du[i] = fmaf(x, sum_b[i], d * dy[i]);
			ddelta[i] = fmaf(ux[i], sum_b[i], LN2 * sum_q[i]);
			if (p.softplus && dx[i] + bias <= 20.0f) {
				ddelta[i] *= sigmoid(dx[i] + bias);
			}
			d_sum += inside ? ux[i] * dy[i] : 0.0f;
			bias_sum += inside ? ddelta[i] : 0.0f;
		}
		store_four<T>(row_of<T>(p.du, w) + t, du, w.end - t, p.wide);
		store_four<T>(row_of<T>(p.ddelta, w) + t, ddelta, w.end - t, p.wide);
		if (p.z.data) {
			finish_gate(p, w, t);
		}
	}

	WSK_DEVICE void
	finish_gate(const wsk_scan_params &p, const place &w, int t)
	{
		float zx[4], y[4], dy[4], dz[4], gated_out[4];
		T::unpack(zx, z);
		T::unpack(y, out);
		T::unpack(dy, dout);
#pragma unroll
		for (int i = 0; i < 4; i++) {
			float s = sigmoid(zx[i]);
			dz[i] = dy[i] * y[i] * s * (1.0f + zx[i] * (1.0f - s));
			gated_out[i] = y[i] * zx[i] * s;
		}
		store_four<T>(row_of<T>(p.dz, w) + t, dz, w.end - t, p.wide);
		if (p.out_z.data) {
			store_four<T>(row_of<T>(p.out_z, w) + t, gated_out, w.end - t, p.wide);
		}
	}
};

/** What a block of the backward kernel has in shared memory. */
struct backward_shared {
	matrices bc;
	exchange steps[WARPS][3];
	columns sums;
	float4 bounds[SEGMENT / TILE - 1][STATES / 4]
				 [WSK_SCAN_THREADS]; /* states at the begin of tiles 1, 2, ... */
};
static_assert(sizeof(backward_shared) <= 49152, "more than a block has without asking");

WSK_DEVICE void
put_bound(backward_shared &to, int tile, const float (&h)[STATES])
{
#pragma unroll
	for (int k = 0; k < STATES / 4; k++) {
		to.bounds[tile - 1][k][threadIdx.x] =
			make_float4(h[4 * k], h[4 * k + 1], h[4 * k + 2], h[4 * k + 3]);
	}
}

WSK_DEVICE void
get_bound(float (&h)[STATES], const backward_shared &from, int tile)
{
#pragma unroll
	for (int k = 0; k < STATES / 4; k++) {
		float4 v = from.bounds[tile - 1][k][threadIdx.x];
		h[4 * k] = v.x, h[4 * k + 1] = v.y, h[4 * k + 2] = v.z, h[4 * k + 3] = v.w;
	}
}

WSK_DEVICE void
as_array(float (&x)[4], const float4 &v)
{
	x[0] = v.x, x[1] = v.y, x[2] = v.z, x[3] = v.w;
}

/** Four steps on, from the first (@a half 0) or the fifth of a tile. */
WSK_DEVICE void
go_on(float (&h)[STATES], backward_shared &shared, const float (&a)[STATES], const place &w,
	int tile, int half)
{
	float delta[4], du[4];
	as_array(delta, shared.steps[w.warp][0].four(w.column, half));
	as_array(du, shared.steps[w.warp][1].four(w.column, half));
#pragma unroll
	for (int j = 0; j < 4; j++) {
		float b[STATES];
		read_matrix(b, shared.bc, tile * TILE + half * 4 + j, 0, w);
#pragma unroll
		for (int i = 0; i < STATES; i++) {
			h[i] = fmaf(exp2_fast(delta[j] * a[i]), h[i], du[j] * b[i]);
		}
	}
}

/** The states before the segment that begins at @a t. */
WSK_DEVICE void
load_begin(float (&h)[STATES], const wsk_scan_params &p, const place &w, int t)
{
	if (t == 0) {
#pragma unroll
		for (int i = 0; i < STATES; i++) {
			h[i] = 0.0f;
		}
		return;
	}
	load_states(h, p, w, p.states, state_index(p, w, p.kept, t / SEGMENT - 1));
}

template <typename T, bool WEIGHTED>
WSK_DEVICE void
scan_backward(const wsk_scan_params &p)
{
	__shared__ backward_shared shared;
	const place w = find_place(p);
	exchange &shared_delta = shared.steps[w.warp][0], &shared_du = shared.steps[w.warp][1];
	exchange &shared_dy = shared.steps[w.warp][2];
	float a[STATES], g[STATES] = {}, da[STATES] = {}, dw[STATES] = {};
	load_a(a, p, w);
	const float d = scalar(p.d, w), bias = scalar(p.bias, w);
	steps_backward<T> mine;
	mine.d_sum = mine.bias_sum = 0.0f;
	if (w.part + 1 < p.parts) {
		load_states(g, p, w, p.ends, state_index(p, w, p.parts, w.part));
	}
	const typename T::element *u_row = row_of<T>(p.u, w), *delta_row = row_of<T>(p.delta, w);
	for (int t = w.begin + (w.end - w.begin - 1) / SEGMENT * SEGMENT; t >= w.begin; t -= SEGMENT) {
		segment_part<T> part;
		fetch_segment<T>(part, p, w, t);
		__syncthreads();
		put_segment<T>(shared.bc, part, p, w, t);
		__syncthreads();
		const int tiles = (min(t + SEGMENT, w.end) - t + TILE - 1) / TILE;
		float h[STATES];
		load_begin(h, p, w, t);
		/* Forward once, for the state at the begin of each tile. */
		int own = t + 4 * w.side;
		typename T::four u4 = fetch<T>(u_row, own, p, w), delta4 = fetch<T>(delta_row, own, p, w);
#pragma unroll 1
		for (int tile = 0; tile + 1 < tiles; tile++) {
			own = t + tile * TILE + 4 * w.side;
			__syncwarp();
			share_steps<T>(shared_delta, shared_du, u4, delta4, bias, p, w, own);
			__syncwarp();
			u4 = fetch<T>(u_row, own + TILE, p, w);
			delta4 = fetch<T>(delta_row, own + TILE, p, w);
			go_on(h, shared, a, w, tile, 0);
			go_on(h, shared, a, w, tile, 1);
			put_bound(shared, tile + 1, h);
		}
		/* Backward by tiles; the states of a tile are computed again and stay in registers. */
		steps_backward<T> next = mine;
		next.fetch_all(p, w, t + (tiles - 1) * TILE + 4 * w.side);
#pragma unroll 1
		for (int tile = tiles - 1; tile >= 0; tile--) {
			own = t + tile * TILE + 4 * w.side;
			float dy4[4];
			if (WEIGHTED) {
				next.fetch_all(p, w, own);
			}
			__syncwarp();
			share_steps<T>(shared_delta, shared_du, next.u, next.delta, bias, p, w, own);
			gated<T>(dy4, next.dout, next.z, p.z.data != 0);
			shared_dy.four(w.column, w.side) = as_float4(dy4);
			__syncwarp();
			if (!WEIGHTED && tile > 0) {
				next.fetch_all(p, w, own - TILE);
			}
			float sum_b[4], sum_q[4];
#pragma unroll 1
			for (int half = 1; half >= 0; half--) {
				float states[TILE / 2 + 1][STATES];
				if (tile > 0) {
					get_bound(states[0], shared, tile);
				} else {
					load_begin(states[0], p, w, t);
				}
				if (half) {
					go_on(states[0], shared, a, w, tile, 0);
				}
				float delta[4], du[4], dy[4];
				as_array(delta, shared_delta.four(w.column, half));
				as_array(du, shared_du.four(w.column, half));
				as_array(dy, shared_dy.four(w.column, half));
				const int step = tile * TILE + half * 4;
#pragma unroll
				for (int j = 0; j < 4; j++) {
					float b[STATES];
					read_matrix(b, shared.bc, step + j, 0, w);
#pragma unroll
					for (int i = 0; i < STATES; i++) {
						states[j + 1][i] =
							fmaf(exp2_fast(delta[j] * a[i]), states[j][i], du[j] * b[i]);
					}
				}
#pragma unroll
				for (int j = 3; j >= 0; j--) {
					float b[STATES], c[STATES], v[2 * STATES];
					float to_b = 0.0f, to_q = 0.0f;
					read_matrix(b, shared.bc, step + j, 0, w);
					read_matrix(c, shared.bc, step + j, 1, w);
#pragma unroll
					for (int i = 0; i < STATES; i++) {
						float decay = exp2_fast(delta[j] * a[i]);
						float weight = WEIGHTED ? weight_of(p, w, i) : 1.0f;
						float whole = fmaf(WEIGHTED ? c[i] * weight : c[i], dy[j], g[i]);
						v[i] = whole * du[j];
						v[STATES + i] = dy[j] * states[j + 1][i];
						if (WEIGHTED) {
							dw[i] = fmaf(v[STATES + i], c[i], dw[i]);
							v[STATES + i] *= weight;
						}
						to_b = fmaf(whole, b[i], to_b);
						g[i] = whole * decay;
						float q = g[i] * states[j][i];
						to_q = fmaf(q, a[i], to_q);
						da[i] = fmaf(q, delta[j], da[i]);
					}
					shared.sums.at[w.warp][w.lane][half * 4 + j] = sum_columns(v, w);
					to_b += __shfl_xor_sync(ALL, to_b, HALF);
					to_q += __shfl_xor_sync(ALL, to_q, HALF);
					if (half == w.side) {
						sum_b[j] = to_b;
						sum_q[j] = to_q;
					}
				}
			}
			mine.fetch_all(p, w, own); /* again: registers are scarcer than reads */
			__syncthreads();
			put_columns(shared.sums, p, w, t + tile * TILE);
			mine.finish(sum_b, sum_q, d, bias, p, w, own);
			__syncthreads();
		}
	}
	const place last = find_place(p); /* registers are scarcer than instructions */
	store_states(da, p, last, p.part_a, state_index(p, last, p.parts, last.part));
	if (WEIGHTED) {
		store_states(dw, p, last, p.part_w, state_index(p, last, p.parts, last.part));
	}
	mine.d_sum += __shfl_xor_sync(ALL, mine.d_sum, HALF);
	mine.bias_sum += __shfl_xor_sync(ALL, mine.bias_sum, HALF);
	if (last.there && last.side == 0 && p.first_state + HALF >= p.states_count) {
		int64_t at = channel_index(p, last, p.parts, last.part);
		reinterpret_cast<float *>(p.part_d)[at] = mine.d_sum;
		reinterpret_cast<float *>(p.part_bias)[at] = mine.bias_sum;
	}
}

/* ---- sums over parts ---- */

WSK_DEVICE void
scan_sum(const wsk_scan_sum_params &p)
{
	const int64_t i = (int64_t)blockIdx.x * WSK_SCAN_THREADS + threadIdx.x;
	if (i >= p.count) {
		return;
	}
	const float *from = reinterpret_cast<const float *>(p.from) + i;
	float sum = 0.0f;
#pragma unroll 8
	for (int k = 0; k < p.terms; k++) {
		sum += from[k * p.stride];
	}
	if (p.factor) {
		sum *= reinterpret_cast<const float *>(p.factor)[i];
	}
	if (p.type == 3) {
		reinterpret_cast<float *>(p.to)[i] = sum;
	} else {
		reinterpret_cast<uint16_t *>(p.to)[i] =
			p.type == 1 ? float16::put(sum) : bfloat16::put(sum);
	}
}

} // namespace wsk

#endif
