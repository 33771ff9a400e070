/**
 * host_tools.h - what products are built with that this host has: interpreters and compilers
 *
 * Each is found and asked once, however many products share it. What comes from outside is
 * resolve.h's; a host that only fetches needs nothing of this.
 */
#ifndef WS_MAKE_HOST_TOOLS_H
#define WS_MAKE_HOST_TOOLS_H

#include "kit/floor/floor.h"
#include "make/context.h"
#include "plan/plan.h"

struct ws_host_tools;

/** What a compiler is needed for. */
struct ws_toolchain_need {
	const struct ws_machine *machine;
	struct ws_cuda_kit *cuda; /**< NULL: no GPU code */
	unsigned gcc_min;
	const unsigned *bad; /**< majors of gcc that are known to fail */
	size_t bad_count;
};

/** A C++ compiler and what its modules find on this host. */
struct ws_toolchain {
	struct ws_hostcc cxx;         /**< compiles; of a farm's workers where it has a platform */
	struct ws_hostcc linker;      /**< links, here: the same, or as near as this host has */
	const char *const *libraries; /**< runtime libraries by their paths, for the check */
	size_t library_count;
};

/** @a ctx is borrowed; the tools live in its arena. */
struct ws_host_tools *ws_host_tools_open(const struct ws_context *ctx);

/** The interpreter that @a choice means, with its headers; NULL with @a err. */
const struct ws_python_kit *ws_host_tools_python(
	struct ws_host_tools *t, const struct ws_python_choice *choice, struct ws_err *err);

/**
 * The compiler for @a need: of the workers of a farm that is to be taken as it is
 * (ws_executor.platform), else of this host. Fills the include folders of its CUDA kit, which need
 * a compiler to be known. NULL with @a err.
 */
const struct ws_toolchain *ws_host_tools_cxx(
	struct ws_host_tools *t, const struct ws_toolchain_need *need, struct ws_err *err);

/** True where objects of @a cxx may be linked with this host's own libraries: its headers are not
 * those of a newer glibc. */
bool ws_host_tools_can_link_here(
	const struct ws_host_tools *t, const struct ws_hostcc *cxx, struct ws_err *err);

/** The libraries of a system with glibc @a glibc, for what @a cxx links. NULL with @a err. */
const struct ws_floor_kit *ws_host_tools_floor(
	struct ws_host_tools *t, const struct ws_hostcc *cxx, const char *glibc, struct ws_err *err);

#endif
