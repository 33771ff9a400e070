/**
 * append_params.h - what the kernel that puts new keys and values behind those of a cache is given,
 * by value
 *
 * One text for the host (C17) and the device (CUDA C++), as params.h.
 */
#ifndef WSK_DEVICE_APPEND_PARAMS_H
#define WSK_DEVICE_APPEND_PARAMS_H

#include "params.h"

/** Threads of a block, each with two elements of one row. */
#define WSK_APPEND_THREADS 256

struct wsk_append_params {
	struct wsk_view q, q_out;           /**< q_out.data 0: q is not turned */
	struct wsk_view k_new, v_new, k, v; /**< rows, and the cache */
	uint64_t lengths;                   /**< int32, batch: rows of the cache before these */
	uint64_t cos, sin;                  /**< elements, turning_rows x rotary / 2; 0: no rotation */
	uint64_t entries;                   /**< int32, batch: which entry of the cache; 0: that of q */
	uint64_t pages;                     /**< int32, of each sequence; 0: rows in order */
	int64_t pages_batch;
	int64_t count; /**< of pairs of elements: of q_out, k and v, in this order */
	int32_t batch, heads_q, heads_k;
	int32_t length_q, length_new, length_k;     /**< length_k: rows that a sequence's cache has */
	int32_t entry_count, page_rows, page_count; /**< entries and pages of the cache */
	int32_t pairs;                              /**< of elements of a row */
	int32_t rotary;                             /**< elements that are turned, even */
	int32_t turning_rows;                       /**< of cos and sin */
	int32_t interleaved;                        /**< neighbours are a pair; else the two halves' */
	int32_t each_row; /**< a query has a position of its own; else all that of the first */
};

#endif
