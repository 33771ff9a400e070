/* check.c - the checks of arguments that the functions of wsk.h share, and their launch. */
#include "check.h"

#include <string.h>

void
wsk_require(struct wsk_call *c, bool holds, int status, const char *argument, const char *expected)
{
	if (!holds && c->status == WSK_OK) {
		c->status = wsk_fail(c->problem, status, argument, expected);
	}
}

void
wsk_check_address(
	struct wsk_call *c, uint64_t address, unsigned align, bool needed, const char *name)
{
	wsk_require(c, address != 0 || !needed, WSK_ERR_ARGUMENT, name, "a device address");
	wsk_require(c, address % align == 0, WSK_ERR_ALIGNMENT, name, "an address aligned to its type");
}

static bool
reaches(const int64_t *strides, const int64_t *extents, size_t count)
{
	int64_t sum = 0, part;
	for (size_t i = 0; i < count; i++) {
		if (strides[i] < 0 || __builtin_mul_overflow(strides[i], extents[i] - 1, &part)
			|| __builtin_add_overflow(sum, part, &sum)) {
			return false;
		}
	}
	return sum < (int64_t)1 << 62;
}

void
wsk_check_strides(struct wsk_call *c, const int64_t *strides, const int64_t *extents, size_t count,
	const char *name)
{
	wsk_require(c, reaches(strides, extents, count), WSK_ERR_RANGE, name,
		"strides that are not negative and reach less than 2^62 elements");
}

int
wsk_begin(struct wsk_call *c, const struct wsk_versioned *what, const void *from, void *in)
{
	uint32_t size = 0;
	wsk_require(c, c->handle != NULL, WSK_ERR_ARGUMENT, "handle", "a handle from wsk_init");
	bool aligned = from && (uintptr_t)from % what->align == 0;
	wsk_require(c, aligned, from ? WSK_ERR_ALIGNMENT : WSK_ERR_ARGUMENT, what->name,
		"the address of the struct that wsk.h declares for this function");
	if (c->status != WSK_OK) {
		return c->status;
	}
	memcpy(&size, from, sizeof(size));
	wsk_require(c, size >= what->least && size <= what->size, WSK_ERR_ARGUMENT, what->size_name,
		"the struct's size, of this version or an older one");
	if (c->status == WSK_OK) {
		memset(in, 0, what->size);
		memcpy(in, from, size);
	}
	return c->status;
}

int
wsk_need_image(struct wsk_call *c, int32_t image, const char *argument, const char *expected)
{
	c->loaded = c->status == WSK_OK ? wsk_find(c->handle, image) : NULL;
	wsk_require(c, c->loaded != NULL, WSK_ERR_UNSUPPORTED, argument, expected);
	wsk_require(c, c->loaded && c->loaded->library, WSK_ERR_NOT_LOADED, argument,
		"an image that wsk_load has loaded");
	return c->status;
}

int
wsk_launch_grid(const struct wsk_call *c, int kernel, const struct wsk_grid *grid, unsigned threads,
	void *params, const char *fewer)
{
	if (grid->x > WSK_GRID_MAX || grid->y > WSK_GRID_SIDE_MAX || grid->z > WSK_GRID_SIDE_MAX) {
		return wsk_fail(c->problem, WSK_ERR_RANGE, "batch", fewer);
	}
	if (!c->loaded->kernels[kernel]) {
		return wsk_fail(c->problem, WSK_ERR_UNSUPPORTED, "type", "a type of the image");
	}
	int status = wsk_launch(
		c->handle, c->loaded->kernels[kernel], grid, threads, params, c->stream, c->problem);
	if (status != WSK_OK && c->problem) {
		c->problem->image = wsk_images[c->loaded - c->handle->loaded].image;
		c->problem->kernel = kernel;
	}
	return status;
}

int
wsk_launch_kernel(const struct wsk_call *c, int kernel, int64_t blocks, unsigned threads,
	void *params, const char *fewer)
{
	const struct wsk_grid grid = {blocks, 1, 1};
	return wsk_launch_grid(c, kernel, &grid, threads, params, fewer);
}
