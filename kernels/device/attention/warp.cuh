/**
 * warp.cuh - what one warp does: tensor core products, fragments, conflict-free tiles
 *
 * Fragments are those of instructions.cuh. The accumulator of two neighbouring tiles of 8 columns,
 * packed to 16 bits, is the A fragment of the next product.
 */
#ifndef WSK_DEVICE_WARP_CUH
#define WSK_DEVICE_WARP_CUH

#include "../common/fast_math.cuh"
#include "params.h"
#include "shape.h"

namespace wsk
{

/**
 * A tile of rows of D elements in shared memory without padding. Chunk c of 16 bytes of row r lies
 * at c ^ swizzle(r): the 8 rows that ldmatrix reads at once then lie in 8 different groups of
 * banks. It depends on r % 8, so blocks of 8 rows are one constant apart.
 */
template <int D> struct tile {
	static constexpr int chunks = D / 8;
	static constexpr int pitch = D * 2; /**< bytes */
	static constexpr int period = chunks % 8 == 0 ? 8
		: chunks % 4 == 0                         ? 4
		: chunks % 2 == 0                         ? 2
												  : 1;

	static WSK_DEVICE uint32_t
	swizzle(uint32_t row)
	{
		return row / (8 / period) & (period - 1);
	}
	static WSK_DEVICE uint32_t
	at_row(uint32_t row, uint32_t chunk)
	{
		return row * pitch + ((chunk ^ swizzle(row)) << 4);
	}

	/** Where one lane looks: its row within 16, and the first or second of two chunks. */
	struct lane {
		uint32_t base;

		WSK_DEVICE
		lane(uint32_t tile, uint32_t row, uint32_t odd) : base(tile + at_row(row, odd))
		{
#ifdef WSK_BREAK_SWIZZLE /* a deliberately wrong variant: the tests must notice it */
			base = tile + row * pitch + (odd << 4);
#endif
		}
		/** The same, @a columns further to the right: a multiple of `period` chunks. */
		WSK_DEVICE lane
		moved(uint32_t columns) const
		{
			lane other = *this;
			other.base += columns * 2;
			return other;
		}
		/** Address of chunks 2 @a pair and 2 @a pair + 1, @a rows (a multiple of 8) further
		 * down. */
		WSK_DEVICE uint32_t
		at(uint32_t rows, uint32_t pair) const
		{
			uint32_t low =
				2 * pair & (period - 1); /* a row's start is a multiple of `period` chunks */
			return (base ^ low << 4) + rows * pitch + ((2 * pair - low) << 4);
		}
	};
};

/** The lanes of an A fragment (rows x k), and of a transposed B fragment (k x columns). */
template <int D>
WSK_DEVICE typename tile<D>::lane
lane_by_row(uint32_t tile_address)
{
	uint32_t lane = threadIdx.x & 31;
	return typename tile<D>::lane(tile_address, lane & 15, lane >> 4);
}

/** The lanes of a B fragment whose columns are rows of the tile. */
template <int D>
WSK_DEVICE typename tile<D>::lane
lane_by_column(uint32_t tile_address)
{
	uint32_t lane = threadIdx.x & 31;
	return typename tile<D>::lane(tile_address, (lane & 7) + (lane >> 4 << 3), lane >> 3 & 1);
}

/** 16 rows of a tile as A fragments, kept in registers: as many columns as fit. */
template <int D, int K>
WSK_DEVICE void
load_rows(uint32_t (&a)[K][4], const typename tile<D>::lane &lane, uint32_t first_row)
{
#pragma unroll
	for (int k = 0; k < K; k++) {
		load_matrices(a[k], lane.at(first_row, k));
	}
}

/** c[m][n] += a[m] x b: rows x 16 K times (16 K x columns); the columns are rows of the tile. */
template <class T, int D, int M, int K, int N>
WSK_DEVICE void
multiply_rows(float (&c)[M][N][4], const uint32_t (&a)[M][K][4],
	const typename tile<D>::lane &by_column, uint32_t first_row)
{
#pragma unroll
	for (int k = 0; k < K; k++) {
#pragma unroll
		for (int n = 0; n < N; n += 2) {
			uint32_t b[4];
			load_matrices(b, by_column.at(first_row + n * 8, k));
#pragma unroll
			for (int m = 0; m < M; m++) {
				T::mma(c[m][n], a[m][k], b[0], b[1]);
				T::mma(c[m][n + 1], a[m][k], b[2], b[3]);
			}
		}
	}
}

/** c[m] += a[m] x b: rows x (16 K) times (16 K x 8 N); K x 16 rows of the tile, and 8 N of its
 * columns. */
template <class T, int D, int M, int K, int N>
WSK_DEVICE void
multiply_columns(float (&c)[M][N][4], const uint32_t (&a)[M][K][4],
	const typename tile<D>::lane &by_row, uint32_t first_row)
{
#pragma unroll
	for (int k = 0; k < K; k++) {
#pragma unroll
		for (int n = 0; n < N / 2; n++) {
			uint32_t b[4];
			load_transposed(b, by_row.at(first_row + k * 16, n));
#pragma unroll
			for (int m = 0; m < M; m++) {
				T::mma(c[m][2 * n], a[m][k], b[0], b[1]);
				T::mma(c[m][2 * n + 1], a[m][k], b[2], b[3]);
			}
		}
	}
}

/** Accumulators of 16 K columns as the A fragment of the next product. */
template <class T, int N>
WSK_DEVICE void
pack_rows(uint32_t (&a)[N / 2][4], const float (&c)[N][4])
{
#pragma unroll
	for (int k = 0; k < N / 2; k++) {
		a[k][0] = T::pack(c[2 * k][0], c[2 * k][1]);
		a[k][1] = T::pack(c[2 * k][2], c[2 * k][3]);
		a[k][2] = T::pack(c[2 * k + 1][0], c[2 * k + 1][1]);
		a[k][3] = T::pack(c[2 * k + 1][2], c[2 * k + 1][3]);
	}
}

template <int N>
WSK_DEVICE void
clear(float (&c)[N][4])
{
#pragma unroll
	for (int n = 0; n < N; n++) {
#pragma unroll
		for (int i = 0; i < 4; i++) {
			c[n][i] = 0;
		}
	}
}

/**
 * Rows whose columns are more than a warp has registers for: C warps share them, each has D / C
 * columns and sums over them alone. The parts of a product that two warps hold are added through
 * shared memory.
 */
template <int D, int C> struct sharing {
	static constexpr int count = D / C;                 /**< that a warp has */
	static constexpr int groups = WSK_THREADS / 32 / C; /**< of warps, each with its own rows */
	static_assert(
		C == 1 || (C == 2 && count / 8 % tile<D>::period == 0), "halves begin with a period");
	int group, first; /**< of this warp: which group, and its first column */

	WSK_DEVICE
	sharing() : group(threadIdx.x / 32 / C), first(threadIdx.x / 32 % C * count)
	{
	}
	template <int N> struct room {
		float4 of[C == 1 ? 1 : WSK_THREADS / 32][N][32];
	};
	/** Adds what the other warp has; before the next time, the block meets. Both get the same
	 * bits. */
	template <int N, int TOTAL>
	WSK_DEVICE void
	show(const float (&s)[N][4], room<TOTAL> &all, int from) const
	{
		if constexpr (C > 1) {
#pragma unroll
			for (int n = 0; n < N; n++) {
				all.of[threadIdx.x / 32][from + n][threadIdx.x & 31] =
					make_float4(s[n][0], s[n][1], s[n][2], s[n][3]);
			}
		}
	}
	WSK_DEVICE void
	meet() const
	{
		if constexpr (C > 1) {
			meet_pair(1 + group);
		}
	}
	template <int N, int TOTAL>
	WSK_DEVICE void
	add_other(float (&s)[N][4], const room<TOTAL> &all, int from) const
	{
		if constexpr (C > 1) {
#pragma unroll
			for (int n = 0; n < N; n++) {
				float4 x = all.of[threadIdx.x / 32 ^ 1][from + n][threadIdx.x & 31];
				s[n][0] += x.x, s[n][1] += x.y, s[n][2] += x.z, s[n][3] += x.w;
			}
		}
	}
};

/** Over the four lanes that share a row of an accumulator. */
WSK_DEVICE float
row_max(float x)
{
	x = fmaxf(x, __shfl_xor_sync(ALL, x, 1));
	return fmaxf(x, __shfl_xor_sync(ALL, x, 2));
}

WSK_DEVICE float
row_sum(float x)
{
	x += __shfl_xor_sync(ALL, x, 1);
	return x + __shfl_xor_sync(ALL, x, 2);
}

} // namespace wsk

#endif
