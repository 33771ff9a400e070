/* test_kernels_conv.c - what the kernels' library refuses of a convolution, and how it cuts it up,
 * without a GPU. */
#include "test.h"

#include "../support/kernels_driver.h"

/* 2 sequences of 100 rows of 64 channels, which are contiguous. */
static struct wsk_conv
sound(void)
{
	struct wsk_plane x = {4096, 6400, 1, 64}, states = {8192, 192, 1, 64};
	return (struct wsk_conv){
		.size = sizeof(struct wsk_conv),
		.type = WSK_FLOAT16,
		.weight_type = WSK_FLOAT32,
		.width = 4,
		.batch = 2,
		.dim = 64,
		.length = 100,
		.silu = 1,
		.x = x,
		.out = x,
		.weight = 64,
		.weight_stride_channel = 4,
		.weight_stride_tap = 1,
		.bias = 64,
		.initial_states = states,
		.final_states = states,
		.grad_out = x,
		.grad_x = x,
		.grad_initial_states = states,
		.grad_final_states = states,
		.grad_weight = 64,
		.grad_weight_stride_channel = 4,
		.grad_weight_stride_tap = 1,
		.grad_bias = 64,
		.grad_type = WSK_FLOAT32,
		.scratch = 64,
		.scratch_size = 1u << 24,
	};
}

static struct wsk_conv_step
sound_step(void)
{
	struct wsk_plane x = {4096, 64, 1, 1}, state = {8192, 256, 4, 1};
	return (struct wsk_conv_step){
		.size = sizeof(struct wsk_conv_step),
		.type = WSK_FLOAT16,
		.weight_type = WSK_FLOAT16,
		.width = 4,
		.batch = 3,
		.dim = 64,
		.length = 1,
		.x = x,
		.out = x,
		.weight = 64,
		.weight_stride_channel = 4,
		.weight_stride_tap = 1,
		.state = state,
		.state_length = 4,
		.entries = 3,
	};
}

#define REFUSES(make, call, status, name, change) \
	do { \
		struct wsk_problem problem = {0}; \
		make; \
		change; \
		assert_int_equal(call(handle, &in, NULL, &problem), status); \
		assert_string_equal(problem.argument, name); \
		assert_non_null(problem.expected); \
		assert_int_equal(call(handle, &in, NULL, NULL), status); \
		assert_int_equal(launches, 0); \
	} while (0)
#define FORWARD(status, name, change) \
	REFUSES(struct wsk_conv in = sound(), wsk_conv_forward, status, name, change)
#define BACKWARD(status, name, change) \
	REFUSES(struct wsk_conv in = sound(), wsk_conv_backward, status, name, change)
#define UPDATE(status, name, change) \
	REFUSES(struct wsk_conv_step in = sound_step(), wsk_conv_update, status, name, change)

WS_TEST(a_valid_call_is_launched)
{
	struct wsk_handle *handle = open_handle(a, WSK_CONV);
	struct wsk_conv in = sound();
	struct wsk_conv_step step = sound_step();
	assert_int_equal(wsk_conv_forward(handle, &in, NULL, NULL), WSK_OK);
	assert_int_equal(launches, 1);
	assert_int_equal(wsk_conv_backward(handle, &in, NULL, NULL), WSK_OK);
	assert_int_equal(launches, 3);
	assert_int_equal(wsk_conv_update(handle, &step, NULL, NULL), WSK_OK);
	assert_int_equal(launches, 4);
	/* Forward works without gradients. */
	in.size = offsetof(struct wsk_conv, grad_out);
	assert_int_equal(wsk_conv_forward(handle, &in, NULL, NULL), WSK_OK);
	/* Contiguous rows, without states. */
	struct wsk_plane rows = {4096, 6400, 100, 1};
	in = sound();
	in.x = in.out = rows;
	in.initial_states.data = in.final_states.data = 0;
	assert_int_equal(wsk_conv_forward(handle, &in, NULL, NULL), WSK_OK);
	assert_int_equal(wsk_close(handle), WSK_OK);
}

