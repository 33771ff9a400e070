/**
 * wsk.h - attention, the selective scan and causal convolution behind plain C functions
 *
 * One library for every torch and Python, independent of both. It opens no library, does not
 * allocate, wait or synchronise, and launches on the caller's stream. The caller passes the
 * functions of the CUDA driver (12.0 or newer) and the memory of the handle.
 *
 * Every struct that is an argument begins with its size in bytes as the caller knows it: newer
 * members stand at the end and count as 0 for older callers. A library that is older than its
 * caller refuses a struct that is larger than its own. Members that do not apply are 0.
 *
 * Rules for every function, unless its comment differs:
 *
 * - It returns one of enum wsk_status. @a problem may be NULL; it is written only where the status
 *   is not WSK_OK. All that the host can see is checked before the first launch, so a wrong
 * argument launches no kernel; if one of several launches fails, the output of the earlier ones is
 * undefined.
 * - It launches and returns: @a stream is a CUstream (0: the default one) of the calling thread's
 *   current context. Results are complete when the stream has run the kernels. A failure on the
 * device
 *   shows in a later call of the driver, not here.
 * - The struct and @a problem are the caller's and are read or written during the call alone.
 *   Memory of the device is the caller's as well, and must live until the stream is done with it.
 *   It is all on the stream's device. Memory that is written must not overlap other memory of the
 * call.
 * - A uint64_t named after a tensor is its address on the device, a multiple of its element's size.
 *   Strides are in elements, of the tensor's own type, and never negative; one of an extent of 1 is
 *   not used. An element may lie up to 2^62 elements from the first. An address may be 0 only where
 * its comment allows it.
 * - Functions that take a const handle may run in several threads at once, on one stream or
 *   several. wsk_init, wsk_load and wsk_close change the handle: no other call may use it
 * meanwhile.
 * - No atomics: the same inputs give the same bits on the same device.
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

#define WSK_VERSION "0.3.0"

/** The result of a function. */
enum wsk_status {
	WSK_OK = 0,
	WSK_ERR_ARGUMENT = 1,    /**< struct wsk_problem has its name, and the expected value */
	WSK_ERR_ALIGNMENT = 2,   /**< an address that is not a multiple of what its type needs */
	WSK_ERR_RANGE = 3,       /**< a size that does not fit, or whose product overflows */
	WSK_ERR_UNSUPPORTED = 4, /**< a head dimension or type that has no kernel on this device */
	WSK_ERR_NOT_LOADED = 5,  /**< wsk_load was not called for the image that this needs */
	WSK_ERR_NO_CODE = 6,     /**< the library holds no code for this device */
	WSK_ERR_DRIVER = 7,      /**< the driver refused: its own code is in struct wsk_problem */
};

/** Details of a failure; all members are written. Texts live as long as the library. */
struct wsk_problem {
	const char *argument; /**< the member or argument: "heads_q"; NULL: none */
	const char *expected; /**< of it: "a multiple of heads_k"; NULL: nothing to say */
	int32_t driver;       /**< CUresult; 0: not the driver */
	int32_t image;        /**< enum wsk_image of the kernel that was not launched; 0: none */
	int32_t kernel;       /**< its number there, for wsk_load_again() */
};

/** Functions of libcuda.so.1, by their exported names and with its types. All are needed. */
struct wsk_driver {
	uint32_t size; /**< bytes, of this struct */
	int (*cuLibraryLoadData)(
		void **, const void *, int *, void **, unsigned, int *, void **, unsigned);
	int (*cuLibraryGetKernel)(void **, void *, const char *);
	int (*cuLibraryUnload)(void *);
	int (*cuLaunchKernel)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
		unsigned, void *, void **, void **);
};

/** The loaded kernels: memory of the caller, who frees it after wsk_close(). One handle serves all
 * devices and threads. */
struct wsk_handle;

/** WSK_VERSION of the library, for a caller that was built with another header. Lives as long as
 * the library. */
WSK_API const char *wsk_version(void);

/** A few words for a status, also for one that does not exist; never NULL. Lives as long as the
 * library. */
WSK_API const char *wsk_status_text(int status);

/** Bytes that wsk_init() needs. */
WSK_API size_t wsk_handle_size(void);

