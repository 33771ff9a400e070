/**
 * steps.h - the steps of ws_plan_make, in order; for plan/ alone
 */
#ifndef WS_PLAN_STEPS_H
#define WS_PLAN_STEPS_H

#include "plan/plan.h"

typedef WS_VEC(struct ws_cell *) ws_cell_list;
typedef WS_VEC(struct ws_product *) ws_product_list;

/* ---- choice.c: what each value of a matrix means ----
 * Resolves "auto", "host", "installed", names of arch sets and builds of torch with the facts, the
 * lock and the host. Each value is resolved once; cells share the result. */

/** An available CUDA toolkit. */
struct ws_axes_kit {
	struct ws_version version;
	enum ws_kit_origin origin;
	size_t number;                /**< of this host's toolkits: the first of a version is taken */
	const char *name;             /**< archive kits */
	struct ws_cuda_kit *host_kit; /**< toolkits of this host */
};

struct ws_axes {
	const struct ws_plan_input *in;
	struct ws_arena *a;
	WS_VEC(struct ws_axes_kit) kits;                /**< ascending; as --kits allows */
	WS_VEC(const struct ws_cuda_choice *) toolkits; /**< choices made, each version once */
	WS_VEC(const char *) warnings;
	bool compiles; /**< a package has more than Python files */
};

void ws_axes_open(struct ws_axes *axes, const struct ws_plan_input *in, struct ws_arena *a);

/**
 * NULL on failure, with the place of the value in @a err. Where nothing is compiled, "host" needs
 * no GPU: the set is empty.
 */
const struct ws_python_choice *ws_axes_python(
	struct ws_axes *axes, const struct ws_python_value *value, struct ws_err *err);
const struct ws_arch_choice *ws_axes_arch(
	struct ws_axes *axes, const struct ws_arch_value *value, struct ws_err *err);

/**
 * The build of torch for these values of the other axes: an explicit @a abi (not -1) selects a
 * build of the release that has it, by preference for the toolkit @a cuda. Without such a build the
 * release's own is returned. Never NULL; for "installed" without a torch, `installed` is set and
 * the version has no text.
 */
const struct ws_torch_choice *ws_axes_torch(struct ws_axes *axes,
	const struct ws_torch_value *value, const struct ws_cuda_value *cuda,
	const struct ws_python_choice *python, int abi);

/**
 * "auto" is the toolkit that built @a torch, if its kit is available and has targets for @a archs;
 * else the nearest of its major that has. NULL for "auto" where nothing decides.
 */
const struct ws_cuda_choice *ws_axes_cuda(struct ws_axes *axes, const struct ws_cuda_value *value,
	const struct ws_torch_choice *torch, const struct ws_arch_set *archs);

/** Sets a WS_ERR_CONFIG error at a value of the matrix. Returns false. */
bool ws_axes_err(const struct ws_axes *axes, struct ws_place place, struct ws_err *err,
	const char *format, ...) WS_PRINTF(4, 5);

/** Whether @a pin (may be NULL) is of a kit of that origin. */
bool ws_pins_origin(const struct ws_pin_cuda *pin, enum ws_kit_origin origin);

/** The point as conditions test it. */
struct ws_point_view ws_point_see(const struct ws_point *point);

/** Adds @a set in few bytes: equal texts, equal sets. */
void ws_archs_identify(const struct ws_arch_set *set, struct ws_buf *out);

/* ---- rule.c: may a cell exist, and if not, why not ----
 * Asks the rules in the order of enum ws_rule; the first that excludes a cell is the reason. */

/** Fills rule, why, see, dropped and point.archs of @a cell. */
void ws_rules_ask(const struct ws_axes *axes, struct ws_cell *cell);

/**
 * True when every host excludes @a cell, which came from @a point of the matrix: by a rule that
 * needs no host, and not for a value that the host decides ("host", "installed", "auto").
 */
bool ws_rules_hold_everywhere(
	const struct ws_axes *axes, struct ws_cell *cell, const struct ws_point *point);

/** "7.0, 7.5: demo 1.0 has no kernels for it; 10.3: wrong results" of a cell that lost some. */
const char *ws_rule_dropped_text(const struct ws_cell *cell, struct ws_arena *a);

/* ---- product.c: the wheels that cells need ----
 * A product depends on some axes, by binding; cells that differ in the other axes share it. The
 * patch release of torch never matters, the Python only for pybind, the ABI only below the stable
 * ABI. Labels are dotted and lower case, so that versions sort (PEP 440); two products that differ
 * have different labels. The platform is measured later. */

/**
 * Gives every cell that is not excluded its product, and products their names and keys. Cells that
 * --only leaves out count as well: a wheel must not depend on --only.
 */
void ws_products_make(const struct ws_plan_input *in, struct ws_cell *const *cells, size_t count,
	struct ws_arena *a, ws_product_list *products);

/* ---- select.c: --only and --shard ----
 * Products that share kernels (only their Python differs) form a group, so that no kernel is
 * compiled on two machines. Groups follow from the matrix, recipes, facts and the lock: machines
 * with other GPUs, Pythons and toolkits number and deal them alike. A value that a host decides
 * ("host", "installed", a toolkit that "auto" falls back to) is a word in the group's name. */

struct ws_group {
	bool alive; /**< some host may have work for it */
	const struct ws_recipe *recipe;
	size_t archs;    /**< of its kernels; 1 where a host decides */
	unsigned points; /**< of the matrix, that are alive: mostly its Pythons */
};

struct ws_groups {
	struct ws_map numbers; /**< name to index + 1 */
	WS_VEC(struct ws_group) at;
};

/**
 * Adds @a point of the matrix, which led to @a cell, and gives the cell its group. Several points
 * may lead to one cell (by number, and by "auto"); the point that leaves least to a host gives the
 * group. @a alive: not every host excludes it.
 */
void ws_groups_add(struct ws_groups *groups, struct ws_cell *cell, const struct ws_point *point,
	bool alive, struct ws_arena *a);

/** Removes from @a cells what the input's `only` and `shard` leave out. */
bool ws_select(const struct ws_plan_input *in, const struct ws_groups *groups, ws_cell_list *cells,
	struct ws_arena *a, struct ws_err *err);

/* ---- decide.c: what happens to each cell that no rule excludes ----
 * A wheel in the store comes first; then the matrix's policy chooses between candidates and
 * building. A candidate serves all cells of a product or none. Where none loads and no build is
 * allowed or possible, there is the fallback. */

/** Fills decision, why, rule and candidates. True when a cell lost its product. */
bool ws_decide(const struct ws_plan_input *in, struct ws_cell *const *cells, size_t count,
	struct ws_product *const *products, size_t product_count, struct ws_arena *a);

/** Gives cells that are to be built their reason, after ws_cost_fill. */
void ws_decide_reasons(struct ws_cell *const *cells, size_t count, struct ws_arena *a);

/* ---- cost.c: what building a plan's products costs ----
 * Every distinct unit counts once: a .cu unit for one package, torch, ABI, CUDA and arch set serves
 * every Python; other units serve one. The first cell in plan order pays. Two assumptions, for
 * costs only: Pythons share .cu units, and the store has the objects of its wheels. */

/** Fills payer, units, kernels and cost of products, cost of the cells that pay, and the totals. */
void ws_cost_fill(const struct ws_plan_input *in, struct ws_plan *plan, struct ws_arena *a);

#endif
