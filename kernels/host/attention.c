/* attention.c - checks every number, fills the kernels' parameters, launches. Values that only the
 * device can read are clamped there. */
#include "attention.h"

#include "../device/attention/params.h"
#include "../device/attention/shape.h"
#include "check.h"

#include <math.h>

#define SPLITS_MAX 256
#define EVERYTHING (1 << 30) /* a window that is wider than any sequence */

const char *const wsk_attention_kernels[] = {
	"wsk_forward_f16",
	"wsk_delta_f16",
	"wsk_dkdv_f16",
	"wsk_dq_f16",
	"wsk_decode_f16",
	"wsk_combine_f16",
	"wsk_forward_any_f16",
	"wsk_dkdv_any_f16",
	"wsk_dq_any_f16",
	"wsk_split_f16",
	"wsk_split_many_f16",
	"wsk_forward_bf16",
	"wsk_delta_bf16",
	"wsk_dkdv_bf16",
	"wsk_dq_bf16",
	"wsk_decode_bf16",
	"wsk_combine_bf16",
	"wsk_forward_any_bf16",
	"wsk_dkdv_any_bf16",
	"wsk_dq_any_bf16",
	"wsk_split_bf16",
	"wsk_split_many_bf16",
};

static bool
is_packed(const struct wsk_attention *in)
{
	return in->cu_seqlens_q != 0;
}

/* The image whose kernels hold rows of that many elements, by its number; -1: there is none. */
static int32_t
image_of(int32_t head_dim)
{
	static const int32_t images[] = {WSK_ATTENTION_32, WSK_ATTENTION_64, WSK_ATTENTION_80,
		WSK_ATTENTION_96, WSK_ATTENTION_128, WSK_ATTENTION_256};
	for (size_t i = 0; head_dim >= 8 && head_dim % 8 == 0 && i < sizeof(images) / sizeof(*images);
		 i++) {
		if (head_dim <= images[i]) {
			return images[i];
		}
	}
	return -1;
}

static void
check_shape(struct wsk_call *c, const struct wsk_attention *in)
{
	wsk_require(c, in->type == WSK_FLOAT16 || in->type == WSK_BFLOAT16, WSK_ERR_UNSUPPORTED, "type",
		"WSK_FLOAT16 or WSK_BFLOAT16");
	wsk_require(
		c, in->batch >= 1 && in->batch <= WSK_BATCH_MAX, WSK_ERR_RANGE, "batch", "1 to 2^24");
	wsk_require(
		c, in->heads_q >= 1 && in->heads_q <= 1 << 16, WSK_ERR_RANGE, "heads_q", "1 to 65536");
	wsk_require(c, in->heads_k >= 1 && in->heads_k <= in->heads_q, WSK_ERR_RANGE, "heads_k",
		"1 to heads_q");
	wsk_require(c, in->heads_k < 1 || in->heads_q % in->heads_k == 0, WSK_ERR_ARGUMENT, "heads_q",
		"a multiple of heads_k");
	wsk_require(c, in->length_q >= 1 && in->length_q <= WSK_LENGTH_MAX, WSK_ERR_RANGE, "length_q",
		"1 to 2^30");
	wsk_require(c, in->length_k >= 1 && in->length_k <= WSK_LENGTH_MAX, WSK_ERR_RANGE, "length_k",
		"1 to 2^30");
	wsk_require(c, isfinite(in->scale), WSK_ERR_ARGUMENT, "scale", "a finite number");
	wsk_require(c, (in->cu_seqlens_q != 0) == (in->cu_seqlens_k != 0), WSK_ERR_ARGUMENT,
		"cu_seqlens_k", "both cu_seqlens_q and cu_seqlens_k, or neither");
	if (is_packed(in)) {
		wsk_require(c, in->total_q >= 1 && in->total_q <= WSK_LENGTH_MAX, WSK_ERR_RANGE, "total_q",
			"1 to 2^30");
		wsk_require(c, in->pages || (in->total_k >= 1 && in->total_k <= WSK_LENGTH_MAX),
			WSK_ERR_RANGE, "total_k", "1 to 2^30");
		wsk_require(c, in->blocks == 0, WSK_ERR_ARGUMENT, "blocks", "0 where sequences are packed");
	}
	wsk_require(c, isfinite(in->softcap) && in->softcap >= 0, WSK_ERR_ARGUMENT, "softcap",
		"0 or greater, and finite");
	wsk_require(c, in->dropout >= 0 && in->dropout < 1, WSK_ERR_RANGE, "dropout",
		"0 to less than 1"); /* NaN is neither */
}