/**
 * Makes a handle of @a memory, aligned like a pointer, of @a size bytes: at least
 * wsk_handle_size(). The functions of @a driver are copied, and must stay loaded as long as the
 * handle is used. This loads no kernel and calls no function of the driver. WSK_ERR_ALIGNMENT:
 * memory; WSK_ERR_ARGUMENT: size, driver.
 */
WSK_API int wsk_init(
	void *memory, size_t size, const struct wsk_driver *driver, struct wsk_problem *problem);

/** Kernels that are loaded together. An attention image is numbered by its head dimension. A
 * smaller head dimension uses the smallest image that fits; columns beyond it are neither read nor
 * written. */
enum wsk_image {
	WSK_CONV = 1,
	WSK_SCAN = 2,   /**< the selective scan and its state update */
	WSK_APPEND = 3, /**< new keys and values, for a cache */
	WSK_ATTENTION_32 = 32,
	WSK_ATTENTION_64 = 64,
	WSK_ATTENTION_80 = 80,
	WSK_ATTENTION_96 = 96,
	WSK_ATTENTION_128 = 128,
	WSK_ATTENTION_256 = 256,
};

/**
 * Loads the kernels of one image (enum wsk_image), for every device; the driver is initialised
 * (cuInit). Not thread-safe. A second call does nothing. After a failure nothing of the image is
 * loaded, and it may be called again. WSK_ERR_ARGUMENT: handle; WSK_ERR_UNSUPPORTED: no such image;
 * WSK_ERR_NO_CODE, WSK_ERR_DRIVER.
 */
WSK_API int wsk_load(struct wsk_handle *handle, int32_t image, struct wsk_problem *problem);

/**
 * Loads one kernel of an image anew, which struct wsk_problem named. A driver copies a kernel to
 * the device at its first launch. If memory is short then, that launch fails with
 * CUDA_ERROR_OUT_OF_MEMORY and each later one with CUDA_ERROR_UNKNOWN, also when memory is free
 * again. Launches in other threads may go on; no other load may. The earlier copy stays loaded:
 * CUDA graphs may contain its kernels. WSK_ERR_ARGUMENT: handle,
 * kernel; otherwise as wsk_load().
 */
WSK_API int wsk_load_again(
	struct wsk_handle *handle, int32_t image, int32_t kernel, struct wsk_problem *problem);

/**
 * Unloads all that was loaded; no kernel of it may run any more. Not thread-safe. The handle may be
 * loaded again, or its memory be freed. NULL does nothing. WSK_ERR_DRIVER: something could not be
 * unloaded.
 */
WSK_API int wsk_close(struct wsk_handle *handle);

/** Element types. Float in this header is WSK_FLOAT32, int32 an int32_t, word a uint32_t. */
enum wsk_type {
	WSK_FLOAT16 = 1,
	WSK_BFLOAT16 = 2, /**< attention: compute capability 8.0 or newer */
	WSK_FLOAT32 = 3,  /**< attention has no kernels for it */
};

/* ---- attention ---- */

/**
 * [batch][row][head][head_dim], the head dimension contiguous; packed sequences lie one behind the
 * other in [row][head][head_dim]. Where data is a multiple of 16 bytes and each stride one of 8
 * elements, of every tensor of a call, 16 bytes are moved at once; else 2 bytes: right, and slow.
 */
struct wsk_tensor {
	uint64_t data;
	int64_t stride_batch; /**< packed: 0 */
	/** These and stride_batch: of what is written at least head_dim. */
	int64_t stride_row, stride_head;
};

/**
 * For query i and key j of one sequence of lengths m (queries) and n (keys):
 *
 *     S = scale Q K^T;  P = softmax(S) over the keys that i sees;  O = P V;  lse = log sum exp S
 *     i sees j:  i + (n - m) - left <= j <= i + (n - m) + right
 *
 * so causal is right = 0, aligned at the bottom right. A query that sees no key has O = 0 and lse =
 * -infinity, and gradients of 0. With a cap S becomes softcap tanh(S / softcap). With sinks the
 * sum, and lse, have exp(sink of the head) besides. Dropout sets elements of P to 0, each with its
 * probability, and divides the others by 1 - dropout, after the sum. Head h of q belongs to head h
 * / (heads_q / heads_k) of k and v, which are never expanded. Sums are fp32; P and dS are rounded
 * to the element type for the tensor cores.
 */
