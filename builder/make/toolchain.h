/**
 * toolchain.h - the host compilers of products, the linker, and the libraries of older systems
 *
 * Each compiler is found and asked once, however many products share it. The compilers of a farm's
 * workers are chosen here as well; linking is always done on this host.
 */
#ifndef WS_MAKE_TOOLCHAIN_H
#define WS_MAKE_TOOLCHAIN_H

#include "kit/floor/floor.h"
#include "make/context.h"

struct ws_toolchains;

/** The requirements for a compiler. */
struct ws_toolchain_need {
	const struct ws_machine *machine;
	struct ws_cuda_kit *cuda; /**< NULL: no GPU code */
	unsigned gcc_min;
	const unsigned *bad; /**< majors of gcc that are known to fail */
	size_t bad_count;
};

/** A C++ compiler, and the libraries of this host that its modules load. */
struct ws_toolchain {
	struct ws_hostcc cxx;         /**< compiles; on a farm's workers where it has a platform */
	struct ws_hostcc linker;      /**< links on this host: the same, or the nearest there is */
	const char *const *libraries; /**< paths of runtime libraries, for the check */
	size_t library_count;
};

/** @a ctx is borrowed; all lives in its arena. */
struct ws_toolchains *ws_toolchains_open(const struct ws_context *ctx);

/**
 * The toolchain for @a need: of a farm's workers with `--executor remote` (ws_executor.platform),
 * else of this host. Fills the include folders of the CUDA kit, which only a compiler can tell.
 * NULL with @a err.
 */
const struct ws_toolchain *ws_toolchain_find(
	struct ws_toolchains *t, const struct ws_toolchain_need *need, struct ws_err *err);

/** False when @a cxx compiles against headers of a newer glibc than this host has. */
bool ws_toolchain_links_here(
	const struct ws_toolchains *t, const struct ws_hostcc *cxx, struct ws_err *err);

/** The libraries of a system with glibc @a glibc, for modules that @a cxx links. NULL with @a
 * err. */
const struct ws_floor_kit *ws_toolchain_floor(
	struct ws_toolchains *t, const struct ws_hostcc *cxx, const char *glibc, struct ws_err *err);

#endif