/* Where k and v lie by more than their strides. */
static void
check_places(struct wsk_call *c, const struct wsk_attention *in)
{
	wsk_check_address(c, in->sinks, 4, false, "sinks");
	wsk_check_address(c, in->random, 8, in->dropout > 0, "random");
	wsk_check_address(c, in->seqstart_q, 4, false, "seqstart_q");
	wsk_check_address(c, in->seqstart_k, 4, false, "seqstart_k");
	wsk_require(c, !in->blocks || !(in->seqstart_q || in->seqstart_k), WSK_ERR_ARGUMENT, "blocks",
		"0 where sequences start at other rows");
	wsk_require(c, !in->pages || !in->seqstart_k, WSK_ERR_ARGUMENT, "seqstart_k",
		"0 where rows lie in pages");
	wsk_check_address(c, in->entries, 4, false, "entries");
	wsk_check_address(c, in->pages, 4, false, "pages");
	if (in->entries) {
		wsk_require(c, !is_packed(in) && !in->pages, WSK_ERR_ARGUMENT, "entries",
			"0 where sequences are packed or in pages");
		wsk_require(c, in->entry_count >= 1 && in->entry_count <= WSK_BATCH_MAX, WSK_ERR_RANGE,
			"entry_count", "1 to 2^24");
	}
	if (in->pages) {
		wsk_require(c, in->page_rows >= 1 && in->page_rows <= WSK_LENGTH_MAX, WSK_ERR_RANGE,
			"page_rows", "1 to 2^30");
		wsk_require(c, in->page_count >= 1 && in->page_count <= WSK_LENGTH_MAX, WSK_ERR_RANGE,
			"page_count", "1 to 2^30");
		wsk_require(c,
			c->status != WSK_OK
				|| in->pages_stride_batch >= wsk_divide_up(in->length_k, in->page_rows),
			WSK_ERR_RANGE, "pages_stride_batch", "at least the pages of length_k rows");
	}
}

/* @a is_query: has the rows and heads of q. Rows that are written must not lie in one another. */
static void
check_tensor(struct wsk_call *c, const struct wsk_attention *in, const struct wsk_tensor *tensor,
	bool is_query, bool is_written, const char *name)
{
	int64_t rows = is_packed(in) ? is_query ? in->total_q : in->total_k
		: is_query               ? in->length_q
								 : in->length_k;
	int64_t heads = is_query ? in->heads_q : in->heads_k;
	int64_t batch = is_packed(in) ? 1 : in->batch;
	if (!is_query && in->pages) {
		batch = in->page_count, rows = in->page_rows;
	} else if (!is_query && in->entries) {
		batch = in->entry_count;
	}
	wsk_check_address(c, tensor->data, 2, true, name);
	const int64_t strides[] = {tensor->stride_batch, tensor->stride_row, tensor->stride_head};
	const int64_t extents[] = {batch, rows, heads};
	wsk_check_strides(c, strides, extents, 3, name);
	wsk_require(c,
		!is_written
			|| ((rows == 1 || tensor->stride_row >= in->head_dim)
				&& (heads == 1 || tensor->stride_head >= in->head_dim)
				&& (batch == 1 || tensor->stride_batch >= in->head_dim)),
		WSK_ERR_ARGUMENT, name, "rows that do not overlap: it is written");
}

static void
check_forward(struct wsk_call *c, const struct wsk_attention *in)
{
	check_shape(c, in);
	check_places(c, in);
	check_tensor(c, in, &in->q, true, false, "q");
	check_tensor(c, in, &in->k, false, false, "k");
	check_tensor(c, in, &in->v, false, false, "v");
	check_tensor(c, in, &in->o, true, true, "o");
	wsk_check_address(c, in->lse, 4, false, "lse");
	wsk_require(c, in->lse_stride_batch >= 0 && in->lse_stride_head >= 0, WSK_ERR_RANGE, "lse",
		"strides that are not negative");
	wsk_check_address(c, in->cu_seqlens_q, 4, false, "cu_seqlens_q");
	wsk_check_address(c, in->cu_seqlens_k, 4, false, "cu_seqlens_k");
	wsk_check_address(c, in->seqused_q, 4, false, "seqused_q");
	wsk_check_address(c, in->seqused_k, 4, false, "seqused_k");
	wsk_check_address(c, in->blocks, 4, false, "blocks");
	wsk_require(c, in->blocks == 0 || in->blocks_stride_row >= (in->length_k + 2047) / 2048,
		WSK_ERR_RANGE, "blocks_stride_row", "a bit for each block of 64 keys");
}