struct wsk_attention {
	uint32_t size;            /**< bytes, of this struct; at least up to grad_o */
	int32_t type;             /**< WSK_FLOAT16 or WSK_BFLOAT16, of every tensor */
	int32_t batch;            /**< 1 to 2^24; packed: sequences */
	int32_t heads_q, heads_k; /**< 1 to 65536; heads_k divides heads_q */
	int32_t head_dim;         /**< a multiple of 8, 8 to 256: its image is loaded */
	int32_t length_q,
		length_k; /**< rows of a sequence, 1 to 2^30; packed, with seqused: of the longest */
	int32_t total_q, total_k; /**< packed: rows of all sequences, 1 to 2^30 */
	int32_t left, right;      /**< keys before and after the diagonal; negative: all of them */
	float scale;              /**< any finite number */
	int32_t reserved;
	struct wsk_tensor
		q; /**< [batch][length_q][heads_q][head_dim]; packed: [total_q][heads_q][head_dim] */
	struct wsk_tensor k, v; /**< likewise, of length_k or total_k and heads_k */
	struct wsk_tensor o;    /**< as q; written by forward and decode, read by backward */
	/** Float, written by forward and decode, read by backward: [batch][heads_q][length_q], rows
	 * contiguous; packed: [heads_q][total_q]. 0: not wanted (backward needs it). */
	uint64_t lse;
	int64_t lse_stride_batch, lse_stride_head; /**< packed: lse_stride_batch is not used */
	/** int32, contiguous. cu_seqlens: [batch + 1], the first row of each sequence and the end of
	 * the last, for both or for neither; values outside of the totals and decreasing values are
	 * clamped, and a sequence longer than `length` is cut off there. Rows that belong to no
	 * sequence are not written. seqused: [batch], lengths, clamped to the sequence's own; query
	 * rows beyond become 0 (lse: -infinity), key rows beyond are not seen. 0: none. */
	uint64_t cu_seqlens_q, cu_seqlens_k, seqused_q, seqused_k;
	/** Bit sets of uint32: which blocks of 64 keys the rows of a block of 64 queries may see, for
	 * all heads of a group: bit j % 32 of word [batch][heads_k][i][j / 32], for block i of the
	 * queries and j of the keys. Strides are in words, that of a row at least ceil(length_k /
	 * 2048). Not for packed sequences nor for decode. 0: every block. */
	uint64_t blocks;
	int64_t blocks_stride_batch, blocks_stride_head, blocks_stride_row;
	/* backward */
	struct wsk_tensor grad_o;                 /**< as o */
	struct wsk_tensor grad_q, grad_k, grad_v; /**< as q, k, v; written */
	uint64_t delta; /**< float, laid out as lse, with its strides; written and read: scratch */
	/* decode */
	uint64_t scratch;      /**< wsk_decode_scratch() bytes at a multiple of 8, written and read */
	uint64_t scratch_size; /**< bytes there are */
	int32_t splits;        /**< parts that the keys are split into, 1 to 256 */
	int32_t reserved2;
	/* since 0.3.0 */
	float softcap; /**< greater than 0, or 0: none */
	float dropout; /**< 0 to less than 1, by steps of 2^-8; not for decode */
	/** uint64_t[2], any numbers, seed and offset of Philox: which elements are dropped depends on
	 * them, and on sequence, head, query and key alone, as in flash-attn 2. Needed where there is
	 * dropout; backward needs those of forward. */
	uint64_t random;
	uint64_t sinks; /**< float [heads_q], contiguous; 0: none */
	/** int32 [batch]: the row that a sequence starts at, of those that cu_seqlens and seqused
	 * leave; rows before are not seen, and of o, lse and gradients not written. Not with blocks. 0:
	 * none. */
	uint64_t seqstart_q, seqstart_k;
	/** int32 [batch]: which entry of k and v belongs to each sequence, clamped to entry_count. Not
	 * for packed sequences nor backward. 0: none. */
	uint64_t entries;
	/** int32 [batch][...]: which page of k and v has each page_rows rows of a sequence, clamped to
	 * page_count; k and v are [page_count][page_rows][heads_k][head_dim], packed as well, when
	 * cu_seqlens_k says how many rows each sequence has, and total_k nothing. Not with entries,
	 * seqstart_k nor backward. 0: none. */
	uint64_t pages;
	int64_t pages_stride_batch; /**< in pages, at least those of length_k rows */
	int32_t page_rows, page_count;
	int32_t entry_count;
	int32_t reserved3;
	/* backward */
	uint64_t grad_lse;                             /**< float, laid out as lse; 0: none */
	int64_t delta_stride_batch, delta_stride_head; /**< of delta; both 0: those of lse */
};

