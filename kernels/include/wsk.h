/**
 * wsk.h - attention and causal convolution behind plain C functions
 *
 * One library for every torch and Python: it knows nothing of either. It opens no library, allocates
 * nothing, never waits and never synchronises; what it launches goes to the caller's stream. The
 * caller hands over the functions of the CUDA driver (12.0 or newer) and the memory of the handle.
 *
 * Every struct that crosses this border begins with its size in bytes as the caller knows it: newer
 * members stand at the end and count as 0 for older callers. A library that is older than its caller
 * refuses a struct that is larger than its own.
 *
 * Of attention: a tensor is a device address and strides in elements, of 2 bytes each; the head
 * dimension is contiguous. Rows that do not begin at a multiple of 16 bytes are read and written 2 bytes at a
 * time: right, and slow.
 *
 * What is computed, for query i and key j of one sequence of lengths m (queries) and n (keys):
 *
 *     S = scale Q K^T;  P = softmax(S) over the keys that i sees;  O = P V;  lse = log sum exp S
 *     i sees j:  i + (n - m) - left <= j <= i + (n - m) + right
 *
 * so causal is right = 0, aligned at the bottom right. A query that sees no key has O = 0 and lse =
 * -infinity, and gradients of 0. Head h of q belongs to head h / (heads_q / heads_k) of k and v,
 * which are never expanded. Sums are fp32; P and dS are rounded to the element type for the tensor
 * cores. The same inputs give the same bits on the same device.
 */
#ifndef WSK_H
#define WSK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define WSK_API __attribute__((visibility("default")))
#else
#define WSK_API
#endif

#define WSK_VERSION "0.2.0"

/** What a function returns. */
enum wsk_status {
	WSK_OK = 0,
	WSK_ERR_ARGUMENT = 1,    /**< struct wsk_problem says which, and what is expected */
	WSK_ERR_ALIGNMENT = 2,   /**< an address that is not a multiple of what its type needs */
	WSK_ERR_RANGE = 3,       /**< a size that does not fit, or whose product overflows */
	WSK_ERR_UNSUPPORTED = 4, /**< a head dimension or type that has no kernel on this device */
	WSK_ERR_NOT_LOADED = 5,  /**< wsk_load was not called for the image that this needs */
	WSK_ERR_NO_CODE = 6,     /**< the library holds no code for this device */
	WSK_ERR_DRIVER = 7,      /**< the driver refused: its own code is in struct wsk_problem */
};

/** Details of a failure. Texts live as long as the library. */
struct wsk_problem {
	const char *argument; /**< "q.stride_row"; NULL: none */
	const char *expected; /**< "a multiple of heads_k" */
	int32_t driver;       /**< CUresult; 0: not the driver */
};

/** Functions of libcuda.so.1, by their exported names. All are needed. */
struct wsk_driver {
	uint32_t size;
	int (*cuLibraryLoadData)(
		void **, const void *, int *, void **, unsigned, int *, void **, unsigned);
	int (*cuLibraryGetKernel)(void **, void *, const char *);
	int (*cuLibraryUnload)(void *);
	int (*cuLaunchKernel)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
		unsigned, void *, void **, void **);
};

/** The handle: memory of the caller, of wsk_handle_size() bytes, aligned like a pointer. */
struct wsk_handle;

WSK_API const char *wsk_version(void);
WSK_API const char *wsk_status_text(int status);
WSK_API size_t wsk_handle_size(void);

/** Makes a handle of @a memory. Nothing is loaded yet. */
WSK_API int wsk_init(
	void *memory, size_t size, const struct wsk_driver *driver, struct wsk_problem *problem);

/** Kernels that are loaded together. Those of attention have the number of their head dimension. */
enum wsk_image {
	WSK_CONV = 1,
	WSK_SCAN = 2, /**< the selective scan and its state update */
	WSK_ATTENTION_64 = 64,
	WSK_ATTENTION_80 = 80,
	WSK_ATTENTION_96 = 96,
	WSK_ATTENTION_128 = 128,
};

/**
 * Loads the kernels of one image (enum wsk_image), for every device. Not thread-safe: the only
 * function that changes a handle besides wsk_close. A second call does nothing.
 */
WSK_API int wsk_load(struct wsk_handle *handle, int32_t image, struct wsk_problem *problem);

