/* handle.c - the driver's functions and the loaded images, in memory of the caller. */
#include "handle.h"

#include <string.h>

/* Behind each stands a fatbin: kernels/device/attn_D.cu. */
extern const unsigned char attn_64[] __attribute__((visibility("hidden")));
extern const unsigned char attn_80[] __attribute__((visibility("hidden")));
extern const unsigned char attn_96[] __attribute__((visibility("hidden")));
extern const unsigned char attn_128[] __attribute__((visibility("hidden")));

const struct wsk_image wsk_images[WSK_IMAGE_COUNT] = {
	{64, attn_64, "attn_64"},
	{80, attn_80, "attn_80"},
	{96, attn_96, "attn_96"},
	{128, attn_128, "attn_128"},
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
		*problem = (struct wsk_problem){argument, expected, 0};
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

static const char *const kernel_names[2][WSK_KERNEL_COUNT] = {
	{"wsk_forward_f16", "wsk_delta_f16", "wsk_dkdv_f16", "wsk_dq_f16", "wsk_decode_f16",
		"wsk_combine_f16"},
	{"wsk_forward_bf16", "wsk_delta_bf16", "wsk_dkdv_bf16", "wsk_dq_bf16", "wsk_decode_bf16",
		"wsk_combine_bf16"},
};

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

int
wsk_load(struct wsk_handle *handle, int32_t head_dim, struct wsk_problem *problem)
{
	for (size_t i = 0; handle && i < WSK_IMAGE_COUNT; i++) {
		struct wsk_loaded loaded = {0};
		const struct wsk_image *image = &wsk_images[i];
		if (image->head_dim != head_dim) {
			continue;
		}
		if (handle->loaded[i].library) {
			return WSK_OK;
		}
		int result = handle->driver.cuLibraryLoadData(
			&loaded.library, image->data, NULL, NULL, 0, NULL, NULL, 0);
		if (result != 0) {
			return fail_driver(problem, result, image->symbol);
		}
		for (size_t type = 0; type < 2; type++) {
			for (size_t k = 0; k < WSK_KERNEL_COUNT; k++) {
				result = handle->driver.cuLibraryGetKernel(
					&loaded.kernels[type][k], loaded.library, kernel_names[type][k]);
				if (result == NOT_FOUND) {
					loaded.kernels[type][k] = NULL;
				} else if (result != 0) {
					handle->driver.cuLibraryUnload(loaded.library);
					return fail_driver(problem, result, kernel_names[type][k]);
				}
			}
		}
		handle->loaded[i] = loaded;
		return WSK_OK;
	}
	return handle ? wsk_fail(problem, WSK_ERR_UNSUPPORTED, "head_dim", "64, 80, 96 or 128")
				  : wsk_fail(problem, WSK_ERR_ARGUMENT, "handle", "what wsk_init made");
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
wsk_find(const struct wsk_handle *handle, int32_t head_dim)
{
	for (size_t i = 0; i < WSK_IMAGE_COUNT; i++) {
		if (wsk_images[i].head_dim == head_dim) {
			return &handle->loaded[i];
		}
	}
	return NULL;
}