/**
 * o and lse, of dense and packed sequences. One launch. WSK_ERR_UNSUPPORTED: a head_dim or a type
 * without a kernel on this device; WSK_ERR_RANGE, "batch": more blocks of threads than a launch
 * has.
 */
WSK_API int wsk_forward(const struct wsk_handle *handle, const struct wsk_attention *attention,
	void *stream, struct wsk_problem *problem);

/**
 * grad_q, grad_k, grad_v from q, k, v, o, lse, grad_o: what forward was given and wrote, the same
 * struct with the members of backward. Writes delta. Three launches. Errors as wsk_forward().
 */
WSK_API int wsk_backward(const struct wsk_handle *handle, const struct wsk_attention *attention,
	void *stream, struct wsk_problem *problem);

/**
 * The same as wsk_forward, for few queries and many keys: the keys are split among blocks of
 * threads, and the heads of a group read them once together. Not with `blocks` or dropout. Two
 * launches. Errors as wsk_forward(), and WSK_ERR_RANGE: splits, scratch_size.
 */
WSK_API int wsk_decode(const struct wsk_handle *handle, const struct wsk_attention *attention,
	void *stream, struct wsk_problem *problem);

/**
 * Bytes of scratch that wsk_decode needs: 4 (head_dim of the image + 2) for each sequence's
 * length_q rows, head and split. UINT64_MAX: the number overflows. Reads batch, heads_q,
 * head_dim, length_q and splits alone, `size` not either; @a attention is not NULL.
 */
WSK_API uint64_t wsk_decode_scratch(const struct wsk_attention *attention);

/**
 * New keys and values for the caches of a batch: row i of k_new and v_new becomes row lengths[b] +
 * i of sequence b. Rows beyond length_k, or in pages and entries that there are not, are left out.
 * Where there are cos and sin, the first `rotary` elements of k's new rows, and of q, are turned by
 * those of their positions: x cos - y sin, x sin + y cos.
 */
struct wsk_append {
	uint32_t size;            /**< bytes, of this struct */
	int32_t type;             /**< WSK_FLOAT16 or WSK_BFLOAT16, of every tensor, cos and sin */
	int32_t batch;            /**< 1 to 2^24 */
	int32_t heads_q, heads_k; /**< 1 to 65536 */
	int32_t head_dim;         /**< even, 2 to 1024 */
	int32_t length_q, length_new,
		length_k;         /**< 1 to 2^30; length_k: rows that a sequence's cache has */
	int32_t rotary;       /**< even, at most head_dim; 0 without cos */
	int32_t turning_rows; /**< of cos and sin; positions beyond take the last */
	int32_t interleaved;  /**< x and y are neighbours; 0: of the two halves of `rotary` */
	int32_t each_row;     /**< query i is at position lengths[b] + i; 0: every one at lengths[b] */
	int32_t entry_count, page_rows,
		page_count;             /**< of entries and pages, as in struct wsk_attention */
	struct wsk_tensor q, q_out; /**< q_out is written; its data 0: q is not turned */
	struct wsk_tensor k_new, v_new;
	struct wsk_tensor k, v;  /**< the cache, written: as in struct wsk_attention */
	uint64_t lengths;        /**< int32 [batch] */
	uint64_t cos, sin;       /**< [turning_rows][rotary / 2], contiguous; 0: no rotation */
	uint64_t entries, pages; /**< int32, as in struct wsk_attention; 0: none */
	int64_t pages_stride_batch;
};

/** Needs WSK_APPEND. One launch. WSK_ERR_RANGE, "batch": more blocks of threads than a launch
 * has. */
WSK_API int wsk_append(const struct wsk_handle *handle, const struct wsk_append *append,
	void *stream, struct wsk_problem *problem);

/* ---- the selective scan ---- */

/**
 * [batch][channel][time], time contiguous. Four elements are moved at once where data and strides
 * of all rows of a call are multiples of four elements.
 */
struct wsk_rows {
	uint64_t data;                        /**< 0: there is none */
	int64_t stride_batch, stride_channel; /**< of what is written at least `length` */
};

