/* test_kernels_update.c - which kernel a state update takes, on how many blocks, and what is
 * refused; without a GPU. */
#include "test.h"

#include "../../kernels/device/scan/params.h"
#include "../support/kernels_driver.h"

/* The decode step of a Mamba model: one sequence of 1536 channels and 16 states. */
static struct wsk_update
sound(void)
{
	struct wsk_strided rows = {64, {1536, 1536, 1}, WSK_FLOAT16, 0};
	struct wsk_strided weights = {64, {1536, 1, 0}, WSK_FLOAT32, 0};
	struct wsk_strided inputs = {64, {16, 16, 1}, WSK_FLOAT16, 0};
	return (struct wsk_update){
		.size = sizeof(struct wsk_update),
		.type = WSK_FLOAT32,
		.batch = 1,
		.heads = 1,
		.channels = 1536,
		.states = 16,
		.groups = 1,
		.entries = 1 << 24,
		.softplus = 1,
		.state = 64,
		.state_stride_entry = 24576,
		.state_stride_head = 24576,
		.state_stride_channel = 16,
		.state_stride_state = 1,
		.x = rows,
		.dt = rows,
		.z = rows,
		.out = rows,
		.a = {64, {24576, 16, 1}, WSK_FLOAT32, 0},
		.b = inputs,
		.c = inputs,
		.d = weights,
		.dt_bias = weights,
	};
}

/* The launch of sound() after change: its kernel and grid. */
#define LAUNCHES(name, nx, ny, nz, change) \
	do { \
		struct wsk_update in = sound(); \
		change; \
		launches = 0; \
		assert_int_equal(wsk_state_update(handle, &in, NULL, NULL), WSK_OK); \
		assert_int_equal(launches, 1); \
		assert_string_equal(launched[0].kernel, "wsk_update_" name); \
		assert_int_equal(launched[0].x, nx); \
		assert_int_equal(launched[0].y, ny); \
		assert_int_equal(launched[0].z, nz); \
	} while (0)
#define REFUSES(status, name, change) \
	do { \
		struct wsk_problem problem = {0}; \
		struct wsk_update in = sound(); \
		change; \
		launches = 0; \
		assert_int_equal(wsk_state_update(handle, &in, NULL, &problem), status); \
		assert_string_equal(problem.argument, name); \
		assert_int_equal(launches, 0); \
	} while (0)

WS_TEST(one_sequence_of_a_model_has_a_kernel_of_its_own)
{
	struct wsk_handle *handle = open_handle(a, WSK_SCAN);
	LAUNCHES("alone_f32_of_f16", 48, 1, 1, (void)0);
	LAUNCHES("alone_f32_of_f16", 48, 1, 1, in.softplus = 0);
	LAUNCHES("alone_f32_of_f16", 48, 1, 1, in.d.type = in.dt_bias.type = WSK_FLOAT16);
	LAUNCHES("alone_f16_of_f16", 24, 1, 1, in.type = WSK_FLOAT16);
	LAUNCHES("alone_f32_of_f16", 1 << 16, 1, 1, in.channels = 1 << 21);
	/* Anything else of it takes the kernel for all usual cases. */
	LAUNCHES("f32_of_f16", 48, 1, 1, in.indices = 64);
	LAUNCHES("f32_of_f16", 48, 1, 1, in.z.data = 0);
	LAUNCHES("f32_of_f16", 48, 1, 1, in.dt_bias.data = 0);
	LAUNCHES("f32_of_f16", 48, 1, 1, in.channels = 1535);
	LAUNCHES("f16_of_f16", 24, 1, 1, (in.type = WSK_FLOAT16, in.channels = 1504));
	LAUNCHES("f32_of_f16", 24, 1, 1, in.states = 8);
	LAUNCHES("f32_of_f16", 48, 2, 1, in.heads = 2);
	LAUNCHES("f32_of_f16", 48, 1, 2, in.batch = 2);
	LAUNCHES("f32_of_f16", 48, 1, 1, in.b.type = in.c.type = WSK_FLOAT32);
	LAUNCHES("f32_of_f16", 48, 1, 1,
		in.a.stride[1] = in.a.stride[2] = in.dt.stride[2] = in.dt_bias.stride[1] = 0);
}

WS_TEST(a_block_has_several_sequences_where_there_are_many)
{
	struct wsk_handle *handle = open_handle(a, WSK_SCAN);
	/* As many as a thread has on their way: four of float32, two of 16 bits, and four beyond 2048
	 * blocks. */
	LAUNCHES("f32_of_f16", 48, 1, 21, in.batch = 21);
	LAUNCHES("f32_of_f16", 48, 1, 6, in.batch = 22);
	LAUNCHES("f32_of_f16", 48, 1, 86, in.batch = 341);
	LAUNCHES("f32_of_f16", 48, 1, 86, in.batch = 342);
	LAUNCHES("f32_of_f16", 48, 1, 1024, in.batch = 4096);
	LAUNCHES("f16_of_f16", 24, 1, 42, (in.type = WSK_FLOAT16, in.batch = 42));
	LAUNCHES("f16_of_f16", 24, 1, 22, (in.type = WSK_FLOAT16, in.batch = 43));
	LAUNCHES("f16_of_f16", 24, 1, 171, (in.type = WSK_FLOAT16, in.batch = 341));
	LAUNCHES("f16_of_f16", 24, 1, 86, (in.type = WSK_FLOAT16, in.batch = 342));
	LAUNCHES("f16_of_f16", 24, 1, 1024, (in.type = WSK_FLOAT16, in.batch = 4096));
	LAUNCHES("f32_of_f16", 48, 1, 4096, (in.batch = 4096, in.b.type = in.c.type = WSK_FLOAT32));
}

