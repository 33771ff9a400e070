/**
 * judge.h - the action that judges freshly linked modules, and what it does in its process
 *
 * Every undefined symbol must be found where the module will look; the code must be for the archs
 * that were asked for; the platform tag follows from the symbol versions. The child writes what it
 * measured to "check.json", and exits with 6 after saying what is wrong when a module will not load
 * or nobody knows whether it will.
 */
#ifndef WS_JUDGE_JUDGE_H
#define WS_JUDGE_JUDGE_H

#include "base/out.h"
#include "engine/graph.h"
#include "judge/place.h"

/** A module to judge and the link that makes it. */
struct ws_judge_module {
	const char *module; /**< dotted import name */
	const struct ws_node *link;
	bool cuda;     /**< it must hold code for the archs */
	bool imported; /**< Python imports it, which needs its PyInit function */
};

struct ws_judge_order {
	const char *subject; /**< "causal-conv1d 1.5.3.post1" */
	const char *unit;    /**< for the ledger */
	const char *group;   /**< the cell's name */
	const struct ws_judge_module *modules;
	size_t module_count;
	struct ws_arch_set archs;
	struct ws_judge_place place; /**< without archs: the modules' must be `archs` */
};

/** The action. @a program is our own executable. */
const struct ws_action *ws_judge_action(const struct ws_judge_order *order,
	const struct ws_store *store, const char *program, struct ws_arena *a, struct ws_err *err);

/** The child: judges in the current folder. A negative verdict is WS_ERR_VERIFY. */
bool ws_judge_run(const struct ws_out *out, struct ws_err *err);

#endif