/** B or C: [batch][group][state][time] of `type`, time contiguous; or constant: float
 * [channel][state]. */
struct wsk_matrix {
	uint64_t data;
	int64_t stride_batch; /**< constant: not used */
	int64_t stride_group; /**< constant: of a channel, `states` */
	int64_t stride_state; /**< constant: 1 */
	int32_t varies;       /**< with time; 0: constant */
	int32_t reserved;
};

/**
 * h(t) = exp(delta A) h(t - 1) + delta B u;  out = C h + D u;  out_z = out silu(z), for each channel,
 * with `states` numbers in h, from h = 0. Everything is computed in fp32.
 */
struct wsk_scan {
	uint32_t size;           /**< bytes, of this struct; at least up to grad_out */
	int32_t type;            /**< enum wsk_type, of all rows and of B and C that vary */
	int32_t batch, channels; /**< 1 to 2^24 each */
	int32_t length;          /**< time steps, 1 to 2^30 */
	int32_t states;          /**< 1 to 256 */
	int32_t
		groups; /**< of B and C that vary; divides channels, and channel c has group c / (channels / groups) */
	int32_t softplus; /**< delta becomes log(1 + exp(delta + delta_bias)), itself above 20 */
	/** Parts that time is split into, which are computed side by side: for few channels. 1 to
	 * ceil(length / 64); 1 where batch x channels fill the device. Other parts give other
	 * roundings. */
	int32_t parts;
	int32_t reserved;
	struct wsk_rows u, delta;
	struct wsk_rows z; /**< 0: no gate */
	/** Written by forward, where there is z only if it is wanted (not 0); backward reads it where
	 * there is z. */
	struct wsk_rows out;
	struct wsk_rows out_z; /**< where there is z, else 0; backward writes it again, 0: not wanted */
	uint64_t a;            /**< float [channel][state], any strides */
	int64_t a_stride_channel, a_stride_state;
	struct wsk_matrix b, c;
	uint64_t d, delta_bias; /**< float [channel], contiguous; 0: none */
	/** Float [batch][channel][ceil(length / 2048)][state][2], contiguous, written by forward: at
	 * the end of each 2048 steps the product of exp(delta A) from the begin on, and h. 0: not
	 * wanted. */
	uint64_t x;
	uint64_t workspace; /**< at a multiple of 16 bytes, written and read; 0 where none is needed */
	uint64_t workspace_size; /**< bytes there are: at least wsk_scan_workspace() */
	/* backward */
	struct wsk_rows grad_out;           /**< of out_z where there is z */
	struct wsk_rows grad_u, grad_delta; /**< written */
	struct wsk_rows grad_z;             /**< written; 0 without z */
	uint64_t
		grad_a; /**< float [channel][state]; this and all that follow are contiguous and written */
	/** As B and C: of `type` [batch][group][state][time] where they vary, else float
	 * [channel][state]. */
	uint64_t grad_b, grad_c;
	uint64_t grad_d, grad_delta_bias; /**< float [channel]; 0 where there is none */
};

/**
 * out, out_z and x. Needs WSK_SCAN. A launch for each 16 states, and with parts one more for each
 * and one. WSK_ERR_RANGE, "batch": more blocks of threads than a launch has.
 */
WSK_API int wsk_scan_forward(const struct wsk_handle *handle, const struct wsk_scan *scan,
	void *stream, struct wsk_problem *problem);

/**
 * All gradients, from what forward was given, grad_out and, where there is z, out. The states are
 * computed again: x is not read. Needs WSK_SCAN. Errors as wsk_scan_forward().
 */
WSK_API int wsk_scan_backward(const struct wsk_handle *handle, const struct wsk_scan *scan,
	void *stream, struct wsk_problem *problem);

/**
 * Bytes of workspace that wsk_scan_forward (@a backward 0) or wsk_scan_backward (1) needs.
 * UINT64_MAX: the number overflows. Reads sizes, types, `parts` and `varies` alone, `size` not
 * either; @a scan is not NULL.
 */
WSK_API uint64_t wsk_scan_workspace(const struct wsk_scan *scan, int32_t backward);

/** A tensor of up to three dimensions, of any element type and any strides, 0 too, but not of what
 * is written. */
struct wsk_strided {
	uint64_t data;     /**< 0: there is none */
	int64_t stride[3]; /**< of the dimensions in their order; those behind the last are not used */
	int32_t type;      /**< enum wsk_type */
	int32_t reserved;
};