WS_TEST(every_wrong_number_is_named)
{
	struct wsk_handle *handle = open_handle(a, WSK_CONV);
	FORWARD(WSK_ERR_ARGUMENT, "conv.size", in.size = 16);
	FORWARD(WSK_ERR_ARGUMENT, "conv.size", in.size += 8);
	FORWARD(WSK_ERR_UNSUPPORTED, "type", in.type = 4);
	FORWARD(WSK_ERR_UNSUPPORTED, "weight_type", in.weight_type = 0);
	FORWARD(WSK_ERR_UNSUPPORTED, "width", in.width = 5);
	FORWARD(WSK_ERR_UNSUPPORTED, "width", in.width = 1);
	FORWARD(WSK_ERR_RANGE, "batch", in.batch = 0);
	FORWARD(WSK_ERR_RANGE, "dim", in.dim = -1);
	FORWARD(WSK_ERR_RANGE, "dim", (in.dim = 1 << 20, in.batch = 1 << 20));
	FORWARD(WSK_ERR_RANGE, "length", in.length = 0);
	FORWARD(WSK_ERR_RANGE, "length", in.length = INT32_MAX);
	FORWARD(WSK_ERR_ARGUMENT, "silu", in.silu = 2);
	FORWARD(WSK_ERR_ARGUMENT, "x", in.x.data = 0);
	FORWARD(WSK_ERR_ALIGNMENT, "x", in.x.data = 4097);
	FORWARD(WSK_ERR_RANGE, "x", in.x.stride_row = -64);
	FORWARD(WSK_ERR_RANGE, "x", in.x.stride_batch = INT64_MAX);
	FORWARD(WSK_ERR_ARGUMENT, "x", in.x.stride_channel = 2);
	FORWARD(WSK_ERR_ARGUMENT, "x", in.out.stride_channel = 2);
	FORWARD(WSK_ERR_ARGUMENT, "out", in.out.stride_row = 0);
	FORWARD(WSK_ERR_ALIGNMENT, "weight", in.weight = 66);
	FORWARD(WSK_ERR_RANGE, "weight", in.weight_stride_tap = -1);
	FORWARD(WSK_ERR_ALIGNMENT, "bias", in.bias = 2);
	FORWARD(WSK_ERR_ALIGNMENT, "seq_idx", in.seq_idx = 2);
	FORWARD(WSK_ERR_ARGUMENT, "seq_idx", in.seq_idx = 64);
	FORWARD(WSK_ERR_ARGUMENT, "initial_states", in.initial_states.stride_channel = 3);
	FORWARD(WSK_ERR_ARGUMENT, "final_states", in.final_states.stride_batch = 0);
	FORWARD(WSK_ERR_ARGUMENT, "x",
		(in.x.stride_row = in.out.stride_row = 1,
			in.x.stride_channel = in.out.stride_channel = 100));
	BACKWARD(WSK_ERR_ARGUMENT, "grad_out", in.grad_out.data = 0);
	BACKWARD(WSK_ERR_ARGUMENT, "grad_x", in.grad_x.data = 0);
	BACKWARD(WSK_ERR_ARGUMENT, "grad_weight", in.grad_weight = 0);
	BACKWARD(WSK_ERR_UNSUPPORTED, "grad_type", in.grad_type = 0);
	BACKWARD(WSK_ERR_ARGUMENT, "scratch", in.scratch = 0);
	BACKWARD(WSK_ERR_RANGE, "scratch_size", in.scratch_size = 64);
	UPDATE(WSK_ERR_ARGUMENT, "step.size", in.size -= 8);
	UPDATE(WSK_ERR_RANGE, "state_length", in.state_length = 2);
	UPDATE(WSK_ERR_RANGE, "entries", in.entries = 2);
	UPDATE(WSK_ERR_ARGUMENT, "state", in.state.data = 0);
	UPDATE(WSK_ERR_ARGUMENT, "state", in.state.stride_row = 0);
	UPDATE(WSK_ERR_ALIGNMENT, "cache_seqlens", in.cache_seqlens = 2);
	UPDATE(WSK_ERR_ALIGNMENT, "indices", in.indices = 1);
}

WS_TEST(scratch_is_enough_for_what_is_launched)
{
	struct wsk_handle *handle = open_handle(a, WSK_CONV);
	for (int32_t length = 1; length < 9000; length = length * 3 + 1) {
		for (int rows = 0; rows < 2; rows++) {
			struct wsk_conv in = sound();
			struct wsk_plane plane = {4096, 64 * (int64_t)length, rows ? length : 1, rows ? 1 : 64};
			in.length = length;
			in.x = in.grad_out = in.grad_x = plane;
			in.initial_states.data = in.grad_initial_states.data = in.grad_final_states.data = 0;
			in.scratch_size = wsk_conv_scratch(&in);
			assert_int_equal(wsk_conv_backward(handle, &in, NULL, NULL), WSK_OK);
		}
	}
	struct wsk_conv in = sound();
	in.width = 9;
	assert_true(wsk_conv_scratch(&in) == UINT64_MAX);
}