/** Unloads all that was loaded; nothing may run any more. */
WSK_API int wsk_close(struct wsk_handle *handle);

enum wsk_type {
	WSK_FLOAT16 = 1,
	WSK_BFLOAT16 = 2, /**< attention: compute capability 8.0 or newer */
	WSK_FLOAT32 = 3,  /**< attention has no kernels for it */
};

/** [batch, row, head, head_dim]; packed sequences have no batch. Strides are in elements. */
struct wsk_tensor {
	uint64_t data; /**< device address */
	int64_t stride_batch, stride_row, stride_head;
};

/** All that attention is about. Members that do not apply are 0. */
struct wsk_attention {
	uint32_t size;
	int32_t type; /**< enum wsk_type */
	int32_t batch;
	int32_t heads_q, heads_k, head_dim;
	int32_t length_q, length_k; /**< rows of a sequence; packed or with seqused: of the longest */
	int32_t total_q, total_k;   /**< packed: rows of all sequences */
	int32_t left, right;        /**< keys before and after the diagonal; negative: all of them */
	float scale;                /**< any finite number */
	int32_t reserved;
	struct wsk_tensor q, k, v;
	struct wsk_tensor o; /**< written by forward, read by backward */
	/** Float, written by forward, read by backward: [batch][heads_q][length_q], with rows side by side;
	 * packed: [heads_q][total_q]. 0: not wanted (backward needs it). */
	uint64_t lse;
	int64_t lse_stride_batch, lse_stride_head;
	/** int32 on the device. cu_seqlens: batch + 1 first rows; what lies outside of the totals or goes
	 * backwards is clamped, and a sequence longer than `length` is cut off there. Rows that belong to no
	 * sequence are not written. seqused: batch lengths, clamped to the sequence's own; query rows beyond
	 * become 0 (lse: -infinity), key rows beyond are not seen. 0: none. */
	uint64_t cu_seqlens_q, cu_seqlens_k, seqused_q, seqused_k;
	/** Bit sets of uint32: which blocks of 64 keys the rows of a block of 64 queries may see, for all
	 * heads of a group: bit j % 32 of word [batch][heads_k][i][j / 32], for block i of the queries and j of
	 * the keys. Strides are in words. Not for packed sequences. 0: every block. */
	uint64_t blocks;
	int64_t blocks_stride_batch, blocks_stride_head, blocks_stride_row;
	/* backward */
	struct wsk_tensor grad_o, grad_q, grad_k, grad_v;
	uint64_t delta; /**< float, scratch, laid out as lse */
	/* decode */
	uint64_t scratch;      /**< float, wsk_decode_scratch() bytes */
	uint64_t scratch_size; /**< bytes */
	int32_t splits;        /**< parts that the keys are split into, 1 to 256 */
	int32_t reserved2;
};

/** o and lse. @a stream is a CUstream. */
WSK_API int wsk_forward(const struct wsk_handle *handle, const struct wsk_attention *attention,
	void *stream, struct wsk_problem *problem);

/** grad_q, grad_k, grad_v from q, k, v, o, lse, grad_o. */
WSK_API int wsk_backward(const struct wsk_handle *handle, const struct wsk_attention *attention,
	void *stream, struct wsk_problem *problem);

/**
 * The same as wsk_forward, for few queries and many keys: the keys are split among blocks of threads,
 * and the heads of a group read them once together. Not for packed sequences or `blocks`.
 */
WSK_API int wsk_decode(const struct wsk_handle *handle, const struct wsk_attention *attention,
	void *stream, struct wsk_problem *problem);

/** Bytes of scratch that wsk_decode needs: 4 (head_dim + 2) for each query row, head and split. */
WSK_API uint64_t wsk_decode_scratch(const struct wsk_attention *attention);

/* ---- the selective scan ---- */

/** [batch][channel][time], time contiguous; strides in elements. */
struct wsk_rows {
	uint64_t data; /**< device address; 0: there is none */
	int64_t stride_batch, stride_channel;
};

/** B or C, [batch][group][state][time] with time contiguous; or constant: float [channel][state]. */
struct wsk_matrix {
	uint64_t data;
	int64_t stride_batch;
	int64_t stride_group; /**< constant: of a channel */
	int64_t stride_state;
	int32_t varies; /**< with time; 0: constant */
	int32_t reserved;
};

