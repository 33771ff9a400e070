/* handle.c - the driver's functions and the loaded images, in memory of the caller. */
#include "handle.h"

#include "append.h"
#include "attention.h"
#include "conv.h"
#include "scan.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

/* Behind each stands a fatbin: kernels/device/<folder>/<symbol>.cu. */
extern const unsigned char attn_32[] __attribute__((visibility("hidden")));
extern const unsigned char attn_64[] __attribute__((visibility("hidden")));
extern const unsigned char attn_80[] __attribute__((visibility("hidden")));
extern const unsigned char attn_96[] __attribute__((visibility("hidden")));
extern const unsigned char attn_128[] __attribute__((visibility("hidden")));
extern const unsigned char attn_256[] __attribute__((visibility("hidden")));
extern const unsigned char append[] __attribute__((visibility("hidden")));
extern const unsigned char conv[] __attribute__((visibility("hidden")));
extern const unsigned char scan[] __attribute__((visibility("hidden")));

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define ATTENTION(head_dim) \
	{ \
		head_dim, attn_##head_dim, "attn_" #head_dim, wsk_attention_kernels, \
			COUNT(wsk_attention_kernels) \
	}

static_assert(COUNT(wsk_attention_kernels) <= WSK_KERNELS_MAX, "room in struct wsk_loaded");
static_assert(COUNT(wsk_conv_kernels) <= WSK_KERNELS_MAX, "room in struct wsk_loaded");
static_assert(WSK_SCAN_KERNEL_COUNT <= WSK_KERNELS_MAX, "room in struct wsk_loaded");

const struct wsk_embedded wsk_images[WSK_IMAGE_COUNT] = {
	ATTENTION(32),
	ATTENTION(64),
	ATTENTION(80),
	ATTENTION(96),
	ATTENTION(128),
	ATTENTION(256),
	{WSK_APPEND, append, "append", wsk_append_kernels, COUNT(wsk_append_kernels)},
	{WSK_CONV, conv, "conv", wsk_conv_kernels, COUNT(wsk_conv_kernels)},
	{WSK_SCAN, scan, "scan", wsk_scan_kernels, WSK_SCAN_KERNEL_COUNT},
};

const char *
wsk_version(void)
{
	return WSK_VERSION;
}

const char *
wsk_status_text(int status)
{
	static const char *const texts[] = {
		[WSK_OK] = "done",
		[WSK_ERR_ARGUMENT] = "wrong argument",
		[WSK_ERR_ALIGNMENT] = "misaligned address",
		[WSK_ERR_RANGE] = "size out of range",
		[WSK_ERR_UNSUPPORTED] = "no kernel for this",
		[WSK_ERR_NOT_LOADED] = "kernels are not loaded",
		[WSK_ERR_NO_CODE] = "no code for this device",
		[WSK_ERR_DRIVER] = "the CUDA driver refused",
	};
	size_t count = sizeof(texts) / sizeof(*texts);
	return status >= 0 && (size_t)status < count ? texts[status] : "unknown status";
}

int
wsk_fail(struct wsk_problem *problem, int status, const char *argument, const char *expected)
{
	if (problem) {
		*problem = (struct wsk_problem){argument, expected, 0, 0, 0};
	}
	return status;
}

size_t
wsk_handle_size(void)
{
	return sizeof(struct wsk_handle);
}

int
wsk_init(void *memory, size_t size, const struct wsk_driver *driver, struct wsk_problem *problem)
{
	struct wsk_handle *handle = memory;
	if (!memory || (uintptr_t)memory % _Alignof(struct wsk_handle) != 0) {
		return wsk_fail(problem, WSK_ERR_ALIGNMENT, "memory", "an address aligned like a pointer");
	}
	if (size < sizeof(*handle)) {
		return wsk_fail(problem, WSK_ERR_ARGUMENT, "size", "at least wsk_handle_size() bytes");
	}
	if (!driver || driver->size < sizeof(*driver)) {
		return wsk_fail(problem, WSK_ERR_ARGUMENT, "driver", "a struct wsk_driver with its size");
	}
	if (!driver->cuLibraryLoadData || !driver->cuLibraryGetKernel || !driver->cuLibraryUnload
		|| !driver->cuLaunchKernel) {
		return wsk_fail(problem, WSK_ERR_ARGUMENT, "driver",
			"every function of a driver for CUDA 12.0 or newer");
	}
	memset(handle, 0, sizeof(*handle));
	handle->driver = *driver;
	return WSK_OK;
}

/* CUDA_ERROR_INVALID_IMAGE, CUDA_ERROR_NO_BINARY_FOR_GPU, CUDA_ERROR_NOT_FOUND of cuda.h. */
enum {
	INVALID_IMAGE = 200,
	NO_BINARY = 209,
	NOT_FOUND = 500,
};

