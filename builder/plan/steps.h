/**
 * steps.h - what ws_plan_make does to cells, in order
 */
#ifndef WS_PLAN_STEPS_H
#define WS_PLAN_STEPS_H

#include "base/arena.h"
#include "plan/axis.h"
#include "plan/plan.h"

/* ---- cells that belong together, for dealing work out to machines ----
 * Products that share kernels (everything equal but the Python) are one group, so that no kernel is
 * compiled on two machines. Groups follow from what is written in the matrix, from recipes, facts
 * and the lock: machines with other GPUs, Pythons and toolkits number and deal them alike. What a
 * host decides ("host", "installed", the toolkit that "auto" falls back to) is a word in a group's
 * name. */

struct ws_group {
	bool alive; /**< some host may have something to do for it */
	const struct ws_recipe *recipe;
	size_t archs;    /**< that its kernels are compiled for; 1 where a host decides */
	unsigned points; /**< of the matrix, that are alive: mostly its Pythons */
};

struct ws_groups {
	struct ws_map numbers; /**< name to index + 1 */
	WS_VEC(struct ws_group) at;
};

/**
 * Takes note of @a point of the matrix, which led to @a cell, and gives the cell its group. Points
 * that come to one cell (by number, and by "auto") are all noted; the one that leaves a host least
 * to decide gives the group. @a alive: not every host excludes it.
 */
void ws_groups_note(struct ws_groups *groups, struct ws_cell *cell, const struct ws_point *point,
	bool alive, struct ws_arena *a);

/**
 * The shard of each group, from 1: the dearest first, each to the shard that has least so far. What
 * a group costs is what its recipe estimates, for all machines must deal alike and have different
 * ledgers; a recipe that estimates nothing counts by its units.
 */
const unsigned *ws_groups_deal(const struct ws_groups *groups, unsigned shards, struct ws_arena *a);

/* ---- a matrix multiplied out into cells ----
 * The axes in the order packages, torch, cuda, python, arch, cxx11abi, the last running fastest;
 * then the extra points. Every cell is asked the rules; cells of one name are one. */

typedef WS_VEC(struct ws_cell *) ws_cell_list;

/** Fills @a cells and @a groups. On failure @a err has the place of the value at fault. */
bool ws_expand(
	struct ws_axes *axes, ws_cell_list *cells, struct ws_groups *groups, struct ws_err *err);

/* ---- the wheels that cells need ----
 * Cells that differ only in axes their binding kind does not depend on share one product: patch
 * releases of torch always, Pythons unless the binding is pybind's, ABIs from the stable ABI on. */

typedef WS_VEC(struct ws_product *) ws_product_list;

/**
 * Gives every cell that is not excluded its product, and products what they are called. Cells that
 * are left out of the plan later count too: what a wheel is must not depend on --only.
 */
void ws_products_make(const struct ws_plan_input *in, struct ws_cell *const *cells, size_t count,
	struct ws_arena *a, ws_product_list *products);

/* ---- what a product's wheel is called ----
 * The local version label, the tags and the torch that METADATA asks for follow from the kind of
 * binding and the point it is built for. The platform is measured later. Labels are dotted and
 * lower case, so that versions sort (PEP 440); what differs between two products differs in the
 * label. */

/** Fills label, version, tags, pure and torch of @a product. @a extra: segments of the matrix;
 * NULL. */
void ws_label_fill(struct ws_product *product, const char *extra, struct ws_arena *a);

/* ---- what happens to each cell that no rule excludes ----
 * A wheel in the store serves before everything; then the matrix's policy chooses between
 * candidates and building. A candidate serves all cells of a product or none; where none loads and
 * nothing may or can be built, there is the fallback. */

/**
 * Asks the look-ups and fills decision, why, rule and candidates. True when cells that can neither
 * be built nor be served otherwise lost their product.
 */
bool ws_decide(const struct ws_plan_input *in, struct ws_cell *const *cells, size_t count,
	struct ws_product *const *products, size_t product_count, struct ws_arena *a);

/** Gives cells that are to be built their reason, once it is known who compiles what first. */
void ws_decide_reasons(struct ws_cell *const *cells, size_t count, struct ws_arena *a);

/* ---- what building a plan's products costs ----
 * Every distinct unit once: a .cu unit for one package, torch, ABI, CUDA and arch set serves every
 * Python; other units serve theirs. The first cell in plan order pays. That Pythons share .cu units
 * is assumed here, for costs only; when building, keys find out. So is that the store has the
 * objects of a wheel that it has. */

/** Fills payer, units, kernels and cost of products, cost of the cells that pay, and the totals. */
void ws_cost_fill(const struct ws_plan_input *in, struct ws_plan *plan, struct ws_arena *a);

#endif
