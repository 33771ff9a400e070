/**
 * plan.h - what happens to every cell of a matrix, and why
 *
 * A matrix multiplied out: cells with their decisions and reasons, the products that they need, and
 * the cost of building those. Pure: the same input gives the same plan. A build finds out whether a
 * candidate or a stored wheel is good. Everything lives in the arena of ws_plan_make.
 */
#ifndef WS_PLAN_PLAN_H
#define WS_PLAN_PLAN_H

#include "plan/input.h"
#include "recipe/recipe_files.h"

/* ---- a point of the matrix, its values resolved ---- */

/** The origin of the facts about a torch wheel. */
enum ws_torch_source {
	WS_TORCH_FACTS,
	WS_TORCH_LOCK,        /**< its own files, when it was locked */
	WS_TORCH_INTERPRETER, /**< an installed torch */
	WS_TORCH_GUESS,       /**< the nearest release or variant */
};

struct ws_torch_choice {
	const char *name;                       /**< in cell names: "2.5.1", "2.5.1+cu121" */
	struct ws_version version;              /**< with its local label, if any */
	const char *minor;                      /**< "2.5" */
	const struct ws_torch_release *release; /**< the facts' own; of an unknown one the nearest */
	bool known;                             /**< the facts contain this release */
	bool installed;                         /**< the interpreter's */
	bool standard;       /**< the build of the default index, as far as is known */
	const char *cuda;    /**< toolkit that built it: "12.4"; NULL: without CUDA */
	unsigned cuda_major; /**< 0 without CUDA */
	int cxx11abi;        /**< of this build */
	int own_abi;         /**< of the build that the name alone means */
	int facts_abi;       /**< of the build for this toolkit in the facts; -1: not there */
	enum ws_torch_source source;
	const struct ws_pin_torch *pin; /**< NULL: not locked, or installed */
	const char *record;             /**< installed: digest of its RECORD; NULL: it has none */
};

enum ws_kit_origin {
	WS_KIT_NONE, /**< there is none */
	WS_KIT_HOST,
	WS_KIT_ARCHIVE,
	WS_KIT_REDIST, /**< NVIDIA's redistributables; no definition of ours */
};

struct ws_cuda_choice {
	const char *name; /**< "12.4" */
	struct ws_version version;
	const struct ws_cuda_toolkit *toolkit; /**< facts; NULL: not known */
	enum ws_kit_origin origin;
	const char *kit;               /**< name of the archive kit; else NULL */
	struct ws_cuda_kit *host_kit;  /**< with WS_KIT_HOST; else NULL. make/resolve.c opens it */
	const struct ws_pin_cuda *pin; /**< NULL: this kit is not locked */
};

struct ws_python_choice {
	const struct ws_python_value *value; /**< of the matrix */
	struct ws_python_tag tag;
	const char *name;                         /**< "cp311", "cp313t" */
	const char *text;                         /**< "3.11", "3.13t" */
	struct ws_version version;                /**< "3.11" */
	bool fixed;                               /**< the same on every host */
	const struct ws_plan_python *interpreter; /**< NULL: named by version, and not looked for */
	const struct ws_err *missing;             /**< why nothing is built for it here; NULL: it is */
};

struct ws_arch_choice {
	const struct ws_arch_value *value; /**< of the matrix */
	struct ws_arch_set set;
	const char *name; /**< "sm80+90ptx" */
	bool fixed;       /**< the same on every host */
};

struct ws_point {
	const struct ws_torch_choice *torch; /**< NULL: the matrix has no torch axis */
	const char *torch_pin; /**< its name in the lock: "2.11.0", "2.11.0/aarch64"; NULL: none */
	const struct ws_cuda_choice *cuda; /**< NULL: "auto", and nothing decides */
	bool cuda_auto;                    /**< "auto" in the matrix */
	const struct ws_python_choice *python;
	const struct ws_machine *machine;
	const struct ws_arch_choice *arch; /**< of the matrix */
	struct ws_arch_set archs;          /**< the rest of it */
	int cxx11abi;                      /**< 0, 1, or -1 without torch */
	bool abi_auto;
	/** Paths of the export lists of its torch and of the dependencies of torch, NULL-terminated.
	 * NULL: without torch, or a list is not on this host. */
	const char *const *lists;
};

/**
 * "causal-conv1d-1.5.3.post1/torch2.5.1/cu12.4/cp311/sm80+90ptx". @a python replaces the point's
 * own when it is not NULL: "cp*".
 */
const char *ws_point_name(const struct ws_point *point, const struct ws_recipe *recipe,
	const char *python, struct ws_arena *a);

/* ---- decisions ---- */