static int
fail_driver(struct wsk_problem *problem, int result, const char *what)
{
	int status = result == NO_BINARY || result == INVALID_IMAGE ? WSK_ERR_NO_CODE : WSK_ERR_DRIVER;
	wsk_fail(problem, status, what, "a device that the library has code for");
	if (problem) {
		problem->driver = result;
	}
	return status;
}

static int
load(const struct wsk_driver *driver, const struct wsk_embedded *image, struct wsk_loaded *loaded,
	struct wsk_problem *problem)
{
	struct wsk_loaded made = {0};
	int result =
		driver->cuLibraryLoadData(&made.library, image->data, NULL, NULL, 0, NULL, NULL, 0);
	if (result != 0) {
		return fail_driver(problem, result, image->symbol);
	}
	for (size_t i = 0; i < image->kernel_count; i++) {
		result = driver->cuLibraryGetKernel(&made.kernels[i], made.library, image->kernels[i]);
		if (result == NOT_FOUND) {
			made.kernels[i] = NULL;
		} else if (result != 0) {
			driver->cuLibraryUnload(made.library);
			return fail_driver(problem, result, image->kernels[i]);
		}
	}
	*loaded = made;
	return WSK_OK;
}

int
wsk_load(struct wsk_handle *handle, int32_t image, struct wsk_problem *problem)
{
	if (!handle) {
		return wsk_fail(problem, WSK_ERR_ARGUMENT, "handle", "a handle from wsk_init");
	}
	for (size_t i = 0; i < WSK_IMAGE_COUNT; i++) {
		if (wsk_images[i].image == image) {
			return handle->loaded[i].library
				? WSK_OK
				: load(&handle->driver, &wsk_images[i], &handle->loaded[i], problem);
		}
	}
	return wsk_fail(problem, WSK_ERR_UNSUPPORTED, "image", "one of enum wsk_image");
}

int
wsk_load_again(
	struct wsk_handle *handle, int32_t image, int32_t kernel, struct wsk_problem *problem)
{
	if (!handle) {
		return wsk_fail(problem, WSK_ERR_ARGUMENT, "handle", "a handle from wsk_init");
	}
	for (size_t i = 0; i < WSK_IMAGE_COUNT; i++) {
		if (wsk_images[i].image != image) {
			continue;
		}
		if (kernel < 0 || (size_t)kernel >= wsk_images[i].kernel_count) {
			return wsk_fail(problem, WSK_ERR_ARGUMENT, "kernel", "a kernel of the image");
		}
		struct wsk_loaded made;
		int status = load(&handle->driver, &wsk_images[i], &made, problem);
		if (status == WSK_OK) { /* whole: another thread may be about to launch it */
			__atomic_store_n(
				&handle->loaded[i].kernels[kernel], made.kernels[kernel], __ATOMIC_RELAXED);
		}
		return status;
	}
	return wsk_fail(problem, WSK_ERR_UNSUPPORTED, "image", "one of enum wsk_image");
}

int
wsk_close(struct wsk_handle *handle)
{
	int status = WSK_OK;
	for (size_t i = 0; handle && i < WSK_IMAGE_COUNT; i++) {
		if (handle->loaded[i].library
			&& handle->driver.cuLibraryUnload(handle->loaded[i].library) != 0) {
			status = WSK_ERR_DRIVER;
		}
		handle->loaded[i] = (struct wsk_loaded){0};
	}
	return status;
}

const struct wsk_loaded *
wsk_find(const struct wsk_handle *handle, int32_t image)
{
	for (size_t i = 0; i < WSK_IMAGE_COUNT; i++) {
		if (wsk_images[i].image == image) {
			return &handle->loaded[i];
		}
	}
	return NULL;
}

int
wsk_launch(const struct wsk_handle *handle, void *function, const struct wsk_grid *grid,
	unsigned threads, void *params, void *stream, struct wsk_problem *problem)
{
	void *arguments[] = {params};
	int result = handle->driver.cuLaunchKernel(function, (unsigned)grid->x, (unsigned)grid->y,
		(unsigned)grid->z, threads, 1, 1, 0, stream, arguments, NULL);
	if (result == 0) {
		return WSK_OK;
	}
	bool no_code = result == NO_BINARY || result == NOT_FOUND;
	int status = no_code ? WSK_ERR_NO_CODE : WSK_ERR_DRIVER;
	wsk_fail(problem, status, no_code ? "stream" : NULL,
		no_code ? "on a device that the library has code for" : NULL);
	if (problem) {
		problem->driver = result;
	}
	return status;
}
