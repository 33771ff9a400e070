/**
 * rows.cuh - rows between global and shared memory, and which keys a query sees
 *
 * A sequence is a span of rows: all of a batch entry, or what cu_seqlens says, clamped to the rows
 * that there are. Positions count within a sequence; a query i stands at key i + offset, so that
 * the last query stands at the last key (bottom-right).
 */
#ifndef WSK_DEVICE_ROWS_CUH
#define WSK_DEVICE_ROWS_CUH

#include "params.h"
#include "warp.cuh"

namespace wsk
{

struct span {
	int start;  /**< first row in the tensor */
	int length; /**< rows that count */
	int given;  /**< rows of it that are there, padding behind them too */
};

constexpr int EVERY_ROW = 0x7fffffff; /**< a total that no row is beyond */

WSK_DEVICE span
find_span(uint64_t cu, uint64_t used, uint64_t first, int b, int seq, int total)
{
	span s = {0, seq, seq};
	if (cu) {
		const int *at = (const int *)cu + b;
		s.start = min(max(at[0], 0), total);
		s.length = s.given = min(min(max(at[1], s.start), total) - s.start, seq);
	}
	if (used) {
		s.length = min(max(((const int *)used)[b], 0), s.length);
	}
	if (first) {
		int before = min(max(((const int *)first)[b], 0), s.length);
		s.start += before, s.length -= before, s.given -= before;
	}
	return s;
}

WSK_DEVICE span
span_of_q(const wsk_attn_params &p, int b)
{
	return find_span(p.cu_q, p.used_q, p.first_q, b, p.seq_q, p.total_q);
}

/** Rows in pages have cu_seqlens for their number alone: each sequence begins with its first
 * page. */
WSK_DEVICE span
span_of_k(const wsk_attn_params &p, int b)
{
	span s = find_span(p.cu_k, p.used_k, p.first_k, b, p.seq_k, p.pages ? EVERY_ROW : p.total_k);
	if (p.pages && p.cu_k) {
		s.start -= max(((const int *)p.cu_k)[b], 0);
	}
	return s;
}

/** First element of row 0 of @a s of one head. */
template <class T>
WSK_DEVICE uint16_t *
rows_of(const wsk_view &view, const span &s, bool packed, int b, int head)
{
	return (uint16_t *)view.data + (packed ? 0 : b * view.batch) + s.start * view.row
		+ head * view.head;
}

/** Floats that each query row has one of: where those of lse begin for @a s, and those of delta. */
WSK_DEVICE int64_t
lse_at(const wsk_attn_params &p, const span &s, int b, int head)
{
	return (p.cu_q ? 0 : b * p.lse_batch) + s.start + head * p.lse_head;
}

WSK_DEVICE int64_t
delta_at(const wsk_attn_params &p, const span &s, int b, int head)
{
	return (p.cu_q ? 0 : b * p.delta_batch) + s.start + head * p.delta_head;
}

/** Keys that the queries of a sequence see. */
struct sight {
	int offset, left, right, keys;

	WSK_DEVICE
	sight(const wsk_attn_params &p, const span &q, const span &k)
		: offset(k.length - q.length), left(p.left), right(p.right), keys(k.length)
	{
	}
	/** First and last key that query @a i sees; may lie outside of the sequence. */
	WSK_DEVICE int
	first(int i) const
	{
		return i + offset - left;
	}
	WSK_DEVICE int
	last(int i) const
	{
#ifdef WSK_BREAK_MASK /* a deliberately wrong variant: the tests must notice it */
		return min(i + offset + right + 1, keys - 1);
#endif
		return min(i + offset + right, keys - 1);
	}
};

/** 8 elements from an address that need not be one of 16 bytes. */
WSK_DEVICE uint4
load_narrow(const uint16_t *p)
{
	uint32_t r[4];
#pragma unroll
	for (int i = 0; i < 4; i++) {
		r[i] = p[2 * i] | (uint32_t)p[2 * i + 1] << 16;
	}
	return make_uint4(r[0], r[1], r[2], r[3]);
}

/** Which entry of k and v a sequence has. */
WSK_DEVICE int
entry_of(const wsk_attn_params &p, int b)
{
	return p.entries ? min(max(((const int *)p.entries)[b], 0), p.entry_count - 1) : b;
}

/** Rows of k or v of one head that lie in pages, where there are pages: no row needs to be behind
 * another. */
struct paged_rows {
	const int *pages; /**< NULL: there are none */
	int64_t batch, step;
	int rows, count;

