/* scan.c - the selective scan: checks every number, divides the workspace, launches. */
#include "scan.h"

#include "../device/scan/params.h"
#include "check.h"

#define STATES_MAX 256

#define NAMES(suffix) \
	"wsk_scan_forward_" suffix, "wsk_scan_forward_constant_" suffix, "wsk_scan_states_" suffix, \
		"wsk_scan_ends_" suffix, "wsk_scan_backward_" suffix, \
		"wsk_scan_backward_constant_" suffix, "wsk_update_any_" suffix, \
		"wsk_update_" suffix "_of_f16", "wsk_update_" suffix "_of_bf16", \
		"wsk_update_" suffix "_of_f32", "wsk_update_alone_" suffix "_of_f16", \
		"wsk_update_alone_" suffix "_of_bf16", "wsk_update_alone_" suffix "_of_f32"

const char *const wsk_scan_kernels[WSK_SCAN_KERNEL_COUNT] = {
	NAMES("f16"),
	NAMES("bf16"),
	NAMES("f32"),
	"wsk_scan_combine",
	"wsk_scan_sum",
};

static void
check_shape(struct wsk_call *c, const struct wsk_scan *in)
{
	wsk_require(c, wsk_is_type(in->type), WSK_ERR_UNSUPPORTED, "type",
		"WSK_FLOAT16, WSK_BFLOAT16 or WSK_FLOAT32");
	wsk_require(
		c, in->batch >= 1 && in->batch <= WSK_BATCH_MAX, WSK_ERR_RANGE, "batch", "1 to 2^24");
	wsk_require(
		c, in->channels >= 1 && in->channels <= 1 << 24, WSK_ERR_RANGE, "channels", "1 to 2^24");
	wsk_require(
		c, in->length >= 1 && in->length <= WSK_LENGTH_MAX, WSK_ERR_RANGE, "length", "1 to 2^30");
	wsk_require(
		c, in->states >= 1 && in->states <= STATES_MAX, WSK_ERR_RANGE, "states", "1 to 256");
	wsk_require(
		c, in->groups >= 1 && in->groups <= in->channels, WSK_ERR_RANGE, "groups", "1 to channels");
	wsk_require(c, in->groups < 1 || in->channels % in->groups == 0, WSK_ERR_ARGUMENT, "channels",
		"a multiple of groups");
	wsk_require(c,
		in->parts >= 1
			&& in->parts <= wsk_divide_up(in->length < 1 ? 1 : in->length, WSK_SCAN_SEGMENT),
		WSK_ERR_RANGE, "parts", "1 to ceil(length / 64)");
}

static void
check_rows(struct wsk_call *c, const struct wsk_scan *in, const struct wsk_rows *rows, bool needed,
	bool written, const char *name)
{
	const int64_t strides[] = {rows->stride_batch, rows->stride_channel, 1};
	const int64_t extents[] = {in->batch, in->channels, in->length};
	wsk_check_address(c, rows->data, wsk_type_bytes(in->type), needed, name);
	wsk_check_strides(c, strides, extents, 3, name);
	wsk_require(c,
		!rows->data || !written
			|| ((in->channels == 1 || rows->stride_channel >= in->length)
				&& (in->batch == 1 || rows->stride_batch >= in->length)),
		WSK_ERR_ARGUMENT, name, "rows that do not overlap: it is written");
}

static void
check_matrix(struct wsk_call *c, const struct wsk_scan *in, const struct wsk_matrix *matrix,
	const char *name)
{
	const int64_t strides[] = {
		matrix->varies ? matrix->stride_batch : 0, matrix->stride_group, matrix->stride_state, 1};
	const int64_t extents[] = {in->batch, matrix->varies ? in->groups : in->channels, in->states,
		matrix->varies ? in->length : 1};
	unsigned align = matrix->varies ? wsk_type_bytes(in->type) : 4;
	wsk_check_address(c, matrix->data, align, true, name);
	wsk_check_strides(c, strides, extents, 4, name);
	wsk_require(c,
		matrix->varies || (matrix->stride_state == 1 && matrix->stride_group == in->states),
		WSK_ERR_ARGUMENT, name, "contiguous where it does not vary");
}

