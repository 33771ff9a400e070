/* conv.c - checks every number of a convolution, chooses how it is cut up, launches. Values that
 * only the device can read are clamped there. */
#include "conv.h"

#include "../device/convolution/params.h"
#include "check.h"

/* Sizes that keep a large GPU busy (an H200, as the kernels use its registers). They do not depend
 * on the actual GPU, so that sums are the same everywhere. */
#define WARPS_WANTED 16384
#define STEP_THREADS_WANTED 65536
#define THREADS_AT_ONCE 101376
#define BLOCKS_AT_ONCE 528

#define NAMES(type) \
	"wsk_conv_first_forward_" type, "wsk_conv_first_backward_" type, \
		"wsk_conv_last_forward_" type, "wsk_conv_last_backward_" type, \
		"wsk_conv_packed_forward_" type, "wsk_conv_packed_backward_" type, "wsk_conv_update_" type

const char *const wsk_conv_kernels[] = {
	NAMES("f16"), NAMES("bf16"), NAMES("f32"), "wsk_conv_reduce"};

/* A call that is being checked; the first failure is kept. */
struct conv_call {
	struct wsk_call base;
	/* Members that forward, backward and update share. */
	int32_t type, batch, dim;
	/* Properties of all planes so far. */
	bool rows_contiguous, channels_contiguous; /* rows of at least one element, that is */
	bool wide_rows, wide_channels;             /* each begins at 16 bytes */
};

static void
require(struct conv_call *c, bool holds, int status, const char *argument, const char *expected)
{
	wsk_require(&c->base, holds, status, argument, expected);
}

static void
check_numbers(struct conv_call *c, int32_t weight_type, int32_t width, int32_t length, int32_t silu)
{
	require(c, wsk_is_type(c->type), WSK_ERR_UNSUPPORTED, "type", "one of enum wsk_type");
	require(
		c, wsk_is_type(weight_type), WSK_ERR_UNSUPPORTED, "weight_type", "one of enum wsk_type");
	require(c, width >= 2 && width <= 4, WSK_ERR_UNSUPPORTED, "width", "2, 3 or 4");
	require(c, c->batch >= 1, WSK_ERR_RANGE, "batch", "1 or more");
	require(c, c->dim >= 1, WSK_ERR_RANGE, "dim", "1 or more");
	require(c, length >= 1 && length <= WSK_LENGTH_MAX, WSK_ERR_RANGE, "length", "1 to 2^30");
	require(c, (int64_t)c->batch * c->dim <= WSK_GRID_MAX, WSK_ERR_RANGE, "dim",
		"one whose product with batch is below 2^31");
	require(c, silu == 0 || silu == 1, WSK_ERR_ARGUMENT, "silu", "0 or 1");
}

/* @a rows of each channel. Written planes must not overlap themselves. */
static void
check_plane(struct conv_call *c, const struct wsk_plane *plane, int32_t batch, int32_t rows,
	bool needed, bool is_written, const char *name)
{
	if (plane->data == 0 && !needed) {
		return;
	}
	int bytes = (int)wsk_type_bytes(c->type), per_piece = 16 / bytes;
	const int64_t strides[] = {plane->stride_batch, plane->stride_channel, plane->stride_row};
	const int64_t extents[] = {batch, c->dim, rows};
	wsk_check_address(&c->base, plane->data, (unsigned)bytes, true, name);
	if (c->base.status != WSK_OK) {
		return;
	}
	wsk_check_strides(&c->base, strides, extents, 3, name);
	for (int i = 0; i < 3; i++) {
		require(c, !is_written || extents[i] == 1 || strides[i] != 0, WSK_ERR_ARGUMENT, name,
			"elements that do not overlap: it is written");
	}
	bool wide = plane->data % 16 == 0 && (batch == 1 || plane->stride_batch % per_piece == 0);
	c->rows_contiguous = c->rows_contiguous && (rows == 1 || plane->stride_row == 1);
	c->channels_contiguous = c->channels_contiguous && (c->dim == 1 || plane->stride_channel == 1);
	c->wide_rows = c->wide_rows && wide && (c->dim == 1 || plane->stride_channel % per_piece == 0);
	c->wide_channels = c->wide_channels && wide && c->dim % per_piece == 0
		&& (rows == 1 || plane->stride_row % per_piece == 0);
}