/**
 * h(t) = exp(delta A) h(t - 1) + delta B u;  out = C h + D u;  out_z = out silu(z), for each channel,
 * with `states` numbers in h, from h = 0. Members that do not apply are 0.
 */
struct wsk_scan {
	uint32_t size;
	int32_t type; /**< enum wsk_type, of all rows and of B and C that vary */
	int32_t batch, channels, length;
	int32_t states;   /**< 1 to 256 */
	int32_t groups;   /**< of B and C; divides channels */
	int32_t softplus; /**< delta becomes log(1 + exp(delta + delta_bias)), itself above 20 */
	/** Parts that time is split into, which are computed side by side: for few channels. At most
	 * ceil(length / 64); 1 where batch x channels fill the device. */
	int32_t parts;
	int32_t reserved;
	struct wsk_rows u, delta, z;
	struct wsk_rows
		out; /**< written by forward (0: not wanted); backward reads it where there is z */
	struct wsk_rows out_z; /**< where there is z; backward writes it again, 0: not wanted */
	uint64_t a;            /**< float [channel][state] */
	int64_t a_stride_channel, a_stride_state;
	struct wsk_matrix b, c;
	uint64_t d, delta_bias; /**< float [channel], contiguous; 0: none */
	/** Float [batch][channel][ceil(length / 2048)][state][2], contiguous, written by forward: at the end
	 * of each 2048 steps the product of exp(delta A) from the begin on, and h. 0: not wanted. */
	uint64_t x;
	uint64_t workspace;      /**< 16 byte aligned */
	uint64_t workspace_size; /**< bytes, at least wsk_scan_workspace() */
	/* backward */
	struct wsk_rows grad_out; /**< of out_z where there is z */
	struct wsk_rows grad_u, grad_delta, grad_z;
	uint64_t grad_a; /**< float [channel][state], as all that follow contiguous */
	/** As B and C: of `type` [batch][group][state][time] where they vary, else float [channel][state]. */
	uint64_t grad_b, grad_c;
	uint64_t grad_d, grad_delta_bias; /**< float [channel]; 0 where there is none */
};

/** out, out_z and x. Needs WSK_SCAN. */
WSK_API int wsk_scan_forward(const struct wsk_handle *handle, const struct wsk_scan *scan,
	void *stream, struct wsk_problem *problem);

/** All gradients; no atomics, so the same bits each time. The states are computed again. */
WSK_API int wsk_scan_backward(const struct wsk_handle *handle, const struct wsk_scan *scan,
	void *stream, struct wsk_problem *problem);

/** Bytes of workspace; UINT64_MAX: there is no such number. Only sizes, types and `parts` are read. */
WSK_API uint64_t wsk_scan_workspace(const struct wsk_scan *scan, int32_t backward);

/** A tensor of any element type and any strides, 0 too. */
struct wsk_strided {
	uint64_t data; /**< device address; 0: there is none */
	int64_t stride[3];
	int32_t type; /**< enum wsk_type */
	int32_t reserved;
};

/** One time step of the scan for each sequence of a batch; the state changes in place. */
struct wsk_update {
	uint32_t size;
	int32_t type; /**< of the state */
	int32_t batch, heads, channels, states;
	int32_t groups;   /**< of B and C; divides heads */
	int32_t entries;  /**< states there are */
	int32_t softplus; /**< as in struct wsk_scan */
	int32_t reserved;
	uint64_t state; /**< [entry][head][channel][state] */
	int64_t state_stride_entry, state_stride_head, state_stride_channel, state_stride_state;
	struct wsk_strided x, dt, z, out; /**< [batch][head][channel]; z may be absent */
	struct wsk_strided a;             /**< [head][channel][state] */
	struct wsk_strided b, c;          /**< [batch][group][state] */
	struct wsk_strided d, dt_bias;    /**< [head][channel]; each may be absent */
	/** int32 [batch]: which entry is a sequence's state, each at most once. Negative, or not below
	 * `entries`: a slot without one, whose out is 0. 0: entry i for sequence i. */
	uint64_t indices;
};

/** out and the new state. Needs WSK_SCAN. */
WSK_API int wsk_state_update(const struct wsk_handle *handle, const struct wsk_update *update,
	void *stream, struct wsk_problem *problem);