/* The parameters of the last launch of the usual case. */
static struct wsk_update_wide_params given;

static void
keep_params(const char *kernel, const void *params)
{
	assert_null(strstr(kernel, "any"));
	given = *(const struct wsk_update_wide_params *)params;
}

WS_TEST(one_sequence_alone_loads_no_other_however_many_heads_there_are)
{
	struct wsk_handle *handle = open_handle(a, WSK_SCAN);
	on_launch = keep_params;
	LAUNCHES("f32_of_f16", 48, 80, 1, in.heads = 80);
	assert_int_equal(given.each, 1);
	LAUNCHES("f32_of_f16", 48, 80, 1, (in.heads = 80, in.batch = 2));
	assert_int_equal(given.each, 4);
	on_launch = NULL;
}

WS_TEST(an_unusual_call_takes_the_general_kernel)
{
	const int64_t most = UINT32_MAX / 2;
	struct wsk_handle *handle = open_handle(a, WSK_SCAN);
	LAUNCHES("any_f32", 192, 1, 1, in.state_stride_state = 2);
	LAUNCHES("any_f32", 192, 1, 1, in.state_stride_channel = 18);
	LAUNCHES("any_f32", 192, 1, 1, in.state = 68);
	LAUNCHES("any_f32", 96, 1, 1, in.states = 7);
	LAUNCHES("any_f32", 384, 1, 1, in.states = 132);
	LAUNCHES("any_f32", 192, 1, 1, in.dt.type = WSK_FLOAT32);
	LAUNCHES("any_f32", 192, 1, 1, in.z.type = WSK_FLOAT32);
	LAUNCHES("any_f32", 192, 1, 1, in.a.type = WSK_FLOAT16);
	LAUNCHES("any_f32", 192, 1, 1, in.a.data = 68);
	LAUNCHES("any_f32", 192, 1, 1, in.b.data = 66);
	LAUNCHES("any_f32", 192, 1, 1, in.c.type = WSK_FLOAT32);
	LAUNCHES("any_f32", 192, 1, 1, in.d.type = WSK_BFLOAT16);
	LAUNCHES("any_f32", 192, 1, 1, in.d.data = 0);
	LAUNCHES("any_f32", 192, 1, 1, in.dt_bias.type = WSK_BFLOAT16);
	/* Strides in bytes have 32 bits there; of what is absent none counts. */
	LAUNCHES("f32_of_f16", 48, 1, 3, (in.batch = 3, in.x.stride[0] = most));
	LAUNCHES("any_f32", 576, 1, 1, (in.batch = 3, in.x.stride[0] = most + 1));
	LAUNCHES("any_f32", 192, 1, 1, in.state_stride_entry = (int64_t)1 << 30);
	LAUNCHES("f32_of_f16", 48, 1, 1, (in.z.data = 0, in.z.stride[0] = most + 1));
	/* And the grid's second and third dimension have 16. */
	LAUNCHES("f32_of_f16", 48, 65535, 1, in.heads = 65535);
	LAUNCHES("any_f32", 192 * 65536, 1, 1, in.heads = 65536);
	LAUNCHES("f32_of_f16", 1, 1, 65535, (in.batch = 16 * 65535, in.channels = 8));
	LAUNCHES("any_f32", 16 * 65535 + 1, 1, 1, (in.batch = 16 * 65535 + 1, in.channels = 8));
	REFUSES(WSK_ERR_RANGE, "batch", (in.heads = 65536, in.batch = 256));
}

WS_TEST(a_wrong_state_update_is_refused)
{
	struct wsk_handle *handle = open_handle(a, WSK_SCAN);
	REFUSES(WSK_ERR_ARGUMENT, "update.size", in.size -= 8);
	REFUSES(WSK_ERR_UNSUPPORTED, "type", in.type = 0);
	REFUSES(WSK_ERR_RANGE, "batch", in.batch = (1 << 24) + 1);
	REFUSES(WSK_ERR_RANGE, "entries", (in.batch = 2, in.entries = 1));
	REFUSES(WSK_ERR_RANGE, "channels", in.channels = 0);
	REFUSES(WSK_ERR_RANGE, "groups", in.groups = 2);
	REFUSES(WSK_ERR_ARGUMENT, "heads", (in.heads = 3, in.groups = 2));
	REFUSES(WSK_ERR_ARGUMENT, "state", in.state_stride_channel = 0);
	REFUSES(WSK_ERR_UNSUPPORTED, "b", in.b.type = 9);
	REFUSES(WSK_ERR_ALIGNMENT, "x", in.x.data = 65);
	REFUSES(WSK_ERR_RANGE, "dt", in.dt.stride[2] = -1);
	REFUSES(WSK_ERR_ALIGNMENT, "indices", in.indices = 66);
}