static void
check_weight(struct conv_call *c, uint64_t weight, uint64_t bias, int32_t type,
	const char *weight_name, const char *bias_name)
{
	unsigned bytes = wsk_type_bytes(type);
	wsk_check_address(&c->base, weight, bytes, true, weight_name);
	wsk_check_address(&c->base, bias, bytes, false, bias_name);
}

static void
check_strides(struct conv_call *c, int64_t channel, int64_t tap, int32_t width, const char *name)
{
	const int64_t strides[] = {channel, tap}, extents[] = {c->dim, width};
	wsk_check_strides(&c->base, strides, extents, 2, name);
}

static void
check_conv(struct conv_call *c, const struct wsk_conv *in)
{
	check_numbers(c, in->weight_type, in->width, in->length, in->silu);
	if (c->base.status != WSK_OK) {
		return;
	}
	check_plane(c, &in->x, in->batch, in->length, true, false, "x");
	check_weight(c, in->weight, in->bias, in->weight_type, "weight", "bias");
	check_strides(c, in->weight_stride_channel, in->weight_stride_tap, in->width, "weight");
	wsk_check_address(&c->base, in->seq_idx, 4, false, "seq_idx");
}

/* Channel-last where only that is possible, or where rows are of one element. */
static bool
is_last(const struct conv_call *c, int32_t length)
{
	return c->channels_contiguous && (!c->rows_contiguous || length == 1);
}

/* States are read and written by the kernels for contiguous channels alone. */
static void
check_states(struct conv_call *c, const struct wsk_conv *in, bool backward)
{
	struct conv_call planes = *c; /* one row of state may be contiguous in either way */
	int32_t rows = in->width - 1;
	check_plane(c, &in->initial_states, in->batch, rows, false, false, "initial_states");
	if (backward) {
		check_plane(
			c, &in->grad_initial_states, in->batch, rows, false, true, "grad_initial_states");
		check_plane(c, &in->grad_final_states, in->batch, rows, false, false, "grad_final_states");
	} else {
		check_plane(c, &in->final_states, in->batch, rows, false, true, "final_states");
	}
	bool any = in->initial_states.data || in->final_states.data || in->grad_initial_states.data
		|| in->grad_final_states.data;
	require(c, !any || in->seq_idx == 0, WSK_ERR_ARGUMENT, "seq_idx", "0 where there are states");
	require(c, !any || (planes.channels_contiguous && c->channels_contiguous), WSK_ERR_ARGUMENT,
		any && planes.channels_contiguous ? "initial_states" : "x",
		"contiguous in its channels: there are states");
	require(c, in->seq_idx == 0 || c->channels_contiguous, WSK_ERR_ARGUMENT, "x",
		"contiguous in its channels: there is seq_idx");
	if (any || in->seq_idx) {
		c->rows_contiguous = false; /* the other kernels support neither */
	} else {
		c->rows_contiguous = planes.rows_contiguous;
	}
	require(c, c->rows_contiguous || c->channels_contiguous, WSK_ERR_ARGUMENT, "x",
		"contiguous in its rows, or in its channels, as all other planes");
}

static struct wsk_view
view_of(const struct wsk_plane *plane)
{
	return (struct wsk_view){
		plane->data, plane->stride_batch, plane->stride_row, plane->stride_channel};
}

static int64_t
least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Rows of a run, 8 to @a most: those for which rounds of as many runs as a large GPU has at once
 * take the fewest rows, with @a around for what each run takes besides. */