	WSK_DEVICE
	paged_rows(const wsk_attn_params &p, const wsk_view &view, int b)
		: pages(p.pages ? (const int *)p.pages + b * p.pages_batch : nullptr), batch(view.batch),
		  step(view.row), rows(p.page_rows), count(p.page_count)
	{
	}
	/** Elements from the first page's first row to row @a row, which there is. */
	WSK_DEVICE int64_t
	at(int row) const
	{
		if (!pages) {
			return row * step;
		}
		int page = min(max(pages[row / rows], 0), count - 1);
		return page * batch + row % rows * step;
	}
};

/**
 * Loads ROWS rows of two tensors through registers, while the warp computes. In shared memory they
 * are one tile of 2 ROWS rows.
 *
 * Half of the threads load the rows of one tensor. Loading long rows into shared memory takes as
 * long as the products, so as many threads are side by side in a row as the swizzle permutes
 * chunks: a warp loads whole lines of memory, and 8 threads write to 8 different groups of banks.
 * For short rows each thread has a part of one row, which needs fewer registers.
 */
template <int D, int ROWS> struct pair_loader {
	static constexpr bool is_long = D > 80;
	static constexpr int threads_a_row = is_long ? tile<D>::period : WSK_THREADS / (2 * ROWS);
	static constexpr int rows_a_pass = WSK_THREADS / 2 / threads_a_row;
	static constexpr int passes = ROWS / rows_a_pass, columns = D / 8 / threads_a_row;
	static_assert(passes * rows_a_pass == ROWS && rows_a_pass % 8 == 0,
		"rows are not shared out evenly, or a pass has another swizzle");

	const uint16_t *row; /**< this thread's first element of the sequence's first tile */
	int64_t step;        /**< elements from row to row */
	int within;          /**< this thread's first row within ROWS */
	int chunks;          /**< chunks from this thread's first to the end */
	bool second;         /**< of which tensor this thread's rows are */
	uint32_t into;       /**< where its first row lies in a tile, and its swizzled chunk */
	uint32_t swizzled;
	uint4 data[passes][columns];

	WSK_DEVICE
	pair_loader(
		const uint16_t *a, int64_t a_step, const uint16_t *b, int64_t b_step, int row_chunks)
	{
		int first_row = threadIdx.x / threads_a_row, chunk = threadIdx.x % threads_a_row;
		second = first_row >= rows_a_pass;
		within = first_row % rows_a_pass;
		step = second ? b_step : a_step;
		row = (second ? b : a) + chunk * 8 + within * step;
		chunks = row_chunks - chunk;
		int tile_row = first_row + (second ? ROWS - rows_a_pass : 0);
		into = tile_row * tile<D>::pitch;
		swizzled = tile<D>::swizzle(tile_row) ^ chunk;
	}
	WSK_DEVICE unsigned char *
	place_of(unsigned char *tile_start, int pass, int j) const
	{
		const uint32_t chunk =
			is_long ? threads_a_row * j + swizzled : threads_a_row * j ^ swizzled;
		return tile_start + into + (chunk << 4) + pass * rows_a_pass * tile<D>::pitch;
	}
	/** Asks for rows from @a first on; those from @a end on are zeros. */
	WSK_DEVICE void
	fetch(int first, int end, bool wide)
	{
		fetch([=](int r) { return row + (first + r) * step; }, first, end, wide);
	}
	/** The same by way of the pages of this thread's tensor. */
	WSK_DEVICE void
	fetch(const paged_rows &pages, int first, int end, bool wide)
	{
		fetch([&](int r) { return in_pages(pages, first + r, end); }, first, end, wide);
	}
	/** Puts them into a tile. Narrow rows are read only now: they are right, not fast. */
	WSK_DEVICE void
	store(unsigned char *tile_start, int first, int end, bool wide) const
	{
		store(
			tile_start, [=](int r) { return row + (first + r) * step; }, first, end, wide);
	}
	WSK_DEVICE void
	store(unsigned char *tile_start, const paged_rows &pages, int first, int end, bool wide) const
	{
		store(
			tile_start, [&](int r) { return in_pages(pages, first + r, end); }, first, end, wide);
	}

	WSK_DEVICE const uint16_t *
	in_pages(const paged_rows &pages, int first, int end) const
	{
		return row - within * step + pages.at(min(first + within, end - 1));
	}
	template <class ROW_AT>
	WSK_DEVICE void
	fetch(ROW_AT row_at, int first, int end, bool wide)
	{
#pragma unroll
		for (int i = 0; i < passes; i++) {
			const int r = i * rows_a_pass;
			const bool inside = wide && first + r + within < end;
			const uint16_t *p = row_at(r);
#pragma unroll
			for (int j = 0; j < columns; j++) {
				data[i][j] = make_uint4(0, 0, 0, 0);
				if (inside && threads_a_row * j < chunks) {
					data[i][j] = __ldg((const uint4 *)(p + 8 * threads_a_row * j));
				}
			}
		}
	}
	template <class ROW_AT>
	WSK_DEVICE void
	store(unsigned char *tile_start, ROW_AT row_at, int first, int end, bool wide) const
	{
		if (wide) {
#pragma unroll
			for (int i = 0; i < passes; i++) {
#pragma unroll
				for (int j = 0; j < columns; j++) {
					*(uint4 *)place_of(tile_start, i, j) = data[i][j];
				}
			}
			return;
		}
#pragma unroll 1
		for (int i = 0; i < passes; i++) {
			const int r = i * rows_a_pass;
			const bool inside = first + r + within < end;
			const uint16_t *p = row_at(r);
#pragma unroll 1
			for (int j = 0; j < columns; j++) {
				*(uint4 *)place_of(tile_start, i, j) = inside && threads_a_row * j < chunks
					? load_narrow(p + 8 * threads_a_row * j)
					: make_uint4(0, 0, 0, 0);
			}
		}
	}
};

/** The first N rows of a tile from @a first on, in one go; @a row_at says where one begins. */
template <int D, int N, class ROW_AT>
WSK_DEVICE void
load_tile(unsigned char *into, ROW_AT row_at, int first, int end, int chunks, bool wide)
{
	for (int i = threadIdx.x; i < N * (D / 8); i += WSK_THREADS) {
		int r = i / (D / 8), c = i % (D / 8);
		uint4 x = make_uint4(0, 0, 0, 0);
		if (first + r < end && c < chunks) {
			const uint16_t *p = row_at(first + r) + c * 8;
			x = wide ? *(const uint4 *)p : load_narrow(p);
		}
		*(uint4 *)(into + tile<D>::at_row(r, c)) = x;
	}
}

template <int D, int N>
WSK_DEVICE void
load_tile(unsigned char *into, const uint16_t *rows, int64_t step, int first, int end, int chunks,
	bool wide)
{
	load_tile<D, N>(
		into, [=](int row) { return rows + row * step; }, first, end, chunks, wide);
}

/** Writes 16 rows of accumulators times factor, as elements, into the columns of a tile that start
 * at first_column. */
template <class T, int D, int N>
WSK_DEVICE void
put_rows(unsigned char *tile_start, const float (&c)[N][4], int first_row, int first_column,
	float upper, float lower)
{
	int lane = threadIdx.x & 31;
	unsigned char *word = tile_start + (lane & 3) * 4;
	const int chunk = first_column / 8;
#pragma unroll
	for (int n = 0; n < N; n++) {
		*(uint32_t *)(word + tile<D>::at_row(first_row + lane / 4, chunk + n)) =
			T::pack(c[n][0] * upper, c[n][1] * upper);
		*(uint32_t *)(word + tile<D>::at_row(first_row + lane / 4 + 8, chunk + n)) =
			T::pack(c[n][2] * lower, c[n][3] * lower);
	}
}

/**
 * One warp writes N rows of a tile to the rows that start at @a first, W columns that start at @a
 * first_column. Rows at and behind @a end become zeros; rows at and behind @a given are not
 * written.
 */
template <int D, int W, int N>
WSK_DEVICE void
store_tile(const unsigned char *from, uint16_t *rows, int64_t step, int first, int first_column,
	int end, int given, int chunks, bool wide)
{
	for (int i = threadIdx.x & 31; i < N * (W / 8); i += 32) {
		int r = i / (W / 8), c = i % (W / 8) + first_column / 8;
		if (first + r >= given || c >= chunks) {
			continue;
		}
		uint4 x = *(const uint4 *)(from + tile<D>::at_row(r, c));
		if (first + r >= end) {
			x = make_uint4(0, 0, 0, 0);
		}
		uint16_t *p = rows + (first + r) * step + c * 8;
		if (wide) {
			*(uint4 *)p = x;
		} else {
			const uint32_t w[4] = {x.x, x.y, x.z, x.w};
#pragma unroll
			for (int e = 0; e < 8; e++) {
				p[e] = (uint16_t)(w[e / 2] >> 16 * (e & 1));
			}
		}
	}
}

/** Changes the sign of what A fragments hold, where the scale is negative. */
template <int K>
WSK_DEVICE void
apply_sign(uint32_t (&a)[K][4], uint32_t sign)
{
#pragma unroll
	for (int k = 0; k < K; k++) {
#pragma unroll
		for (int i = 0; i < 4; i++) {
			a[k][i] ^= sign;
		}
	}
}

/** Scores become cap x tanh(score / cap), in units of cap; the host has put the cap into
 * scale_log2. */
template <int N>
WSK_DEVICE void
cap_scores(float (&s)[N][4], float softcap)
{
#pragma unroll
	for (int n = 0; n < N; n++) {
#pragma unroll
		for (int i = 0; i < 4; i++) {
			s[n][i] = tanh_fast(s[n][i] * softcap);
		}
	}
}

/** Which blocks of keys a head's blocks of queries have chosen. */
struct chosen {
	const uint32_t *set; /**< of query block 0; NULL: every block */
	int64_t row;         /**< words from one query block to the next */

	WSK_DEVICE
	chosen(const wsk_attn_params &p, int b, int kv_head)
		: set(p.blocks ? (const uint32_t *)p.blocks + b * p.blocks_batch + kv_head * p.blocks_head
					   : nullptr),
		  row(p.blocks_row)
	{
	}
	WSK_DEVICE bool
	has(int query, int key) const
	{
		int block = key / WSK_BLOCK;
		return !set || (set[query / WSK_BLOCK * row + (block >> 5)] >> (block & 31) & 1);
	}
};

/** Which head, batch entry, tile and part a block of threads is for: the heads of a group side by
 * side. */
struct tile_place {
	int head, b, tile, part;

	WSK_DEVICE
	tile_place(int heads, int batch, int parts = 1)
	{
		unsigned index = blockIdx.x / parts;
		part = blockIdx.x % parts;
		head = index % heads;
		b = index / heads % batch;
		tile = index / heads / batch;
	}
};

} // namespace wsk

#endif