static void
check_backward(struct wsk_call *c, const struct wsk_attention *in)
{
	check_forward(c, in);
	check_tensor(c, in, &in->grad_o, true, false, "grad_o");
	check_tensor(c, in, &in->grad_q, true, true, "grad_q");
	check_tensor(c, in, &in->grad_k, false, true, "grad_k");
	check_tensor(c, in, &in->grad_v, false, true, "grad_v");
	wsk_check_address(c, in->lse, 4, true, "lse");
	wsk_check_address(c, in->delta, 4, true, "delta");
	wsk_check_address(c, in->grad_lse, 4, false, "grad_lse");
	wsk_require(c, in->delta_stride_batch >= 0 && in->delta_stride_head >= 0, WSK_ERR_RANGE,
		"delta", "strides that are not negative");
	wsk_require(c, !in->pages, WSK_ERR_ARGUMENT, "pages", "0: pages have no gradients");
	wsk_require(c, !in->entries, WSK_ERR_ARGUMENT, "entries", "0: entries have no gradients");
}

static void
check_decode(struct wsk_call *c, const struct wsk_attention *in)
{
	check_forward(c, in);
	wsk_require(c, in->dropout == 0, WSK_ERR_ARGUMENT, "dropout", "0: decode has none");
	wsk_require(c,
		c->status != WSK_OK
			|| in->length_q * (int64_t)(in->heads_q / in->heads_k) <= WSK_LENGTH_MAX,
		WSK_ERR_RANGE, "length_q", "at most 2^30 rows of all heads of a group");
	wsk_require(c, in->blocks == 0, WSK_ERR_ARGUMENT, "blocks", "0: decode reads every block");
	wsk_require(
		c, in->splits >= 1 && in->splits <= SPLITS_MAX, WSK_ERR_RANGE, "splits", "1 to 256");
	wsk_check_address(c, in->scratch, 8, true, "scratch");
	wsk_require(c, c->status != WSK_OK || in->scratch_size >= wsk_decode_scratch(in), WSK_ERR_RANGE,
		"scratch_size", "at least wsk_decode_scratch() bytes");
}

static int32_t
window(int32_t keys)
{
	return keys < 0 || keys > EVERYTHING ? EVERYTHING : keys;
}

/* A scale of 0 weighs all keys alike: so does one that is too small to be seen. */
static float
scale_log2(float scale)
{
	const float log2e = 1.44269504088896341f, least = 1e-36f;
	float magnitude = fabsf(scale) * log2e;
	return magnitude < least ? least : magnitude;
}

/* Every row of every tensor begins at 16 bytes. */
static bool
is_wide(const struct wsk_attention *in, bool backward)
{
	const struct wsk_tensor *all[] = {
		&in->q, &in->k, &in->v, &in->o, &in->grad_o, &in->grad_q, &in->grad_k, &in->grad_v};
	for (size_t i = 0; i < (backward ? 8u : 4u); i++) {
		const struct wsk_tensor *t = all[i];
		if (t->data % 16 != 0 || t->stride_batch % 8 != 0 || t->stride_row % 8 != 0
			|| t->stride_head % 8 != 0) {
			return false;
		}
	}
	return true;
}