static int32_t
run_length(
	int64_t length, int64_t others, int64_t per_run, int64_t at_once, int32_t around, int32_t most)
{
	int32_t best = 8;
	int64_t least_rows = INT64_MAX;
	for (int32_t run = 8; run <= most; run += 8) {
		int64_t runs = others * wsk_divide_up(length, run * per_run);
		int64_t rows = wsk_divide_up(runs, at_once) * (run + around);
		if (rows < least_rows) {
			least_rows = rows, best = run;
		}
	}
	return best;
}

/* Blocks of as many threads as there are tiles, which kernels count in 32 bits. */
static int64_t
blocks_of(int64_t tiles)
{
	return tiles > WSK_GRID_MAX ? INT64_MAX : wsk_divide_up(tiles, WSK_CONV_THREADS);
}

/* Rows that are contiguous: chunks of a row for each warp; forward two, where that leaves warps
 * enough: the second one is on its way while the first is computed. Rows of one whole chunk: two
 * sequences for each warp, forward and backward, where that leaves warps enough. @a before:
 * elements that a row may be taken to begin earlier, to begin at 16 bytes. */
static int64_t
cut_first(struct wsk_conv_params *p, int32_t type, bool backward, int32_t before)
{
	int64_t chunk =
		WSK_CONV_CHUNK((int)wsk_type_bytes(type), backward ? WSK_CONV_BACK_STEPS : WSK_CONV_STEPS);
	int64_t chunks = wsk_divide_up((int64_t)p->length + before, chunk);
	int64_t rows = (int64_t)p->batch * p->dim;
	int64_t pieces = least(chunks, wsk_divide_up(WARPS_WANTED, rows));
	int64_t each = rows * wsk_divide_up(chunks, 2) < WARPS_WANTED ? 1 : 2;
	p->piece = (int32_t)((backward ? wsk_divide_up(chunks, pieces) : each) * chunk);
	p->pieces = (int32_t)wsk_divide_up((int64_t)p->length + before, p->piece);
	bool whole = chunks == 1 && before == 0 && p->length % (16 / (int)wsk_type_bytes(type)) == 0;
	p->rows = whole && p->batch > 1 && rows >= 2 * WARPS_WANTED ? 2 : 1;
	int64_t sequences = wsk_divide_up(p->batch, p->rows);
	p->parts = (int32_t)least(sequences * p->pieces, INT32_MAX); /* more than INT32_MAX are never
	launched */
	return wsk_divide_up(sequences * p->dim, WSK_CONV_THREADS / 32) * p->pieces;
}

/* Channels that are contiguous: runs of rows for each thread. */
static int64_t
cut_last(struct wsk_conv_params *p, bool backward)
{
	const int warps = WSK_CONV_THREADS / 32;
	int64_t groups = wsk_divide_up(p->dim, (backward ? 32 : 1) * WSK_CONV_CHANNELS);
	int64_t per_run = backward ? warps : 1;
	p->groups = (int32_t)groups;
	p->piece = backward ? run_length(p->length, groups * p->batch, per_run, BLOCKS_AT_ONCE, 15, 128)
						: run_length(p->length, groups * p->batch, per_run, THREADS_AT_ONCE, 6, 64);
	p->pieces = (int32_t)wsk_divide_up(p->length, p->piece * per_run);
	int64_t parts = (int64_t)p->batch * p->pieces, tiles = groups * parts;
	p->parts = (int32_t)least(parts, INT32_MAX); /* more than INT32_MAX are never launched */
	return backward ? tiles : blocks_of(tiles);
}

/* Returns the blocks of threads. */
static int64_t
cut(struct wsk_conv_params *p, int32_t type, bool last, bool backward, bool wide_rows)
{
	return last ? cut_last(p, backward)
				: cut_first(p, type, backward, wide_rows ? 0 : 16 / (int)wsk_type_bytes(type) - 1);
}

/* The 4 weights of a channel can be read at once. */
static bool
weight_whole(uint64_t weight, int64_t channel, int64_t tap, int32_t width)
{
	return width == 4 && tap == 1 && channel == 4 && weight % 16 == 0;
}

