/* append.c - new keys and values go behind those of a cache: checks every number, launches once. */
#include "append.h"

#include "../device/attention/append_params.h"
#include "attention.h"
#include "check.h"

const char *const wsk_append_kernels[] = {"wsk_append_f16", "wsk_append_bf16"};

static void
check_tensor(struct wsk_call *c, const struct wsk_append *in, const struct wsk_tensor *tensor,
	const int64_t *extents, bool is_written, const char *name)
{
	const int64_t strides[] = {tensor->stride_batch, tensor->stride_row, tensor->stride_head};
	wsk_check_address(c, tensor->data, 2, true, name);
	wsk_check_strides(c, strides, extents, 3, name);
	for (size_t i = 0; i < 3; i++) {
		wsk_require(c, !is_written || extents[i] == 1 || strides[i] >= in->head_dim,
			WSK_ERR_ARGUMENT, name, "rows that do not overlap: it is written");
	}
}

static void
check_sizes(struct wsk_call *c, const struct wsk_append *in)
{
	wsk_require(c, in->type == WSK_FLOAT16 || in->type == WSK_BFLOAT16, WSK_ERR_UNSUPPORTED, "type",
		"WSK_FLOAT16 or WSK_BFLOAT16");
	wsk_require(
		c, in->batch >= 1 && in->batch <= WSK_BATCH_MAX, WSK_ERR_RANGE, "batch", "1 to 2^24");
	wsk_require(
		c, in->heads_q >= 1 && in->heads_q <= 1 << 16, WSK_ERR_RANGE, "heads_q", "1 to 65536");
	wsk_require(
		c, in->heads_k >= 1 && in->heads_k <= 1 << 16, WSK_ERR_RANGE, "heads_k", "1 to 65536");
	wsk_require(c, in->head_dim >= 2 && in->head_dim <= 1024 && in->head_dim % 2 == 0,
		WSK_ERR_RANGE, "head_dim", "2 to 1024, and even");
	wsk_require(c, in->length_q >= 1 && in->length_q <= WSK_LENGTH_MAX, WSK_ERR_RANGE, "length_q",
		"1 to 2^30");
	wsk_require(c, in->length_new >= 1 && in->length_new <= WSK_LENGTH_MAX, WSK_ERR_RANGE,
		"length_new", "1 to 2^30");
	wsk_require(c, in->length_k >= 1 && in->length_k <= WSK_LENGTH_MAX, WSK_ERR_RANGE, "length_k",
		"1 to 2^30");
	wsk_check_address(c, in->lengths, 4, true, "lengths");
	wsk_check_address(c, in->cos, 2, in->sin != 0, "cos");
	wsk_check_address(c, in->sin, 2, in->cos != 0, "sin");
	wsk_require(c,
		!in->cos || (in->rotary >= 2 && in->rotary % 2 == 0 && in->rotary <= in->head_dim),
		WSK_ERR_RANGE, "rotary", "even, 2 to head_dim");
	wsk_require(c, !in->cos || (in->turning_rows >= 1 && in->turning_rows <= WSK_LENGTH_MAX),
		WSK_ERR_RANGE, "turning_rows", "1 to 2^30");
}

static void
check(struct wsk_call *c, const struct wsk_append *in)
{
	check_sizes(c, in);
	const int64_t of_q[] = {in->batch, in->length_q, in->heads_q};
	const int64_t of_new[] = {in->batch, in->length_new, in->heads_k};
	int64_t of_cache[] = {in->batch, in->length_k, in->heads_k};
	if (in->entries) {
		of_cache[0] = in->entry_count;
	}
	if (in->pages) {
		of_cache[0] = in->page_count, of_cache[1] = in->page_rows;
		wsk_require(c, !in->entries, WSK_ERR_ARGUMENT, "entries", "0 where the cache is in pages");
		wsk_require(c,
			in->page_rows >= 1 && in->page_rows <= WSK_LENGTH_MAX
				&& in->pages_stride_batch >= wsk_divide_up(in->length_k, in->page_rows),
			WSK_ERR_RANGE, "page_rows", "1 or more, and pages for length_k rows");
	}
	wsk_require(
		c, of_cache[0] >= 1, WSK_ERR_RANGE, "entry_count", "1 or more, as page_count of pages");
	wsk_check_address(c, in->entries, 4, false, "entries");
	wsk_check_address(c, in->pages, 4, false, "pages");
	if (in->q_out.data) {
		check_tensor(c, in, &in->q, of_q, false, "q");
		check_tensor(c, in, &in->q_out, of_q, true, "q_out");
	}
	check_tensor(c, in, &in->k_new, of_new, false, "k_new");
	check_tensor(c, in, &in->v_new, of_new, false, "v_new");
	check_tensor(c, in, &in->k, of_cache, true, "k");
	check_tensor(c, in, &in->v, of_cache, true, "v");
}

/* Pairs of elements that threads are launched for; -1: more than can be counted. */
static int64_t
count_pairs(const struct wsk_append *in)
{
	int64_t rows_q = in->q_out.data ? (int64_t)in->length_q * in->heads_q : 0;
	int64_t rows_k = 2 * (int64_t)in->length_new * in->heads_k, count;
	return __builtin_mul_overflow(rows_q + rows_k, (int64_t)in->batch * (in->head_dim / 2), &count)
		? -1
		: count;
}

int
wsk_append(const struct wsk_handle *handle, const struct wsk_append *append, void *stream,
	struct wsk_problem *problem)
{
	static const struct wsk_versioned what = WSK_FIRST_VERSION(wsk_append, "append");
	struct wsk_call c = {handle, stream, problem, NULL, WSK_OK};
	struct wsk_append in;
	if (wsk_begin(&c, &what, append, &in) != WSK_OK) {
		return c.status;
	}
	check(&c, &in);
	if (wsk_need_image(&c, WSK_APPEND, "append", "an image of the library") != WSK_OK) {
		return c.status;
	}
	struct wsk_append_params params = {
		.q = wsk_view_of(&in.q),
		.q_out = wsk_view_of(&in.q_out),
		.k_new = wsk_view_of(&in.k_new),
		.v_new = wsk_view_of(&in.v_new),
		.k = wsk_view_of(&in.k),
		.v = wsk_view_of(&in.v),
		.lengths = in.lengths,
		.cos = in.cos,
		.sin = in.sin,
		.entries = in.entries,
		.pages = in.pages,
		.pages_batch = in.pages_stride_batch,
		.count = count_pairs(&in),
		.batch = in.batch,
		.heads_q = in.heads_q,
		.heads_k = in.heads_k,
		.length_q = in.length_q,
		.length_new = in.length_new,
		.length_k = in.length_k,
		.entry_count = in.entry_count,
		.page_rows = in.page_rows,
		.page_count = in.page_count,
		.pairs = in.head_dim / 2,
		.rotary = in.rotary,
		.turning_rows = in.turning_rows,
		.interleaved = in.interleaved != 0,
		.each_row = in.each_row != 0,
	};
	int64_t blocks = params.count < 0 ? INT64_MAX : wsk_divide_up(params.count, WSK_APPEND_THREADS);
	return wsk_launch_kernel(&c, in.type - WSK_FLOAT16, blocks, WSK_APPEND_THREADS, &params,
		"fewer rows, heads and sequences");
}