static struct wsk_attn_params
params_of(const struct wsk_attention *in, bool backward)
{
	bool own_delta = in->delta_stride_batch != 0 || in->delta_stride_head != 0;
	/* With a cap, what comes of tanh is in units of the cap. */
	float unit = in->softcap > 0 ? in->softcap : in->scale;
	return (struct wsk_attn_params){
		.q = wsk_view_of(&in->q),
		.k = wsk_view_of(&in->k),
		.v = wsk_view_of(&in->v),
		.o = wsk_view_of(&in->o),
		.dout = wsk_view_of(&in->grad_o),
		.dq = wsk_view_of(&in->grad_q),
		.dk = wsk_view_of(&in->grad_k),
		.dv = wsk_view_of(&in->grad_v),
		.lse = in->lse,
		.delta = in->delta,
		.lse_batch = in->lse_stride_batch,
		.lse_head = in->lse_stride_head,
		.delta_batch = own_delta ? in->delta_stride_batch : in->lse_stride_batch,
		.delta_head = own_delta ? in->delta_stride_head : in->lse_stride_head,
		.cu_q = in->cu_seqlens_q,
		.cu_k = in->cu_seqlens_k,
		.used_q = in->seqused_q,
		.used_k = in->seqused_k,
		.first_q = in->seqstart_q,
		.first_k = in->seqstart_k,
		.entries = in->entries,
		.pages = in->pages,
		.pages_batch = in->pages_stride_batch,
		.sinks = in->sinks,
		.random = in->random,
		.dlse = in->grad_lse,
		.blocks = in->blocks,
		.blocks_batch = in->blocks_stride_batch,
		.blocks_head = in->blocks_stride_head,
		.blocks_row = in->blocks_stride_row,
		.part = in->scratch,
		.batch = in->batch,
		.heads = in->heads_q,
		.group = in->heads_q / in->heads_k,
		.seq_q = in->length_q,
		.seq_k = in->length_k,
		.total_q = in->total_q,
		.total_k = in->total_k,
		.left = window(in->left),
		.right = window(in->right),
		.splits = in->splits,
		.scale = in->scale,
		.scale_log2 = scale_log2(unit),
		.sign = in->scale < 0 ? 0x80008000u : 0,
		.wide = is_wide(in, backward),
		.chunks = in->head_dim / 8,
		.entry_count = in->entry_count,
		.page_rows = in->page_rows,
		.page_count = in->page_count,
		.softcap = in->softcap > 0 ? fabsf(in->scale) / in->softcap : 0,
		.keep = in->dropout > 0 ? (uint32_t)((1 - in->dropout) * 255.0) : WSK_KEEPS_ALL,
		.keep_scale = in->dropout > 0 ? 1 / (1 - in->dropout) : 1,
	};
}

/* A call that was checked and is ready to launch. */
struct attention_call {
	struct wsk_call base;
	struct wsk_attention in;
	struct wsk_attn_params params;
	int32_t image; /* by its head dimension */
};

static const struct wsk_versioned ATTENTION = WSK_VERSIONED(wsk_attention, grad_o, "attention");

static int
prepare(struct attention_call *call, const struct wsk_attention *attention,
	void (*check)(struct wsk_call *, const struct wsk_attention *))
{
	struct wsk_call *c = &call->base;
	if (wsk_begin(c, &ATTENTION, attention, &call->in) != WSK_OK) {
		return c->status;
	}
	check(c, &call->in);
	call->image = image_of(call->in.head_dim);
	if (wsk_need_image(c, call->image, "head_dim", "a multiple of 8, 8 to 256") == WSK_OK) {
		call->params = params_of(&call->in, check == check_backward);
	}
	return c->status;
}

/* One block of threads for each of @a tiles, of @a heads (and of their parts) and of the batch. */
static int
launch(struct attention_call *call, enum wsk_kernel kernel, int64_t tiles, int64_t heads)
{
	const struct wsk_attention *in = &call->in;
	const struct wsk_call *c = &call->base;
	int at = (in->type - WSK_FLOAT16) * WSK_KERNEL_COUNT + (int)kernel;
	int64_t blocks = tiles * heads;
	if (!c->loaded->kernels[at]) {
		return wsk_fail(c->problem, WSK_ERR_UNSUPPORTED, "type", "float16: no code for another");
	}
	bool fits = tiles <= WSK_GRID_MAX && blocks <= WSK_GRID_MAX;
	call->params.tiles = fits ? (int32_t)tiles : 0;
	return wsk_launch_kernel(c, at, fits ? blocks * in->batch : INT64_MAX, WSK_THREADS,
		&call->params, "fewer rows, heads and sequences");
}

/* True if the usual kernels have too few registers for the call. */
static bool
needs_any(const struct wsk_attention *in)
{
	return in->softcap > 0 || in->dropout > 0;
}