/* A convolution without states at @a data, of contiguous rows or contiguous channels. */
static struct wsk_conv
cut_up(uint64_t data, bool rows, int32_t batch, int32_t dim, int32_t length)
{
	struct wsk_conv in = sound();
	in.batch = batch, in.dim = dim, in.length = length;
	in.x = in.out = in.grad_out = in.grad_x =
		(struct wsk_plane){data, (int64_t)dim * length, rows ? length : 1, rows ? 1 : dim};
	in.initial_states.data = in.final_states.data = 0;
	in.grad_initial_states.data = in.grad_final_states.data = 0;
	in.scratch_size = UINT64_MAX;
	return in;
}

/* The launch: its kernel and the number of blocks. */
#define LAUNCHES(call, name, blocks, ...) \
	do { \
		struct wsk_conv in = cut_up(__VA_ARGS__); \
		launches = 0; \
		assert_int_equal(call(handle, &in, NULL, NULL), WSK_OK); \
		assert_string_equal(launched[0].kernel, "wsk_conv_" name "_f16"); \
		assert_int_equal(launched[0].x, blocks); \
		assert_true(launched[0].y == 1 && launched[0].z == 1); \
	} while (0)

WS_TEST(contiguous_channels_are_cut_into_as_few_rounds_of_rows_as_can_be)
{
	struct wsk_handle *handle = open_handle(a, WSK_CONV);
	/* Runs of 8 rows where there is little; of 64 forward and 128 backward where there is much. */
	LAUNCHES(wsk_conv_forward, "last_forward", 4, 4096, false, 2, 64, 100);
	LAUNCHES(wsk_conv_forward, "last_forward", 131072, 4096, false, 1, 4096, 1 << 20);
	LAUNCHES(wsk_conv_backward, "last_backward", 8, 4096, false, 2, 64, 100);
	LAUNCHES(wsk_conv_backward, "last_backward", 65536, 4096, false, 1, 4096, 1 << 20);
	/* 24 rows: 88,064 threads are one round; 32: 512 blocks are one. */
	LAUNCHES(wsk_conv_forward, "last_forward", 688, 4096, false, 1, 4096, 2048);
	LAUNCHES(wsk_conv_backward, "last_backward", 512, 4096, false, 1, 4096, 2048);
	/* Neither 64 nor 8 is best: 56 rows in 3 rounds. */
	LAUNCHES(wsk_conv_forward, "last_forward", 2368, 4096, false, 8, 4096, 2048);
}

WS_TEST(contiguous_rows_are_cut_where_there_are_few)
{
	struct wsk_handle *handle = open_handle(a, WSK_CONV);
	/* 10 chunks of 1024 elements in each row, 4 rows in a block. */
	LAUNCHES(wsk_conv_forward, "first_forward", 160, 4096, true, 1, 64, 10000);
	LAUNCHES(wsk_conv_backward, "first_backward", 160, 4096, true, 1, 64, 10000);
	/* 16,384 rows are warps enough for backward; forward has two of a row's chunks for each. */
	LAUNCHES(wsk_conv_forward, "first_forward", 8192, 4096, true, 1, 16384, 4096);
	LAUNCHES(wsk_conv_backward, "first_backward", 4096, 4096, true, 1, 16384, 4096);
	LAUNCHES(wsk_conv_forward, "first_forward", 32768, 4096, true, 8, 8192, 4096);
	/* And one where two would leave fewer than 16,384 warps. */
	LAUNCHES(wsk_conv_forward, "first_forward", 4096, 4096, true, 1, 8192, 4096);
	LAUNCHES(wsk_conv_forward, "first_forward", 8188, 4096, true, 1, 8188, 4096);
	/* A row that begins behind 16 bytes is taken from before them, and may reach into one chunk
	 * more. */
	LAUNCHES(wsk_conv_forward, "first_forward", 2, 4096, true, 2, 3, 1024);
	LAUNCHES(wsk_conv_forward, "first_forward", 4, 4098, true, 2, 3, 1024);
}

