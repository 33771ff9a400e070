/**
 * handle.h - what is loaded, and how it is launched
 *
 * Every image is embedded in the library as a fatbin behind a symbol, with the names of its kernels
 * in a table of its own. A kernel that an image lacks for a device is found out when it is launched
 * there: NULL is one that it lacks for every device.
 */
#ifndef WSK_HANDLE_H
#define WSK_HANDLE_H

#include "wsk.h"

/** Kernels that an image may have. */
#define WSK_KERNELS_MAX 128

struct wsk_embedded {
	int32_t image; /**< enum wsk_image */
	const void *data;
	const char *symbol;
	const char *const *kernels; /**< names, in the order in which they are loaded */
	size_t kernel_count;        /**< at most WSK_KERNELS_MAX */
};

/** The images of the library, in the order of the handle's members. */
#define WSK_IMAGE_COUNT 9
extern const struct wsk_embedded wsk_images[WSK_IMAGE_COUNT];

struct wsk_loaded {
	void *library;
	void *kernels[WSK_KERNELS_MAX]; /**< as the image's table of names has them */
};

struct wsk_handle {
	struct wsk_driver driver;
	struct wsk_loaded loaded[WSK_IMAGE_COUNT];
};

/** Fills @a problem, which may be NULL; returns @a status. */
int wsk_fail(struct wsk_problem *problem, int status, const char *argument, const char *expected);

/** The loaded kernels of an image; NULL: the library has no such image. */
const struct wsk_loaded *wsk_find(const struct wsk_handle *handle, int32_t image);

/** The most blocks of a grid in its first dimension, and in each of the two others. */
#define WSK_GRID_MAX 2147483647
#define WSK_GRID_SIDE_MAX 65535

/** Blocks of threads: at most WSK_GRID_MAX, and WSK_GRID_SIDE_MAX in each of the other
 * dimensions. */
struct wsk_grid {
	int64_t x, y, z;
};

/**
 * Launches @a function on @a grid times @a threads, with @a params by value. Returns
 * WSK_ERR_NO_CODE if the image has no code for the device.
 */
int wsk_launch(const struct wsk_handle *handle, void *function, const struct wsk_grid *grid,
	unsigned threads, void *params, void *stream, struct wsk_problem *problem);

#endif
