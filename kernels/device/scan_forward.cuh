/**
 * scan_forward.cuh - the selective scan, forward: y, its gate, and the states that upstream keeps
 *
 * Forward, a thread has N states only, every COUNT-th of its channel's 16, and COUNT = 16 / N neighbouring lanes
 * share the channel: 1536 channels of one sequence are 96 blocks then, and time is not split. A block goes over its part of time in segments of 64 steps. A lane brings four neighbouring steps of each
 * run of 4 COUNT, of u, delta and z, and finishes them: softplus before, D u and the gate behind; the next
 * segment's are on their way meanwhile. Shared memory, 29.5 KiB for 16-bit elements and 33.5 for float32 where N is 2:
 *
 *   matrix     [B of 16 states, C of 16 states][64 steps] elements as they are, of the whole block
 *   exchange   [channel of the warp][64 steps] float for each warp, of delta and of delta u
 *   parts      [lane][steps of a run] float for each warp: each lane's part of y, which the lanes of a channel add up
 *
 * What takes the time beside the exponentials is reading shared memory, which goes the same way: hence elements of
 * 16 bits, eight steps of a state at once, and rows whose neighbours lie in other banks. Where time is split, h
 * begins with what scan_combine() left of the parts before (scan_parts.cuh).
 */
#ifndef WSK_DEVICE_SCAN_FORWARD_CUH
#define WSK_DEVICE_SCAN_FORWARD_CUH

#include "scan_segment.cuh"

