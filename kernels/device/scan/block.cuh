/**
 * block.cuh - the selective scan: the position of a thread and of its data
 *
 *     h = exp(delta A) h + delta B u;  y = C h + D u          (Gu and Dao, arXiv:2312.00752, section 3)
 *
 * Time runs in a loop and channels and states side by side: a step is five instructions of one
 * state, and no step waits for another thread's. (The paper's own kernel scans time by a tree of
 * the block's threads.) Backward and scan_local():
 *
 *   block    64 channels of one group of one batch entry, one part of time
 *   warp     16 of the channels; lane l has channel l % 16 of them
 *   thread   8 states of its channel: lanes 0 to 15 the first 8 of a launch's 16, lanes 16 to 31
 *            the other 8
 *   launch   16 states; more are as many launches, whose sums over states meet in the workspace
 *
 * Forward has 16 channels a block and 4 a warp: forward.cuh.
 *
 * B and C that do not vary with time are one weight of each state: what is scanned is h / B, C
 * varies as 1, and y = (B C) (h / B). segment.cuh and forward.cuh document the shared memory.
 */
#ifndef WSK_DEVICE_SCAN_BLOCK_CUH
#define WSK_DEVICE_SCAN_BLOCK_CUH

#include "../common/elements.cuh"
#include "../common/fast_math.cuh"
#include "params.h"

namespace wsk
{

constexpr int WARPS = WSK_SCAN_THREADS / 32;
constexpr int HALF = 16;              /* states of a launch; channels of a warp, but forward */
constexpr int STATES = WSK_SCAN_EACH; /* of a thread, but forward */
constexpr int TILE = 8;               /* time steps that are computed together */
constexpr int SEGMENT = WSK_SCAN_SEGMENT;

/** How a warp is divided where a thread has N states. */
template <int N> struct lanes {
	static constexpr int COUNT = HALF / N;     /* of a channel */
	static constexpr int COLUMNS = 32 / COUNT; /* channels of a warp */
	static constexpr int RUN = 4 * COUNT;      /* steps, of which each lane brings four */
	static constexpr int RUNS = SEGMENT / RUN; /* of a segment */
	/* How far apart the states of a thread are: neighbours, or every so many. */
	static constexpr int APART = N == STATES ? 1 : COUNT;
	static_assert(WARPS * COLUMNS == WSK_SCAN_CHANNELS(N), "the host counts blocks");
};

/** The position of a thread in the problem. */
struct place {
	int lane, warp;
	int column, side; /* channel of the warp; which states and steps of it */
	int batch, group, block, part;
	int channel;    /* of all; where there is none, that of the group's last */
	bool there;     /* the channel exists */
	int begin, end; /* time */
	int first;      /* state */
};

/** The position of a thread with N states. */
template <int N>
WSK_DEVICE place
find_place(const wsk_scan_params &p)
{
	constexpr int COUNT = lanes<N>::COUNT, COLUMNS = lanes<N>::COLUMNS;
	place w;
	int rest = blockIdx.x;
	asm volatile("" : "+r"(rest)); /* found anew where it is asked for again */
	w.lane = threadIdx.x % 32;
	w.warp = threadIdx.x / 32;
	w.column = N == STATES ? w.lane % COLUMNS : w.lane / COUNT;
	w.side = N == STATES ? w.lane / COLUMNS : w.lane % COUNT;
	w.part = rest % p.parts;
	rest /= p.parts;
	w.block = rest % p.blocks;
	rest /= p.blocks;
	w.group = rest % p.groups;
	w.batch = rest / p.groups;
	int channel = (w.block * WARPS + w.warp) * COLUMNS + w.column;
	w.there = channel < p.group_channels;
	w.channel = w.group * p.group_channels + (w.there ? channel : p.group_channels - 1);
	w.begin = w.part * p.part;
	w.end = min(w.begin + p.part, p.length);
	w.first = p.first_state + w.side * (N == STATES ? N : 1);
	return w;
}

/** Computed anew at each use: nine addresses that live through every loop would not leave room for
 * states. */
template <typename T>
WSK_DEVICE T *
row_of(const wsk_view &rows, const place &w)
{
	int channel = w.channel;
	asm volatile("" : "+r"(channel));
	return rows.data ? reinterpret_cast<T *>(rows.data) + w.batch * rows.batch + channel * rows.head
					 : nullptr;
}

/** Index of a channel's first state in [batch][@a count][channel][state], at @a which of count. */
WSK_DEVICE int64_t
state_index(const wsk_scan_params &p, const place &w, int count, int which)
{
	return (((int64_t)w.batch * count + which) * p.channels + w.channel) * p.states_count;
}

WSK_DEVICE int64_t
channel_index(const wsk_scan_params &p, const place &w, int count, int which)
{
	return ((int64_t)w.batch * count + which) * p.channels + w.channel;
}

template <int N>
WSK_DEVICE void
load_states(float (&h)[N], const wsk_scan_params &p, const place &w, uint64_t from, int64_t at)
{
	const float *states = reinterpret_cast<const float *>(from) + at;
#pragma unroll
	for (int i = 0; i < N; i++) {
		int state = w.first + i * lanes<N>::APART;
		h[i] = w.there && state < p.states_count ? states[state] : 0.0f;
	}
}

template <int N>
WSK_DEVICE void
store_states(const float (&h)[N], const wsk_scan_params &p, const place &w, uint64_t to, int64_t at)
{
	float *states = reinterpret_cast<float *>(to) + at;
#pragma unroll
	for (int i = 0; i < N; i++) {
		int state = w.first + i * lanes<N>::APART;
		if (w.there && state < p.states_count) {
			states[state] = h[i];
		}
	}
}

/** A, times log2(e); states that are not there have 0. */
template <int N>
WSK_DEVICE void
load_a(float (&a)[N], const wsk_scan_params &p, const place &w)
{
	const float *from = reinterpret_cast<const float *>(p.a) + w.channel * p.a_channel;
#pragma unroll
	for (int i = 0; i < N; i++) {
		int state = w.first + i * lanes<N>::APART;
		bool there = w.there && state < p.states_count;
		a[i] = there ? from[state * p.a_state] * LOG2E : 0.0f;
	}
}

WSK_DEVICE float
constant(const wsk_scan_matrix &m, const place &w, int state)
{
	int channel = w.channel;
	asm volatile("" : "+r"(channel)); /* read at each use, as in row_of() */
	return reinterpret_cast<const float *>(m.at.data)[channel * m.at.head + state * m.at.row];
}

/** The constant ones of B and C, multiplied, of one state. */
WSK_DEVICE float
weight_of(const wsk_scan_params &p, const place &w, int state)
{
	float weight = 1.0f;
	if (state < p.states_count) {
		weight *= p.b.varies ? 1.0f : constant(p.b, w, state);
		weight *= p.c.varies ? 1.0f : constant(p.c, w, state);
	}
	return weight;
}

template <int N>
WSK_DEVICE void
load_weights(float (&weight)[N], const wsk_scan_params &p, const place &w)
{
#pragma unroll
	for (int i = 0; i < N; i++) {
		weight[i] = weight_of(p, w, w.first + i * lanes<N>::APART);
	}
}

WSK_DEVICE float
scalar(uint64_t from, const place &w)
{
	return from && w.there ? reinterpret_cast<const float *>(from)[w.channel] : 0.0f;
}

} // namespace wsk

#endif
