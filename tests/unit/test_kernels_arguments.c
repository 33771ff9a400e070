/* test_kernels_arguments.c - what the kernels' library refuses, without a GPU: nothing may be
 * launched. The library's own files are compiled in; its images are empty and the driver's
 * functions count. */
#include "test.h"

#include "../../kernels/device/attention/params.h"
#include "../../kernels/device/scan/params.h"
#include "../../kernels/host/attention.h"
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

WS_TEST(a_valid_call_is_launched)
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
	/* Without gradients the logarithms of the sums are not needed. */
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
	REFUSES(wsk_forward, WSK_ERR_UNSUPPORTED, "head_dim", in.head_dim = 76);
	REFUSES(wsk_forward, WSK_ERR_UNSUPPORTED, "head_dim", in.head_dim = 1);
	REFUSES(wsk_forward, WSK_ERR_UNSUPPORTED, "head_dim",
		(in.head_dim = 264, in.o.stride_head = 264, in.o.stride_row = 32 * 264));
	REFUSES(wsk_forward, WSK_ERR_UNSUPPORTED, "head_dim", in.head_dim = 0);
	REFUSES(wsk_forward, WSK_ERR_UNSUPPORTED, "head_dim", in.head_dim = -8);
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
	REFUSES(wsk_forward, WSK_ERR_ARGUMENT, "softcap", in.softcap = -1);
	REFUSES(wsk_forward, WSK_ERR_ARGUMENT, "softcap", in.softcap = NAN);
	REFUSES(wsk_forward, WSK_ERR_RANGE, "dropout", in.dropout = 1);
	REFUSES(wsk_forward, WSK_ERR_RANGE, "dropout", in.dropout = NAN);
	REFUSES(wsk_forward, WSK_ERR_ARGUMENT, "random", in.dropout = 0.5f);
	REFUSES(wsk_forward, WSK_ERR_ALIGNMENT, "random", (in.dropout = 0.5f, in.random = 4));
	REFUSES(wsk_forward, WSK_ERR_ALIGNMENT, "sinks", in.sinks = 2);
	REFUSES(wsk_forward, WSK_ERR_ALIGNMENT, "seqstart_q", in.seqstart_q = 2);
	REFUSES(wsk_forward, WSK_ERR_ARGUMENT, "blocks",
		(in.seqstart_k = 64, in.blocks = 64, in.blocks_stride_row = 1));
	REFUSES(wsk_forward, WSK_ERR_RANGE, "entry_count", in.entries = 64);
	REFUSES(wsk_forward, WSK_ERR_ARGUMENT, "entries",
		(in.entries = in.pages = 64, in.entry_count = in.page_rows = in.page_count = 1));
	REFUSES(wsk_forward, WSK_ERR_RANGE, "page_rows", in.pages = 64);
	REFUSES(wsk_forward, WSK_ERR_RANGE, "pages_stride_batch",
		(in.pages = 64, in.page_rows = 16, in.page_count = 9, in.pages_stride_batch = 5));
	REFUSES(wsk_backward, WSK_ERR_ARGUMENT, "pages",
		(in.pages = 64, in.page_rows = 16, in.page_count = 9, in.pages_stride_batch = 6));
	REFUSES(wsk_backward, WSK_ERR_ARGUMENT, "entries", (in.entries = 64, in.entry_count = 1));
	REFUSES(wsk_backward, WSK_ERR_ALIGNMENT, "grad_lse", in.grad_lse = 2);
	REFUSES(wsk_backward, WSK_ERR_RANGE, "delta", in.delta_stride_head = -1);
	REFUSES(wsk_decode, WSK_ERR_ARGUMENT, "dropout", (in.dropout = 0.5f, in.random = 64));
	REFUSES(wsk_decode, WSK_ERR_RANGE, "length_q",
		(in.length_q = 1 << 29, in.scratch_size = UINT64_MAX));
	REFUSES(wsk_backward, WSK_ERR_ARGUMENT, "grad_o", in.grad_o.data = 0);
	REFUSES(wsk_backward, WSK_ERR_ARGUMENT, "grad_k", in.grad_k.stride_head = 8);
	REFUSES(wsk_backward, WSK_ERR_ARGUMENT, "lse", in.lse = 0);
	REFUSES(wsk_backward, WSK_ERR_ALIGNMENT, "delta", in.delta = 1);
	REFUSES(wsk_decode, WSK_ERR_RANGE, "splits", in.splits = 0);
	REFUSES(wsk_decode, WSK_ERR_RANGE, "scratch_size", in.scratch_size = 64);
	REFUSES(wsk_decode, WSK_ERR_RANGE, "batch",
		(in.batch = 1 << 24, in.length_q = 1 << 28, in.scratch_size = UINT64_MAX));
}

