/**
 * wsk.h - attention kernels behind plain C functions
 *
 * One library for every torch and Python: it knows nothing of either. It opens no library, allocates
 * nothing, never waits and never synchronises; what it launches goes to the caller's stream. The
 * caller hands over the functions of the CUDA driver (12.0 or newer) and the memory of the handle.
 *
 * Every struct that crosses this border begins with its size in bytes as the caller knows it: newer
 * members stand at the end and count as 0 for older callers. A library that is older than its caller
 * refuses a struct that is larger than its own.
 *
 * A tensor is a device address and strides in elements, of 2 bytes each; the head dimension is
 * contiguous. Rows that do not begin at a multiple of 16 bytes are read and written 2 bytes at a
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

#define WSK_VERSION "0.1.0"

/** What a function returns. */
enum wsk_status {
	WSK_OK = 0,
	WSK_ERR_ARGUMENT = 1,    /**< struct wsk_problem says which, and what is expected */
	WSK_ERR_ALIGNMENT = 2,   /**< an address that is not a multiple of what its type needs */
	WSK_ERR_RANGE = 3,       /**< a size that does not fit, or whose product overflows */
	WSK_ERR_UNSUPPORTED = 4, /**< a head dimension or type that has no kernel on this device */
	WSK_ERR_NOT_LOADED = 5,  /**< wsk_load was not called for this head dimension */
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

/**
 * Loads the kernels of one head dimension (64, 80, 96, 128), for every device. Not thread-safe: the
 * only function that changes a handle besides wsk_close. A second call does nothing.
 */
WSK_API int wsk_load(struct wsk_handle *handle, int32_t head_dim, struct wsk_problem *problem);

/** Unloads all that was loaded; nothing may run any more. */
WSK_API int wsk_close(struct wsk_handle *handle);

enum wsk_type {
	WSK_FLOAT16 = 1,
	WSK_BFLOAT16 = 2, /**< compute capability 8.0 or newer */
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

#ifdef __cplusplus
}
#endif

#endif
