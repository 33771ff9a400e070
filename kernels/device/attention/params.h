/**
 * params.h - what an attention kernel is given, by value
 *
 * One text for the host (C17) and the device (CUDA C++). The host has checked every number in it;
 * what only the device can read (cu_seqlens, seqused, blocks) is clamped where it is read.
 */
#ifndef WSK_DEVICE_PARAMS_H
#define WSK_DEVICE_PARAMS_H

#include "../common/view.h"

/** Threads of a block of every attention kernel. */
#define WSK_THREADS 128

/** One bit of `blocks` covers this many rows and keys. */
#define WSK_BLOCK 64

/** Rows of queries (times heads of a group) that one block of the decode kernel takes. */
#define WSK_DECODE_ROWS 16

/** Longest row that fits into registers: the kernel with parts of the keys handles longer rows. */
#define WSK_DECODE_COLUMNS 128

/** Keys that lie behind one another for the decode kernel: rows of a page are a multiple of it. */
#define WSK_DECODE_KEYS 16

/** The value of `keep` without dropout. */
#define WSK_KEEPS_ALL 255

/** The head dimension is contiguous in every view. */
struct wsk_attn_params {
	struct wsk_view q, k, v, o;
	struct wsk_view dout, dq, dk, dv; /**< backward */
	uint64_t lse;                     /**< float, of each query row: natural logarithm */
	uint64_t delta; /**< float, of each query row: sum of dO x O, less the gradient of lse */
	int64_t lse_batch, lse_head; /**< in elements; rows lie side by side */
	int64_t delta_batch, delta_head;
	uint64_t cu_q, cu_k;     /**< int32, batch + 1 each; 0: not packed */
	uint64_t used_q, used_k; /**< int32, batch each; 0: all of a sequence counts */
	uint64_t first_q,
		first_k;         /**< int32, batch each: row that a sequence starts at; 0: its first */
	uint64_t entries;    /**< int32, batch: which entry of k and v; 0: that of q */
	uint64_t pages;      /**< int32, of each sequence the pages of k and v; 0: rows in order */
	int64_t pages_batch; /**< in pages */
	uint64_t sinks;      /**< float, heads: logits that no key has; 0: none */
	uint64_t random;     /**< two uint64: seed and offset of dropout */
	uint64_t dlse;       /**< float, laid out as lse: gradient of lse; 0: none */
	uint64_t blocks;     /**< uint32 bit sets, see wsk.h; 0: every block of keys */
	int64_t blocks_batch, blocks_head, blocks_row; /**< in words */
	uint64_t part;                                 /**< float: splits x rows x (tile of d + 2) */
	int32_t batch, heads, group;                   /**< heads of q; heads of q for each of k */
	int32_t seq_q, seq_k;                          /**< longest, and the length where not packed */
	int32_t total_q, total_k;                      /**< packed: rows there are */
	int32_t left, right;                           /**< keys seen before and after the diagonal */
	int32_t tiles;                                 /**< blocks of threads for one head */
	int32_t splits;                                /**< parts of the keys */
	float scale;                                   /**< as given, of any sign */
	float scale_log2;                              /**< |scale| x log2(e), greater than 0 */
	uint32_t sign;                                 /**< 0x80008000 where scale is negative */
	int32_t wide;                                  /**< every row begins at 16 bytes */
	int32_t chunks;                                /**< 8 elements of a row that there are */
	int32_t entry_count, page_rows, page_count;    /**< of k and v: entries; rows a page, pages */
	float softcap;    /**< scores times this are the tangent's argument; 0: no cap */
	uint32_t keep;    /**< dropout keeps where a random byte is at most this */
	float keep_scale; /**< factor for kept elements */
};

#endif
