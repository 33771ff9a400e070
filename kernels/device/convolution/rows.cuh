/**
 * rows.cuh - rows of contiguous channels that a thread has asked for and not yet taken
 *
 * A thread of channel-last goes down its rows one by one and asks for each some rows ahead. Where
 * the GPU has cp.async (8.0 on) and rows are at whole pieces, they arrive in shared memory, where
 * every thread has places of its own: [rows ahead][planes][128 threads] pieces. That costs no
 * registers, and a thread waits for the oldest row alone; with loads into registers, whose arrivals
 * ptxas counts together, it waits for the newest as well. Elsewhere they arrive in registers. Each
 * thread reads only its own places, so a barrier is not needed.
 */
#ifndef WSK_DEVICE_CONV_ROWS_CUH
#define WSK_DEVICE_CONV_ROWS_CUH

#include "../common/elements.cuh"
#include "params.h"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define WSK_ASYNC 1
#else
#define WSK_ASYNC 0
#endif

namespace wsk
{

/** Rows of one sequence of the batch, of the channels of a thread. @a WIDE: all of them, at one
 * piece. */
template <typename E, int N, bool WIDE> struct column {
	E *data; /**< at row 0, until next() or down() */
	int64_t row;
	int count; /**< channels that there are; 0: none */

	WSK_DEVICE
	column(const wsk_view &v, int64_t batch, int channel, int channels)
		: data(reinterpret_cast<E *>(v.data) + batch * v.batch + channel * v.head), row(v.row),
		  count(v.data ? channels : 0)
	{
	}

	WSK_DEVICE void
	down(int rows)
	{
		data += rows * row;
	}

	WSK_DEVICE void
	next()
	{
		data += row;
	}

	WSK_DEVICE void
	load(piece<E, N> &v, int at, bool there) const
	{
		if (!WIDE) {
			v.load_some(data + at * row, 0, there ? count : 0);
		} else if (there) {
			v.load(data + at * row);
		} else {
			v.clear();
		}
	}

	WSK_DEVICE void
	store(const float (&f)[N], int at) const
	{
		piece<E, N> v;
		v.pack(f);
		if (WIDE) {
			v.store(data + at * row);
		} else {
			v.store_some(data + at * row, 0, count);
		}
	}
};

/** Rows of a thread's loop, in which each row's place is a compile-time constant. */
constexpr int ROWS = 4;

/** Rows ahead in shared memory, and the bytes that they take there. */
template <typename E> constexpr int ASYNC_ROWS = sizeof(E) == 4 ? ROWS : 2 * ROWS;
template <typename E, int N, int PLANES>
constexpr int QUEUE_BYTES = WSK_ASYNC ? (int)sizeof(E) * ASYNC_ROWS<E> *N *PLANES *WSK_CONV_THREADS
									  : 16;

/** Shared memory of a block, one and the same whatever the width. */
template <int BYTES>
static WSK_DEVICE char *
block_memory()
{
	__shared__ __align__(16) char memory[BYTES];
	return memory;
}

/** In registers: ROWS of them. */
template <typename E, int N, bool WIDE, int PLANES, bool ASYNC> struct row_queue {
	static constexpr int AHEAD = ROWS;
	piece<E, N> v[PLANES][ROWS];

	WSK_DEVICE
	row_queue(char *)
	{
	}

	/** Row 0 of @a from, into place @a r of @a plane; what is not @a there has any value. */
	WSK_DEVICE void
	ask(int r, int plane, const column<E, N, WIDE> &from, bool there)
	{
		from.load(v[plane][r], 0, there);
	}

	/** Behind what was asked of all planes of a row. */
	WSK_DEVICE void
	asked()
	{
	}

	/** Waits until the oldest row is there. */
	WSK_DEVICE void
	wait()
	{
	}

	WSK_DEVICE piece<E, N>
	take(int r, int plane) const
	{
		return v[plane][r];
	}

	/** Behind ROWS rows. */
	WSK_DEVICE void
	turn()
	{
	}
};

#if WSK_ASYNC
/** In shared memory: ROWS of them or, of 2 bytes, twice as many, in two halves. */
template <typename E, int N, int PLANES> struct row_queue<E, N, true, PLANES, true> {
	static constexpr int AHEAD = ASYNC_ROWS<E>, BYTES = N * (int)sizeof(E);
	static constexpr unsigned HALF = ROWS * PLANES * WSK_CONV_THREADS * BYTES;
	uint32_t own;  /**< address of this thread's first place, in the half that is next */
	uint32_t both; /**< of the first places in both halves, added */

	WSK_DEVICE
	row_queue(char *shared)
		: own((uint32_t)__cvta_generic_to_shared(shared) + threadIdx.x * BYTES),
		  both(2 * own + HALF)
	{
	}

	static WSK_DEVICE constexpr unsigned
	place(int r, int plane)
	{
		return (unsigned)((r * PLANES + plane) * WSK_CONV_THREADS * BYTES);
	}

	WSK_DEVICE void
	ask(int r, int plane, const column<E, N, true> &from, bool there)
	{
		if (there) {
			asm volatile("cp.async.ca.shared.global [%0], [%1], %2;"
						 :
						 : "r"(own + place(r, plane)), "l"(from.data), "n"(BYTES)
						 : "memory");
		}
	}

	WSK_DEVICE void
	asked()
	{
		asm volatile("cp.async.commit_group;" : : : "memory");
	}

	WSK_DEVICE void
	wait()
	{
		asm volatile("cp.async.wait_group %0;" : : "n"(AHEAD - 1) : "memory");
	}

	WSK_DEVICE piece<E, N>
	take(int r, int plane) const
	{
		piece<E, N> v;
		if constexpr (BYTES == 16) {
			asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
						 : "=r"(v.w[0]), "=r"(v.w[1]), "=r"(v.w[2]), "=r"(v.w[3])
						 : "r"(own + place(r, plane))
						 : "memory");
		} else {
			asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];"
						 : "=r"(v.w[0]), "=r"(v.w[1])
						 : "r"(own + place(r, plane))
						 : "memory");
		}
		return v;
	}

	WSK_DEVICE void
	turn()
	{
		own = AHEAD > ROWS ? both - own : own;
	}
};
#endif

} // namespace wsk

#endif
