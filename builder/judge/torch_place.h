/**
 * torch_place.h - places of torch releases and of an installed torch, for orders
 *
 * A place has export lists of torch, of its dependencies and of Python; the host's libraries; GPUs,
 * driver and glibc. Downloads nothing: a release without shipped lists is WS_ERR_UNKNOWN.
 */
#ifndef WS_JUDGE_TORCH_PLACE_H
#define WS_JUDGE_TORCH_PLACE_H

#include "judge/order.h"
#include "kit/hostcc/hostcc.h"
#include "kit/torch/export_lists.h"

/** The options that all places of one order share. */
struct ws_verify_asked {
	const char *facts;            /**< folder of the facts */
	const struct ws_facts *world; /**< their content */
	/** The interpreter's; needed for a release, and for names of Python without `kit`. */
	const struct ws_python_tag *python;
	const struct ws_python_kit *kit;  /**< the interpreter on this host; NULL: by its list */
	struct ws_arch_set archs;         /**< GPUs to serve; none: not judged */
	const char *driver;               /**< "550.54.14"; NULL: not known */
	const char *glibc;                /**< "2.28"; NULL: this host's */
	const struct ws_machine *machine; /**< of a release; NULL: this host's */
	bool strict;                      /**< names in libraries that were not read are unknown */
};

/**
 * Moves @a place to another machine, whose files this host does not have: the list of its glibc is
 * added to @a lists. Without place->glibc that glibc is as new as this host's.
 */
void ws_judge_place_move(struct ws_judge_place *place, ws_list_paths *lists, const char *facts,
	const struct ws_machine *machine, struct ws_arena *a);

/**
 * The place of release @a torch; NULL: of no torch. Lists that do not ship are WS_ERR_UNKNOWN,
 * which names the releases that are known.
 */
bool ws_torch_place_release(const struct ws_verify_asked *asked, const struct ws_version *torch,
	struct ws_arena *a, struct ws_wheel_place *place, struct ws_err *err);

/** The place of an installed torch of asked->kit: its libraries are read once and cached in the
 * store. */
bool ws_torch_place_installed(const struct ws_verify_asked *asked, const struct ws_fetch *fetch,
	const char *program, const struct ws_torch_kit *torch, struct ws_arena *a,
	struct ws_wheel_place *place, struct ws_err *err);

/* ---- the libraries of this host that a module will load ----
 * glibc's, the compiler's own, and the libraries that a recipe links with -l, if the compiler finds
 * them. torch's and CUDA's are in kits. */

/** Adds the normalised paths of glibc's and the compiler's libraries that the compiler finds. */
void ws_host_libraries(
	struct ws_ledger *ledger, const struct ws_hostcc *cxx, struct ws_arena *a, ws_name_list *paths);

/**
 * The same without a compiler: searches the loader's folders, first those of @a prefix
 * ("/opt/conda", of an interpreter). NULL: the system's only.
 */
void ws_host_libraries_usual(const char *prefix, struct ws_arena *a, ws_name_list *paths);

/** Adds those that @a recipe links. */
void ws_host_libraries_linked(struct ws_ledger *ledger, const struct ws_hostcc *cxx,
	const struct ws_recipe *recipe, struct ws_arena *a, ws_name_list *paths);

#endif
