/* prebuilt.c - which combinations were published. */
#include "model/prebuilt.h"

bool
ws_prebuilt_has(const struct ws_prebuilt *prebuilt, const struct ws_published_values *values)
{
	struct ws_point_view view = {
		.torch = values->torch ? &values->torch->version : NULL,
		.cuda = values->cuda ? &values->cuda->version : NULL,
		.python = values->python ? &values->python->version : NULL,
		.cxx11abi = values->cxx11abi ? values->cxx11abi->cxx11abi : -1,
		.archs = prebuilt->archs,
	};
	for (size_t i = 0; i < prebuilt->except_count; i++) {
		if (ws_condition_holds(&prebuilt->except[i], &view)) {
			return false;
		}
	}
	return true;
}

/* A list that is empty stands for one value: that names do not say it. */
static size_t
rounds(size_t count)
{
	return count > 0 ? count : 1;
}

static const struct ws_published *
value_at(const struct ws_published_list *list, size_t i)
{
	return list->count > 0 ? &list->at[i] : NULL;
}

size_t
ws_prebuilt_count(const struct ws_prebuilt *p)
{
	size_t count = 0;
	size_t all = rounds(p->cuda.count) * rounds(p->torch.count) * rounds(p->cxx11abi.count)
		* rounds(p->python_count);
	for (size_t i = 0; i < all; i++) {
		size_t n = i;
		size_t python = n % rounds(p->python_count);
		size_t abi = (n /= rounds(p->python_count)) % rounds(p->cxx11abi.count);
		size_t torch = (n /= rounds(p->cxx11abi.count)) % rounds(p->torch.count);
		struct ws_published_values values = {
			.cuda = value_at(&p->cuda, n / rounds(p->torch.count)),
			.torch = value_at(&p->torch, torch),
			.cxx11abi = value_at(&p->cxx11abi, abi),
			.python = p->python_count > 0 ? &p->pythons[python] : NULL,
		};
		count += ws_prebuilt_has(p, &values);
	}
	return count;
}
