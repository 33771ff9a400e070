/**
 * check.h - how an argument is checked: the first failure is kept, with the argument's name
 *
 * Knows nothing of what is computed.
 */
#ifndef WSK_CHECK_H
#define WSK_CHECK_H

#include "handle.h"

#include <stdbool.h>

struct wsk_checking {
	struct wsk_problem *problem; /**< may be NULL */
	int status;                  /**< WSK_OK: nothing was wrong so far */
};

void wsk_require(
	struct wsk_checking *c, bool holds, int status, const char *argument, const char *expected);

/** An address of the device, a multiple of @a align bytes; 0 only where it is not @a needed. */
void wsk_check_address(
	struct wsk_checking *c, uint64_t address, unsigned align, bool needed, const char *name);

/**
 * True if @a count strides (elements, none negative) over as many extents reach less than 2^62
 * elements from the first one.
 */
bool wsk_reaches(const int64_t *strides, const int64_t *extents, size_t count);

/** A struct that begins with its size: how large it is today, and was in the first version. */
struct wsk_versioned {
	size_t least, size, align;
	const char *name;      /**< of the argument: "attention" */
	const char *size_name; /**< of its first member: "attention.size" */
};

/** Copies the members that the caller of @a from knows into @a in; the rest of it becomes 0. */
int wsk_take(
	const struct wsk_versioned *what, const void *from, void *in, struct wsk_problem *problem);

/**
 * The loaded kernels of @a image; NULL, with status and problem, where the library has none or they
 * were not loaded. @a argument is what the caller named the image by.
 */
const struct wsk_loaded *wsk_loaded_or_fail(struct wsk_checking *c, const struct wsk_handle *handle,
	int32_t image, const char *argument, const char *expected);

/** WSK_OK unless @a handle is NULL. */
int wsk_check_handle(const struct wsk_handle *handle, struct wsk_problem *problem);

static inline int64_t
wsk_divide_up(int64_t x, int64_t by)
{
	return (x + by - 1) / by;
}

#endif