static void
check_forward(struct wsk_call *c, const struct wsk_scan *in)
{
	check_shape(c, in);
	check_rows(c, in, &in->u, true, false, "u");
	check_rows(c, in, &in->delta, true, false, "delta");
	check_rows(c, in, &in->z, false, false, "z");
	check_matrix(c, in, &in->b, "b");
	check_matrix(c, in, &in->c, "c");
	wsk_check_address(c, in->a, 4, true, "a");
	const int64_t strides[] = {in->a_stride_channel, in->a_stride_state};
	const int64_t extents[] = {in->channels, in->states};
	wsk_check_strides(c, strides, extents, 2, "a");
	wsk_check_address(c, in->d, 4, false, "d");
	wsk_check_address(c, in->delta_bias, 4, false, "delta_bias");
	wsk_check_address(c, in->x, 4, false, "x");
}

static void
check_workspace(struct wsk_call *c, const struct wsk_scan *in, int32_t backward)
{
	uint64_t needed = c->status == WSK_OK ? wsk_scan_workspace(in, backward) : 0;
	wsk_check_address(c, in->workspace, 16, needed > 0, "workspace");
	wsk_require(c, needed != UINT64_MAX && in->workspace_size >= needed, WSK_ERR_RANGE,
		"workspace_size", "at least wsk_scan_workspace() bytes");
}

static void
check_outputs(struct wsk_call *c, const struct wsk_scan *in)
{
	check_rows(c, in, &in->out, !in->z.data, true, "out");
	check_rows(c, in, &in->out_z, in->z.data != 0, true, "out_z");
	check_workspace(c, in, 0);
}

static void
check_gradients(struct wsk_call *c, const struct wsk_scan *in)
{
	const bool gated = in->z.data != 0;
	check_rows(c, in, &in->out, gated, false, "out");
	check_rows(c, in, &in->out_z, false, true, "out_z");
	check_rows(c, in, &in->grad_out, true, false, "grad_out");
	check_rows(c, in, &in->grad_u, true, true, "grad_u");
	check_rows(c, in, &in->grad_delta, true, true, "grad_delta");
	check_rows(c, in, &in->grad_z, gated, true, "grad_z");
	unsigned align = wsk_type_bytes(in->type);
	wsk_check_address(c, in->grad_a, 4, true, "grad_a");
	wsk_check_address(c, in->grad_b, in->b.varies ? align : 4, true, "grad_b");
	wsk_check_address(c, in->grad_c, in->c.varies ? align : 4, true, "grad_c");
	wsk_check_address(c, in->grad_d, 4, in->d != 0, "grad_d");
	wsk_check_address(c, in->grad_delta_bias, 4, in->delta_bias != 0, "grad_delta_bias");
	check_workspace(c, in, 1);
}

/* ---- parts of the workspace ---- */

/* How time is split. */
struct division {
	int32_t part, parts, every, kept, blocks;
};

/* Blocks of threads for the channels of a group, where a thread has @a each states. */
static int32_t
blocks_of(int32_t channels, int32_t each)
{
	return (int32_t)wsk_divide_up(channels, WSK_SCAN_CHANNELS(each));
}

static struct division
divide(const struct wsk_scan *in, int32_t backward)
{
	struct division d;
	int64_t segments = wsk_divide_up(in->length, WSK_SCAN_SEGMENT);
	int64_t each = wsk_divide_up(segments, in->parts);
	d.part = (int32_t)(each * WSK_SCAN_SEGMENT);
	d.parts = (int32_t)wsk_divide_up(segments, each);
	d.every = backward ? WSK_SCAN_SEGMENT : d.part;
	d.kept = (int32_t)wsk_divide_up(in->length, d.every);
	d.blocks = blocks_of(in->channels / in->groups, WSK_SCAN_EACH);
	return d;
}

/* Takes floats from the workspace one after the other; adds up only where it begins at 0. */
struct cutting {
	uint64_t begin, used;
	bool too_large;
};

