/**
 * torch_place.h - the place that a torch release is, or an installed one, for judging wheels
 *
 * Puts together what judge/order.h wants to know: export lists of torch, of what its wheel brings
 * and of Python; the host's libraries; what GPUs, driver and glibc are asked for. Downloads
 * nothing: a release whose lists do not ship is WS_ERR_UNKNOWN.
 */
#ifndef WS_JUDGE_TORCH_PLACE_H
#define WS_JUDGE_TORCH_PLACE_H

#include "fetch/fetch.h"
#include "judge/order.h"
#include "kit/python/python.h"
#include "kit/torch/exports.h"
#include "kit/torch/torch.h"

/** What is the same in every place that is asked about. */
struct ws_verify_asked {
	const char *facts;            /**< folder of the facts */
	const struct ws_facts *world; /**< what they say */
	/** Of the interpreter; needed for a release, and for names of Python where it is not `kit`. */
	const struct ws_python_tag *python;
	const struct ws_python_kit *kit;  /**< the interpreter, where it is here; NULL: by its list */
	struct ws_arch_set archs;         /**< GPUs to serve; none: not judged */
	const char *driver;               /**< "550.54.14"; NULL: not known */
	const char *glibc;                /**< "2.28"; NULL: this host's */
	const struct ws_machine *machine; /**< of a release; NULL: this host's */
	bool strict;                      /**< what is taken on trust is unknown */
};

/**
 * Moves a place to a system of another machine, of which nothing is here: what its glibc has, a
 * list tells, which is added to @a lists. Where no glibc is asked for it is as new as this host's.
 */
void ws_judge_place_move(struct ws_judge_place *place, ws_list_paths *lists, const char *facts,
	const struct ws_machine *machine, struct ws_arena *a);

/**
 * The place of release @a torch; NULL: of no torch. Lists that do not ship are WS_ERR_UNKNOWN,
 * which names the releases that are known.
 */
bool ws_torch_place_release(const struct ws_verify_asked *asked, const struct ws_version *torch,
	struct ws_arena *a, struct ws_wheel_place *place, struct ws_err *err);

/** The place of an installed torch of asked->kit: its libraries are read, and remembered in the
 * store. */
bool ws_torch_place_installed(const struct ws_verify_asked *asked, const struct ws_fetch *fetch,
	const char *program, const struct ws_torch_kit *torch, struct ws_arena *a,
	struct ws_wheel_place *place, struct ws_err *err);

#endif
