/**
 * kernels_driver.h - a driver that counts, and empty images: the kernels' library without a GPU
 *
 * For unit tests that compile the files of the library. cuLaunchKernel launches no kernel: it
 * returns `launch_result` and keeps the kernel in `launched`.
 */
#ifndef WS_TESTS_KERNELS_DRIVER_H
#define WS_TESTS_KERNELS_DRIVER_H

#include "../../kernels/host/handle.h"

const unsigned char attn_32[1], attn_64[1], attn_80[1], attn_96[1], attn_128[1], attn_256[1],
	append[1], conv[1], scan[1];

struct launch {
	const char *kernel;
	unsigned x, y, z; /* blocks */
};

static unsigned loads, launches;
static struct launch launched[8]; /* since `launches` was 0; of more than 8, the last ones */
static int launch_result;
static const char *fresh; /* if set, what a kernel is that is loaded */
/* If set, called at each launch with the caller's parameters. */
static void (*on_launch)(const char *kernel, const void *params);

static int
load_library(void **library, const void *image, int *options, void **values, unsigned count,
	int *more, void **more_values, unsigned more_count)
{
	(void)image, (void)options, (void)values, (void)count, (void)more, (void)more_values;
	(void)more_count;
	*library = &loads;
	loads++;
	return 0;
}

/* bfloat16 is not in the image, as on sm_75: CUDA_ERROR_NOT_FOUND. */
static int
get_kernel(void **kernel, void *library, const char *name)
{
	(void)library;
	*kernel = (void *)(uintptr_t)(fresh ? fresh : name);
	return strstr(name, "bf16") ? 500 : 0;
}

static int
unload_library(void *library)
{
	(void)library;
	return 0;
}

static int
launch_kernel(void *function, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by,
	unsigned bz, unsigned shared, void *stream, void **arguments, void **extra)
{
	(void)bx, (void)by, (void)bz, (void)shared, (void)stream, (void)extra;
	if (on_launch) {
		on_launch(function, arguments[0]);
	}
	launched[launches % 8] = (struct launch){function, x, y, z};
	launches += launch_result == 0;
	return launch_result;
}

static const struct wsk_driver driver = {
	sizeof(driver), load_library, get_kernel, unload_library, launch_kernel};

static struct wsk_handle *
open_handle(struct ws_arena *a, int32_t image)
{
	struct wsk_problem problem;
	struct wsk_handle *handle = ws_arena_alloc(a, wsk_handle_size());
	assert_int_equal(wsk_init(handle, wsk_handle_size(), &driver, &problem), WSK_OK);
	assert_int_equal(wsk_load(handle, image, &problem), WSK_OK);
	launches = 0;
	return handle;
}

#endif
