/**
 * axis.h - what the values of a matrix's axes mean in this plan
 *
 * "auto", "host", "installed", names of arch sets, variants of torch. Knows the facts, the lock and
 * the host; whether a point may exist is rule.h's question.
 */
#ifndef WS_PLAN_AXIS_H
#define WS_PLAN_AXIS_H

#include "base/arena.h"
#include "base/text.h"
#include "plan/input.h"

/* ---- one point of a matrix, its values resolved ----
 * What "2.5.1", "auto", "host" and "hopper" mean in this plan. Choices are made once for each value
 * (axis.h) and shared by the cells. */

/** Who says what a torch wheel was built with. */
enum ws_torch_source {
	WS_TORCH_FACTS,
	WS_TORCH_LOCK,        /**< its own files did, when it was locked */
	WS_TORCH_INTERPRETER, /**< it is installed, and was asked */
	WS_TORCH_GUESS,       /**< nobody: taken from the nearest release or variant */
};

struct ws_torch_choice {
	const char *name;                       /**< in cell names: "2.5.1", "2.5.1+cu121" */
	struct ws_version version;              /**< with its local label, if any */
	const char *minor;                      /**< "2.5" */
	const struct ws_torch_release *release; /**< the facts' own, or the nearest when not known */
	bool known;                             /**< the facts know this release */
	bool installed;                         /**< the interpreter's */
	bool standard;       /**< the build that the default index has, as far as is known */
	const char *cuda;    /**< toolkit it was built with: "12.4"; NULL: without CUDA */
	unsigned cuda_major; /**< 0 without CUDA */
	int cxx11abi;        /**< of this build */
	int own_abi;         /**< of the build that the name alone means */
	int facts_abi;       /**< what the facts say of the build for this toolkit; -1: nothing */
	enum ws_torch_source source;
	const struct ws_pin_torch *pin; /**< NULL: not locked, or installed */
	const char *record;             /**< installed: digest of its RECORD; NULL: it has none */
};

enum ws_kit_origin {
	WS_KIT_NONE, /**< there is none */
	WS_KIT_HOST,
	WS_KIT_ARCHIVE,
	WS_KIT_REDIST, /**< NVIDIA's redistributables; no definition of ours */
};

struct ws_cuda_choice {
	const char *name; /**< "12.4" */
	struct ws_version version;
	const struct ws_cuda_toolkit *toolkit; /**< facts; NULL: not known */
	enum ws_kit_origin origin;
	const char *kit;               /**< name of the archive kit; else NULL */
	struct ws_cuda_kit *host_kit;  /**< with WS_KIT_HOST; else NULL */
	const struct ws_pin_cuda *pin; /**< NULL: this kit is not locked */
};

struct ws_python_choice {
	const struct ws_python_value *value; /**< of the matrix */
	struct ws_python_tag tag;
	const char *name;                         /**< "cp311", "cp313t" */
	const char *text;                         /**< "3.11", "3.13t" */
	struct ws_version version;                /**< "3.11" */
	bool fixed;                               /**< the same on every host */
	const struct ws_plan_python *interpreter; /**< NULL: named by version, and not looked for */
};

struct ws_arch_choice {
	const struct ws_arch_value *value; /**< of the matrix */
	struct ws_arch_set set;
	const char *name; /**< "sm80+90ptx" */
	bool fixed;       /**< the same on every host */
};

struct ws_point {
	const struct ws_torch_choice *torch; /**< NULL: the matrix has no torch axis */
	const char *torch_pin; /**< its name in the lock: "2.11.0", "2.11.0/aarch64"; NULL: none */
	const struct ws_cuda_choice *cuda; /**< NULL: "auto", and there is nothing to go by */
	bool cuda_auto;                    /**< the matrix says "auto" */
	const struct ws_python_choice *python;
	const struct ws_machine *machine;
	const struct ws_arch_choice *arch; /**< as asked */
	struct ws_arch_set archs;          /**< what is left of it */
	int cxx11abi;                      /**< 0, 1, or -1 without torch */
	bool abi_auto;
};

/** Whether @a pin is of a kit from there. */
bool ws_pins_origin(const struct ws_pin_cuda *pin, enum ws_kit_origin origin);

/** As conditions see it. */
struct ws_point_view ws_point_see(const struct ws_point *point);

/**
 * "causal-conv1d-1.5.3.post1/torch2.5.1/cu12.4/cp311/sm80+90ptx". @a python stands in the place of
 * the point's own when it is not NULL: "cp*".
 */
const char *ws_point_name(const struct ws_point *point, const struct ws_recipe *recipe,
	const char *python, struct ws_arena *a);

/** Adds @a set in few bytes: equal texts, equal sets. */
void ws_archs_identify(const struct ws_arch_set *set, struct ws_buf *out);

/** A CUDA toolkit that can be had. */
struct ws_axes_kit {
	struct ws_version version;
	enum ws_kit_origin origin;
	const char *name;             /**< archive kits */
	struct ws_cuda_kit *host_kit; /**< toolkits of this host */
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
 * NULL on failure, with the place of the value in @a err. Where nothing is compiled, "host" needs
 * no GPU: the set is empty.
 */
const struct ws_python_choice *ws_axes_python(
	struct ws_axes *axes, const struct ws_python_value *value, struct ws_err *err);
const struct ws_arch_choice *ws_axes_arch(
	struct ws_axes *axes, const struct ws_arch_value *value, struct ws_err *err);

/**
 * The build of torch that is meant beside these values of the other axes: an explicit @a abi (not
 * -1) picks, of the builds of one release, one that has it, by preference for the toolkit @a cuda.
 * When none has, the release's own is returned. Never NULL; "installed" without one gives a choice
 * whose `installed` is set and whose version has no text.
 */
const struct ws_torch_choice *ws_axes_torch(struct ws_axes *axes,
	const struct ws_torch_value *value, const struct ws_cuda_value *cuda,
	const struct ws_python_choice *python, int abi);

/**
 * "auto" is the toolkit that @a torch was built with where there is a kit of it with code for @a
 * archs, else the nearest of its major that has that. NULL for "auto" where there is nothing to go
 * by.
 */
const struct ws_cuda_choice *ws_axes_cuda(struct ws_axes *axes, const struct ws_cuda_value *value,
	const struct ws_torch_choice *torch, const struct ws_arch_set *archs);

/** Sets a WS_ERR_CONFIG error at a value of the matrix. Returns false. */
bool ws_axes_err(const struct ws_axes *axes, struct ws_place place, struct ws_err *err,
	const char *format, ...) WS_PRINTF(4, 5);

#endif