/**
 * One time step of the scan for each sequence of a batch; the state changes in place, and is
 * rounded to its type after out was computed of it in fp32. Fast where all of this holds: the
 * states of a channel are contiguous, begin at a multiple of 16 bytes and are a multiple of 16
 * bytes, 512 at most; x, dt, z and out are of one type, B and C both of it or both float, D is
 * given, D and dt_bias are of it or float, A is float; states are contiguous in A, B and C, and
 * each row of them begins at a multiple of four elements, or A, dt and dt_bias have strides of 0
 * over channels and states; strides are less than 2^32 bytes; heads, and sequences, are at most
 * 65535.
 */
struct wsk_update {
	uint32_t size;    /**< bytes, of this struct */
	int32_t type;     /**< enum wsk_type, of the state */
	int32_t batch;    /**< 1 to 2^24 */
	int32_t heads;    /**< 1 to 2^20 */
	int32_t channels; /**< of a head, 1 to 2^24 */
	int32_t states;   /**< 1 to 65536 */
	int32_t groups;   /**< of B and C; divides heads, and head h has group h / (heads / groups) */
	int32_t entries;  /**< number of states, 1 or more; at least batch without indices */
	int32_t softplus; /**< as in struct wsk_scan */
	int32_t reserved;
	uint64_t state; /**< [entry][head][channel][state], read and written; no stride of it is 0 */
	int64_t state_stride_entry, state_stride_head, state_stride_channel, state_stride_state;
	struct wsk_strided x, dt, z,
		out;                       /**< [batch][head][channel]; z may be absent; out is written */
	struct wsk_strided a;          /**< [head][channel][state] */
	struct wsk_strided b, c;       /**< [batch][group][state] */
	struct wsk_strided d, dt_bias; /**< [head][channel]; each may be absent */
	/** int32 [batch], contiguous: which entry is a sequence's state, each at most once. Negative,
	 * or not below `entries`: a slot without one, whose out is 0. 0: entry i for sequence i. */
	uint64_t indices;
};

/**
 * out and the new state. Needs WSK_SCAN. One launch. WSK_ERR_RANGE, "batch": more blocks of threads
 * than a launch has.
 */
WSK_API int wsk_state_update(const struct wsk_handle *handle, const struct wsk_update *update,
	void *stream, struct wsk_problem *problem);

/* ---- the causal convolution ---- */

/**
 * [batch][channel][row]. 16 bytes are moved at once where rows (or channels) are contiguous and
 * begin at a multiple of 16 bytes in every plane of a call; where rows do not, most of them are
 * taken so all the same.
 */
struct wsk_plane {
	uint64_t data;                                    /**< 0: not there */
	int64_t stride_batch, stride_channel, stride_row; /**< of what is written none is 0 */
};

/**
 * A causal convolution of each channel by itself, of width 2 to 4:
 *
 *     out[b, c, l] = f(bias[c] + sum over k of weight[c, k] x[b, c, l - (width - 1) + k])
 *
 * with f(y) = y, or y / (1 + exp(-y)) (silu). Rows before the first are those of initial_states, or
 * 0. Sums are fp32. Rows are contiguous in every plane (channel-first), or channels are
 * (channel-last); seq_idx and states need channel-last, of the states as well. bfloat16 works on
 * every device.
 */
