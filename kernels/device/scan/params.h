/**
 * params.h - what the kernels of the selective scan and of the state update are given, by value
 *
 * One text for the host (C17) and the device (CUDA C++), as params.h is. The host has checked every
 * number in it.
 */
#ifndef WSK_DEVICE_SCAN_PARAMS_H
#define WSK_DEVICE_SCAN_PARAMS_H

#include "../common/view.h"

/** Threads of a block, and states that one launch takes. */
#define WSK_SCAN_THREADS 128
#define WSK_SCAN_STATES 16

/** States of a thread, forward and in the other kernels, and channels of a block. */
#define WSK_SCAN_FORWARD_EACH 2
#define WSK_SCAN_EACH 8
#define WSK_SCAN_CHANNELS(each) (WSK_SCAN_THREADS / WSK_SCAN_STATES * (each))

/** Time steps between the states that the backward pass keeps; a part of time is a multiple. */
#define WSK_SCAN_SEGMENT 64

/** Time steps between two rows of x: upstream's. */
#define WSK_SCAN_SAVED 2048

/** B or C: [batch][head: group][row: state][time]; or, not varying, float [head: channel][row:
 * state]. */
struct wsk_scan_matrix {
	struct wsk_view at;
	int32_t varies;
	int32_t reserved;
};

struct wsk_scan_params {
	struct wsk_view u, delta, z, out, out_z; /**< [batch][head: channel][time], time contiguous */
	struct wsk_view dout, du, ddelta, dz;    /**< backward */
	struct wsk_scan_matrix b, c;
	uint64_t a; /**< float [channel][state] */
	int64_t a_channel, a_state;
	uint64_t d, bias; /**< float [channel]; 0: none */
	uint64_t x;       /**< float [batch][channel][rows][state][2], see wsk.h; 0: not wanted */
	/* workspace, float */
	uint64_t states; /**< [batch][kept][channel][state]: at the end of each `every` time steps */
	uint64_t sums;   /**< [batch][kept][channel]: of delta, since the part of time began */
	uint64_t ends;   /**< [batch][part][channel][state]: gradient that comes from later parts */
	uint64_t sum_y;  /**< [batch][channel][time]: of the states before `first_state` */
	uint64_t sum_b, sum_q; /**< the same, of the two sums that the gradients of u and delta need */
	uint64_t part_a, part_w;    /**< [batch][part][channel][state] */
	uint64_t part_d, part_bias; /**< [batch][part][channel] */
	uint64_t part_bc;           /**< [block][B or C][batch][group][state][time] */
	int32_t batch, channels, length, states_count;
	int32_t groups, group_channels; /**< channels of one group */
	int32_t blocks;                 /**< of threads, for the channels of a group */
	int32_t parts, part;            /**< parts of time, and time steps of one */
	int32_t every, kept;            /**< time steps between kept states; how many are kept */
	int32_t first_state;            /**< of this launch */
	int32_t rows;                   /**< of x: ceil(length / WSK_SCAN_SAVED) */
	int32_t softplus;
	int32_t wide;      /**< every four time steps from a multiple of 4 on are aligned */
	int32_t wide_bc;   /**< the same of B and C */
	int32_t with_ends; /**< the first pass: gradients too */
	int32_t reserved;
};

/** A sum over partial results, in the order of the parts. */
struct wsk_scan_sum {
	uint64_t from;   /**< float [terms][stride], of which the first `count` count */
	uint64_t to;     /**< of `type` */
	uint64_t factor; /**< float [count], or 0: 1 */
	int64_t stride, count;
	int32_t terms;
	int32_t type;   /**< enum wsk_type */
	int64_t blocks; /**< of threads: ceil(count / WSK_SCAN_THREADS) */
};

/** The gradients of A, D, delta_bias, B and C. */
#define WSK_SCAN_SUMS 5

struct wsk_scan_sums_params {
	struct wsk_scan_sum sums[WSK_SCAN_SUMS];
};

/** A vector of any element type. */
struct wsk_update_view {
	uint64_t data; /**< 0: there is none */
	int64_t stride[3];
	int32_t type; /**< enum wsk_type */
	int32_t reserved;
};

struct wsk_state_update_params {
	struct wsk_update_view x, dt, z, out; /**< [batch][head][channel] */
	struct wsk_update_view a;             /**< [head][channel][state] */
	struct wsk_update_view b, c;          /**< [batch][group][state] */
	struct wsk_update_view d, dt_bias;    /**< [head][channel] */
	uint64_t state;                       /**< [entry][head][channel][state], contiguous states */
	int64_t state_entry, state_head, state_channel, state_state;
	uint64_t
		indices; /**< int32 [batch], entries; negative: a slot without one; 0: the batch's own */
	int32_t batch, heads, channels, states, group_heads;
	int32_t entries;
	int32_t softplus;
	int32_t lanes;  /**< that share a channel: a power of 2, at most 32 */
	int32_t blocks; /**< of threads, for the channels of a head */
};

/** x / by is (high half of factor x + x) >> shift, for x below 2^31. */
struct wsk_divisor {
	uint32_t factor, shift;
};

/** [batch][head][channel]; strides in bytes. */
struct wsk_wide_rows {
	uint64_t data;
	uint32_t batch, head, channel;
	uint32_t reserved;
};

/** A of [head][channel], B and C of [batch][group], D and dt_bias of [head][channel]; strides in
 * bytes. */
struct wsk_wide_pairs {
	uint64_t data;
	uint32_t stride[2];
};

enum wsk_update_flags {
	WSK_UPDATE_SOFTPLUS = 1,
	WSK_UPDATE_TIED =
		2, /**< dt, dt_bias and A are the same for all channels and states of a head */
	WSK_UPDATE_Z = 4,
	WSK_UPDATE_BIAS = 8,
	WSK_UPDATE_FLOAT_D = 16, /**< not of x's type */
	WSK_UPDATE_FLOAT_BIAS = 32,
	WSK_UPDATE_FLOAT_BC = 64,
};

/** States of a sequence that has kernels of its own: of nearly all models of Mamba. */
#define WSK_UPDATE_ALONE_STATES 16

/** The usual case of the state update. Absent tensors get the address of a present one. */
struct wsk_update_wide_params {
	struct wsk_wide_rows state; /**< `batch` is that of an entry */
	struct wsk_wide_rows x, dt, z, out;
	struct wsk_wide_pairs a, b, c, d, dt_bias;
	uint64_t indices;
	int32_t batch;
	uint32_t channels;
	int32_t entries;
	int32_t each; /**< sequences for one block; 1 where B and C are not of x's type */
	struct wsk_divisor by_group_heads;
	uint32_t flags;            /**< enum wsk_update_flags */
	uint16_t lane_bits, lanes; /**< 2^lane_bits share a channel; so many of them have states */
};

#endif