/* ---- the causal convolution ---- */

/** [batch, channel, row]; strides in elements, none negative. */
struct wsk_plane {
	uint64_t data; /**< device address; 0: not there */
	int64_t stride_batch, stride_channel, stride_row;
};

/**
 * A causal convolution of each channel by itself, of width 2 to 4:
 *
 *     out[b, c, l] = f(bias[c] + sum over k of weight[c, k] x[b, c, l - (width - 1) + k])
 *
 * with f(y) = y, or y / (1 + exp(-y)) (silu). Rows before the first are those of initial_states, or
 * 0. Sums are fp32. Rows are contiguous in every plane (channel-first), or channels are
 * (channel-last); seq_idx and states need channel-last. bfloat16 works on every device.
 */
struct wsk_conv {
	uint32_t size;
	int32_t type;        /**< enum wsk_type, of every plane */
	int32_t weight_type; /**< enum wsk_type, of weight and bias */
	int32_t width;
	int32_t batch, dim, length;
	int32_t silu; /**< 0 or 1 */
	struct wsk_plane x;
	struct wsk_plane out; /**< written by wsk_conv_forward */
	uint64_t weight;      /**< [dim][width] */
	int64_t weight_stride_channel, weight_stride_tap;
	uint64_t bias; /**< [dim], contiguous; 0: none */
	/** int32 [batch][length], contiguous: rows of another number are not seen. A negative one is
	 * padding: out is 0 there. 0: all rows belong together. */
	uint64_t seq_idx;
	struct wsk_plane initial_states; /**< width - 1 rows before x */
	struct wsk_plane final_states;   /**< written by wsk_conv_forward: the last width - 1 rows */
	/* backward */
	struct wsk_plane grad_out;
	struct wsk_plane grad_x, grad_initial_states; /**< written by wsk_conv_backward */
	struct wsk_plane grad_final_states;
	/** Written, or added to where `accumulate` is not 0. The sums are made in an order that does not
	 * change: the same inputs give the same bits. */
	uint64_t grad_weight;
	int64_t grad_weight_stride_channel, grad_weight_stride_tap;
	uint64_t grad_bias; /**< contiguous; 0: not wanted */
	int32_t grad_type;  /**< enum wsk_type, of both */
	int32_t accumulate;
	uint64_t scratch;      /**< float, wsk_conv_scratch() bytes */
	uint64_t scratch_size; /**< bytes */
};

/** out, and final_states. */
WSK_API int wsk_conv_forward(const struct wsk_handle *handle, const struct wsk_conv *conv,
	void *stream, struct wsk_problem *problem);

/** Gradients of x, weight, bias and initial_states, from x, weight, bias, initial_states, grad_out. */
WSK_API int wsk_conv_backward(const struct wsk_handle *handle, const struct wsk_conv *conv,
	void *stream, struct wsk_problem *problem);

/** Bytes of scratch that wsk_conv_backward needs: 4 dim (width + 1) for each partial sum. */
WSK_API uint64_t wsk_conv_scratch(const struct wsk_conv *conv);

/** New rows of sequences whose last rows are kept in a state. */
struct wsk_conv_step {
	uint32_t size;
	int32_t type, weight_type; /**< as in struct wsk_conv */
	int32_t width;
	int32_t batch, dim;
	int32_t length; /**< new rows */
	int32_t silu;
	struct wsk_plane x;
	struct wsk_plane out; /**< written */
	uint64_t weight;
	int64_t weight_stride_channel, weight_stride_tap;
	uint64_t bias;
	struct wsk_plane state; /**< entries x dim x state_length, read and written */
	int32_t state_length;   /**< at least width - 1 */
	int32_t entries;
	/** int32 [batch]. Where the new rows begin in the state, which is a circle then: row
	 * cache_seqlens % state_length. 0: the state moves up, the new rows are its last. */
	uint64_t cache_seqlens;
	/** int32 [batch]: which entry of the state. Negative, or as many as there are or more: padding; out is
	 * 0. 0: entry i for sequence i. */
	uint64_t indices;
};

WSK_API int wsk_conv_update(const struct wsk_handle *handle, const struct wsk_conv_step *step,
	void *stream, struct wsk_problem *problem);

#ifdef __cplusplus
}
#endif

#endif
