/* test_kernels_arguments.c - what the kernels' library refuses, without a GPU: nothing may be launched.
 * The library's own files are compiled in; its images are empty and the driver's functions count. */
#include "test.h"

#include "../support/kernels_driver.h"

#include <math.h>

/* Something that every function takes. */
static struct wsk_attention
sound(void)
{
	struct wsk_tensor q = {4096, 64 * 32 * 80, 32 * 80, 80}, k = {8192, 96 * 8 * 80, 8 * 80, 80};
	return (struct wsk_attention){
		.size = sizeof(struct wsk_attention),
		.type = WSK_FLOAT16,
		.batch = 2,
		.heads_q = 32,
		.heads_k = 8,
		.head_dim = 80,
		.length_q = 64,
		.length_k = 96,
		.left = -1,
		.right = 0,
		.scale = 0.1f,
		.q = q,
		.k = k,
		.v = k,
		.o = q,
		.lse = 64,
		.lse_stride_batch = 2048,
		.lse_stride_head = 64,
		.grad_o = q,
		.grad_q = q,
		.grad_k = k,
		.grad_v = k,
		.delta = 64,
		.scratch = 64,
		.scratch_size = 1u << 24,
		.splits = 4,
	};
}

static void
assert_refused(const struct wsk_handle *handle, const struct wsk_attention *in, int status,
	const char *argument,
	int (*call)(
		const struct wsk_handle *, const struct wsk_attention *, void *, struct wsk_problem *))
{
	struct wsk_problem problem = {0};
	assert_int_equal(call(handle, in, NULL, &problem), status);
	assert_string_equal(problem.argument, argument);
	assert_non_null(problem.expected);
	assert_int_equal(call(handle, in, NULL, NULL), status);
	assert_int_equal(launches, 0);
}

WS_TEST(what_is_sound_is_launched)
{
	struct wsk_handle *handle = open_handle(a, 80);
	struct wsk_attention in = sound();
	assert_int_equal(wsk_forward(handle, &in, NULL, NULL), WSK_OK);
	assert_int_equal(launches, 1);
	assert_int_equal(wsk_backward(handle, &in, NULL, NULL), WSK_OK);
	assert_int_equal(launches, 4);
	assert_int_equal(wsk_decode(handle, &in, NULL, NULL), WSK_OK);
	assert_int_equal(launches, 6);
	assert_true(wsk_decode_scratch(&in) == 4ull * 4 * 2 * 32 * 64 * 82);
	/* A caller of an older version knows no gradients and no scratch. */
	in.size = offsetof(struct wsk_attention, grad_o);
	assert_int_equal(wsk_forward(handle, &in, NULL, NULL), WSK_OK);
	/* Without gradients nobody needs the logarithms of the sums. */
	in = sound();
	in.lse = 0;
	assert_int_equal(wsk_forward(handle, &in, NULL, NULL), WSK_OK);
	assert_int_equal(wsk_decode(handle, &in, NULL, NULL), WSK_OK);
	assert_int_equal(wsk_close(handle), WSK_OK);
}

#define REFUSES(call, status, argument, change) \
	do { \
		struct wsk_attention in = sound(); \
		change; \
		assert_refused(handle, &in, status, argument, call); \
	} while (0)