WS_TEST(rows_of_one_chunk_are_two_sequences_a_warp)
{
	struct wsk_handle *handle = open_handle(a, WSK_CONV);
	LAUNCHES(wsk_conv_forward, "first_forward", 6144, 4096, true, 32, 1536, 1000);
	LAUNCHES(wsk_conv_backward, "first_backward", 6144, 4096, true, 32, 1536, 1000);
	/* The last of 33 is a warp's only one. */
	LAUNCHES(wsk_conv_forward, "first_forward", 6528, 4096, true, 33, 1536, 1000);
	LAUNCHES(wsk_conv_backward, "first_backward", 6528, 4096, true, 33, 1536, 1000);
	/* Where that leaves 16,384 warps, rows are whole pieces and no more than one chunk. */
	LAUNCHES(wsk_conv_forward, "first_forward", 4096, 4096, true, 2, 16384, 1000);
	LAUNCHES(wsk_conv_forward, "first_forward", 8190, 4096, true, 2, 16380, 1000);
	LAUNCHES(wsk_conv_forward, "first_forward", 8192, 4096, true, 1, 32768, 1000);
	LAUNCHES(wsk_conv_forward, "first_forward", 12288, 4096, true, 32, 1536, 1001);
	LAUNCHES(wsk_conv_backward, "first_backward", 12288, 4098, true, 32, 1536, 1000);
	LAUNCHES(wsk_conv_forward, "first_forward", 12288, 4096, true, 32, 1536, 1032);
	/* Each warp has one sum of each weight. */
	struct wsk_conv in = cut_up(4096, true, 33, 1536, 1000);
	in.scratch_size = 4 * 17 * 1536 * 5;
	assert_int_equal(wsk_conv_backward(handle, &in, NULL, NULL), WSK_OK);
	in.scratch_size--;
	assert_int_equal(wsk_conv_backward(handle, &in, NULL, NULL), WSK_ERR_RANGE);
}

/* Refused, as @a in asks for one too many of what a grid has; as many @a fewer rows are @a
 * blocks. */
static void
assert_most(struct wsk_handle *handle, struct wsk_conv in, int32_t fewer, unsigned blocks)
{
	struct wsk_problem problem = {0};
	launches = 0;
	assert_int_equal(wsk_conv_forward(handle, &in, NULL, &problem), WSK_ERR_RANGE);
	assert_string_equal(problem.argument, "batch");
	assert_int_equal(launches, 0);
	in.length -= fewer;
	assert_int_equal(wsk_conv_forward(handle, &in, NULL, &problem), WSK_OK);
	assert_int_equal(launched[0].x, blocks);
}

WS_TEST(more_than_a_grid_has_is_refused)
{
	struct wsk_handle *handle = open_handle(a, WSK_CONV);
	/* 2^31 threads; one run of 64 rows less for each of 2^14. */
	assert_most(handle, cut_up(4096, false, 1, 1 << 16, 1 << 23), 64, (1 << 24) - (1 << 7));
	/* 2^31 blocks; one piece of 2 chunks less for each of 2^14. */
	assert_most(handle, cut_up(4096, true, 1, 1 << 16, 1 << 28), 2048, (1u << 31) - (1 << 14));
	/* More runs than 32 bits can count. */
	struct wsk_conv in = cut_up(4096, false, 1 << 16, 2, 1 << 30);
	assert_int_equal(wsk_conv_forward(handle, &in, NULL, NULL), WSK_ERR_RANGE);
	assert_int_equal(wsk_conv_backward(handle, &in, NULL, NULL), WSK_ERR_RANGE);
}

WS_TEST(an_image_is_loaded_before_it_is_used)
{
	struct wsk_handle *handle = open_handle(a, WSK_ATTENTION_80);
	struct wsk_problem problem = {0};
	struct wsk_conv in = sound();
	assert_int_equal(wsk_conv_forward(handle, &in, NULL, &problem), WSK_ERR_NOT_LOADED);
	assert_int_equal(wsk_conv_forward(NULL, &in, NULL, NULL), WSK_ERR_ARGUMENT);
	assert_int_equal(wsk_conv_update(handle, NULL, NULL, NULL), WSK_ERR_ARGUMENT);
}