enum ws_decision {
	WS_DECISION_CACHED, /**< the store has its wheel, or the named index */
	/** a candidate loads, or was not opened yet: see the product's `chosen` */
	WS_DECISION_PREBUILT,
	WS_DECISION_BUILD,
	WS_DECISION_FALLBACK, /**< the matrix names a replacement */
	WS_DECISION_EXCLUDED,
};
#define WS_DECISIONS (WS_DECISION_EXCLUDED + 1)

/** "cached", "prebuilt", ... */
extern const char *const ws_decision_words[WS_DECISIONS];

/** The rules that exclude cells, in their order; the first that excludes a cell is reported. */
enum ws_rule {
	WS_RULE_NONE,        /**< not excluded */
	WS_RULE_MATRIX,      /**< `exclude` of the matrix */
	WS_RULE_INSTALLED,   /**< "installed", but the interpreter has no torch */
	WS_RULE_PYTHON,      /**< torch has no wheel for this Python */
	WS_RULE_PLATFORM,    /**< torch has no CUDA wheel for it, or it is not this host's */
	WS_RULE_TORCH_CUDA,  /**< torch was built for another CUDA major, or without */
	WS_RULE_SOURCE,      /**< stops building alone: the recipe has no sources */
	WS_RULE_KIT,         /**< stops building alone: no toolkit of this CUDA version */
	WS_RULE_TARGET,      /**< stops building alone: the toolkit has no such architecture */
	WS_RULE_CXX_STD,     /**< stops building alone: the toolkit is too old for the C++ standard */
	WS_RULE_REQUIRES,    /**< `requires` of the recipe */
	WS_RULE_ARCHS,       /**< stops building alone: the recipe supports none of them */
	WS_RULE_KNOWN_BAD,   /**< `known_bad` of the recipe */
	WS_RULE_ABI,         /**< no build of this torch has the requested cxx11abi */
	WS_RULE_INTERPRETER, /**< stops building alone: this host does not have the Python */
	WS_RULE_POLICY,      /**< "prebuilt-only", and no candidate loads */
};
#define WS_RULES (WS_RULE_POLICY + 1)

/** "matrix", "torch-python", ...: stable words for machines. */
extern const char *const ws_rule_words[WS_RULES];

/** An architecture that left a cell's set. */
struct ws_dropped_arch {
	struct ws_arch arch;
	enum ws_rule rule; /**< WS_RULE_ARCHS or WS_RULE_KNOWN_BAD */
	const char *why;
	const char *see; /**< NULL: nothing to read about it */
};

/** The remaining work. CPU time is of compilations; links and checks take seconds. */
struct ws_cost {
	unsigned actions;    /**< compilations, links, checks, packs */
	unsigned units;      /**< compilations among them */
	unsigned unknown;    /**< compilations of unknown CPU time */
	unsigned rough;      /**< compilations with rough figures (struct ws_plan_unit) */
	unsigned unmeasured; /**< compilations of unknown peak */
	uint64_t cpu_ms;     /**< of those that are known */
	uint64_t rss_bytes;  /**< peak of the largest; 0: not known */
};

/* ---- cells and products ---- */

/** One point of the matrix for one package. */
struct ws_cell {
	const char *name;
	const struct ws_recipe *recipe;
	struct ws_point point;
	bool extra; /**< from `include` */
	enum ws_decision decision;
	const char *why;         /**< one line */
	enum ws_rule rule;       /**< the rule that excluded it; WS_RULE_NONE */
	const char *see;         /**< WS_RULE_KNOWN_BAD: where to read about it; NULL */
	enum ws_rule build_rule; /**< stops building it, while a wheel or a fallback may still serve */
	const char *build_why;   /**< of build_rule */
	const struct ws_dropped_arch *dropped;
	size_t dropped_count;
	const struct ws_candidates *candidates; /**< NULL: no candidates were looked for */
	struct ws_product *product;             /**< NULL: excluded */
	struct ws_cost cost;                    /**< of units that no earlier cell pays */
	unsigned group;                         /**< of cells that share kernels (steps.h) */
	int looseness;                          /**< how much of its group a host decides */
};

/** A unit that is compiled for a product. */
struct ws_plan_unit {
	const char *module; /**< "demo_cuda" */
	const char *path;   /**< relative to the sources; a glob while the files are not known */
	enum ws_unit_kind kind;
	unsigned files;               /**< units that it means; more than 1 for a glob */
	bool measured;                /**< the cost is the ledger's */
	bool rough;                   /**< known only to include torch's headers */
	struct ws_plan_estimate cost; /**< of one of them; 0: not known */
};

struct ws_plan_units {
	const struct ws_plan_unit *at;
	size_t count;
	unsigned modules; /**< to link */
};

