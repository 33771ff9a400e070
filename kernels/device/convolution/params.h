/**
 * params.h - what a kernel of the convolution is given, by value
 *
 * One text for the host (C17) and the device (CUDA C++). The host has checked every number in it;
 * what only the device can read (seq_idx, cache_seqlens, indices) is clamped where it is read.
 */
#ifndef WSK_DEVICE_CONV_PARAMS_H
#define WSK_DEVICE_CONV_PARAMS_H

#include "../common/view.h"

/** Threads of a block of every kernel of the convolution. */
#define WSK_CONV_THREADS 128

/** Elements that a warp takes at once where rows are contiguous, 16 bytes a lane and step. */
#define WSK_CONV_CHUNK(bytes, steps) ((steps)*32 * (16 / (bytes)))
#define WSK_CONV_STEPS 4
#define WSK_CONV_BACK_STEPS 4

/** Channels of a thread where channels are contiguous. */
#define WSK_CONV_CHANNELS 4

/** The reduction of the weights' gradient: sums of a block, and threads that share one. */
#define WSK_CONV_SUMS 16
#define WSK_CONV_SHARES (WSK_CONV_THREADS / WSK_CONV_SUMS)

struct wsk_conv_params {
	struct wsk_view x, out;
	struct wsk_view initial, final; /**< width - 1 rows */
	struct wsk_view dout, dx, dinitial, dfinal;
	uint64_t weight, bias, seq_idx;
	int64_t weight_channel, weight_tap;
	uint64_t scratch; /**< float, [parts][dim][width + 1]: sums of the weights, then of the bias */
	uint64_t dweight, dbias;
	int64_t dweight_channel, dweight_tap;
	int32_t batch, dim, length, width;
	int32_t weight_type, grad_type; /**< enum wsk_type */
	int32_t silu, accumulate;       /**< accumulate: add to dweight and dbias */
	int32_t wide;         /**< contiguous channels: all of them, at multiples of a thread's */
	int32_t weight_whole; /**< the 4 weights of each channel side by side, at 16 bytes */
	int32_t parts;        /**< backward: partial sums of each weight */
	int32_t pieces;       /**< parts of one row, or runs of rows of one sequence */
	int32_t piece;        /**< elements, or rows, of each: a multiple of the chunk */
	int32_t groups;       /**< of neighbouring channels */
	int32_t rows;         /**< contiguous rows: of as many sequences for each warp */
};

struct wsk_conv_update_params {
	struct wsk_view x, out, state; /**< state: state_length rows */
	uint64_t weight, bias;
	int64_t weight_channel, weight_tap;
	uint64_t cache_seqlens, indices; /**< int32, batch each; 0: none */
	int32_t batch, dim, length, width, state_length, entries;
	int32_t weight_type, silu;
	int32_t weight_whole; /**< as above */
	int32_t layout;       /**< enum wsk_conv_layout */
	int32_t groups;       /**< of neighbouring channels */
	int32_t each;         /**< entries of the batch that a thread takes */
};

/** How the state lies, and so how many channels a thread takes. */
enum wsk_conv_layout {
	WSK_CONV_UPDATE_ANY,      /**< one element at a time */
	WSK_CONV_UPDATE_CHANNELS, /**< channels are contiguous in x, out and state, at 16 bytes */
	WSK_CONV_UPDATE_APART,    /**< the same; one new row, no circle, 2 to 4 rows of state */
	WSK_CONV_UPDATE_TOGETHER, /**< one new row, no circle, 2 to 4 rows side by side, at 16 bytes */
};

#endif
