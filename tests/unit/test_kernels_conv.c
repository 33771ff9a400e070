/* test_kernels_conv.c - what the kernels' library refuses of a convolution, without a GPU. */
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

WS_TEST(what_is_sound_is_launched)
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
	/* Who knows no gradients may call forward. */
	in.size = offsetof(struct wsk_conv, grad_out);
	assert_int_equal(wsk_conv_forward(handle, &in, NULL, NULL), WSK_OK);
	/* Contiguous rows, as long as there are no states. */
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

WS_TEST(an_image_is_loaded_before_it_is_used)
{
	struct wsk_handle *handle = open_handle(a, WSK_ATTENTION_80);
	struct wsk_problem problem = {0};
	struct wsk_conv in = sound();
	assert_int_equal(wsk_conv_forward(handle, &in, NULL, &problem), WSK_ERR_NOT_LOADED);
	assert_int_equal(wsk_conv_forward(NULL, &in, NULL, NULL), WSK_ERR_ARGUMENT);
	assert_int_equal(wsk_conv_update(handle, NULL, NULL, NULL), WSK_ERR_ARGUMENT);
}
