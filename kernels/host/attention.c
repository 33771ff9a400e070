/* attention.c - checks every number, fills the kernels' parameters, launches. What only the device
 * can read is clamped there. */
#include "attention.h"

#include "../device/params.h"
#include "../device/shape.h"
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
	"wsk_forward_bf16",
	"wsk_delta_bf16",
	"wsk_dkdv_bf16",
	"wsk_dq_bf16",
	"wsk_decode_bf16",
	"wsk_combine_bf16",
};

static bool
is_packed(const struct wsk_attention *in)
{
	return in->cu_seqlens_q != 0;
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
		wsk_require(c, in->total_k >= 1 && in->total_k <= WSK_LENGTH_MAX, WSK_ERR_RANGE, "total_k",
			"1 to 2^30");
		wsk_require(c, in->blocks == 0, WSK_ERR_ARGUMENT, "blocks", "0 where sequences are packed");
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
}

static void
check_decode(struct wsk_call *c, const struct wsk_attention *in)
{
	check_forward(c, in);
	wsk_require(
		c, !is_packed(in), WSK_ERR_ARGUMENT, "cu_seqlens_q", "0: decode takes no packed sequences");
	wsk_require(c, in->blocks == 0, WSK_ERR_ARGUMENT, "blocks", "0: decode reads every block");
	wsk_require(
		c, in->splits >= 1 && in->splits <= SPLITS_MAX, WSK_ERR_RANGE, "splits", "1 to 256");
	wsk_check_address(c, in->scratch, 8, true, "scratch");
	wsk_require(c, c->status != WSK_OK || in->scratch_size >= wsk_decode_scratch(in), WSK_ERR_RANGE,
		"scratch_size", "at least wsk_decode_scratch() bytes");
}

static struct wsk_view
view_of(const struct wsk_tensor *tensor)
{
	return (struct wsk_view){
		tensor->data, tensor->stride_batch, tensor->stride_row, tensor->stride_head};
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
	return (struct wsk_attn_params){
		.q = view_of(&in->q),
		.k = view_of(&in->k),
		.v = view_of(&in->v),
		.o = view_of(&in->o),
		.dout = view_of(&in->grad_o),
		.dq = view_of(&in->grad_q),
		.dk = view_of(&in->grad_k),
		.dv = view_of(&in->grad_v),
		.lse = in->lse,
		.delta = in->delta,
		.lse_batch = in->lse_stride_batch,
		.lse_head = in->lse_stride_head,
		.cu_q = in->cu_seqlens_q,
		.cu_k = in->cu_seqlens_k,
		.used_q = in->seqused_q,
		.used_k = in->seqused_k,
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
		.scale_log2 = scale_log2(in->scale),
		.sign = in->scale < 0 ? 0x80008000u : 0,
		.wide = is_wide(in, backward),
	};
}

/* A call that was checked and is ready to launch. */
struct attention_call {
	struct wsk_call base;
	struct wsk_attention in;
	struct wsk_attn_params params;
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
	/* An image of another kind has a number below the least head dimension. */
	int32_t image = call->in.head_dim < WSK_ATTENTION_64 ? -1 : call->in.head_dim;
	if (wsk_need_image(c, image, "head_dim", "64, 80, 96 or 128") == WSK_OK) {
		call->params = params_of(&call->in, check == check_backward);
	}
	return c->status;
}

/* One block of threads for each of @a tiles, of @a heads and of the batch. */
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
	return launch(&call, WSK_KERNEL_FORWARD,
		wsk_divide_up(in->length_q, WSK_FORWARD_ROWS(in->head_dim)), in->heads_q);
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
	status =
		launch(&call, WSK_KERNEL_DELTA, wsk_divide_up(in->length_q, WSK_DELTA_ROWS), in->heads_q);
	if (status == WSK_OK) {
		status =
			launch(&call, WSK_KERNEL_DKDV, wsk_divide_up(in->length_k, WSK_DKDV_KEYS), in->heads_k);
	}
	if (status == WSK_OK) {
		int64_t rows = WSK_DQ_ROWS(in->head_dim);
		status = launch(&call, WSK_KERNEL_DQ, wsk_divide_up(in->length_q, rows), in->heads_q);
	}
	return status;
}

uint64_t
wsk_decode_scratch(const struct wsk_attention *attention)
{
	uint64_t bytes = 4;
	const int64_t factors[] = {attention->splits, attention->batch, attention->heads_q,
		attention->length_q, (int64_t)attention->head_dim + 2};
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
	int64_t group = in->heads_q / in->heads_k;
	int64_t tiles = wsk_divide_up(in->length_q * group, WSK_DECODE_ROWS);
	status = launch(&call, WSK_KERNEL_DECODE, tiles * in->splits, in->heads_k);
	if (status == WSK_OK) {
		/* A warp for each row of the batch; launch() counts the batch in again. */
		int64_t rows = (int64_t)in->length_q * in->heads_q;
		status = launch(&call, WSK_KERNEL_COMBINE, wsk_divide_up(rows, WSK_THREADS / 32), 1);
	}
	return status;
}