WS_TEST(every_wrong_number_is_named)
{
	struct wsk_handle *handle = open_handle(a, 80);
	REFUSES(wsk_forward, WSK_ERR_ARGUMENT, "attention.size", in.size = 8);
	REFUSES(wsk_forward, WSK_ERR_ARGUMENT, "attention.size", in.size += 8);
	REFUSES(wsk_forward, WSK_ERR_UNSUPPORTED, "type", in.type = 3);
	REFUSES(wsk_forward, WSK_ERR_UNSUPPORTED, "type", in.type = WSK_BFLOAT16);
	REFUSES(wsk_forward, WSK_ERR_UNSUPPORTED, "head_dim", in.head_dim = 72);
	REFUSES(wsk_forward, WSK_ERR_UNSUPPORTED, "head_dim", in.head_dim = 1);
	REFUSES(wsk_forward, WSK_ERR_NOT_LOADED, "head_dim", in.head_dim = 64);
	REFUSES(wsk_forward, WSK_ERR_RANGE, "batch", in.batch = 0);
	REFUSES(wsk_forward, WSK_ERR_RANGE, "heads_k", in.heads_k = 0);
	REFUSES(wsk_forward, WSK_ERR_ARGUMENT, "heads_q", in.heads_k = 5);
	REFUSES(wsk_forward, WSK_ERR_RANGE, "length_q", in.length_q = -1);
	REFUSES(wsk_forward, WSK_ERR_RANGE, "length_k", in.length_k = 0);
	REFUSES(wsk_forward, WSK_ERR_ARGUMENT, "scale", in.scale = NAN);
	REFUSES(wsk_forward, WSK_ERR_ARGUMENT, "scale", in.scale = INFINITY);
	REFUSES(wsk_forward, WSK_ERR_ARGUMENT, "q", in.q.data = 0);
	REFUSES(wsk_forward, WSK_ERR_ALIGNMENT, "k", in.k.data = 4097);
	REFUSES(wsk_forward, WSK_ERR_ALIGNMENT, "lse", in.lse = 66);
	REFUSES(wsk_forward, WSK_ERR_ALIGNMENT, "seqused_k", in.seqused_k = 6);
	REFUSES(wsk_forward, WSK_ERR_RANGE, "v", in.v.stride_row = -1);
	REFUSES(wsk_forward, WSK_ERR_RANGE, "v", in.v.stride_row = INT64_MAX / 2);
	REFUSES(wsk_forward, WSK_ERR_ARGUMENT, "o", in.o.stride_row = 0);
	REFUSES(wsk_forward, WSK_ERR_ARGUMENT, "cu_seqlens_k", in.cu_seqlens_q = 64);
	REFUSES(wsk_forward, WSK_ERR_RANGE, "total_q", in.cu_seqlens_q = in.cu_seqlens_k = 64);
	REFUSES(wsk_forward, WSK_ERR_RANGE, "blocks_stride_row", in.blocks = 64);
	REFUSES(wsk_backward, WSK_ERR_ARGUMENT, "grad_o", in.grad_o.data = 0);
	REFUSES(wsk_backward, WSK_ERR_ARGUMENT, "grad_k", in.grad_k.stride_head = 8);
	REFUSES(wsk_backward, WSK_ERR_ARGUMENT, "lse", in.lse = 0);
	REFUSES(wsk_backward, WSK_ERR_ALIGNMENT, "delta", in.delta = 1);
	REFUSES(wsk_decode, WSK_ERR_RANGE, "splits", in.splits = 0);
	REFUSES(wsk_decode, WSK_ERR_RANGE, "scratch_size", in.scratch_size = 64);
	REFUSES(wsk_decode, WSK_ERR_RANGE, "batch",
		(in.batch = 1 << 24, in.length_q = 1 << 30, in.scratch_size = UINT64_MAX));
}

WS_TEST(what_the_driver_refuses_is_told_apart)
{
	struct wsk_handle *handle = open_handle(a, 80);
	struct wsk_attention in = sound();
	struct wsk_problem problem;
	launch_result = 209; /* CUDA_ERROR_NO_BINARY_FOR_GPU */
	assert_int_equal(wsk_forward(handle, &in, NULL, &problem), WSK_ERR_NO_CODE);
	assert_string_equal(problem.argument, "stream");
	assert_int_equal(problem.driver, 209);
	launch_result = 201; /* CUDA_ERROR_INVALID_CONTEXT: no argument is wrong */
	assert_int_equal(wsk_backward(handle, &in, NULL, &problem), WSK_ERR_DRIVER);
	assert_null(problem.argument);
	assert_null(problem.expected);
	assert_int_equal(problem.driver, 201);
	assert_int_equal(launches, 0);
	launch_result = 0;
}

WS_TEST(a_handle_needs_memory_and_a_driver)
{
	struct wsk_problem problem;
	struct wsk_driver old = driver;
	char *memory = ws_arena_alloc(a, wsk_handle_size());
	assert_int_equal(wsk_init(NULL, 4096, &driver, &problem), WSK_ERR_ALIGNMENT);
	assert_int_equal(wsk_init(memory + 1, 4096, &driver, &problem), WSK_ERR_ALIGNMENT);
	assert_int_equal(wsk_init(memory, 8, &driver, &problem), WSK_ERR_ARGUMENT);
	assert_string_equal(problem.argument, "size");
	assert_int_equal(wsk_init(memory, wsk_handle_size(), NULL, &problem), WSK_ERR_ARGUMENT);
	old.cuLibraryLoadData = NULL;
	assert_int_equal(wsk_init(memory, wsk_handle_size(), &old, &problem), WSK_ERR_ARGUMENT);
	assert_int_equal(wsk_load(NULL, 80, &problem), WSK_ERR_ARGUMENT);
	assert_int_equal(wsk_load(open_handle(a, 80), 3, &problem), WSK_ERR_UNSUPPORTED);
	assert_string_equal(problem.argument, "image");
	assert_int_equal(wsk_forward(NULL, NULL, NULL, NULL), WSK_ERR_ARGUMENT);
	assert_string_equal(wsk_status_text(99), "unknown status");
	for (int status = WSK_OK; status <= WSK_ERR_DRIVER; status++) {
		assert_non_null(wsk_status_text(status));
	}
}

/* ---- the selective scan ---- */

