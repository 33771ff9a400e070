/* attention.c - checks every number, fills the kernels' parameters, launches. What only the device
 * can read is clamped there. */
#include "attention.h"

#include "../device/params.h"
#include "../device/shape.h"
#include "check.h"

#include <math.h>

#define LENGTH_MAX (1 << 30)
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

/* What is being checked. */
struct checking {
	struct wsk_checking base;
	const struct wsk_attention *in;
	bool wide; /* every row so far begins at 16 bytes */
};

static void
require(struct checking *c, bool holds, int status, const char *argument, const char *expected)
{
	wsk_require(&c->base, holds, status, argument, expected);
}

static bool
is_packed(const struct wsk_attention *in)
{
	return in->cu_seqlens_q != 0;
}

static void
check_shape(struct checking *c)
{
	const struct wsk_attention *in = c->in;
	require(c, in->type == WSK_FLOAT16 || in->type == WSK_BFLOAT16, WSK_ERR_UNSUPPORTED, "type",
		"WSK_FLOAT16 or WSK_BFLOAT16");
	require(c, in->batch >= 1 && in->batch <= 1 << 24, WSK_ERR_RANGE, "batch", "1 to 2^24");
	require(c, in->heads_q >= 1 && in->heads_q <= 1 << 16, WSK_ERR_RANGE, "heads_q", "1 to 65536");
	require(c, in->heads_k >= 1 && in->heads_k <= in->heads_q, WSK_ERR_RANGE, "heads_k",
		"1 to heads_q");
	require(c, in->heads_k < 1 || in->heads_q % in->heads_k == 0, WSK_ERR_ARGUMENT, "heads_q",
		"a multiple of heads_k");
	require(
		c, in->length_q >= 1 && in->length_q <= LENGTH_MAX, WSK_ERR_RANGE, "length_q", "1 to 2^30");
	require(
		c, in->length_k >= 1 && in->length_k <= LENGTH_MAX, WSK_ERR_RANGE, "length_k", "1 to 2^30");
	require(c, isfinite(in->scale), WSK_ERR_ARGUMENT, "scale", "a finite number");
	require(c, (in->cu_seqlens_q != 0) == (in->cu_seqlens_k != 0), WSK_ERR_ARGUMENT, "cu_seqlens_k",
		"both cu_seqlens_q and cu_seqlens_k, or neither");
	if (is_packed(in)) {
		require(c, in->total_q >= 1 && in->total_q <= LENGTH_MAX, WSK_ERR_RANGE, "total_q",
			"1 to 2^30");
		require(c, in->total_k >= 1 && in->total_k <= LENGTH_MAX, WSK_ERR_RANGE, "total_k",
			"1 to 2^30");
		require(c, in->blocks == 0, WSK_ERR_ARGUMENT, "blocks", "0 where sequences are packed");
	}
}

static void
check_address(struct checking *c, uint64_t address, unsigned align, bool needed, const char *name)
{
	wsk_check_address(&c->base, address, align, needed, name);
}

static bool
is_wide(const struct wsk_tensor *tensor)
{
	return tensor->data % 16 == 0 && tensor->stride_batch % 8 == 0 && tensor->stride_row % 8 == 0
		&& tensor->stride_head % 8 == 0;
}

/* @a is_query: has the rows and heads of q. Rows that are written must not lie in one another. */
static void
check_tensor(struct checking *c, const struct wsk_tensor *tensor, bool is_query, bool is_written,
	const char *name)
{
	const struct wsk_attention *in = c->in;
	int64_t rows = is_packed(in) ? is_query ? in->total_q : in->total_k
		: is_query               ? in->length_q
								 : in->length_k;
	int64_t heads = is_query ? in->heads_q : in->heads_k;
	int64_t batch = is_packed(in) ? 1 : in->batch;
	check_address(c, tensor->data, 2, true, name);
	const int64_t strides[] = {tensor->stride_batch, tensor->stride_row, tensor->stride_head};
	const int64_t extents[] = {batch, rows, heads};
	require(c, wsk_reaches(strides, extents, 3), WSK_ERR_RANGE, name,
		"strides that are not negative and reach less than 2^62 elements");
	require(c,
		!is_written
			|| ((rows == 1 || tensor->stride_row >= in->head_dim)
				&& (heads == 1 || tensor->stride_head >= in->head_dim)
				&& (batch == 1 || tensor->stride_batch >= in->head_dim)),
		WSK_ERR_ARGUMENT, name, "rows that do not overlap: it is written");
	c->wide = c->wide && is_wide(tensor);
}

