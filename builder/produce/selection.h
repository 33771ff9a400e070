/**
 * selection.h - from what a person asked for to a plan
 *
 * A matrix file, or a matrix made elsewhere. Reads recipes and the lock, asks this host only what
 * the selection needs to know of it, and plans. Shared by plan, build, fetch, lock and shell.
 */
#ifndef WS_PRODUCE_SELECTION_H
#define WS_PRODUCE_SELECTION_H

#include "config/user.h"
#include "make/context.h"
#include "make/pins.h"
#include "plan/plan.h"

/** The options of a selection. */
struct ws_selection_options {
	const char *matrix;                    /**< its file; NULL: made */
	const struct ws_matrix *made;          /**< one without a file; NULL: matrix */
	const char *only;                      /**< globs over cells' names; NULL: all */
	unsigned shard, shards;                /**< part `shard` of `shards`; 0: all */
	const enum ws_policy *policy;          /**< NULL: the matrix's */
	const char *glibc;                     /**< "2.28", "host"; NULL: the matrix's */
	const enum ws_debug_info *debug_info;  /**< NULL: the matrix's */
	bool locked;                           /**< a pin that would change is an error */
	bool torch_window;                     /**< --torch-window; false: the matrix decides */
	const struct ws_plan_against *against; /**< wheels that are published; NULL: none count */
	bool candidates;     /**< prebuilt wheels count; false for who cannot bring them */
	const char *recipes; /**< a folder to look in first; NULL: none */
	/** The only folder of recipes, for the matrix of a bundle; NULL: the usual folders. */
	const char *only_recipes;
	bool builds_elsewhere; /**< wheels are built on another host: a Python may be missing here */
	bool afresh; /**< wheels that the store has do not count: for who packs what a build needs */
	/** Pins to make anew: "torch", "cuda", a package's name, "all". Planning does not see them. */
	const char *const *forget;
	size_t forget_count;
	/** Prebuilt wheels are asked for, fetched and judged before the plan that counts is made. */
	bool resolve;
};

struct ws_candidate_memory;

struct ws_selection {
	struct ws_matrix matrix;
	const struct ws_recipe *recipes; /**< one for each of matrix.packages */
	struct ws_pins pins;
	struct ws_candidate_memory *candidates; /**< NULL: prebuilt wheels do not count */
	struct ws_plan_input *input;            /**< the input of the plan */
	struct ws_plan plan;
};

/**
 * Reads the matrix and its recipes: enough to open the network. All mistakes of the person who
 * asked are WS_ERR_CONFIG or WS_ERR_USAGE, with their place where there is a file.
 */
bool ws_selection_read(const struct ws_context *ctx, const struct ws_user_config *user,
	const struct ws_selection_options *options, struct ws_selection *sel, struct ws_err *err);

/**
 * Fills the rest of @a sel after ws_selection_read. @a ctx needs facts, data, host, store and
 * ledger. An index is asked only for a torch release without facts and pins, and only when @a
 * ctx->fetch is set.
 */
bool ws_selection_plan(const struct ws_context *ctx, const struct ws_selection_options *options,
	struct ws_selection *sel, struct ws_err *err);

#endif