int
wsk_forward(const struct wsk_handle *handle, const struct wsk_attention *attention, void *stream,
	struct wsk_problem *problem)
{
	struct attention_call call = {.base = {handle, stream, problem, NULL, WSK_OK}};
	int status = prepare(&call, attention, check_forward);
	if (status != WSK_OK) {
		return status;
	}
	const struct wsk_attention *in = &call.in;
	bool any = needs_any(in) || in->pages || in->entries;
	int64_t rows = any ? WSK_ANY_ROWS(call.image) : WSK_FORWARD_ROWS(call.image);
	return launch(&call, any ? WSK_KERNEL_FORWARD_ANY : WSK_KERNEL_FORWARD,
		wsk_divide_up(in->length_q, rows), in->heads_q);
}

int
wsk_backward(const struct wsk_handle *handle, const struct wsk_attention *attention, void *stream,
	struct wsk_problem *problem)
{
	struct attention_call call = {.base = {handle, stream, problem, NULL, WSK_OK}};
	int status = prepare(&call, attention, check_backward);
	if (status != WSK_OK) {
		return status;
	}
	const struct wsk_attention *in = &call.in;
	bool any = needs_any(in);
	status =
		launch(&call, WSK_KERNEL_DELTA, wsk_divide_up(in->length_q, WSK_DELTA_ROWS), in->heads_q);
	if (status == WSK_OK) {
		status = launch(&call, any ? WSK_KERNEL_DKDV_ANY : WSK_KERNEL_DKDV,
			wsk_divide_up(in->length_k, WSK_DKDV_KEYS(call.image, any)), in->heads_k);
	}
	if (status == WSK_OK) {
		int64_t rows = any ? WSK_ANY_ROWS(call.image) : WSK_DQ_ROWS(call.image);
		status = launch(&call, any ? WSK_KERNEL_DQ_ANY : WSK_KERNEL_DQ,
			wsk_divide_up(in->length_q, rows), in->heads_q);
	}
	return status;
}

uint64_t
wsk_decode_scratch(const struct wsk_attention *attention)
{
	uint64_t bytes = 4;
	int64_t columns = image_of(attention->head_dim);
	const int64_t factors[] = {attention->splits, attention->batch, attention->heads_q,
		attention->length_q, columns < 0 ? -1 : columns + 2};
	for (size_t i = 0; i < sizeof(factors) / sizeof(*factors); i++) {
		if (factors[i] < 0 || __builtin_mul_overflow(bytes, (uint64_t)factors[i], &bytes)) {
			return UINT64_MAX;
		}
	}
	return bytes;
}

int
wsk_decode(const struct wsk_handle *handle, const struct wsk_attention *attention, void *stream,
	struct wsk_problem *problem)
{
	struct attention_call call = {.base = {handle, stream, problem, NULL, WSK_OK}};
	int status = prepare(&call, attention, check_decode);
	if (status != WSK_OK) {
		return status;
	}
	const struct wsk_attention *in = &call.in;
	int64_t rows_a_head = in->length_q * (int64_t)(in->heads_q / in->heads_k);
	bool few = rows_a_head <= WSK_DECODE_ROWS && call.image <= WSK_DECODE_COLUMNS && !is_packed(in)
		&& (!in->pages || in->page_rows % WSK_DECODE_KEYS == 0);
	bool many = rows_a_head > WSK_SPLIT_ROWS_FEW && WSK_SPLIT_HAS_MANY(call.image);
	int64_t rows_a_tile = few ? WSK_DECODE_ROWS
		: many                ? WSK_FORWARD_ROWS(call.image)
							  : WSK_ANY_ROWS(call.image);
	enum wsk_kernel kernel = few ? WSK_KERNEL_DECODE
		: many                   ? WSK_KERNEL_SPLIT_MANY
								 : WSK_KERNEL_SPLIT;
	status =
		launch(&call, kernel, wsk_divide_up(rows_a_head, rows_a_tile), in->heads_k * in->splits);
	if (status == WSK_OK) {
		/* A warp for each row of the batch; launch() counts the batch in again. */
		int64_t rows = (int64_t)in->length_q * in->heads_q;
		status = launch(&call, WSK_KERNEL_COMBINE, wsk_divide_up(rows, WSK_THREADS / 32), 1);
	}
	return status;
}
