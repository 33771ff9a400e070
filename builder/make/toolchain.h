/**
 * toolchain.h - the host compilers of products, the linker, and the libraries of older systems
 *
 * Each compiler is found and asked once, however many products share it. The compilers of a farm's
 * workers are chosen here as well; linking is always done on this host.
 */
#ifndef WS_MAKE_TOOLCHAIN_H
#define WS_MAKE_TOOLCHAIN_H

#include "engine/action.h"
#include "kit/floor/floor.h"
#include "make/context.h"
#include "plan/plan.h"

struct ws_toolchains;

/** A C++ compiler, and the libraries that its modules are linked against and load. */
struct ws_toolchain {
	struct ws_hostcc cxx;             /**< compiles; on a farm's workers where it has a platform */
	struct ws_hostcc linker;          /**< links on this host: the same, or the nearest there is */
	const struct ws_floor_kit *floor; /**< to link against; NULL: this host's libraries */
	ws_name_list libraries;           /**< of this host, for the check; without those of floor */
};

/** @a ctx is borrowed; all lives in its arena. */
struct ws_toolchains *ws_toolchains_open(const struct ws_context *ctx);

/**
 * The toolchain for @a product with @a cuda (NULL: no GPU code): of a farm's workers with
 * `--executor remote` (ws_executor.platform), else of this host. Fills the include folders of @a
 * cuda, which only a compiler can tell. NULL with @a err.
 */
const struct ws_toolchain *ws_toolchain_find(struct ws_toolchains *t,
	const struct ws_product *product, struct ws_cuda_kit *cuda, struct ws_err *err);

#endif