static uint64_t
cut(struct cutting *c, bool wanted, const int64_t *extents, size_t count)
{
	uint64_t bytes = 4, at = c->used;
	for (size_t i = 0; i < count; i++) {
		c->too_large |= __builtin_mul_overflow(bytes, (uint64_t)extents[i], &bytes);
	}
	bytes = wanted ? (bytes + 15) / 16 * 16 : 0;
	c->too_large |= __builtin_add_overflow(c->used, bytes, &c->used);
	return wanted ? c->begin + at : 0;
}

#define CUT(c, wanted, ...) \
	cut(c, wanted, (const int64_t[]){__VA_ARGS__}, \
		sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

/* B or C is the same at each time step. */
static bool
is_constant(const struct wsk_scan *in)
{
	return !in->b.varies || !in->c.varies;
}

static void
cut_workspace(
	struct cutting *c, const struct wsk_scan *in, int32_t backward, struct wsk_scan_params *p)
{
	const struct division d = divide(in, backward);
	const bool split = d.parts > 1, several = in->states > WSK_SCAN_STATES;
	const bool constant = is_constant(in);
	p->states = CUT(c, backward || split, in->batch, d.kept, in->channels, in->states);
	p->sums = CUT(c, backward || split, in->batch, d.kept, in->channels);
	p->ends = CUT(c, backward && split, in->batch, d.parts, in->channels, in->states);
	p->sum_y = CUT(c, !backward && several, in->batch, in->channels, in->length);
	p->sum_b = CUT(c, backward && several, in->batch, in->channels, in->length);
	p->sum_q = CUT(c, backward && several, in->batch, in->channels, in->length);
	p->part_a = CUT(c, backward, in->batch, d.parts, in->channels, in->states);
	p->part_w = CUT(c, backward && constant, in->batch, d.parts, in->channels, in->states);
	p->part_d = CUT(c, backward, in->batch, d.parts, in->channels);
	p->part_bias = CUT(c, backward, in->batch, d.parts, in->channels);
	p->part_bc = CUT(c, backward, d.blocks, 2, in->batch, in->groups, in->states, in->length);
}

uint64_t
wsk_scan_workspace(const struct wsk_scan *scan, int32_t backward)
{
	struct wsk_call c = {0};
	struct cutting cutting = {0, 0, false};
	struct wsk_scan_params p;
	check_shape(&c, scan);
	if (c.status != WSK_OK) {
		return UINT64_MAX;
	}
	cut_workspace(&cutting, scan, backward, &p);
	return cutting.too_large ? UINT64_MAX : cutting.used;
}

/* ---- parameters ---- */

static struct wsk_view
rows_of(const struct wsk_rows *rows)
{
	return (struct wsk_view){rows->data, rows->stride_batch, 1, rows->stride_channel};
}

static struct wsk_scan_matrix
matrix_of(const struct wsk_matrix *m)
{
	return (struct wsk_scan_matrix){
		{m->data, m->stride_batch, m->stride_state, m->stride_group}, m->varies != 0, 0};
}

/* True if 4 elements from each multiple of 4 on lie at a multiple of their size. */
static bool
is_wide(uint64_t data, int64_t a, int64_t b, int64_t c, unsigned bytes)
{
	return !data || (data % (4 * bytes) == 0 && a % 4 == 0 && b % 4 == 0 && c % 4 == 0);
}

static bool
rows_are_wide(const struct wsk_scan *in, int32_t backward)
{
	const struct wsk_rows *all[] = {&in->u, &in->delta, &in->z, &in->out, &in->out_z, &in->grad_out,
		&in->grad_u, &in->grad_delta, &in->grad_z};
	for (size_t i = 0; i < (backward ? 9u : 5u); i++) {
		if (!is_wide(all[i]->data, all[i]->stride_batch, all[i]->stride_channel, 0,
				wsk_type_bytes(in->type))) {
			return false;
		}
	}
	return true;
}

static bool
matrix_is_wide(const struct wsk_matrix *m, unsigned bytes)
{
	return !m->varies || is_wide(m->data, m->stride_batch, m->stride_group, m->stride_state, bytes);
}

static struct wsk_scan_params
params_of(const struct wsk_scan *in, int32_t backward)
{
	const struct division d = divide(in, backward);
	struct cutting cutting = {in->workspace, 0, false};
	struct wsk_scan_params p = {
		.u = rows_of(&in->u),
		.delta = rows_of(&in->delta),
		.z = rows_of(&in->z),
		.out = rows_of(&in->out),
		.out_z = rows_of(&in->out_z),
		.dout = rows_of(&in->grad_out),
		.du = rows_of(&in->grad_u),
		.ddelta = rows_of(&in->grad_delta),
		.dz = rows_of(&in->grad_z),
		.b = matrix_of(&in->b),
		.c = matrix_of(&in->c),
		.a = in->a,
		.a_channel = in->a_stride_channel,
		.a_state = in->a_stride_state,
		.d = in->d,
		.bias = in->delta_bias,
		.x = in->x,
		.batch = in->batch,
		.channels = in->channels,
		.length = in->length,
		.states_count = in->states,
		.groups = in->groups,
		.group_channels = in->channels / in->groups,
		.parts = d.parts,
		.part = d.part,
		.every = d.every,
		.kept = d.kept,
		.rows = (int32_t)wsk_divide_up(in->length, WSK_SCAN_SAVED),
		.softplus = in->softplus != 0,
		.wide = rows_are_wide(in, backward),
		.wide_bc = matrix_is_wide(&in->b, wsk_type_bytes(in->type))
			&& matrix_is_wide(&in->c, wsk_type_bytes(in->type)),
		.with_ends = backward && d.parts > 1,
	};
	cut_workspace(&cutting, in, backward, &p);
	return p;
}

/* ---- launches ---- */

/* A call that was checked and is ready to launch. */
struct scan_call {
	struct wsk_call base;
	struct wsk_scan in;
	struct wsk_scan_params params;
};

static const struct wsk_versioned SCAN = WSK_VERSIONED(wsk_scan, grad_out, "scan");

static int
prepare(struct scan_call *call, const struct wsk_scan *scan, int32_t backward)
{
	struct wsk_call *c = &call->base;
	if (wsk_begin(c, &SCAN, scan, &call->in) != WSK_OK) {
		return c->status;
	}
	check_forward(c, &call->in);
	(backward ? check_gradients : check_outputs)(c, &call->in);
	if (wsk_need_image(c, WSK_SCAN, "scan", "WSK_SCAN") == WSK_OK) {
		call->params = params_of(&call->in, backward);
	}
	return c->status;
}

static int
launch(struct scan_call *call, int kernel, int64_t blocks, void *params)
{
	return wsk_launch_kernel(&call->base, kernel, blocks, WSK_SCAN_THREADS, params,
		"fewer channels, sequences and parts");
}

/* A kernel that goes over time, once for each 16 states. */
static int
launch_scan(struct scan_call *call, enum wsk_scan_kernel kernel)
{
	struct wsk_scan_params *p = &call->params;
	const bool forward =
		kernel == WSK_SCAN_KERNEL_FORWARD || kernel == WSK_SCAN_KERNEL_FORWARD_CONSTANT;
	p->blocks = blocks_of(p->group_channels, forward ? WSK_SCAN_FORWARD_EACH : WSK_SCAN_EACH);
	int64_t blocks = (int64_t)p->batch * p->groups * p->blocks;
	int status = WSK_OK;
	if (blocks > WSK_GRID_MAX) {
		blocks = 1 + (int64_t)WSK_GRID_MAX; /* launch() refuses it */
	}
	for (int32_t state = 0; state < p->states_count && status == WSK_OK; state += WSK_SCAN_STATES) {
		p->first_state = state;
		int at = (call->in.type - WSK_FLOAT16) * WSK_SCAN_KERNEL_TYPED + (int)kernel;
		status = launch(call, at, blocks * p->parts, p);
	}
	return status;
}

static int
launch_combine(struct scan_call *call)
{
	int64_t all = (int64_t)call->in.batch * call->in.channels * call->in.states;
	return launch(
		call, WSK_SCAN_KERNEL_COMBINE, wsk_divide_up(all, WSK_SCAN_THREADS), &call->params);
}

int
wsk_scan_forward(const struct wsk_handle *handle, const struct wsk_scan *scan, void *stream,
	struct wsk_problem *problem)
{
	struct scan_call call = {.base = {handle, stream, problem, NULL, WSK_OK}};
	int status = prepare(&call, scan, 0);
	if (status == WSK_OK && call.params.parts > 1) {
		status = launch_scan(&call, WSK_SCAN_KERNEL_STATES);
		status = status ? status : launch_combine(&call);
	}
	return status
		? status
		: launch_scan(&call,
			is_constant(&call.in) ? WSK_SCAN_KERNEL_FORWARD_CONSTANT : WSK_SCAN_KERNEL_FORWARD);
}

/* The gradient of B, or of C: of what varies, over blocks of channels; else over batch and time. */
static struct wsk_scan_sum
sum_of_matrix(const struct wsk_scan *in, const struct wsk_scan_params *p, bool of_c)
{
	const struct wsk_matrix *own = of_c ? &in->c : &in->b, *other = of_c ? &in->b : &in->c;
	const int64_t varying = (int64_t)in->batch * in->groups * in->states * in->length;
	const int64_t constant = (int64_t)in->channels * in->states;
	const uint64_t to = of_c ? in->grad_c : in->grad_b;
	if (own->varies) {
		uint64_t part = p->part_bc + (of_c ? (uint64_t)varying * 4 : 0);
		const int32_t blocks = blocks_of(p->group_channels, WSK_SCAN_EACH);
		return (struct wsk_scan_sum){part, to, 0, 2 * varying, varying, blocks, in->type, 0};
	}
	return (struct wsk_scan_sum){p->part_w, to, other->varies ? 0 : other->data, constant, constant,
		in->batch * p->parts, WSK_FLOAT32, 0};
}

/* The gradients that are sums over parts: one launch for all. */
static int
launch_sums(struct scan_call *call)
{
	const struct wsk_scan *in = &call->in;
	const struct wsk_scan_params *p = &call->params;
	const int64_t channels = in->channels, states = channels * in->states;
	const int32_t parts = in->batch * p->parts;
	struct wsk_scan_sums_params all = {{
		sum_of_matrix(in, p, false),
		sum_of_matrix(in, p, true),
		{p->part_a, in->grad_a, 0, states, states, parts, WSK_FLOAT32, 0},
		{p->part_d, in->d ? in->grad_d : 0, 0, channels, channels, parts, WSK_FLOAT32, 0},
		{p->part_bias, in->delta_bias ? in->grad_delta_bias : 0, 0, channels, channels, parts,
			WSK_FLOAT32, 0},
	}};
	int64_t blocks = 0;
	for (int i = 0; i < WSK_SCAN_SUMS; i++) {
		struct wsk_scan_sum *sum = &all.sums[i];
		sum->blocks = sum->to ? wsk_divide_up(sum->count, WSK_SCAN_THREADS) : 0;
		blocks += sum->blocks;
	}
	return launch(call, WSK_SCAN_KERNEL_SUM, blocks, &all);
}

int
wsk_scan_backward(const struct wsk_handle *handle, const struct wsk_scan *scan, void *stream,
	struct wsk_problem *problem)
{
	struct scan_call call = {.base = {handle, stream, problem, NULL, WSK_OK}};
	int status = prepare(&call, scan, 1);
	if (status == WSK_OK) {
		status = launch_scan(
			&call, call.params.parts > 1 ? WSK_SCAN_KERNEL_ENDS : WSK_SCAN_KERNEL_STATES);
	}
	if (status == WSK_OK && call.params.parts > 1) {
		status = launch_combine(&call);
	}
	if (status == WSK_OK) {
		status = launch_scan(&call,
			is_constant(&call.in) ? WSK_SCAN_KERNEL_BACKWARD_CONSTANT : WSK_SCAN_KERNEL_BACKWARD);
	}
	return status ? status : launch_sums(&call);
}