namespace wsk
{

/** How a warp is divided where a thread has N states. */
template <int N> struct lanes {
	static constexpr int COUNT = HALF / N;     /* of a channel */
	static constexpr int COLUMNS = 32 / COUNT; /* channels of a warp */
	static constexpr int RUN = 4 * COUNT;      /* steps, of which each lane brings four */
	static constexpr int RUNS = SEGMENT / RUN; /* of a segment */
	static_assert(WARPS * COLUMNS == WSK_SCAN_CHANNELS(N), "the host counts blocks");
};

/** Eight steps of one state: one read of 16 bytes, or two. */
template <typename T> struct alignas(16) eight {
	typename T::four r[2];
};

template <typename T, int N> struct alignas(16) forward_shared {
	typename T::four matrix[2 * HALF][SEGMENT / 4 + 16 / sizeof(typename T::four)];
	float delta[WARPS][lanes<N>::COLUMNS][SEGMENT + 8];
	float du[WARPS][lanes<N>::COLUMNS][SEGMENT + 8];
	float4 parts[WARPS][32][lanes<N>::COUNT];

	/** A lane's part of y of the @a four -th four steps of a run: neither lanes nor fours meet in a bank. */
	WSK_DEVICE float4 &
	part(const place &w, int lane, int four)
	{
		return parts[w.warp][lane][four ^ (lane % lanes<N>::COUNT)];
	}
};

/** Which rows of B or C a half warp brings, eight for each warp: B for the first two; four steps for each lane. */
template <typename T> struct brought_rows {
	static constexpr int ROWS = 2 * HALF / WARPS / 2;
	const typename T::element *first;
	int64_t stride;
	int left; /**< rows that exist from the first on, below 0 or above ROWS too; 0 where they do not vary */

	WSK_DEVICE
	brought_rows(const wsk_scan_params &p, const place &w)
	{
		const wsk_scan_matrix &m = w.warp < WARPS / 2 ? p.b : p.c;
		int state = p.first_state + row(w, 0) % HALF;
		asm volatile("" : "+r"(state)); /* found anew, as in row_of() */
		first = reinterpret_cast<const typename T::element *>(m.data) + w.batch * m.batch
			+ w.group * m.group + state * m.state + w.lane % HALF * 4;
		stride = 2 * m.state;
		left = m.varies ? (p.states_count - state + 1) / 2 : 0;
	}

	/** Number of the half warp's @a k -th row among the block's 32: B of 16 states, then C. */
	static WSK_DEVICE int
	row(const place &w, int k)
	{
		return w.warp * 2 * ROWS + 2 * k + w.lane / HALF;
	}
};

/** B and C of a segment on their way; a row is one line of memory where elements have 16 bits. */
template <typename T, int N> struct matrix_segment {
	static constexpr int ROWS = brought_rows<T>::ROWS;
	typename T::four r[ROWS];

	/** @a whole: all steps are there, and aligned. */
	WSK_DEVICE void
	fetch(const wsk_scan_params &p, const place &w, int t, bool whole)
	{
		const brought_rows<T> rows(p, w);
		const typename T::element *at = rows.first + t;
		if (whole) {
#pragma unroll
			for (int k = 0; k < ROWS; k++) {
				r[k] = {};
				if (k < rows.left) {
					r[k] = *reinterpret_cast<const typename T::four *>(at + k * rows.stride);
				}
			}
			return;
		}
		const int steps = w.end - t - w.lane % HALF * 4;
#pragma unroll
		for (int k = 0; k < ROWS; k++) {
			r[k] = load_four<T>(at + k * rows.stride, k < rows.left ? steps : 0, false);
		}
	}

	/** 1 for what does not vary, which is a weight. */
	WSK_DEVICE void
	put(forward_shared<T, N> &to, const wsk_scan_params &p, const place &w) const
	{
		const bool varies = w.warp < WARPS / 2 ? p.b.varies : p.c.varies;
#pragma unroll
		for (int k = 0; k < ROWS; k++) {
			const int row = brought_rows<T>::row(w, k);
			const float one = p.first_state + row % HALF < p.states_count ? 1.0f : 0.0f;
			const float ones[4] = {one, one, one, one};
			to.matrix[row][w.lane % HALF] = varies ? r[k] : T::pack(ones);
		}
	}
};

/** Where a lane's steps are of a segment that begins at 0; of z it is found again, which keeps registers free. */
template <typename T> struct own_rows {
	const typename T::element *u, *delta;

	WSK_DEVICE
	own_rows(const wsk_scan_params &p, const place &w)
		: u(row_of<T>(p.u, w) + 4 * w.side), delta(row_of<T>(p.delta, w) + 4 * w.side)
	{
	}
};

/** The steps of a segment that a lane brings: four of each run. */
template <typename T, int N> struct own_steps {
	static constexpr int RUNS = lanes<N>::RUNS, RUN = lanes<N>::RUN;
	typename T::four u[RUNS], delta[RUNS], z[RUNS];

	WSK_DEVICE static void
	load(typename T::four (&v)[RUNS], const typename T::element *at, int left, bool whole)
	{
		if (whole) {
#pragma unroll
			for (int k = 0; k < RUNS; k++) {
				v[k] = *reinterpret_cast<const typename T::four *>(at + k * RUN);
			}
			return;
		}
#pragma unroll
		for (int k = 0; k < RUNS; k++) {
			v[k] = load_four<T>(at + k * RUN, left - k * RUN, false);
		}
	}

	/** @a whole: all steps of the segment are there, and aligned. */
	WSK_DEVICE void
	fetch(const own_rows<T> &rows, const wsk_scan_params &p, const place &w, int t, bool whole)
	{
		const int left = w.end - t - 4 * w.side;
		load(u, rows.u + t, left, whole);
		load(delta, rows.delta + t, left, whole);
		if (p.z.data) {
			load(z, row_of<T>(p.z, w) + 4 * w.side + t, left, whole);
		}
	}

	WSK_DEVICE static void
	unpack(float (&x)[4 * RUNS], const typename T::four (&v)[RUNS])
	{
#pragma unroll
		for (int k = 0; k < RUNS; k++) {
			float four[4];
			T::unpack(four, v[k]);
#pragma unroll
			for (int i = 0; i < 4; i++) {
				x[4 * k + i] = four[i];
			}
		}
	}

	/** delta and delta u to where all lanes of the channel read them. Returns the sum of delta. */
	WSK_DEVICE float
	share(forward_shared<T, N> &to, float bias, const wsk_scan_params &p, const place &w, int t,
		bool whole) const
	{
		float x[4 * RUNS], d[4 * RUNS], sum = 0.0f;
		unpack(x, u);
		unpack(d, delta);
#pragma unroll
		for (int i = 0; i < 4 * RUNS; i++) {
			d[i] += bias;
		}
		if (p.softplus) {
#pragma unroll
			for (int i = 0; i < 4 * RUNS; i++) {
				d[i] = softplus(d[i]);
			}
		}
		if (!whole) {
#pragma unroll
			for (int i = 0; i < 4 * RUNS; i++) { /* where nothing may change */
				d[i] = t + i / 4 * RUN + 4 * w.side + i % 4 < w.end ? d[i] : 0.0f;
			}
		}
#pragma unroll
		for (int i = 0; i < 4 * RUNS; i++) {
			x[i] *= d[i];
			sum += d[i];
		}
#pragma unroll
		for (int k = 0; k < RUNS; k++) {
			int step = k * RUN + 4 * w.side;
			as_four(&to.delta[w.warp][w.column][step]) =
				make_float4(d[4 * k], d[4 * k + 1], d[4 * k + 2], d[4 * k + 3]);
			as_four(&to.du[w.warp][w.column][step]) =
				make_float4(x[4 * k], x[4 * k + 1], x[4 * k + 2], x[4 * k + 3]);
		}
		return sum;
	}

	WSK_DEVICE static void
	store(typename T::element *at, const float (&x)[4 * RUNS], int left, bool whole)
	{
		if (whole) {
#pragma unroll
			for (int k = 0; k < RUNS; k++) {
				const float four[4] = {x[4 * k], x[4 * k + 1], x[4 * k + 2], x[4 * k + 3]};
				*reinterpret_cast<typename T::four *>(at + k * RUN) = T::pack(four);
			}
			return;
		}
#pragma unroll
		for (int i = 0; i < 4 * RUNS; i++) {
			if (i / 4 * RUN + i % 4 < left) {
				at[i / 4 * RUN + i % 4] = T::put(x[i]);
			}
		}
	}

	/** D u and the gate; out and out_z. */
	WSK_DEVICE void
	finish(float (&y)[4 * RUNS], float d, const wsk_scan_params &p, const place &w, int t,
		bool whole) const
	{
		t += 4 * w.side;
		if (!sum_launches<RUN>(y, p.sum_y, p, w, t) || !w.there) {
			return;
		}
		const int left = w.end - t;
		float x[4 * RUNS];
		unpack(x, u);
#pragma unroll
		for (int i = 0; i < 4 * RUNS; i++) {
			y[i] = fmaf(d, x[i], y[i]);
		}
		if (p.out.data) {
			store(row_of<T>(p.out, w) + t, y, left, whole);
		}
		if (p.z.data) {
			unpack(x, z);
#pragma unroll
			for (int i = 0; i < 4 * RUNS; i++) {
				y[i] *= x[i] * sigmoid(x[i]);
			}
			store(row_of<T>(p.out_z, w) + t, y, left, whole);
		}
	}
};

/** What a thread needs for the steps of a tile: read while the tile before is computed. */
template <typename T, int N> struct tile_inputs {
	float4 delta[2], du[2];
	eight<T> b[N], c[N];

	WSK_DEVICE void
	read(const forward_shared<T, N> &from, int tile, const place &w)
	{
#pragma unroll
		for (int k = 0; k < 2; k++) {
			delta[k] = *reinterpret_cast<const float4 *>(
				&from.delta[w.warp][w.column][tile * TILE + 4 * k]);
			du[k] =
				*reinterpret_cast<const float4 *>(&from.du[w.warp][w.column][tile * TILE + 4 * k]);
		}
#pragma unroll
		for (int i = 0; i < N; i++) {
			const int state = w.side + i * lanes<N>::COUNT;
			b[i] = *reinterpret_cast<const eight<T> *>(&from.matrix[state][2 * tile]);
			c[i] = *reinterpret_cast<const eight<T> *>(&from.matrix[HALF + state][2 * tile]);
		}
	}

	/** Four of the steps: h goes on; y of each, of the thread's states. */
	template <bool WEIGHTED>
	WSK_DEVICE float4
	go(float (&h)[N], int half, const float (&a)[N], const float (&weight)[N]) const
	{
		float step_delta[4], step_du[4], step_b[N][4], step_c[N][4], y[4];
		as_array(step_delta, delta[half]);
		as_array(step_du, du[half]);
#pragma unroll
		for (int i = 0; i < N; i++) {
			T::unpack(step_b[i], b[i].r[half]);
			T::unpack(step_c[i], c[i].r[half]);
		}
#pragma unroll
		for (int j = 0; j < 4; j++) {
			y[j] = 0.0f;
#pragma unroll
			for (int i = 0; i < N; i++) {
				float decay = exp2_fast(step_delta[j] * a[i]);
				h[i] = fmaf(decay, h[i], step_du[j] * step_b[i][j]);
				y[j] = fmaf(WEIGHTED ? h[i] * weight[i] : h[i], step_c[i][j], y[j]);
			}
		}
		return as_float4(y);
	}
};

/** A run: h goes on; @a y: of the lane's own four steps, of all 16 states. @a next: the tile that comes. */
template <bool WEIGHTED, typename T, int N>
WSK_DEVICE void
forward_run(float (&y)[4], float (&h)[N], tile_inputs<T, N> &next, int first_tile,
	const float (&a)[N], const float (&weight)[N], forward_shared<T, N> &shared, const place &w)
{
	constexpr int COUNT = lanes<N>::COUNT, TILES = lanes<N>::RUN / TILE;
#pragma unroll 4
	for (int tile = 0; tile < TILES; tile++) {
		const tile_inputs<T, N> now = next;
		shared.part(w, w.lane, 2 * tile) = now.template go<WEIGHTED>(h, 0, a, weight);
		next.read(shared, (first_tile + tile + 1) % (SEGMENT / TILE), w);
		shared.part(w, w.lane, 2 * tile + 1) = now.template go<WEIGHTED>(h, 1, a, weight);
	}
	__syncwarp();
	float part[COUNT][4];
#pragma unroll
	for (int i = 0; i < COUNT; i++) {
		as_array(part[i], shared.part(w, w.column * COUNT + i, w.side));
	}
#ifdef WSK_BREAK_PARTS /* a deliberately wrong variant: the tests must notice it */
	as_array(part[COUNT - 1], make_float4(0.0f, 0.0f, 0.0f, 0.0f));
#endif
	__syncwarp();
#pragma unroll
	for (int j = 0; j < 4; j++) {
#pragma unroll
		for (int away = COUNT / 2; away > 0; away /= 2) {
#pragma unroll
			for (int i = 0; i < away; i++) {
				part[i][j] += part[i + away][j];
			}
		}
		y[j] = part[0][j];
	}
}

/**
 * The state at the end of each 2048 steps, with the product of exp(delta A) until there; @a sum: of the lane's
 * own deltas.
 */
template <int N>
WSK_DEVICE void
save_state(const float (&h)[N], const float (&a)[N], float sum, const wsk_scan_params &p,
	const place &w, int end)
{
	if (!p.x || (end % WSK_SCAN_SAVED != 0 && end != p.length)) {
		return;
	}
#pragma unroll
	for (int o = lanes<N>::COUNT / 2; o > 0; o /= 2) {
		sum += __shfl_xor_sync(ALL, sum, o);
	}
	int row = (end - 1) / WSK_SCAN_SAVED;
	float *x = reinterpret_cast<float *>(p.x)
		+ (((int64_t)w.batch * p.channels + w.channel) * p.rows + row) * p.states_count * 2;
#pragma unroll
	for (int i = 0; i < N; i++) {
		int state = w.first + i * lanes<N>::COUNT;
		if (w.there && state < p.states_count) {
			float b = p.b.varies ? 1.0f : constant(p.b, w, state);
			x[2 * state] = exp2_fast(sum * a[i]);
			x[2 * state + 1] = h[i] * b;
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

/** out, out_z and x. WEIGHTED: B or C does not vary with time. */
template <typename T, bool WEIGHTED, int N>
WSK_DEVICE void
scan_forward(const wsk_scan_params &p)
{
	constexpr int RUNS = lanes<N>::RUNS, TILES = lanes<N>::RUN / TILE;
	__shared__ forward_shared<T, N> shared;
	const place w = find_place<N>(p);
	const own_rows<T> rows(p, w);
	float a[N], h[N] = {}, weight[N];
	load_a(a, p, w);
	if (WEIGHTED) {
		load_weights(weight, p, w);
	}
	const float d = scalar(p.d, w), bias = scalar(p.bias, w);
	float sum = 0.0f;
	if (w.part > 0) {
		int kept = w.part * (p.part / p.every) - 1;
		load_states(h, p, w, p.states, state_index(p, w, p.kept, kept));
		sum = w.side == 0 ? earlier_sum(p, w) : 0.0f;
	}
	matrix_segment<T, N> next_matrix;
	own_steps<T, N> next;
	bool whole = p.wide && w.begin + SEGMENT <= w.end;
	next_matrix.fetch(p, w, w.begin, p.wide_bc && w.begin + SEGMENT <= w.end);
	next.fetch(rows, p, w, w.begin, whole);
	for (int t = w.begin; t < w.end; t += SEGMENT) {
		const own_steps<T, N> now = next;
		__syncthreads();
		next_matrix.put(shared, p, w);
		sum += now.share(shared, bias, p, w, t, whole);
		__syncthreads();
		tile_inputs<T, N> tile;
		tile.read(shared, 0, w);
		const bool next_whole = p.wide && t + 2 * SEGMENT <= w.end;
		next_matrix.fetch(p, w, t + SEGMENT, p.wide_bc && t + 2 * SEGMENT <= w.end);
		next.fetch(rows, p, w, t + SEGMENT, next_whole);
		float y[4 * RUNS];
#pragma unroll
		for (int k = 0; k < RUNS; k++) {
			float four[4];
			forward_run<WEIGHTED>(four, h, tile, k * TILES, a, weight, shared, w);
#pragma unroll
			for (int i = 0; i < 4; i++) {
				y[4 * k + i] = four[i];
			}
		}
		now.finish(y, d, p, w, t, whole);
		save_state(h, a, sum, p, w, min(t + SEGMENT, w.end));
		whole = next_whole;
	}
}

} // namespace wsk

#endif
