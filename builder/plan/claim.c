#include "plan/candidate_order.h"

#include <stdlib.h>

/* The major that torch's build and the toolkit share; 0: the product is not bound to CUDA. */
static unsigned
cuda_major(const struct ws_product *product)
{
	const struct ws_point *point = &product->point;
	return product->binding == WS_BINDING_NONE     ? 0
		: point->torch && point->torch->cuda_major ? point->torch->cuda_major
		: point->cuda                              ? point->cuda->version.major
												   : 0;
}

static bool
fits_cuda(const struct ws_product *product, const struct ws_wheel_label *label)
{
	unsigned major = cuda_major(product);
	return major == 0 || (!label->cpu && (!label->cuda || strtoul(label->cuda, NULL, 10) == major));
}

/* Of another major. */
#define OUT_OF_REACH 100000

long
ws_claim_distance(const struct ws_product *product, const struct ws_wheel_label *label)
{
	const struct ws_torch_choice *torch = product->point.torch;
	char *end;
	if (!label->torch || !torch || product->binding >= WS_BINDING_C_ABI) {
		return 0;
	}
	unsigned long major = strtoul(label->torch, &end, 10);
	long minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
	long own = torch->version.minor;
	return major == torch->version.major ? own - minor : OUT_OF_REACH;
}

/* Modules of the stable ABI load in the torch that they were built for and in all later ones. */
static bool
is_in_window(const struct ws_product *product, long distance)
{
	return product->binding == WS_BINDING_STABLE_ABI ? distance < 0 : distance != 0;
}

bool
ws_claim_fits(
	const struct ws_product *product, const struct ws_wheel_label *label, bool window, bool *other)
{
	long distance = ws_claim_distance(product, label);
	bool bound = product->binding < WS_BINDING_STABLE_ABI && product->point.cxx11abi >= 0;
	*other = is_in_window(product, distance);
	return fits_cuda(product, label) && distance != OUT_OF_REACH && (window || !*other)
		&& (!bound || label->cxx11abi < 0 || label->cxx11abi == product->point.cxx11abi);
}

bool
ws_claim_runs(const struct ws_product *product, const struct ws_wheel_label *label,
	const struct ws_arch **lacking)
{
	const struct ws_arch_set *asked = &product->point.archs;
	for (size_t i = 0; i < asked->count && label->archs.count > 0; i++) {
		bool runs = false;
		for (size_t j = 0; j < label->archs.count; j++) {
			runs = runs || ws_arch_may_run(&label->archs.at[j], &asked->at[i]);
		}
		if (!runs) {
			*lacking = &asked->at[i];
			return false;
		}
	}
	return true;
}
