/**
 * resolve.h - the kits and sources that products are built with
 *
 * Finds or fetches each once, however many products share it, and pins in the lock what came from
 * outside. Nothing is compiled here.
 */
#ifndef WS_MAKE_RESOLVE_H
#define WS_MAKE_RESOLVE_H

#include "fetch/source.h"
#include "kit/floor/floor.h"
#include "kit/torch/dependencies.h"
#include "make/context.h"
#include "make/pins.h"
#include "plan/plan.h"

/** What one product is built with. All borrowed from the resolver. */
struct ws_materials {
	const struct ws_torch_kit *torch;   /**< NULL: the binding needs none */
	const struct ws_cuda_kit *cuda;     /**< NULL: none */
	const struct ws_python_kit *python; /**< NULL: the product does not depend on one */
	const struct ws_hostcc *cxx;        /**< NULL: nothing is compiled */
	const struct ws_hostcc *linker;     /**< likewise; of this host */
	const struct ws_source_found *source;
	const struct ws_floor_kit *floor; /**< what is linked against; NULL: this host's libraries */
	const char *const *libraries;     /**< the host's runtime libraries, for the check */
	size_t library_count;
};

struct ws_resolver;

/** Both are borrowed; the resolver lives in the context's arena. */
struct ws_resolver *ws_resolver_open(const struct ws_context *ctx, struct ws_pins *pins);

/** One that answers ws_resolve_lists by what is here already: it brings nothing, makes nothing,
 * pins nothing. */
struct ws_resolver *ws_resolver_open_known(const struct ws_context *ctx, struct ws_pins *pins);

/**
 * Everything for @a product, downloading what is not there. The kinds of errors are the kits' own;
 * a value of the matrix that cannot be met is WS_ERR_CONFIG.
 */
bool ws_resolve(struct ws_resolver *r, const struct ws_product *product,
	struct ws_materials *materials, struct ws_err *err);

/**
 * The part of it that comes from outside: sources, toolkits, torch's headers; torch that is
 * installed does not. Needs no compiler and no Python here, and pins what it brings.
 */
bool ws_resolve_outside(
	struct ws_resolver *r, const struct ws_product *product, struct ws_err *err);

/** Its parts, each by itself; NULL with @a err. What was resolved before is not asked for again. */
const struct ws_torch_kit *ws_resolve_torch(
	struct ws_resolver *r, const struct ws_point *point, struct ws_err *err);
const struct ws_cuda_kit *ws_resolve_cuda(
	struct ws_resolver *r, const struct ws_cuda_choice *choice, struct ws_err *err);
const struct ws_source_found *ws_resolve_source(
	struct ws_resolver *r, const struct ws_product *product, struct ws_err *err);

/**
 * The interpreter of @a point and its own torch, when that is the torch of @a point: then wheels
 * can be imported here. False, without an error, when this host does not have both.
 */
bool ws_resolve_beside(struct ws_resolver *r, const struct ws_point *point,
	const struct ws_python_kit **python, const struct ws_torch_kit **torch);

/**
 * The export list of a torch: the one that ships, else one streamed into the store; of an installed
 * one, @a python's, what its libraries export now.
 */
bool ws_resolve_exports(
	struct ws_resolver *r, const struct ws_point *point, const char **path, struct ws_err *err);

/** As ws_resolve_outside, with the export lists that checking each cell's wheel needs: all that is
 * fetched. */
bool ws_resolve_downloads(
	struct ws_resolver *r, const struct ws_product *product, struct ws_err *err);

/** The export lists alone: what judging somebody else's wheel needs. */
bool ws_resolve_cell_exports(
	struct ws_resolver *r, const struct ws_product *product, struct ws_err *err);

/**
 * All export lists that a check against @a torch needs: the one above, and of what comes beside
 * torch's own libraries. @a torch NULL: a module that knows nothing of torch.
 */
bool ws_resolve_lists(
	struct ws_resolver *r, const struct ws_point *point, ws_list_paths *lists, struct ws_err *err);

#endif
