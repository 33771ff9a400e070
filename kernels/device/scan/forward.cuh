/**
 * forward.cuh - the selective scan, forward: y, its gate, and the states that upstream keeps
 *
 * Forward, a thread has N states only, every COUNT-th of its channel's 16, and COUNT = 16 / N
 * neighbouring lanes share the channel: 1536 channels of one sequence are 96 blocks then, and time
 * is not split. A block goes over its part of time in segments of 64 steps. A lane brings four
 * neighbouring steps of each run of 4 COUNT, of u, delta and z, and finishes them: softplus before,
 * D u and the gate behind; the next segment's are on their way meanwhile. Shared memory, 29.5 KiB
 * for 16-bit elements and 33.5 for float32 where N is 2:
 *
 *   matrix     [B of 16 states, C of 16 states][64 steps] elements as they are, of the whole block
 *   exchange   [channel of the warp][64 steps] float for each warp, of delta and of delta u
 *   parts      [lane][steps of a run] float for each warp: each lane's part of y, which the lanes
 *              of a channel add up
 *
 * The exponentials and the reads of shared memory share one pipeline and take most of the time:
 * hence elements of 16 bits, eight steps of a state at once, and neighbouring rows in different
 * banks. If time is split, h begins with the state that scan_combine() left for the previous parts
 * (parts.cuh).
 */
#ifndef WSK_DEVICE_SCAN_FORWARD_CUH
#define WSK_DEVICE_SCAN_FORWARD_CUH

#include "forward_segment.cuh"

namespace wsk
{

/** The inputs of a thread for the steps of a tile, read while the previous tile is computed. */
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
			b[i].r[half].unpack(step_b[i]);
			c[i].r[half].unpack(step_c[i]);
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

/** A run: h goes on; @a y: of the lane's own four steps, of all 16 states. @a next: the tile that
 * comes. */
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
 * The state at the end of each 2048 steps, with the product of exp(delta A) until there; @a sum: of
 * the lane's own deltas.
 */
template <int N>
WSK_DEVICE void
save_state(const float (&h)[N], const float (&a)[N], float sum, const wsk_scan_params &p,
	const place &w, int end)
{
	if (usually(!p.x || (end % WSK_SCAN_SAVED != 0 && end != p.length))) {
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
		int state = w.first + i * lanes<N>::APART;
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
