/* update.c - one time step of the scan: checks every number, launches. */
#include "../device/scan/params.h"
#include "check.h"
#include "scan.h"

#include <string.h>

/* Up to so many blocks one has one sequence, so that it is over as soon as it can be: about one
 * wave of an H100. Beyond it has several, and reads A once for them, while that leaves blocks
 * enough. */
#define BLOCKS_FEW 1024
#define BLOCKS_ENOUGH 2048
#define EACH_ENOUGH 4
#define EACH_MAX 16 /* where the grid has no room for the batch otherwise */

static void
check_strided(struct wsk_call *c, const struct wsk_strided *t, const int64_t *extents, bool needed,
	const char *name)
{
	wsk_check_address(c, t->data, wsk_type_bytes(t->type), needed, name);
	wsk_require(c, !t->data || wsk_is_type(t->type), WSK_ERR_UNSUPPORTED, name,
		"of type WSK_FLOAT16, WSK_BFLOAT16 or WSK_FLOAT32");
	if (t->data) {
		wsk_check_strides(c, t->stride, extents, 3, name);
	}
}

static void
check_shape(struct wsk_call *c, const struct wsk_update *in)
{
	wsk_require(c, wsk_is_type(in->type), WSK_ERR_UNSUPPORTED, "type",
		"WSK_FLOAT16, WSK_BFLOAT16 or WSK_FLOAT32");
	wsk_require(
		c, in->batch >= 1 && in->batch <= WSK_BATCH_MAX, WSK_ERR_RANGE, "batch", "1 to 2^24");
	wsk_require(c, in->entries >= 1, WSK_ERR_RANGE, "entries", "1 to 2^31 - 1");
	wsk_require(c, in->indices || in->entries >= in->batch, WSK_ERR_RANGE, "entries",
		"at least batch without indices");
	wsk_require(c, in->heads >= 1 && in->heads <= 1 << 20, WSK_ERR_RANGE, "heads", "1 to 2^20");
	wsk_require(
		c, in->channels >= 1 && in->channels <= 1 << 24, WSK_ERR_RANGE, "channels", "1 to 2^24");
	wsk_require(c, in->states >= 1 && in->states <= 1 << 16, WSK_ERR_RANGE, "states", "1 to 65536");
	wsk_require(
		c, in->groups >= 1 && in->groups <= in->heads, WSK_ERR_RANGE, "groups", "1 to heads");
	wsk_require(c, in->groups < 1 || in->heads % in->groups == 0, WSK_ERR_ARGUMENT, "heads",
		"a multiple of groups");
}

static void
check_update(struct wsk_call *c, const struct wsk_update *in)
{
	const int64_t rows[] = {in->batch, in->heads, in->channels};
	const int64_t weights[] = {in->heads, in->channels, in->states};
	const int64_t inputs[] = {in->batch, in->groups, in->states};
	const int64_t heads[] = {in->heads, in->channels, 1};
	const int64_t state[] = {in->entries, in->heads, in->channels, in->states};
	const int64_t strides[] = {in->state_stride_entry, in->state_stride_head,
		in->state_stride_channel, in->state_stride_state};
	check_shape(c, in);
	wsk_check_address(c, in->state, wsk_type_bytes(in->type), true, "state");
	wsk_check_strides(c, strides, state, 4, "state");
	for (int i = 0; i < 4; i++) {
		wsk_require(c, strides[i] > 0 || state[i] == 1, WSK_ERR_ARGUMENT, "state",
			"without a stride of 0: it is written");
	}
	check_strided(c, &in->x, rows, true, "x");
	check_strided(c, &in->dt, rows, true, "dt");
	check_strided(c, &in->z, rows, false, "z");
	check_strided(c, &in->out, rows, true, "out");
	check_strided(c, &in->a, weights, true, "a");
	check_strided(c, &in->b, inputs, true, "b");
	check_strided(c, &in->c, inputs, true, "c");
	check_strided(c, &in->d, heads, false, "d");
	check_strided(c, &in->dt_bias, heads, false, "dt_bias");
	wsk_check_address(c, in->indices, 4, false, "indices");
}

