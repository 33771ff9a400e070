/**
 * plan.h - what happens to every cell of a matrix, and why
 *
 * A matrix multiplied out: cells with their decisions and reasons, the products they need, what
 * building those costs. Pure: the same input gives the same plan. Whether a candidate or a wheel in
 * the store is any good is found out by building, not here. Everything lives in the arena of
 * ws_plan_make.
 */
#ifndef WS_PLAN_PLAN_H
#define WS_PLAN_PLAN_H

#include "model/matrix.h"
#include "plan/axis.h"

enum ws_decision {
	WS_DECISION_CACHED, /**< the store has its wheel, or the index that was named */
	/** a candidate loads, or was not opened yet: see the product's `chosen` */
	WS_DECISION_PREBUILT,
	WS_DECISION_BUILD,
	WS_DECISION_FALLBACK, /**< the matrix says what stands in for it */
	WS_DECISION_EXCLUDED,
};
#define WS_DECISIONS (WS_DECISION_EXCLUDED + 1)

/** "cached", "prebuilt", ... */
const char *ws_decision_name(enum ws_decision decision);

/** What excludes cells, in the order in which it is asked; the first that does is reported. */
enum ws_rule {
	WS_RULE_NONE,       /**< not excluded */
	WS_RULE_MATRIX,     /**< `exclude` of the matrix */
	WS_RULE_INSTALLED,  /**< "installed", but the interpreter has no torch */
	WS_RULE_PYTHON,     /**< torch has no wheel for this Python */
	WS_RULE_PLATFORM,   /**< torch has no CUDA wheel for it, or it is not this host's */
	WS_RULE_TORCH_CUDA, /**< torch was built for another CUDA major, or without */
	WS_RULE_SOURCE,     /**< stops building alone: the recipe has no sources */
	WS_RULE_KIT,        /**< stops building alone: no toolkit of this CUDA version is to be had */
	WS_RULE_TARGET,     /**< stops building alone: the toolkit has no such architecture */
	WS_RULE_CXX_STD,    /**< stops building alone: the toolkit is too old for the C++ standard */
	WS_RULE_REQUIRES,   /**< `requires` of the recipe */
	WS_RULE_ARCHS,      /**< stops building alone: none is left that the recipe can be built for */
	WS_RULE_KNOWN_BAD,  /**< `known_bad` of the recipe */
	WS_RULE_ABI,        /**< no build of this torch has the cxx11abi that was asked for */
	WS_RULE_POLICY,     /**< "prebuilt-only", and no candidate loads */
};
#define WS_RULES (WS_RULE_POLICY + 1)

/** "matrix", "torch-python", ...: stable words for machines. */
const char *ws_rule_name(enum ws_rule rule);

/** An architecture that left a cell's set. */
struct ws_dropped_arch {
	struct ws_arch arch;
	enum ws_rule rule; /**< WS_RULE_ARCHS or WS_RULE_KNOWN_BAD */
	const char *why;
	const char *see; /**< NULL: nothing to read about it */
};

/** What is still to be done. CPU time of compilations; links and checks take seconds. */
struct ws_cost {
	unsigned actions;    /**< compilations, links, checks, packs */
	unsigned units;      /**< compilations among them */
	unsigned unknown;    /**< compilations of unknown CPU time */
	unsigned rough;      /**< compilations whose figures are rough (plan/units.h) */
	unsigned unmeasured; /**< compilations of unknown peak */
	uint64_t cpu_ms;     /**< of those that are known */
	uint64_t rss_bytes;  /**< peak of the largest; 0: none is known */
};

struct ws_product;

/** One point of the matrix for one package. */
struct ws_cell {
	const char *name;
	const struct ws_recipe *recipe;
	struct ws_point point;
	bool extra; /**< from `include` */
	enum ws_decision decision;
	const char *why;   /**< one line */
	enum ws_rule rule; /**< what excluded it; WS_RULE_NONE */
	const char *see;   /**< WS_RULE_KNOWN_BAD: where to read about it; NULL */
	enum ws_rule
		build_rule; /**< what stops building it, where a wheel or a fallback may serve it still */
	const char *build_why; /**< of build_rule */
	const struct ws_dropped_arch *dropped;
	size_t dropped_count;
	const struct ws_candidates *candidates; /**< what was looked for; NULL: nothing was */
	struct ws_product *product;             /**< NULL: a rule excludes it; the policy leaves it */
	struct ws_cost cost;                    /**< of what no cell before it pays for */
	unsigned group;                         /**< steps.h: cells that share kernels */
	int looseness;                          /**< how much of its group a host decides */
};

