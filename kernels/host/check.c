/* check.c - what every function of wsk.h asks of its arguments. */
#include "check.h"

#include <string.h>

void
wsk_require(
	struct wsk_checking *c, bool holds, int status, const char *argument, const char *expected)
{
	if (!holds && c->status == WSK_OK) {
		c->status = wsk_fail(c->problem, status, argument, expected);
	}
}

void
wsk_check_address(
	struct wsk_checking *c, uint64_t address, unsigned align, bool needed, const char *name)
{
	wsk_require(c, address != 0 || !needed, WSK_ERR_ARGUMENT, name, "a device address");
	wsk_require(c, address % align == 0, WSK_ERR_ALIGNMENT, name, "an address aligned to its type");
}

bool
wsk_reaches(const int64_t *strides, const int64_t *extents, size_t count)
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

int
wsk_take(const struct wsk_versioned *what, const void *from, void *in, struct wsk_problem *problem)
{
	uint32_t size = 0;
	if (!from || (uintptr_t)from % what->align != 0) {
		return wsk_fail(problem, from ? WSK_ERR_ALIGNMENT : WSK_ERR_ARGUMENT, what->name,
			"the address of the struct that wsk.h declares for this function");
	}
	memcpy(&size, from, sizeof(size));
	if (size < what->least || size > what->size) {
		return wsk_fail(problem, WSK_ERR_ARGUMENT, what->size_name,
			"the struct's size, of this version or an older one");
	}
	memset(in, 0, what->size);
	memcpy(in, from, size);
	return WSK_OK;
}

const struct wsk_loaded *
wsk_loaded_or_fail(struct wsk_checking *c, const struct wsk_handle *handle, int32_t image,
	const char *argument, const char *expected)
{
	const struct wsk_loaded *loaded = wsk_find(handle, image);
	wsk_require(c, loaded != NULL, WSK_ERR_UNSUPPORTED, argument, expected);
	wsk_require(c, !loaded || loaded->library, WSK_ERR_NOT_LOADED, argument,
		"one that wsk_load was called for");
	return c->status == WSK_OK ? loaded : NULL;
}

int
wsk_check_handle(const struct wsk_handle *handle, struct wsk_problem *problem)
{
	return handle ? WSK_OK : wsk_fail(problem, WSK_ERR_ARGUMENT, "handle", "what wsk_init made");
}