/* @a count elements from each multiple of @a count on lie side by side, at 16 bytes. */
static bool
is_wide(uint64_t data, int count, unsigned bytes, const int64_t *strides, int dimensions)
{
	bool wide = data % ((unsigned)count * bytes) == 0 && strides[dimensions - 1] == 1;
	for (int i = 0; i + 1 < dimensions; i++) {
		wide = wide && strides[i] % count == 0;
	}
	return wide;
}

static bool
is_tied(const struct wsk_update *in)
{
	return in->a.stride[1] == 0 && in->a.stride[2] == 0 && in->dt.stride[2] == 0
		&& (!in->dt_bias.data || in->dt_bias.stride[1] == 0);
}

/* States that are 16 bytes. */
static int
states_of_thread(const struct wsk_update *in)
{
	return (int)(16 / wsk_type_bytes(in->type));
}

/* Strides that are less than 2^32 bytes. */
static bool
is_narrow(const int64_t *strides, int count, int32_t type)
{
	for (int i = 0; i < count; i++) {
		if (strides[i] > UINT32_MAX / wsk_type_bytes(type)) {
			return false;
		}
	}
	return true;
}

static bool
is_narrow_all(const struct wsk_update *in)
{
	const int64_t state[] = {
		in->state_stride_entry, in->state_stride_head, in->state_stride_channel};
	const struct wsk_strided *all[] = {
		&in->x, &in->dt, &in->z, &in->out, &in->a, &in->b, &in->c, &in->d, &in->dt_bias};
	bool narrow = is_narrow(state, 3, in->type);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		narrow = narrow && (!all[i]->data || is_narrow(all[i]->stride, 3, all[i]->type));
	}
	return narrow;
}

/* B and C are of x's type, or both float. */
static bool
are_wide(const struct wsk_strided *b, const struct wsk_strided *c, int32_t type)
{
	const unsigned bytes = wsk_type_bytes(b->type);
	return (b->type == type || b->type == WSK_FLOAT32) && c->type == b->type
		&& is_wide(b->data, 4, bytes, b->stride, 3) && is_wide(c->data, 4, bytes, c->stride, 3);
}

static bool
is_type_or_float(const struct wsk_strided *t, int32_t type)
{
	return !t->data || t->type == type || t->type == WSK_FLOAT32;
}

static int
lanes_of(int states)
{
	int lanes = 1;
	while (lanes < 32 && lanes < states) {
		lanes *= 2;
	}
	return lanes;
}

/* Blocks of threads for the channels of a head. */
static int64_t
blocks_of(const struct wsk_update *in, int lanes)
{
	return wsk_divide_up((int64_t)in->channels * lanes, WSK_SCAN_THREADS);
}

/* Sequences for one block of the usual case: one, or as many as a thread has on their way, or
 * more. */
static int32_t
each_of(const struct wsk_update *in, int lanes)
{
	const int64_t blocks = blocks_of(in, lanes) * in->heads * in->batch;
	int32_t each = 16 / states_of_thread(in);
	if (blocks <= BLOCKS_FEW || in->batch == 1 || in->b.type != in->x.type) {
		return 1;
	}
	while ((each < EACH_ENOUGH && blocks / (2 * each) >= BLOCKS_ENOUGH)
		|| (each < EACH_MAX && in->batch > (int64_t)each * WSK_GRID_SIDE_MAX)) {
		each *= 2;
	}
	return each;
}

/*
 * The conditions of the kernels for the usual case. D must be present: a test at each channel
 * needed registers, and without these the loads waited for each other.
 */
