/**
 * check.h - a call of one function of wsk.h: how its arguments are checked, and how it launches
 *
 * The first argument that is wrong is kept, with its name and what was expected. Knows nothing of
 * what is computed.
 */
#ifndef WSK_CHECK_H
#define WSK_CHECK_H

#include "handle.h"

#include <stdbool.h>

/** Rows of a sequence, or time steps. */
#define WSK_LENGTH_MAX (1 << 30)

/** Sequences of a batch, where a kernel counts its blocks by more than them. */
#define WSK_BATCH_MAX (1 << 24)

struct wsk_call {
	const struct wsk_handle *handle;
	void *stream;
	struct wsk_problem *problem;     /**< may be NULL */
	const struct wsk_loaded *loaded; /**< kernels of its image, since wsk_need_image() */
	int status;                      /**< WSK_OK: nothing was wrong so far */
};

/** A struct that begins with its size: how large it is today, and was in the first version. */
struct wsk_versioned {
	size_t least, size, align; /**< bytes */
	const char *name;          /**< of the argument: "attention" */
	const char *size_name;     /**< of its first member: "attention.size" */
};

/** As struct wsk_versioned, of struct wsk_<type> whose members up to @a first_new the first version
 * had. */
#define WSK_VERSIONED(type, first_new, name) \
	{ \
		offsetof(struct type, first_new), sizeof(struct type), _Alignof(struct type), name, \
			name ".size" \
	}

/** Likewise, of a struct that is today what it was in the first version. */
#define WSK_FIRST_VERSION(type, name) \
	{ \
		sizeof(struct type), sizeof(struct type), _Alignof(struct type), name, name ".size" \
	}

/**
 * Checks the handle, and copies the members that the caller of @a from knows into @a in; the rest
 * of it becomes 0. Returns the call's status, as do the next two.
 */
int wsk_begin(struct wsk_call *c, const struct wsk_versioned *what, const void *from, void *in);

/**
 * Finds the loaded kernels of image, unless an earlier check failed. Fails if the library has none
 * or they were not loaded. argument is the caller's name of the image.
 */
int wsk_need_image(struct wsk_call *c, int32_t image, const char *argument, const char *expected);

/**
 * Launches the image's @a kernel, by its place in the table, on @a grid times @a threads, with @a
 * params by value. A grid that is too large is "batch" with @a fewer. Returns its own status, not
 * the call's.
 */
int wsk_launch_grid(const struct wsk_call *c, int kernel, const struct wsk_grid *grid,
	unsigned threads, void *params, const char *fewer);

/** As wsk_launch_grid(), of @a blocks in a row. */
int wsk_launch_kernel(const struct wsk_call *c, int kernel, int64_t blocks, unsigned threads,
	void *params, const char *fewer);

void wsk_require(
	struct wsk_call *c, bool holds, int status, const char *argument, const char *expected);

/** An address of the device, a multiple of @a align bytes; 0 only where it is not @a needed. */
void wsk_check_address(
	struct wsk_call *c, uint64_t address, unsigned align, bool needed, const char *name);

/** @a count strides, none negative, that over as many extents reach less than 2^62 elements from
 * the first. */
void wsk_check_strides(struct wsk_call *c, const int64_t *strides, const int64_t *extents,
	size_t count, const char *name);

static inline bool
wsk_is_type(int32_t type)
{
	return type >= WSK_FLOAT16 && type <= WSK_FLOAT32;
}

/** Bytes of an element of enum wsk_type. */
static inline unsigned
wsk_type_bytes(int32_t type)
{
	return type == WSK_FLOAT32 ? 4 : 2;
}

static inline int64_t
wsk_divide_up(int64_t x, int64_t by)
{
	return (x + by - 1) / by;
}

#endif