static void
check_forward(struct checking *c)
{
	const struct wsk_attention *in = c->in;
	check_shape(c);
	check_tensor(c, &in->q, true, false, "q");
	check_tensor(c, &in->k, false, false, "k");
	check_tensor(c, &in->v, false, false, "v");
	check_tensor(c, &in->o, true, true, "o");
	check_address(c, in->lse, 4, false, "lse");
	require(c, in->lse_stride_batch >= 0 && in->lse_stride_head >= 0, WSK_ERR_RANGE, "lse",
		"strides that are not negative");
	check_address(c, in->cu_seqlens_q, 4, false, "cu_seqlens_q");
	check_address(c, in->cu_seqlens_k, 4, false, "cu_seqlens_k");
	check_address(c, in->seqused_q, 4, false, "seqused_q");
	check_address(c, in->seqused_k, 4, false, "seqused_k");
	check_address(c, in->blocks, 4, false, "blocks");
	require(c, in->blocks == 0 || in->blocks_stride_row >= (in->length_k + 2047) / 2048,
		WSK_ERR_RANGE, "blocks_stride_row", "a bit for each block of 64 keys");
}

static void
check_backward(struct checking *c)
{
	const struct wsk_attention *in = c->in;
	check_forward(c);
	check_tensor(c, &in->grad_o, true, false, "grad_o");
	check_tensor(c, &in->grad_q, true, true, "grad_q");
	check_tensor(c, &in->grad_k, false, true, "grad_k");
	check_tensor(c, &in->grad_v, false, true, "grad_v");
	check_address(c, in->lse, 4, true, "lse");
	check_address(c, in->delta, 4, true, "delta");
}

static void
check_decode(struct checking *c)
{
	const struct wsk_attention *in = c->in;
	check_forward(c);
	require(
		c, !is_packed(in), WSK_ERR_ARGUMENT, "cu_seqlens_q", "0: decode takes no packed sequences");
	require(c, in->blocks == 0, WSK_ERR_ARGUMENT, "blocks", "0: decode reads every block");
	require(c, in->splits >= 1 && in->splits <= SPLITS_MAX, WSK_ERR_RANGE, "splits", "1 to 256");
	check_address(c, in->scratch, 8, true, "scratch");
	require(c, c->base.status != WSK_OK || in->scratch_size >= wsk_decode_scratch(in),
		WSK_ERR_RANGE, "scratch_size", "at least wsk_decode_scratch() bytes");
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

static struct wsk_attn_params
params_of(const struct wsk_attention *in, bool wide)
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
		.wide = wide,
	};
}

/* A call that was checked and is ready to launch. */
struct call {
	const struct wsk_handle *handle;
	const struct wsk_loaded *loaded;
	struct wsk_attention in;
	struct wsk_attn_params params;
	void *stream;
	struct wsk_problem *problem;
};

static const struct wsk_versioned ATTENTION = {offsetof(struct wsk_attention, grad_o),
	sizeof(struct wsk_attention), _Alignof(struct wsk_attention), "attention", "attention.size"};

static int
prepare(struct call *call, const struct wsk_attention *attention, void (*check)(struct checking *))
{
	int status = wsk_check_handle(call->handle, call->problem);
	status = status ? status : wsk_take(&ATTENTION, attention, &call->in, call->problem);
	if (status != WSK_OK) {
		return status;
	}
	struct checking c = {{call->problem, WSK_OK}, &call->in, true};
	check(&c);
	if (c.base.status != WSK_OK) {
		return c.base.status;
	}
	/* An image of another kind has a number below the least head dimension. */
	int32_t image = call->in.head_dim < WSK_ATTENTION_64 ? -1 : call->in.head_dim;
	call->loaded =
		wsk_loaded_or_fail(&c.base, call->handle, image, "head_dim", "64, 80, 96 or 128");
	call->params = params_of(&call->in, c.wide);
	return c.base.status;
}

/* One block of threads for each of @a tiles, of @a heads and of the batch. */
static int
launch(struct call *call, enum wsk_kernel kernel, int64_t tiles, int64_t heads)
{
	const struct wsk_attention *in = &call->in;
	void *function = call->loaded->kernels[(in->type - 1) * WSK_KERNEL_COUNT + (int)kernel];
	int64_t blocks = tiles * heads;
	if (!function) {
		return wsk_fail(call->problem, WSK_ERR_UNSUPPORTED, "type", "float16: no code for another");
	}
	if (tiles > WSK_GRID_MAX || blocks > WSK_GRID_MAX || blocks * in->batch > WSK_GRID_MAX) {
		return wsk_fail(call->problem, WSK_ERR_RANGE, "batch", "fewer rows, heads and sequences");
	}
	call->params.tiles = (int32_t)tiles;
	return wsk_launch(call->handle, function, (uint64_t)(blocks * in->batch), WSK_THREADS,
		&call->params, call->stream, call->problem);
}

int
wsk_forward(const struct wsk_handle *handle, const struct wsk_attention *attention, void *stream,
	struct wsk_problem *problem)
{
	struct call call = {.handle = handle, .stream = stream, .problem = problem};
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
	struct call call = {.handle = handle, .stream = stream, .problem = problem};
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
	struct call call = {.handle = handle, .stream = stream, .problem = problem};
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
