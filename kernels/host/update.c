/* update.c - one time step of the scan: checks every number, launches. */
#include "../device/scan_params.h"
#include "check.h"
#include "scan.h"

#include <string.h>

/* A block does several sequences, and reads A once for them, where that leaves blocks enough for any
 * device. */
#define EACH_MAX 8
#define BLOCKS_ENOUGH 4096

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
		"at least batch where there are no indices");
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

static struct wsk_update_view
view_of(const struct wsk_strided *t)
{
	return (struct wsk_update_view){
		t->data, {t->stride[0], t->stride[1], t->stride[2]}, t->type, 0};
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

/* Strides that fit in 32 bits. */
static bool
is_narrow(const int64_t *strides, int count)
{
	for (int i = 0; i < count; i++) {
		if (strides[i] > INT32_MAX) {
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
	bool narrow = is_narrow(state, 3);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		narrow = narrow && (!all[i]->data || is_narrow(all[i]->stride, 3));
	}
	return narrow;
}

static bool
matrix_is_wide(const struct wsk_strided *m, int32_t type)
{
	return (m->type == type || m->type == WSK_FLOAT32)
		&& is_wide(m->data, 4, wsk_type_bytes(m->type), m->stride, 3);
}

/* What the kernels for the usual case ask for. */
static bool
is_usual(const struct wsk_update *in)
{
	const int64_t strides[] = {in->state_stride_entry, in->state_stride_head,
		in->state_stride_channel, in->state_stride_state};
	const int32_t type = in->x.type, count = states_of_thread(in);
	return in->states % count == 0 && in->states <= 32 * count
		&& is_wide(in->state, count, wsk_type_bytes(in->type), strides, 4) && in->dt.type == type
		&& in->out.type == type && (!in->z.data || in->z.type == type) && in->a.type == WSK_FLOAT32
		&& is_narrow_all(in) && (is_tied(in) || is_wide(in->a.data, 4, 4, in->a.stride, 3))
		&& matrix_is_wide(&in->b, type) && matrix_is_wide(&in->c, type);
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

static struct wsk_state_update_params
params_of(const struct wsk_update *in, bool usual)
{
	const int64_t strides[] = {in->state_stride_entry, in->state_stride_head,
		in->state_stride_channel, in->state_stride_state};
	const int lanes = lanes_of(usual ? in->states / states_of_thread(in) : in->states);
	const int64_t blocks = wsk_divide_up((int64_t)in->channels * lanes, WSK_SCAN_THREADS);
	int32_t each = 1;
	while (
		usual && each < EACH_MAX && blocks * in->heads * in->batch / (2 * each) >= BLOCKS_ENOUGH) {
		each *= 2;
	}
	return (struct wsk_state_update_params){
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
		.state_entry = strides[0],
		.state_head = strides[1],
		.state_channel = strides[2],
		.state_state = strides[3],
		.indices = in->indices,
		.batch = in->batch,
		.heads = in->heads,
		.channels = in->channels,
		.states = in->states,
		.group_heads = in->heads / in->groups,
		.entries = in->entries,
		.softplus = in->softplus != 0,
		.tied = is_tied(in),
		.by_blocks = divisor(blocks),
		.by_heads = divisor(in->heads),
		.by_group_heads = divisor(in->heads / in->groups),
		.lanes = lanes,
		.lane_bits = __builtin_ctz((unsigned)lanes),
		.blocks = (int32_t)blocks,
		.each = each,
	};
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
	const bool usual = is_usual(&in);
	struct wsk_state_update_params params = params_of(&in, usual);
	int64_t each = (int64_t)params.blocks * in.heads;
	int64_t blocks = each > WSK_GRID_MAX ? INT64_MAX : each * wsk_divide_up(in.batch, params.each);
	int kernel = (in.type - WSK_FLOAT16) * WSK_SCAN_KERNEL_TYPED;
	kernel += usual ? WSK_SCAN_KERNEL_UPDATE + in.x.type - WSK_FLOAT16 : WSK_SCAN_KERNEL_UPDATE_ANY;
	return wsk_launch_kernel(
		&c, kernel, blocks, WSK_SCAN_THREADS, &params, "fewer channels, heads and sequences");
}
