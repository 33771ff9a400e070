/**
 * units.h - what a product is compiled from, and what that costs
 *
 * The units of recipe/units.h; a pattern stands for as many as the recipe expects while the files
 * are not here. Costs come from the ledger, else from the recipe's estimates; of C++ that binds
 * torch to Python a rough figure is known, because its headers take most of the time.
 */
#ifndef WS_PLAN_UNITS_H
#define WS_PLAN_UNITS_H

#include "base/arena.h"
#include "plan/plan.h"
#include "recipe/recipe_files.h"

struct ws_plan_unit {
	const char *module; /**< "demo_cuda" */
	const char *path;   /**< relative to the sources; a glob when nobody has the files */
	enum ws_unit_kind kind;
	unsigned files; /**< how many units it stands for: 1, but for a glob */
	bool measured;  /**< the cost is the ledger's */
	bool rough;     /**< of it nothing is known but that it includes torch's headers */
	struct ws_plan_estimate cost; /**< of one of them; 0: not known */
};

struct ws_plan_units {
	const struct ws_plan_unit *at;
	size_t count;
	unsigned modules; /**< to link */
};

/** Lists made so far; products that compile the same at the same cost share one. Zeroed: empty. */
struct ws_unit_lists {
	const struct ws_plan_input *in;
	struct ws_arena *a;
	struct ws_map lists;
};

const struct ws_plan_units *ws_units_of(
	struct ws_unit_lists *memory, const struct ws_product *product);

#endif
