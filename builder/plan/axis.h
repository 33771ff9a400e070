/**
 * axis.h - what the values of a matrix's axes mean in this plan
 *
 * "auto", "host", "installed", names of arch sets, variants of torch. Knows the facts, the lock and
 * the host; whether a point may exist is rule.h's question.
 */
#ifndef WS_PLAN_AXIS_H
#define WS_PLAN_AXIS_H

#include "base/vec.h"
#include "plan/point.h"

/** A CUDA toolkit that can be had. */
struct ws_axes_kit {
	struct ws_version version;
	enum ws_kit_origin origin;
	const char *name; /**< archive kits */
};

struct ws_axes {
	const struct ws_plan_input *in;
	struct ws_arena *a;
	WS_VEC(struct ws_axes_kit) kits;                /**< ascending; as --kits allows */
	WS_VEC(const struct ws_cuda_choice *) toolkits; /**< choices made, each version once */
	WS_VEC(const char *) warnings;
	bool compiles; /**< some package has more than Python files */
};

void ws_axes_open(struct ws_axes *axes, const struct ws_plan_input *in, struct ws_arena *a);

/**
 * NULL on failure, with the place of the value in @a err. Where nothing is compiled, "host" needs no
 * GPU: the set is empty.
 */
const struct ws_python_choice *ws_axes_python(
	struct ws_axes *axes, const struct ws_python_value *value, struct ws_err *err);
const struct ws_arch_choice *ws_axes_arch(
	struct ws_axes *axes, const struct ws_arch_value *value, struct ws_err *err);

/**
 * The build of torch that is meant beside these values of the other axes: an explicit @a abi (not -1)
 * picks, of the builds of one release, one that has it, by preference for the toolkit @a cuda. When
 * none has, the release's own is returned. Never NULL; "installed" without one gives a choice whose
 * `installed` is set and whose version has no text.
 */
const struct ws_torch_choice *ws_axes_torch(struct ws_axes *axes,
	const struct ws_torch_value *value, const struct ws_cuda_value *cuda,
	const struct ws_python_choice *python, int abi);

/**
 * "auto" is the toolkit that @a torch was built with where there is a kit of it with code for @a archs,
 * else the nearest of its major that has that. NULL for "auto" where there is nothing to go by.
 */
const struct ws_cuda_choice *ws_axes_cuda(struct ws_axes *axes, const struct ws_cuda_value *value,
	const struct ws_torch_choice *torch, const struct ws_arch_set *archs);

/** Sets a WS_ERR_CONFIG error at a value of the matrix. Returns false. */
bool ws_axes_err(const struct ws_axes *axes, struct ws_place place, struct ws_err *err,
	const char *format, ...) WS_PRINTF(4, 5);

#endif