static struct wsk_conv_params
params_of(const struct wsk_conv *in)
{
	return (struct wsk_conv_params){
		.x = view_of(&in->x),
		.out = view_of(&in->out),
		.initial = view_of(&in->initial_states),
		.final = view_of(&in->final_states),
		.dout = view_of(&in->grad_out),
		.dx = view_of(&in->grad_x),
		.dinitial = view_of(&in->grad_initial_states),
		.dfinal = view_of(&in->grad_final_states),
		.weight = in->weight,
		.bias = in->bias,
		.seq_idx = in->seq_idx,
		.weight_channel = in->weight_stride_channel,
		.weight_tap = in->weight_stride_tap,
		.scratch = in->scratch,
		.dweight = in->grad_weight,
		.dbias = in->grad_bias,
		.dweight_channel = in->grad_weight_stride_channel,
		.dweight_tap = in->grad_weight_stride_tap,
		.batch = in->batch,
		.dim = in->dim,
		.length = in->length,
		.width = in->width,
		.weight_type = in->weight_type,
		.weight_whole =
			weight_whole(in->weight, in->weight_stride_channel, in->weight_stride_tap, in->width),
		.grad_type = in->grad_type,
		.silu = in->silu,
		.accumulate = in->accumulate,
	};
}

static int
launch(const struct conv_call *c, int kernel, int64_t blocks, void *params)
{
	return wsk_launch_kernel(
		&c->base, kernel, blocks, WSK_CONV_THREADS, params, "fewer rows, channels and sequences");
}

static int
need_image(struct conv_call *c)
{
	return wsk_need_image(&c->base, WSK_CONV, "handle", "a handle of this version");
}

static struct conv_call
call_of(const struct wsk_handle *handle, void *stream, struct wsk_problem *problem)
{
	return (struct conv_call){.base = {handle, stream, problem, NULL, WSK_OK},
		.rows_contiguous = true,
		.channels_contiguous = true,
		.wide_rows = true,
		.wide_channels = true};
}

static const struct wsk_versioned CONV = WSK_VERSIONED(wsk_conv, grad_out, "conv");
static const struct wsk_versioned STEP = WSK_FIRST_VERSION(wsk_conv_step, "step");

static bool
begin_conv(struct conv_call *c, const struct wsk_conv *conv, struct wsk_conv *in)
{
	if (wsk_begin(&c->base, &CONV, conv, in) != WSK_OK) {
		return false;
	}
	c->type = in->type, c->batch = in->batch, c->dim = in->dim;
	return true;
}

int
wsk_conv_forward(const struct wsk_handle *handle, const struct wsk_conv *conv, void *stream,
	struct wsk_problem *problem)
{
	struct conv_call c = call_of(handle, stream, problem);
	struct wsk_conv in;
	if (!begin_conv(&c, conv, &in)) {
		return c.base.status;
	}
	in.grad_initial_states.data = in.grad_final_states.data = 0;
	check_conv(&c, &in);
	check_plane(&c, &in.out, in.batch, in.length, true, true, "out");
	check_states(&c, &in, false);
	if (need_image(&c) != WSK_OK) {
		return c.base.status;
	}
	struct wsk_conv_params p = params_of(&in);
	bool last = is_last(&c, in.length);
	p.wide = c.wide_channels;
	int kernel = in.seq_idx ? WSK_CONV_PACKED_FORWARD
		: last              ? WSK_CONV_LAST_FORWARD
							: WSK_CONV_FIRST_FORWARD;
	int64_t blocks = cut(&p, in.type, last, false, c.wide_rows);
	return launch(&c, (in.type - 1) * WSK_CONV_KERNEL_COUNT + kernel, blocks, &p);
}