static struct wsk_scan
sound_scan(void)
{
	struct wsk_rows rows = {4096, 64 * 300, 300};
	struct wsk_matrix matrix = {8192, 2 * 16 * 300, 16 * 300, 300, 1, 0};
	return (struct wsk_scan){
		.size = sizeof(struct wsk_scan),
		.type = WSK_FLOAT32,
		.batch = 2,
		.channels = 64,
		.length = 300,
		.states = 16,
		.groups = 2,
		.parts = 1,
		.u = rows,
		.delta = rows,
		.z = rows,
		.out = rows,
		.out_z = rows,
		.a = 64,
		.a_stride_channel = 16,
		.a_stride_state = 1,
		.b = matrix,
		.c = matrix,
		.workspace = 1 << 20,
		.workspace_size = 1 << 30,
		.grad_out = rows,
		.grad_u = rows,
		.grad_delta = rows,
		.grad_z = rows,
		.grad_a = 64,
		.grad_b = 64,
		.grad_c = 64,
	};
}

#define SCAN_REFUSES(call, status, name, change) \
	do { \
		struct wsk_scan in = sound_scan(); \
		struct wsk_problem problem = {0}; \
		change; \
		assert_int_equal(call(handle, &in, NULL, &problem), status); \
		assert_string_equal(problem.argument, name); \
		assert_int_equal(launches, 0); \
	} while (0)

WS_TEST(a_scan_that_is_wrong_launches_nothing)
{
	struct wsk_handle *handle = open_handle(a, 80);
	SCAN_REFUSES(wsk_scan_forward, WSK_ERR_NOT_LOADED, "scan", in.batch = 2);
	assert_int_equal(wsk_load(handle, WSK_SCAN, NULL), WSK_OK);
	SCAN_REFUSES(wsk_scan_forward, WSK_ERR_ARGUMENT, "scan.size", in.size = 8);
	SCAN_REFUSES(wsk_scan_forward, WSK_ERR_UNSUPPORTED, "type", in.type = 4);
	SCAN_REFUSES(wsk_scan_forward, WSK_ERR_RANGE, "states", in.states = 257);
	SCAN_REFUSES(wsk_scan_forward, WSK_ERR_ARGUMENT, "channels", in.groups = 3);
	SCAN_REFUSES(wsk_scan_forward, WSK_ERR_RANGE, "parts", in.parts = 6);
	SCAN_REFUSES(wsk_scan_forward, WSK_ERR_ARGUMENT, "u", in.u.data = 0);
	SCAN_REFUSES(wsk_scan_forward, WSK_ERR_ALIGNMENT, "delta", in.delta.data = 2);
	SCAN_REFUSES(wsk_scan_forward, WSK_ERR_RANGE, "z", in.z.stride_batch = -1);
	SCAN_REFUSES(wsk_scan_forward, WSK_ERR_ARGUMENT, "out_z", in.out_z.stride_channel = 1);
	SCAN_REFUSES(wsk_scan_forward, WSK_ERR_ARGUMENT, "b", in.b.varies = 0);
	SCAN_REFUSES(
		wsk_scan_forward, WSK_ERR_RANGE, "workspace_size", (in.parts = 5, in.workspace_size = 0));
	SCAN_REFUSES(wsk_scan_backward, WSK_ERR_ARGUMENT, "grad_z", in.grad_z.data = 0);
	SCAN_REFUSES(wsk_scan_backward, WSK_ERR_ARGUMENT, "grad_d", in.d = 64);
	SCAN_REFUSES(wsk_scan_backward, WSK_ERR_ALIGNMENT, "workspace", in.workspace = 4);
	SCAN_REFUSES(wsk_scan_backward, WSK_ERR_RANGE, "workspace_size", in.workspace_size = 64);
}

/* What is launched for a scan: once for each 16 states, more where time is split. */
WS_TEST(a_scan_is_launched_in_passes)
{
	struct wsk_handle *handle = open_handle(a, 80);
	struct wsk_scan in = sound_scan();
	assert_int_equal(wsk_load(handle, WSK_SCAN, NULL), WSK_OK);
	assert_int_equal(wsk_scan_workspace(&in, 0), 0);
	assert_int_equal(wsk_scan_forward(handle, &in, NULL, NULL), WSK_OK);
	assert_int_equal(launches, 1);
	in.parts = 5;
	assert_true(wsk_scan_workspace(&in, 0) > 0);
	assert_int_equal(wsk_scan_forward(handle, &in, NULL, NULL), WSK_OK);
	assert_int_equal(launches, 1 + 3);
	in.parts = 1;
	launches = 0;
	assert_int_equal(wsk_scan_backward(handle, &in, NULL, NULL), WSK_OK);
	assert_int_equal(launches, 2 + 3); /* states, backward; sums for A, B, C */
	in.states = 40;
	in.b.stride_group = in.c.stride_group = 40 * 300;
	launches = 0;
	assert_int_equal(wsk_scan_forward(handle, &in, NULL, NULL), WSK_OK);
	assert_int_equal(launches, 3);
	in.length = 1 << 30;
	in.batch = 1 << 24;
	assert_true(wsk_scan_workspace(&in, 1) == UINT64_MAX);
	launches = 0;
}