static struct wsk_attn_params given_attention;

static void
keep_attention(const char *kernel, const void *params)
{
	if (!strstr(kernel, "combine")) {
		given_attention = *(const struct wsk_attn_params *)params;
	}
}

static void
assert_launched(unsigned at, const char *kernel, unsigned blocks)
{
	assert_string_equal(launched[at].kernel, kernel);
	assert_int_equal(launched[at].x, blocks);
}

/* Which kernels a call takes, and how many blocks of threads. */
WS_TEST(each_call_has_its_kernels)
{
	struct wsk_handle *handle = open_handle(a, 80);
	struct wsk_attention in = sound(), many = in;
	assert_int_equal(wsk_load(handle, 256, NULL), WSK_OK);
	on_launch = keep_attention;
	assert_int_equal(wsk_backward(handle, &in, NULL, NULL), WSK_OK);
	assert_launched(0, "wsk_delta_f16", 4 * 32 * 2);
	assert_launched(1, "wsk_dkdv_f16", 2 * 8 * 2);
	assert_launched(2, "wsk_dq_f16", 1 * 32 * 2);
	assert_int_equal(given_attention.keep, WSK_KEEPS_ALL);
	launches = 0;
	in.softcap = 20, in.dropout = 0.25f, in.random = 64, in.scale = -0.5f;
	assert_int_equal(wsk_forward(handle, &in, NULL, NULL), WSK_OK);
	assert_launched(0, "wsk_forward_any_f16", 1 * 32 * 2);
	assert_int_equal(given_attention.keep, 191); /* of 255 */
	assert_float_equal(given_attention.keep_scale, 1.333333f, 1e-6f);
	assert_float_equal(given_attention.softcap, 0.025f, 1e-6f);
	assert_float_equal(given_attention.scale_log2, 28.8539f, 1e-4f);
	assert_int_equal(given_attention.sign, 0x80008000u);
	launches = 0;
	assert_int_equal(wsk_backward(handle, &in, NULL, NULL), WSK_OK);
	assert_launched(1, "wsk_dkdv_any_f16", 2 * 8 * 2);
	assert_launched(2, "wsk_dq_any_f16", 1 * 32 * 2);
	launches = 0;
	many.length_q = 4; /* with 4 heads of a group, 16 rows: the kernel for few */
	assert_int_equal(wsk_decode(handle, &many, NULL, NULL), WSK_OK);
	assert_launched(0, "wsk_decode_f16", 1 * 8 * 4 * 2);
	assert_launched(1, "wsk_combine_f16", 4 * 32 / 4 * 2);
	launches = 0;
	many.length_q = 17;
	assert_int_equal(wsk_decode(handle, &many, NULL, NULL), WSK_OK);
	assert_launched(0, "wsk_split_f16", 2 * 8 * 4 * 2);
	assert_int_equal(given_attention.tiles, 2);
	launches = 0;
	in = many;
	in.head_dim = 200, in.length_q = 4, in.length_k = 1; /* rows of that length have only one kernel
	*/
	in.q.stride_head = in.k.stride_head = in.v.stride_head = in.o.stride_head = 256;
	in.q.stride_row = in.o.stride_row = 32 * 256;
	assert_int_equal(wsk_decode(handle, &in, NULL, NULL), WSK_OK);
	assert_launched(0, "wsk_split_f16", 1 * 8 * 4 * 2);
	assert_int_equal(given_attention.chunks, 25);
	assert_true(wsk_decode_scratch(&in) == 4ull * 4 * 2 * 32 * 4 * 258);
	on_launch = NULL;
}

WS_TEST(errors_of_the_driver_are_distinguished)
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

