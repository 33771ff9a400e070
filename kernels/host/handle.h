/**
 * handle.h - what is loaded
 *
 * One image for each head dimension, embedded in the library as a fatbin behind a symbol. A kernel
 * that an image lacks for a device is found out when it is launched there: NULL is one that it lacks
 * for every device.
 */
#ifndef WSK_HANDLE_H
#define WSK_HANDLE_H

#include "wsk.h"

enum wsk_kernel {
	WSK_KERNEL_FORWARD,
	WSK_KERNEL_DELTA,
	WSK_KERNEL_DKDV,
	WSK_KERNEL_DQ,
	WSK_KERNEL_DECODE,
	WSK_KERNEL_COMBINE,
	WSK_KERNEL_COUNT,
};

struct wsk_image {
	int32_t head_dim;
	const void *data;
	const char *symbol;
};

/** The images of the library, in the order of the handle's members. */
#define WSK_IMAGE_COUNT 4
extern const struct wsk_image wsk_images[WSK_IMAGE_COUNT];

struct wsk_loaded {
	void *library;
	void *kernels[2][WSK_KERNEL_COUNT]; /**< by type, WSK_FLOAT16 first */
};

struct wsk_handle {
	struct wsk_driver driver;
	struct wsk_loaded loaded[WSK_IMAGE_COUNT];
};

/** Fills @a problem, which may be NULL; returns @a status. */
int wsk_fail(struct wsk_problem *problem, int status, const char *argument, const char *expected);

/** What was loaded for a head dimension; NULL: nothing is known of it. */
const struct wsk_loaded *wsk_find(const struct wsk_handle *handle, int32_t head_dim);

#endif