/* The planes and numbers of backward. */
static void
check_backward(struct conv_call *c, const struct wsk_conv *in)
{
	check_conv(c, in);
	check_plane(c, &in->grad_out, in->batch, in->length, true, false, "grad_out");
	check_plane(c, &in->grad_x, in->batch, in->length, true, true, "grad_x");
	check_states(c, in, true);
	require(
		c, wsk_is_type(in->grad_type), WSK_ERR_UNSUPPORTED, "grad_type", "one of enum wsk_type");
	check_weight(c, in->grad_weight, in->grad_bias, in->grad_type, "grad_weight", "grad_bias");
	check_strides(
		c, in->grad_weight_stride_channel, in->grad_weight_stride_tap, in->width, "grad_weight");
	wsk_check_address(&c->base, in->scratch, 4, true, "scratch");
}

static uint64_t
scratch_bytes(const struct wsk_conv_params *p)
{
	return 4 * (uint64_t)p->parts * (uint64_t)p->dim * (uint64_t)(p->width + 1);
}

int
wsk_conv_backward(const struct wsk_handle *handle, const struct wsk_conv *conv, void *stream,
	struct wsk_problem *problem)
{
	struct conv_call c = call_of(handle, stream, problem);
	struct wsk_conv in;
	if (!begin_conv(&c, conv, &in)) {
		return c.base.status;
	}
	in.final_states.data = 0;
	check_backward(&c, &in);
	if (need_image(&c) != WSK_OK) {
		return c.base.status;
	}
	struct wsk_conv_params p = params_of(&in);
	bool last = is_last(&c, in.length);
	p.wide = c.wide_channels;
	int kernel = in.seq_idx ? WSK_CONV_PACKED_BACKWARD
		: last              ? WSK_CONV_LAST_BACKWARD
							: WSK_CONV_FIRST_BACKWARD;
	int64_t blocks = cut(&p, in.type, last, true, c.wide_rows);
	require(&c, in.scratch_size >= scratch_bytes(&p), WSK_ERR_RANGE, "scratch_size",
		"at least wsk_conv_scratch() bytes");
	if (c.base.status != WSK_OK) {
		return c.base.status;
	}
	int status = launch(&c, (in.type - 1) * WSK_CONV_KERNEL_COUNT + kernel, blocks, &p);
	int64_t sums = (int64_t)in.dim * (in.width + 1);
	return status ? status : launch(&c, WSK_CONV_REDUCE, wsk_divide_up(sums, WSK_CONV_SUMS), &p);
}

/* Any layout may be the one that is launched: the most of all. */
uint64_t
wsk_conv_scratch(const struct wsk_conv *conv)
{
	uint64_t most = 0;
	bool sound = conv->batch >= 1 && conv->dim >= 1 && conv->length >= 1 && wsk_is_type(conv->type)
		&& conv->length <= WSK_LENGTH_MAX && conv->width >= 2 && conv->width <= 4
		&& (int64_t)conv->batch * conv->dim <= WSK_GRID_MAX;
	for (int way = 0; sound && way < 3; way++) {
		struct wsk_conv_params p = {
			.batch = conv->batch, .dim = conv->dim, .length = conv->length, .width = conv->width};
		cut(&p, conv->type, way == 2, true, way == 1);
		most = scratch_bytes(&p) > most ? scratch_bytes(&p) : most;
	}
	return sound ? most : UINT64_MAX;
}

/* Which way of the update: enum wsk_conv_layout says what each needs. */
static int32_t
layout_of(const struct conv_call *c, const struct wsk_conv_step *in)
{
	int piece = 16 / (int)wsk_type_bytes(in->type);
	bool small =
		in->length == 1 && !in->cache_seqlens && in->state_length >= 2 && in->state_length <= 4;
	if (c->channels_contiguous && c->wide_channels) {
		return small ? WSK_CONV_UPDATE_APART : WSK_CONV_UPDATE_CHANNELS;
	}
	bool state = in->state.data % 16 == 0 && in->state.stride_row == 1
		&& in->state.stride_channel == in->state_length && in->state.stride_batch % piece == 0;
	bool channels = in->dim % piece == 0 && in->x.stride_channel == 1 && in->out.stride_channel == 1
		&& in->x.data % 16 == 0 && in->out.data % 16 == 0 && in->x.stride_batch % piece == 0
		&& in->out.stride_batch % piece == 0;
	return small && state && channels ? WSK_CONV_UPDATE_TOGETHER : WSK_CONV_UPDATE_ANY;
}