WS_TEST(a_kernel_that_was_not_launched_is_named_and_loaded_again)
{
	struct wsk_handle *handle = open_handle(a, 80);
	struct wsk_attention in = sound();
	struct wsk_problem problem;
	launch_result = 2; /* CUDA_ERROR_OUT_OF_MEMORY */
	assert_int_equal(wsk_forward(handle, &in, NULL, &problem), WSK_ERR_DRIVER);
	assert_int_equal(problem.driver, 2);
	assert_int_equal(problem.image, 80);
	assert_string_equal(wsk_attention_kernels[problem.kernel], "wsk_forward_f16");
	launch_result = 0;
	const struct wsk_loaded before = *wsk_find(handle, 80);
	const int32_t lost = problem.kernel;
	fresh = "the new one";
	assert_int_equal(wsk_load_again(handle, 80, lost, &problem), WSK_OK);
	fresh = NULL;
	const struct wsk_loaded *after = wsk_find(handle, 80);
	for (int32_t i = 0; i < WSK_KERNELS_MAX; i++) {
		assert_true(i == lost ? strcmp(after->kernels[i], "the new one") == 0
							  : after->kernels[i] == before.kernels[i]);
	}
	assert_int_equal(wsk_load_again(NULL, 80, lost, &problem), WSK_ERR_ARGUMENT);
	assert_string_equal(problem.argument, "handle");
	assert_int_equal(wsk_load_again(handle, 4, lost, &problem), WSK_ERR_UNSUPPORTED);
	assert_int_equal(wsk_load_again(handle, 80, -1, &problem), WSK_ERR_ARGUMENT);
	assert_int_equal(wsk_load_again(handle, 80, WSK_KERNELS_MAX, &problem), WSK_ERR_ARGUMENT);
	assert_string_equal(problem.argument, "kernel");
	/* For a wrong argument no kernel is named. */
	in.head_dim = 7;
	problem = (struct wsk_problem){NULL, NULL, 1, 1, 1};
	assert_int_not_equal(wsk_forward(handle, &in, NULL, &problem), WSK_OK);
	assert_int_equal(problem.driver + problem.image + problem.kernel, 0);
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
	assert_int_equal(wsk_load(open_handle(a, 80), 4, &problem), WSK_ERR_UNSUPPORTED);
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
	/* More than 64 bits can say is not there, whatever the caller says. */
	SCAN_REFUSES(wsk_scan_backward, WSK_ERR_RANGE, "workspace_size",
		(in.batch = 1 << 24, in.channels = in.groups = 1, in.length = 1 << 30, in.states = 256,
			in.out_z.stride_batch = in.grad_z.stride_batch = 1 << 30,
			in.grad_u.stride_batch = in.grad_delta.stride_batch = 1 << 30,
			in.workspace_size = UINT64_MAX));
}