struct wsk_conv {
	uint32_t size;        /**< bytes, of this struct; at least up to grad_out */
	int32_t type;         /**< enum wsk_type, of every plane */
	int32_t weight_type;  /**< enum wsk_type, of weight and bias */
	int32_t width;        /**< taps, 2 to 4 */
	int32_t batch, dim;   /**< sequences and channels, 1 or more; their product is below 2^31 */
	int32_t length;       /**< rows of a sequence, 1 to 2^30 */
	int32_t silu;         /**< 0 or 1 */
	struct wsk_plane x;   /**< [batch][dim][length] */
	struct wsk_plane out; /**< as x; written by wsk_conv_forward */
	uint64_t weight;      /**< [dim][width], any strides */
	int64_t weight_stride_channel, weight_stride_tap;
	uint64_t bias; /**< [dim], contiguous; 0: none */
	/** int32 [batch][length], contiguous: a row sees rows of its own number only. A negative number
	 * is padding: out is 0 there. Not together with states. 0: all rows belong together. */
	uint64_t seq_idx;
	struct wsk_plane
		initial_states; /**< [batch][dim][width - 1], the rows before x; data 0: zeros */
	/** [batch][dim][width - 1], written by wsk_conv_forward: the last rows of initial_states and x.
	 * Data 0: not wanted. */
	struct wsk_plane final_states;
	/* backward */
	struct wsk_plane grad_out;            /**< as out */
	struct wsk_plane grad_x;              /**< as x; written */
	struct wsk_plane grad_initial_states; /**< as initial_states; written; data 0: not wanted */
	struct wsk_plane grad_final_states;   /**< as final_states; data 0: zeros */
	/** [dim][width] of grad_type; written, or added to where `accumulate` is not 0. The sums are
	 * made in an order that does not change with the device: the same inputs give the same bits on
	 * all. */
	uint64_t grad_weight;
	int64_t grad_weight_stride_channel, grad_weight_stride_tap;
	uint64_t grad_bias; /**< [dim] of grad_type, contiguous; likewise; 0: not wanted */
	int32_t grad_type;  /**< enum wsk_type, of both */
	int32_t accumulate;
	uint64_t scratch;      /**< wsk_conv_scratch() bytes at a multiple of 4, written and read */
	uint64_t scratch_size; /**< bytes there are */
};

/**
 * out, and final_states. Needs WSK_CONV. One launch. WSK_ERR_ARGUMENT: a layout that no kernel has;
 * WSK_ERR_RANGE, "batch": more blocks of threads than a launch has.
 */
WSK_API int wsk_conv_forward(const struct wsk_handle *handle, const struct wsk_conv *conv,
	void *stream, struct wsk_problem *problem);

/**
 * Gradients of x, weight, bias and initial_states, from x, weight, bias, initial_states, grad_out
 * and grad_final_states. Needs WSK_CONV. Two launches. Errors as wsk_conv_forward(), and
 * WSK_ERR_RANGE: scratch_size.
 */
WSK_API int wsk_conv_backward(const struct wsk_handle *handle, const struct wsk_conv *conv,
	void *stream, struct wsk_problem *problem);

/**
 * Bytes of scratch that wsk_conv_backward needs: 4 dim (width + 1) for each partial sum, whatever
 * the layout. UINT64_MAX: sizes or a type that it refuses. Reads sizes and `type` alone, `size` not
 * either; @a conv is not NULL.
 */
WSK_API uint64_t wsk_conv_scratch(const struct wsk_conv *conv);

/** New rows of sequences whose last rows are kept in a state: the convolution of struct wsk_conv,
 * step by step. */
struct wsk_conv_step {
	uint32_t size;             /**< bytes, of this struct */
	int32_t type, weight_type; /**< as in struct wsk_conv */
	int32_t width;             /**< taps, 2 to 4 */
	int32_t batch, dim;        /**< as in struct wsk_conv */
	int32_t length;            /**< new rows, 1 to 2^30 */
	int32_t silu;              /**< 0 or 1 */
	struct wsk_plane x;        /**< [batch][dim][length], any strides */
	struct wsk_plane out;      /**< as x; written */
	uint64_t weight;           /**< this and what follows as in struct wsk_conv */
	int64_t weight_stride_channel, weight_stride_tap;
	uint64_t bias;
	struct wsk_plane state; /**< [entries][dim][state_length], any strides; read and written */
	int32_t state_length;   /**< rows, width - 1 to 2^30 */
	int32_t entries;        /**< number of states, 1 or more; at least batch without indices */
	/** int32 [batch], contiguous. Where the new rows begin in the state, which is a circle then:
	 * row cache_seqlens % state_length. 0: the state moves up, the new rows are its last. */
	uint64_t cache_seqlens;
	/** int32 [batch], contiguous: which entry is a sequence's state; one that two name is written
	 * by both, in no order. Negative, or not below `entries`: padding; out is 0. 0: entry i for
	 * sequence i. */
	uint64_t indices;
};

/**
 * out, and the new rows in the state. Needs WSK_CONV. One launch. WSK_ERR_RANGE, "batch": more
 * blocks of threads than a launch has.
 */
WSK_API int wsk_conv_update(const struct wsk_handle *handle, const struct wsk_conv_step *step,
	void *stream, struct wsk_problem *problem);

#ifdef __cplusplus
}
#endif

#endif