static int32_t
channels_of(const struct wsk_conv_step *in, int32_t layout)
{
	int32_t piece = 16 / (int)wsk_type_bytes(in->type);
	switch (layout) {
	case WSK_CONV_UPDATE_CHANNELS:
	case WSK_CONV_UPDATE_APART:
		return piece;
	case WSK_CONV_UPDATE_TOGETHER:
		return in->state_length == 3 ? piece : piece / in->state_length;
	default:
		return 1;
	}
}

static void
check_step(struct conv_call *c, const struct wsk_conv_step *in)
{
	check_numbers(c, in->weight_type, in->width, in->length, in->silu);
	require(c, in->state_length >= in->width - 1 && in->state_length <= WSK_LENGTH_MAX,
		WSK_ERR_RANGE, "state_length", "width - 1 to 2^30");
	require(c, in->entries >= 1 && (in->indices || in->entries >= in->batch), WSK_ERR_RANGE,
		"entries", "1 or more, and batch without indices");
	if (c->base.status != WSK_OK) {
		return;
	}
	check_plane(c, &in->x, in->batch, in->length, true, false, "x");
	check_plane(c, &in->out, in->batch, in->length, true, true, "out");
	check_plane(c, &in->state, in->entries, in->state_length, true, true, "state");
	check_weight(c, in->weight, in->bias, in->weight_type, "weight", "bias");
	check_strides(c, in->weight_stride_channel, in->weight_stride_tap, in->width, "weight");
	wsk_check_address(&c->base, in->cache_seqlens, 4, false, "cache_seqlens");
	wsk_check_address(&c->base, in->indices, 4, false, "indices");
}

int
wsk_conv_update(const struct wsk_handle *handle, const struct wsk_conv_step *step, void *stream,
	struct wsk_problem *problem)
{
	struct conv_call c = call_of(handle, stream, problem);
	struct wsk_conv_step in;
	if (wsk_begin(&c.base, &STEP, step, &in) != WSK_OK) {
		return c.base.status;
	}
	c.type = in.type, c.batch = in.batch, c.dim = in.dim;
	check_step(&c, &in);
	if (need_image(&c) != WSK_OK) {
		return c.base.status;
	}
	struct wsk_conv_update_params p = {
		.x = view_of(&in.x),
		.out = view_of(&in.out),
		.state = view_of(&in.state),
		.weight = in.weight,
		.bias = in.bias,
		.weight_channel = in.weight_stride_channel,
		.weight_tap = in.weight_stride_tap,
		.cache_seqlens = in.cache_seqlens,
		.indices = in.indices,
		.batch = in.batch,
		.dim = in.dim,
		.length = in.length,
		.width = in.width,
		.state_length = in.state_length,
		.entries = in.entries,
		.weight_type = in.weight_type,
		.weight_whole =
			weight_whole(in.weight, in.weight_stride_channel, in.weight_stride_tap, in.width),
		.silu = in.silu,
		.layout = layout_of(&c, &in),
	};
	p.groups = in.dim / channels_of(&in, p.layout);
	p.each = 4;
	while (p.each > 1 && p.groups * wsk_divide_up(in.batch, p.each) < STEP_THREADS_WANTED) {
		p.each /= 2;
	}
	int64_t threads = p.groups * wsk_divide_up(in.batch, p.each);
	int kernel = (in.type - 1) * WSK_CONV_KERNEL_COUNT + WSK_CONV_UPDATE;
	return launch(&c, kernel, blocks_of(threads), &p);
}