/* The launches of a scan: one for each 16 states, more where time is split. */
WS_TEST(a_scan_is_launched_in_passes)
{
	struct wsk_handle *handle = open_handle(a, 80);
	struct wsk_scan in = sound_scan();
	assert_int_equal(wsk_load(handle, WSK_SCAN, NULL), WSK_OK);
	assert_int_equal(wsk_scan_workspace(&in, 0), 0);
	assert_int_equal(wsk_scan_forward(handle, &in, NULL, NULL), WSK_OK);
	assert_int_equal(launches, 1);
	assert_int_equal(launched[0].x, 2 * 2 * 2); /* of each group's 32 channels, 16 for a block */
	in.parts = 5;
	assert_true(wsk_scan_workspace(&in, 0) > 0);
	assert_int_equal(wsk_scan_forward(handle, &in, NULL, NULL), WSK_OK);
	assert_int_equal(launches, 1 + 3);
	in.parts = 1;
	launches = 0;
	assert_int_equal(wsk_scan_backward(handle, &in, NULL, NULL), WSK_OK);
	assert_int_equal(launches, 2 + 1); /* states, backward; one for all sums */
	assert_string_equal(launched[0].kernel, "wsk_scan_states_f32");
	assert_string_equal(launched[1].kernel, "wsk_scan_backward_f32");
	assert_string_equal(launched[2].kernel, "wsk_scan_sum");
	assert_int_equal(launched[1].x, 2 * 2); /* 64 channels for a block */
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

/* The parameters of the last launch of a scan. */
static struct wsk_scan_params given;
static struct wsk_scan_sums_params given_sums;

static void
keep_params(const char *kernel, const void *params)
{
	if (strcmp(kernel, "wsk_scan_sum") == 0) {
		given_sums = *(const struct wsk_scan_sums_params *)params;
	} else {
		given = *(const struct wsk_scan_params *)params;
	}
}

enum { SUM_B, SUM_C, SUM_A, SUM_D, SUM_BIAS };

/* Two sequences, 192 channels in two groups, five parts of time; D without delta_bias. */
static void
launch_sums_of(struct wsk_handle *handle, bool b_varies, bool c_varies)
{
	struct wsk_scan in = sound_scan();
	const struct wsk_rows rows = {4096, 192 * 300, 300};
	const struct wsk_matrix constant = {12288, 0, 16, 1, 0, 0};
	in.type = WSK_FLOAT16, in.channels = 192, in.parts = 5;
	in.u = in.delta = in.z = in.out = in.out_z = rows;
	in.grad_out = in.grad_u = in.grad_delta = in.grad_z = rows;
	in.b = b_varies ? in.b : constant;
	in.c = c_varies ? in.c : constant;
	in.b.data += 64;
	in.grad_a = 64, in.grad_b = 128, in.grad_c = 192, in.grad_d = 256, in.grad_delta_bias = 320;
	in.d = 64;
	launches = 0;
	on_launch = keep_params;
	assert_int_equal(wsk_scan_backward(handle, &in, NULL, NULL), WSK_OK);
	on_launch = NULL;
	assert_int_equal(launches, 4);
	assert_string_equal(launched[3].kernel, "wsk_scan_sum");
	int64_t blocks = 0;
	for (int i = 0; i < WSK_SCAN_SUMS; i++) {
		const struct wsk_scan_sum *sum = &given_sums.sums[i];
		assert_int_equal(sum->blocks, sum->to ? (sum->count + 127) / 128 : 0);
		blocks += sum->blocks;
	}
	assert_int_equal(launched[3].x, blocks);
}

static void
assert_sum(int which, struct wsk_scan_sum expected)
{
	const struct wsk_scan_sum *sum = &given_sums.sums[which];
	assert_true(expected.from != 0);
	assert_int_equal(sum->from, expected.from);
	assert_int_equal(sum->to, expected.to);
	assert_int_equal(sum->factor, expected.factor);
	assert_int_equal(sum->stride, expected.stride);
	assert_int_equal(sum->count, expected.count);
	assert_int_equal(sum->terms, expected.terms);
	assert_int_equal(sum->type, expected.type);
}

/* Varying parameters are summed over blocks of 64 channels, all others over sequences and parts of
 * time. */
WS_TEST(every_gradient_that_is_asked_for_is_added_up)
{
	struct wsk_handle *handle = open_handle(a, 80);
	const int64_t varying = 2 * 2 * 16 * 300, states = 192 * 16;
	assert_int_equal(wsk_load(handle, WSK_SCAN, NULL), WSK_OK);
	for (int kind = 0; kind < 4; kind++) {
		const bool b_varies = kind & 1, c_varies = kind & 2;
		launch_sums_of(handle, b_varies, c_varies);
		const uint64_t part_c = given.part_bc + 4 * (uint64_t)varying;
		assert_sum(SUM_B,
			b_varies ? (
				struct wsk_scan_sum){given.part_bc, 128, 0, 2 * varying, varying, 2, WSK_FLOAT16, 0}
					 : (struct wsk_scan_sum){given.part_w, 128, c_varies ? 0 : 12288, states,
						 states, 10, WSK_FLOAT32, 0});
		assert_sum(SUM_C,
			c_varies
				? (struct wsk_scan_sum){part_c, 192, 0, 2 * varying, varying, 2, WSK_FLOAT16, 0}
				: (struct wsk_scan_sum){given.part_w, 192, b_varies ? 0 : 12288 + 64, states,
					states, 10, WSK_FLOAT32, 0});
		assert_sum(
			SUM_A, (struct wsk_scan_sum){given.part_a, 64, 0, states, states, 10, WSK_FLOAT32, 0});
		assert_sum(
			SUM_D, (struct wsk_scan_sum){given.part_d, 256, 0, 192, 192, 10, WSK_FLOAT32, 0});
		/* Without delta_bias its gradient is not written. */
		assert_int_equal(given_sums.sums[SUM_BIAS].to, 0);
		assert_int_equal(given_sums.sums[SUM_BIAS].blocks, 0);
	}
}
