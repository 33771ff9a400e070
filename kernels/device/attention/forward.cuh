/**
 * forward.cuh - o = softmax(scale q k^T) v, and the logarithm of the sums
 *
 * A block of four warps takes 64 M query rows of one head, M x 16 a warp, and goes over the keys in
 * tiles of 32. The next tile is on its way from global memory while this one is computed, into the
 * other of two buffers: one barrier for each tile. Scores and probabilities stay in registers. For
 * long rows two warps share 16 rows, tiles have 16 keys, and there is one buffer.
 *
 * Softmax: the maximum that a row subtracts is raised only when a score exceeds it by 8 (in powers
 * of two), so probabilities are at most 256 and the result is the same function of the inputs; what
 * a row does depends on that row alone. A row with no key gives 0 and -infinity.
 *
 * There are three kinds: the usual one; one for what costs registers (a cap, dropout, pages); and
 * one that takes a part of the keys and leaves sums for decode.cuh's combine(), for too few rows to
 * fill the device. The rows of that one are the queries of all heads of a group, one behind the
 * other, as in decode.cuh.
 */
#ifndef WSK_DEVICE_FORWARD_CUH
#define WSK_DEVICE_FORWARD_CUH

#include "random.cuh"
#include "rows.cuh"

namespace wsk
{

constexpr float no_maximum = -1e30f; /**< below every score, yet finite: no NaN comes of it */
constexpr float slack = 8.0f;

/** Running maximum and sum of the rows of one accumulator: upper (lane / 4) and lower (+ 8). */
struct softmax_rows {
	float maximum[2] = {no_maximum, no_maximum};
	float sum[2] = {0, 0}; /**< of this lane's columns */
};

/** Scores become probabilities; true where @a factor (of what was summed before) is not 1. */
template <int N>
WSK_DEVICE bool
update_maximum(softmax_rows &rows, const float (&s)[N][4], float scale_log2, float (&factor)[2])
{
	float top[2] = {s[0][0], s[0][2]};
#pragma unroll
	for (int n = 0; n < N; n++) {
		top[0] = fmaxf(top[0], fmaxf(s[n][0], s[n][1]));
		top[1] = fmaxf(top[1], fmaxf(s[n][2], s[n][3]));
	}
	bool exceeds = top[0] * scale_log2 > rows.maximum[0] + slack
		|| top[1] * scale_log2 > rows.maximum[1] + slack;
	if (!__any_sync(ALL, exceeds)) {
		return false;
	}
#pragma unroll
	for (int i = 0; i < 2; i++) {
		float reached = row_max(top[i]) * scale_log2;
		float next = reached > rows.maximum[i] + slack ? reached : rows.maximum[i];
		factor[i] = exp2_fast(rows.maximum[i] - next);
		rows.maximum[i] = next;
		rows.sum[i] *= factor[i];
	}
	return true;
}

template <int N>
WSK_DEVICE void
exponentiate(softmax_rows &rows, float (&s)[N][4], float scale_log2)
{
#pragma unroll
	for (int n = 0; n < N; n++) {
#pragma unroll
		for (int i = 0; i < 4; i++) {
#ifdef WSK_BREAK_SCALE /* a deliberately wrong variant: the tests must notice it */
			scale_log2 *= 1.01f;
#endif
			s[n][i] = exp2_fast(fmaf(s[n][i], scale_log2, -rows.maximum[i / 2]));
			rows.sum[i / 2] += s[n][i];
		}
	}
}

/** Masks the scores of keys that a row does not see. The keys start at @a first_key, the rows
 * at @a first_row; @a query_of maps rows to queries. */
template <int N, class QUERY_OF>
WSK_DEVICE void
mask_rows(float (&s)[N][4], const sight &see, QUERY_OF query_of, int first_row, int first_key)
{
	int lane = threadIdx.x & 31;
#pragma unroll
	for (int h = 0; h < 2; h++) {
		int row = query_of(first_row + lane / 4 + 8 * h), key = first_key + 2 * (lane & 3);
		int first = see.first(row) - key, last = see.last(row) - key;
#pragma unroll
		for (int n = 0; n < N; n++) {
#pragma unroll
			for (int i = 0; i < 2; i++) {
				if (n * 8 + i < first || n * 8 + i > last) {
					s[n][2 * h + i] = -INFINITY;
				}
			}
		}
	}
}

/** Sets dropped probabilities to 0, for 16 queries starting at @a row, keys starting at @a key. */
template <int N>
WSK_DEVICE void
drop(float (&s)[N][4], const dropout &random, int row, int key)
{
#pragma unroll
	for (int n = 0; n < N; n += 2) {
		const kept keep = random.draw(row, key + 8 * n, threadIdx.x & 31);
#pragma unroll
		for (int i = 0; i < 8; i++) {
			float &x = s[n + i / 4][i % 4];
			x = keep.has(i / 2 % 2, i / 4, i & 1) ? x : 0;
		}
	}
}

/** Adds the sink of a head to a row: @a factor is the pending factor of its accumulators. */
WSK_DEVICE void
add_sink(const wsk_attn_params &p, int head, float &maximum, float &sum, float &factor)
{
	if (p.sinks) {
		float sink = ((const float *)p.sinks)[head] * LOG2E, top = fmaxf(maximum, sink);
		float less = exp2_fast(maximum - top);
		sum = sum * less + exp2_fast(sink - top);
		factor = less;
		maximum = top;
	}
}

/** Natural logarithm of a row's sum, and the factor for its accumulators. */
WSK_DEVICE float
finish_row(const wsk_attn_params &p, int head, float maximum, float sum, float &factor)
{
	factor = 1;
	add_sink(p, head, maximum, sum, factor);
	factor = sum > 0 ? factor / sum : 0;
	return sum > 0 ? (maximum + log2f(sum)) * LN2 : -INFINITY;
}

enum class kind {
	USUAL,
	ANY,   /**< a cap, dropout, pages, entries */
	SPLIT, /**< the same without dropout; a part of the keys */
};

/** The results of a block that handles a part of the keys, for each of its rows: o, maximum, sum.
 * */
template <int D, int N>
WSK_DEVICE void
store_part(const wsk_attn_params &p, const float (&o)[N][4], const softmax_rows &rows,
	const tile_place &at, int first_row, int first_column, int count)
{
	constexpr int pitch = D + 2;
	const int lane = threadIdx.x & 31, c = lane & 3;
	const int64_t all = (int64_t)p.batch * p.heads * p.seq_q;
#pragma unroll
	for (int i = 0; i < 2; i++) {
		const int row = first_row + lane / 4 + 8 * i;
		const float sum = row_sum(rows.sum[i]);
		if (row >= count) {
			continue;
		}
		const int64_t own =
			((int64_t)at.b * p.heads + at.head * p.group + row % p.group) * p.seq_q + row / p.group;
		float *to = (float *)p.part + (at.part * all + own) * pitch;
#pragma unroll
		for (int n = 0; n < N; n++) {
			*(float2 *)(to + first_column + n * 8 + 2 * c) =
				make_float2(o[n][2 * i], o[n][2 * i + 1]);
		}
		if (c == 0 && first_column == 0) {
			*(float2 *)(to + D) = make_float2(rows.maximum[i], sum);
		}
	}
}

template <class T, int D, int M, kind K>
WSK_DEVICE void
forward(const wsk_attn_params &p)
{
	constexpr bool any = K != kind::USUAL, split = K == kind::SPLIT;
	constexpr int C = WSK_SHARED_BY(D), keys = C > 1 ? 16 : 32, buffers = C > 1 ? 1 : 2;
	using mine = sharing<D, C>;
	constexpr int rows_a_warp = 16 * M, rows = rows_a_warp * mine::groups;
	constexpr int buffer = 2 * keys * tile<D>::pitch, for_rows = rows * tile<D>::pitch;
	constexpr int bytes = buffers * buffer > for_rows ? buffers * buffer : for_rows;
	__shared__ __align__(128) unsigned char shared[bytes];
	__shared__ typename mine::template room<M * keys / 8> others;
	static_assert(
		bytes + sizeof(others) <= 49152, "more shared memory than a kernel has without asking");

	const tile_place at(split ? p.heads / p.group : p.heads, p.batch, split ? p.splits : 1);
	const int kv_head = split ? at.head : at.head / p.group, group = split ? p.group : 1;
	const span q_span = span_of_q(p, at.b), k_span = span_of_k(p, at.b);
	const int first_row = (p.tiles - 1 - at.tile) * rows; /* the longest first */
	if (first_row >= q_span.given * group) {
		return;
	}
	const mine own;
	const int within = own.group * rows_a_warp, warp_row = first_row + within;
	const int end_row = min(first_row + rows, q_span.length * group);
	auto query_of = [=](int row) { return split ? row / group : row; };
	const sight see(p, q_span, k_span);
	const chosen blocks(p, at.b, kv_head);
	/* If the sequence ends within the first block of queries, the second one has no set. */
	const int block_row = M > 1 && first_row + 64 >= end_row ? first_row : warp_row;

	if constexpr (split) {
		const uint16_t *first = rows_of<T>(p.q, q_span, p.cu_q, at.b, kv_head * group);
		auto row_at = [=, &p](int row) {
			return first + row / group * p.q.row + row % group * p.q.head;
		};
		load_tile<D, rows>(shared, row_at, first_row, q_span.length * group, p.chunks, p.wide);
	} else {
		load_tile<D, rows>(shared, rows_of<T>(p.q, q_span, p.cu_q, at.b, at.head), p.q.row,
			first_row, q_span.length, p.chunks, p.wide);
	}
	__syncthreads();
	uint32_t q[M][mine::count / 16][4];
	const auto by_row = lane_by_row<D>(shared_address(shared)).moved(own.first);
#pragma unroll
	for (int m = 0; m < M; m++) {
		load_rows<D>(q[m], by_row, within + m * 16);
		apply_sign(q[m], p.sign);
	}
	__syncthreads();

	float o[M][mine::count / 8][4];
	softmax_rows softmax[M];
#pragma unroll
	for (int m = 0; m < M; m++) {
		clear(o[m]);
	}
	const bool in_order = p.cu_k || (any && p.pages);
	const int entry = any ? entry_of(p, at.b) : at.b;
	pair_loader<D, keys> loader(rows_of<T>(p.k, k_span, in_order, entry, kv_head), p.k.row,
		rows_of<T>(p.v, k_span, in_order, entry, kv_head), p.v.row, p.chunks);
	const paged_rows pages(p, loader.second ? p.v : p.k, at.b);
	auto fetch = [&](int key) {
		if constexpr (any) {
			loader.fetch(pages, key, see.keys, p.wide);
		} else {
			loader.fetch(key, see.keys, p.wide);
		}
	};
	auto store = [&](int turn, int key) {
		if constexpr (any) {
			loader.store(shared + turn * buffer, pages, key, see.keys, p.wide);
		} else {
			loader.store(shared + turn * buffer, key, see.keys, p.wide);
		}
	};
	/* Keys that the rows see, and the part of them that this block takes: whole blocks of 64. */
	const int until = end_row > first_row ? see.last(query_of(end_row - 1)) + 1 : 0;
	const int from = max(see.first(query_of(first_row)), 0) & (split ? ~63 : ~31);
	const int part = split ? (max(until - from, 0) + 64 * p.splits - 1) / (64 * p.splits) * 64 : 0;
	const int begin = from + at.part * part, end = split ? min(begin + part, until) : until;
	/* The next tile that some of the rows have chosen, or `end`. */
	auto seek = [&](int key) {
		while (key < end && !blocks.has(first_row, key)
			&& !(M > 1 && first_row + 64 < end_row && blocks.has(first_row + 64, key))) {
			key += keys;
		}
		return key;
	};
	int key = seek(begin);
	if (key < end) {
		fetch(key);
		store(0, key);
	}
	__syncthreads();
	const auto by_column = lane_by_column<D>(shared_address(shared)).moved(own.first);
	for (int turn = 0; key < end; turn ^= buffers - 1) {
		const int next = seek(key + keys);
		if (next < end) {
			fetch(next);
		}
		if (key <= see.last(query_of(warp_row + rows_a_warp - 1))
			&& key + keys > see.first(query_of(warp_row)) && blocks.has(block_row, key)) {
			const uint32_t k_row = turn * 2 * keys, v_row = k_row + keys;
			float s[M][keys / 8][4];
			uint32_t probability[M][keys / 16][4];
#pragma unroll
			for (int m = 0; m < M; m++) {
				clear(s[m]);
			}
			multiply_rows<T, D>(s, q, by_column, k_row);
#pragma unroll
			for (int m = 0; m < M; m++) {
				own.show(s[m], others, m * (keys / 8));
			}
			own.meet();
			const bool partly = key < see.first(query_of(warp_row + rows_a_warp - 1))
				|| key + keys - 1 > see.last(query_of(warp_row));
#pragma unroll
			for (int m = 0; m < M; m++) {
				float factor[2];
				own.add_other(s[m], others, m * (keys / 8));
				if (any && p.softcap != 0) {
					cap_scores(s[m], p.softcap);
				}
				if (partly) {
					mask_rows(s[m], see, query_of, warp_row + m * 16, key);
				}
				if (update_maximum(softmax[m], s[m], p.scale_log2, factor)) {
#pragma unroll
					for (int n = 0; n < mine::count / 8; n++) {
						o[m][n][0] *= factor[0];
						o[m][n][1] *= factor[0];
						o[m][n][2] *= factor[1];
						o[m][n][3] *= factor[1];
					}
				}
				exponentiate(softmax[m], s[m], p.scale_log2);
				if (K == kind::ANY && p.keep < WSK_KEEPS_ALL) {
					drop(s[m], dropout(p, at.b, at.head), warp_row + m * 16, key);
				}
				pack_rows<T>(probability[m], s[m]);
			}
			multiply_columns<T, D>(o, probability, by_row, v_row);
		}
		if (buffers == 1) {
			__syncthreads();
		}
		if (next < end) {
			store(turn ^ (buffers - 1), next);
		}
		__syncthreads();
		key = next;
	}

	if constexpr (split) {
#pragma unroll
		for (int m = 0; m < M; m++) {
			store_part<D>(
				p, o[m], softmax[m], at, warp_row + m * 16, own.first, q_span.length * group);
		}
		return;
	}
	float *lse = (float *)p.lse + lse_at(p, q_span, at.b, at.head);
#pragma unroll
	for (int m = 0; m < M; m++) {
		float factor[2];
#pragma unroll
		for (int i = 0; i < 2; i++) {
			float sum = row_sum(softmax[m].sum[i]);
			float value = finish_row(p, at.head, softmax[m].maximum[i], sum, factor[i]);
			factor[i] *= K == kind::ANY ? p.keep_scale : 1;
			int row = warp_row + m * 16 + (threadIdx.x & 31) / 4 + 8 * i;
			if (p.lse && (threadIdx.x & 3) == 0 && own.first == 0 && row < q_span.given) {
				lse[row] = row < q_span.length ? value : -INFINITY;
			}
		}
		put_rows<T, D>(shared, o[m], within + m * 16, own.first, factor[0], factor[1]);
	}
	__syncwarp();
	store_tile<D, mine::count, rows_a_warp>(shared + within * tile<D>::pitch,
		rows_of<T>(p.o, q_span, p.cu_q, at.b, at.head), p.o.row, warp_row, own.first, q_span.length,
		q_span.given, p.chunks, p.wide);
}

} // namespace wsk

#endif