/** The wheel that one or more cells need. */
struct ws_product {
	unsigned number; /**< its place in the plan's list */
	const struct ws_recipe *recipe;
	enum ws_binding binding;
	struct ws_point point; /**< to build for: the lowest torch and the lowest CUDA of its cells */
	/** The point as conditions test it: without the axes on which this binding does not depend. */
	struct ws_point_view view;
	const struct ws_patch *const *patches; /**< of the recipe, those that hold here, in order */
	size_t patch_count;
	struct ws_size_options size; /**< zero where nothing is compiled */
	bool includes_python;        /**< compiled with the headers of the point's Python */
	unsigned gcc_min;            /**< oldest gcc that compiles it */
	const unsigned *gcc_bad;     /**< majors of gcc that are known to fail here */
	size_t gcc_bad_count;
	const char *glibc;          /**< to link for: "2.28"; NULL: this host's, or nothing is linked */
	const char *label;          /**< "cu.12.4.torch.2.5.sm.80.90ptx"; "" none */
	const char *version;        /**< with the label: "1.0+cu.12.4.torch.2.5.sm.86" */
	const char *python_tag;     /**< "cp311", "py3" */
	const char *abi_tag;        /**< "cp311", "cp313t", "abi3", "none" */
	bool pure;                  /**< platform "any"; else measured after the link */
	const char *torch;          /**< Requires-Dist: "torch==2.5.*"; NULL: the recipe's own */
	const char *key;            /**< the cell key; "" while a pin is missing */
	const char *missing_pin;    /**< "the source of demo 1.0"; NULL: complete */
	struct ws_plan_wheel wheel; /**< in the store; file NULL: none */
	bool published;             /**< input->against has a wheel of this name, version and tags */
	struct ws_candidates
		candidates; /**< empty under "build-only", or where the store has a wheel */
	/** The candidate that is known to load, unless one before it is not known yet; NULL: none. */
	const struct ws_candidate *chosen;
	struct ws_cell **cells; /**< of this plan, in its order */
	size_t cell_count;
	const struct ws_cell *payer;       /**< the first cell to be built; NULL: all have wheels */
	const struct ws_plan_units *units; /**< with payer */
	const struct ws_product *kernels;  /**< compiles the same .cu units before; NULL: none does */
	struct ws_cost cost;
};

struct ws_totals {
	unsigned decisions[WS_DECISIONS];
	unsigned unopened;        /**< prebuilt cells without a candidate that is known to load */
	unsigned rules[WS_RULES]; /**< excluded cells by rule */
	unsigned products;        /**< to be built */
	struct ws_cost cost;
	unsigned cores;      /**< that work at once */
	uint64_t wall_ms;    /**< upper bound with that many cores; without units of unknown cost */
	uint64_t peak_bytes; /**< predicted memory of all jobs; without units of unknown peak */
};

/** Cells and products in the order of the matrix, less what --only or --shard leave out. */
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
 * without a GPU, an unknown arch set, a package that needs torch in a matrix without one.
 * WS_ERR_USAGE when --only matches nothing.
 */
bool ws_plan_make(const struct ws_plan_input *input, struct ws_arena *a, struct ws_plan *plan,
	struct ws_err *err);

/** The one cell that @a glob matches; else WS_ERR_USAGE with a list of matches or near names. */
const struct ws_cell *ws_plan_find(
	const struct ws_plan *plan, const char *glob, struct ws_err *err);

/**
 * Writes everything about one cell of a plan that was made from @a in, for people: the origin of
 * each value, the rule that excluded it, the architectures that left, its wheel and the units of
 * that. The first line is the cell's name. Adds cures to @a cures.
 */
void ws_why_write(const struct ws_plan_input *in, const struct ws_cell *cell, struct ws_buf *out,
	struct ws_err *cures);

/**
 * Fills the cell key, the name of a product's wheel in the store: SHA-256 over the recipe, the
 * pinned kits and source, and the product's axes. Without the host compiler and Python's headers: a
 * build checks those by action keys. @a lock pins; @a known pins toolkits and torch where @a lock
 * does not. Both may be NULL. Fills missing_pin when a pin is missing.
 */
void ws_key_fill(struct ws_product *product, const struct ws_lock *lock,
	const struct ws_lock *known, struct ws_arena *a);

/* ---- parts of a plan: --only and --shard ---- */

#define WS_MOST_SHARDS 10000

/** From "2/8". False for anything else, or when the first is not from 1 to the second. */
bool ws_shard_parse(const char *text, unsigned *shard, unsigned *shards);

/** True when one of the globs of @a only ("a*,b*") matches; `*` and `?` match '/', too. NULL
 * matches everything. */
bool ws_only_matches(const char *only, const char *name);

#endif