static bool
is_usual(const struct wsk_update *in)
{
	const int64_t strides[] = {in->state_stride_entry, in->state_stride_head,
		in->state_stride_channel, in->state_stride_state};
	const int32_t type = in->x.type, count = states_of_thread(in);
	return in->states % count == 0 && in->states <= 32 * count
		&& is_wide(in->state, count, wsk_type_bytes(in->type), strides, 4) && in->dt.type == type
		&& in->out.type == type && (!in->z.data || in->z.type == type) && in->a.type == WSK_FLOAT32
		&& in->d.data && is_type_or_float(&in->d, type) && is_type_or_float(&in->dt_bias, type)
		&& is_narrow_all(in) && (is_tied(in) || is_wide(in->a.data, 4, 4, in->a.stride, 3))
		&& are_wide(&in->b, &in->c, type) && in->heads <= WSK_GRID_SIDE_MAX
		&& wsk_divide_up(in->batch, each_of(in, lanes_of(in->states / count))) <= WSK_GRID_SIDE_MAX;
}

/* True for the usual case: one sequence, as a model of Mamba decodes it. */
static bool
is_alone(const struct wsk_update *in)
{
	const int lanes = WSK_UPDATE_ALONE_STATES / states_of_thread(in);
	return in->batch == 1 && in->heads == 1 && in->states == WSK_UPDATE_ALONE_STATES
		&& in->channels % (WSK_SCAN_THREADS / lanes) == 0 && !in->indices && !is_tied(in)
		&& in->b.type == in->x.type && in->z.data && in->dt_bias.data;
}

static struct wsk_divisor
divisor(int64_t by)
{
	uint32_t shift = 0;
	while ((int64_t)1 << shift < by) {
		shift++;
	}
	uint64_t rest = (((uint64_t)1 << shift) - (uint64_t)by) << 32;
	return (struct wsk_divisor){(uint32_t)(rest / (uint64_t)by + 1), shift};
}

static struct wsk_wide_rows
wide_rows(const struct wsk_strided *t)
{
	const uint32_t bytes = wsk_type_bytes(t->type);
	return (struct wsk_wide_rows){t->data, (uint32_t)t->stride[0] * bytes,
		(uint32_t)t->stride[1] * bytes, (uint32_t)t->stride[2] * bytes, 0};
}

static struct wsk_wide_pairs
wide_pairs(const struct wsk_strided *t)
{
	const uint32_t bytes = wsk_type_bytes(t->type);
	return (struct wsk_wide_pairs){
		t->data, {(uint32_t)t->stride[0] * bytes, (uint32_t)t->stride[1] * bytes}};
}

static uint32_t
flags_of(const struct wsk_update *in)
{
	const struct {
		bool holds;
		uint32_t flag;
	} all[] = {
		{in->softplus, WSK_UPDATE_SOFTPLUS},
		{is_tied(in), WSK_UPDATE_TIED},
		{in->z.data, WSK_UPDATE_Z},
		{in->dt_bias.data, WSK_UPDATE_BIAS},
		{in->d.type == WSK_FLOAT32, WSK_UPDATE_FLOAT_D},
		{in->dt_bias.type == WSK_FLOAT32, WSK_UPDATE_FLOAT_BIAS},
		{in->b.type != in->x.type, WSK_UPDATE_FLOAT_BC},
	};
	uint32_t flags = 0;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		flags |= all[i].holds ? all[i].flag : 0;
	}
	return flags;
}