struct ws_plan_units;

/** The wheel that one or more cells need. */
struct ws_product {
	unsigned number; /**< its place in the plan's list */
	const struct ws_recipe *recipe;
	enum ws_binding binding;
	struct ws_point
		point; /**< what it is built for: of its cells the lowest torch, the lowest CUDA */
	/** The point as conditions see it: without the axes that this binding does not depend on. */
	struct ws_point_view view;
	const struct ws_patch *const *patches; /**< of the recipe, those that hold here, in order */
	size_t patch_count;
	struct ws_size_options size; /**< zero where nothing is compiled */
	const char *glibc;           /**< it is linked for: "2.28"; NULL: this host's, or nothing is */
	const char *label;           /**< "cu.12.4.torch.2.5.sm.80.90ptx"; "" none */
	const char *version;         /**< with the label: "1.0+cu.12.4.torch.2.5.sm.86" */
	const char *python_tag;      /**< "cp311", "py3" */
	const char *abi_tag;         /**< "cp311", "cp313t", "abi3", "none" */
	bool pure;                   /**< platform "any"; else measured when it is linked */
	const char *torch;           /**< Requires-Dist: "torch==2.5.*"; NULL: as the recipe says */
	const char *key;             /**< the cell key; "" while a pin is missing */
	const char *missing_pin;     /**< which: "the source of demo 1.0"; NULL: none is */
	struct ws_plan_wheel wheel;  /**< in the store; file NULL: none */
	bool published;              /**< a wheel of this name, version and tags is in input->against */
	struct ws_candidates candidates; /**< none under "build-only", or where the store has a wheel */
	/** The candidate that is known to load, with nothing before it that is not known; NULL: none
	 * is. */
	const struct ws_candidate *chosen;
	struct ws_cell **cells; /**< that are in this plan, in its order */
	size_t cell_count;
	const struct ws_cell *payer;       /**< the first that is to be built; NULL: none is */
	const struct ws_plan_units *units; /**< with payer */
	const struct ws_product *kernels;  /**< has compiled the same .cu units, or will before; NULL */
	struct ws_cost cost;
};

struct ws_totals {
	unsigned decisions[WS_DECISIONS];
	unsigned unopened;        /**< prebuilt cells for which no candidate is known to load */
	unsigned rules[WS_RULES]; /**< excluded cells by rule; those of WS_RULE_NONE are not */
	unsigned products;        /**< to be built */
	struct ws_cost cost;
	unsigned cores;      /**< that work at once */
	uint64_t wall_ms;    /**< at most, with that many; of what is known, while cost.unknown */
	uint64_t peak_bytes; /**< predicted most that is held at once; the same for cost.unmeasured */
};

/** Cells and products stand in the order of the matrix; those that --only or --shard leave out do
 * not. */
struct ws_plan {
	struct ws_cell *const *cells;
	size_t cell_count;
	struct ws_product *const *products;
	size_t product_count;
	const char *const *warnings; /**< one line each */
	size_t warning_count;
	struct ws_totals totals;
};

/**
 * Plans. WS_ERR_CONFIG, with its place in the matrix, for values that mean nothing here: "host"
 * without a GPU, a name that no arch set has, a package that needs torch in a matrix without one.
 * WS_ERR_USAGE when --only matches nothing.
 */
bool ws_plan_make(const struct ws_plan_input *input, struct ws_arena *a, struct ws_plan *plan,
	struct ws_err *err);

/** The one cell that @a glob matches; else WS_ERR_USAGE that lists those it does, or near ones. */
const struct ws_cell *ws_plan_find(
	const struct ws_plan *plan, const char *glob, struct ws_err *err);

#endif
