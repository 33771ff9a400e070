/**
 * resolve.h - the kits, sources and compilers that products are built with
 *
 * Downloads or finds each once, however many products share it, and pins in the lock what was
 * downloaded. The interpreter and the host toolkit come with the product (plan/input.h). Compiles
 * nothing.
 */
#ifndef WS_MAKE_RESOLVE_H
#define WS_MAKE_RESOLVE_H

#include "engine/action.h"
#include "fetch/source.h"
#include "kit/floor/floor.h"
#include "kit/torch/export_lists.h"
#include "make/context.h"
#include "make/pins.h"
#include "plan/plan.h"

/** The materials of one product. All borrowed from the resolver. */
struct ws_materials {
	const struct ws_torch_kit *torch;   /**< NULL: the binding needs none */
	struct ws_cuda_kit *cuda;           /**< NULL: none */
	const struct ws_python_kit *python; /**< NULL: the product does not depend on one */
	const struct ws_hostcc *cxx;        /**< NULL: no unit is compiled */
	const struct ws_hostcc *linker;     /**< of this host; NULL: no unit is compiled */
	const struct ws_source_found *source;
	const struct ws_floor_kit *floor; /**< libraries to link against; NULL: this host's */
	ws_name_list libraries;           /**< the host's runtime libraries, for the check */
};

struct ws_resolver;

/** Opens the toolkits of this host that @a products need: an error of one comes when it is used.
 * All is borrowed; the resolver lives in the context's arena. NULL, 0: for export lists alone. */
struct ws_resolver *ws_resolver_open(const struct ws_context *ctx, struct ws_pins *pins,
	struct ws_product *const *products, size_t count);

/** Everything for @a product, with the downloads that are missing. The kinds of errors are the
 * kits' own; a value of the matrix without a kit is WS_ERR_CONFIG. */
bool ws_resolve(struct ws_resolver *r, const struct ws_product *product,
	struct ws_materials *materials, struct ws_err *err);

/** Downloads and pins the sources, the toolkit and the headers of a torch release of @a product.
 * Needs no compiler and no Python. */
bool ws_resolve_outside(
	struct ws_resolver *r, const struct ws_product *product, struct ws_err *err);

/** As ws_resolve_outside, with the export lists for the checks of all cells: all downloads. */
bool ws_resolve_downloads(
	struct ws_resolver *r, const struct ws_product *product, struct ws_err *err);

/** One part by itself; NULL with @a err. Each is opened once. */
const struct ws_torch_kit *ws_resolve_torch(
	struct ws_resolver *r, const struct ws_point *point, struct ws_err *err);
struct ws_cuda_kit *ws_resolve_cuda(
	struct ws_resolver *r, const struct ws_cuda_choice *choice, struct ws_err *err);

/** The interpreter of @a point and its own torch, when that is the torch of @a point: wheels can be
 * imported here. False, without an error, when this host does not have both. */
bool ws_resolve_beside(struct ws_resolver *r, const struct ws_point *point,
	const struct ws_python_kit **python, const struct ws_torch_kit **torch);

/** The export list of a torch: the shipped one, else one made from its wheel into the store; for an
 * installed torch, one made from its libraries. */
bool ws_resolve_exports(
	struct ws_resolver *r, const struct ws_point *point, const char **path, struct ws_err *err);

/** The export lists of all cells of @a product: for judging a prebuilt wheel. */
bool ws_resolve_cell_exports(
	struct ws_resolver *r, const struct ws_product *product, struct ws_err *err);

/** All export lists for a check against the torch of @a point: its own, and those of the libraries
 * that come with it. Without a torch only those that belong to no release. */
bool ws_resolve_lists(
	struct ws_resolver *r, const struct ws_point *point, ws_list_paths *lists, struct ws_err *err);

/* ---- downloads that an offline run lacks, reported together ----
 * What the host itself lacks (a compiler, a Python) is not among them. */

enum ws_download_kind {
	WS_DOWNLOAD_TORCH,   /**< releases whose kits are not in the store: "2.11.0" */
	WS_DOWNLOAD_EXPORTS, /**< releases whose export lists neither ship nor are in the store */
	WS_DOWNLOAD_CUDA,    /**< toolkits: "13.0" */
	WS_DOWNLOAD_SOURCES, /**< "tiny 1.0" */
	WS_DOWNLOAD_WHEELS,  /**< prebuilt ones, by file name */
};

/** Names by kind, each once. Zeroed: no download is missing. */
struct ws_missing_downloads {
	struct ws_map names[WS_DOWNLOAD_WHEELS + 1];
};

/** Adds what @a product needs and the store does not have; true when that is anything. For runs
 * that are offline. */
bool ws_missing_downloads_add(struct ws_missing_downloads *missing, struct ws_resolver *r,
	const struct ws_product *product, struct ws_arena *a);

/** WS_ERR_FETCH with a line for each kind. */
bool ws_missing_downloads_report(const struct ws_missing_downloads *missing, struct ws_err *err);

/** The same for a release, NULL-terminated, if all lists are on this host; else NULL. */
const char *const *ws_lists_here(const struct ws_context *ctx, const struct ws_lock *lock,
	const struct ws_torch_choice *torch, const struct ws_machine *machine);

/** @a exports and the lists of a release's dependencies; @a release NULL: of none. */
const char *const *ws_lists_with(
	const struct ws_context *ctx, const char *exports, const struct ws_version *release);

#endif