static int
launch_usual(struct wsk_call *c, const struct wsk_update *in, int kernel)
{
	const int used = in->states / states_of_thread(in), lanes = lanes_of(used);
	const struct wsk_strided state = {in->state,
		{in->state_stride_entry, in->state_stride_head, in->state_stride_channel}, in->type, 0};
	/* Where z or dt_bias is absent the kernel reads x or A in its place, and does not use it. */
	struct wsk_update_wide_params params = {
		.state = wide_rows(&state),
		.x = wide_rows(&in->x),
		.dt = wide_rows(&in->dt),
		.z = wide_rows(in->z.data ? &in->z : &in->x),
		.out = wide_rows(&in->out),
		.a = wide_pairs(&in->a),
		.b = wide_pairs(&in->b),
		.c = wide_pairs(&in->c),
		.d = wide_pairs(&in->d),
		.dt_bias = in->dt_bias.data ? wide_pairs(&in->dt_bias)
									: (struct wsk_wide_pairs){.data = in->a.data},
		.indices = in->indices,
		.batch = in->batch,
		.channels = (uint32_t)in->channels,
		.entries = in->entries,
		.each = each_of(in, lanes),
		.by_group_heads = divisor(in->heads / in->groups),
		.flags = flags_of(in),
		.lane_bits = (uint16_t)__builtin_ctz((unsigned)lanes),
		.lanes = (uint16_t)used,
	};
	const struct wsk_grid grid = {
		blocks_of(in, lanes), in->heads, wsk_divide_up(in->batch, params.each)};
	return wsk_launch_grid(
		c, kernel, &grid, WSK_SCAN_THREADS, &params, "fewer channels, heads and sequences");
}

static struct wsk_update_view
view_of(const struct wsk_strided *t)
{
	return (struct wsk_update_view){
		t->data, {t->stride[0], t->stride[1], t->stride[2]}, t->type, 0};
}

static int
launch_any(struct wsk_call *c, const struct wsk_update *in, int kernel)
{
	const int lanes = lanes_of(in->states);
	const int64_t blocks = blocks_of(in, lanes), each = blocks * in->heads;
	struct wsk_state_update_params params = {
		.x = view_of(&in->x),
		.dt = view_of(&in->dt),
		.z = view_of(&in->z),
		.out = view_of(&in->out),
		.a = view_of(&in->a),
		.b = view_of(&in->b),
		.c = view_of(&in->c),
		.d = view_of(&in->d),
		.dt_bias = view_of(&in->dt_bias),
		.state = in->state,
		.state_entry = in->state_stride_entry,
		.state_head = in->state_stride_head,
		.state_channel = in->state_stride_channel,
		.state_state = in->state_stride_state,
		.indices = in->indices,
		.batch = in->batch,
		.heads = in->heads,
		.channels = in->channels,
		.states = in->states,
		.group_heads = in->heads / in->groups,
		.entries = in->entries,
		.softplus = in->softplus != 0,
		.lanes = lanes,
		.blocks = (int32_t)blocks,
	};
	return wsk_launch_kernel(c, kernel, each > WSK_GRID_MAX ? INT64_MAX : each * in->batch,
		WSK_SCAN_THREADS, &params, "fewer channels, heads and sequences");
}

static const struct wsk_versioned UPDATE = WSK_FIRST_VERSION(wsk_update, "update");

int
wsk_state_update(const struct wsk_handle *handle, const struct wsk_update *update, void *stream,
	struct wsk_problem *problem)
{
	struct wsk_call c = {handle, stream, problem, NULL, WSK_OK};
	struct wsk_update in;
	if (wsk_begin(&c, &UPDATE, update, &in) != WSK_OK) {
		return c.status;
	}
	check_update(&c, &in);
	if (wsk_need_image(&c, WSK_SCAN, "update", "WSK_SCAN") != WSK_OK) {
		return c.status;
	}
	const int kernel = (in.type - WSK_FLOAT16) * WSK_SCAN_KERNEL_TYPED;
	if (!is_usual(&in)) {
		return launch_any(&c, &in, kernel + WSK_SCAN_KERNEL_UPDATE_ANY);
	}
	const int first = is_alone(&in) ? WSK_SCAN_KERNEL_UPDATE_ALONE : WSK_SCAN_KERNEL_UPDATE;
	return launch_usual(&c, &in, kernel + first + in.x.type - WSK_FLOAT16);
}
