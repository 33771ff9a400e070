/**
 * input.h - everything that planning is told
 *
 * Planning does no I/O and reads no clock: what this host has, what was locked, what past runs cost
 * and which wheels are in the store is handed in, the last two as look-ups because there are many
 * of them. All of it is borrowed and must outlive the plan.
 */
#ifndef WS_PLAN_INPUT_H
#define WS_PLAN_INPUT_H

#include "base/listing.h"
#include "model/candidate.h"
#include "model/facts.h"
#include "model/lock.h"
#include "model/matrix.h"
#include "model/recipe.h"

struct ws_cuda_kit;
struct ws_product;
struct ws_python_kit;

/** The torch that an interpreter has installed. */
struct ws_plan_installed {
	struct ws_version version; /**< as it calls itself: "2.5.1+cu124" */
	const char *cuda;          /**< "12.4"; NULL: built without CUDA */
	int cxx11abi;              /**< 0 or 1 */
	const char *record;        /**< digest of its RECORD; NULL: it has none */
};

/** A Python that the matrix names, as this host has it. */
struct ws_plan_python {
	const char *path; /**< as in the matrix's value; NULL: found by its version, or "host" */
	bool host;        /**< the python3 on PATH */
	struct ws_python_tag tag;
	const struct ws_plan_installed *torch; /**< NULL: none, or not asked */
	struct ws_python_kit *kit;             /**< for building; planning does not read it */
	/** Why this host cannot build for this Python: not installed, or without headers; else NULL. */
	const struct ws_err *missing;
};

/** A complete CUDA toolkit of this host. */
struct ws_plan_toolkit {
	const char *version;     /**< "12.4" */
	struct ws_cuda_kit *kit; /**< for building; planning does not read it */
};

/** Where CUDA kits may come from: --kits. */
enum ws_kits_choice {
	WS_KITS_ANY,     /**< the lock's choice, else the host's toolkit, else an archive kit */
	WS_KITS_HOST,    /**< toolkits of this host only */
	WS_KITS_ARCHIVE, /**< archive kits only */
};

/** What this host has. */
struct ws_plan_host {
	const struct ws_plan_python *pythons;
	size_t python_count;
	struct ws_arch_set gpus; /**< of its GPUs, each once; count 0: there is none */
	const struct ws_plan_toolkit *toolkits;
	size_t toolkit_count;
	const char *const *kits; /**< names of the archive kits there are: "cuda-12.4" */
	size_t kit_count;
	enum ws_kits_choice choice;
	bool builds_elsewhere; /**< wheels are built on another host: a Python may be missing here */
	unsigned cores;        /**< at least 1; for predicted times */
	unsigned jobs;         /**< actions at once, at least 1 */
	uint64_t memory_bytes; /**< what jobs may hold together; 0: any amount */
};

/** What an action cost before; 0 where that is not known. */
struct ws_plan_estimate {
	uint64_t wall_ms;
	uint64_t cpu_ms;
	uint64_t rss_bytes; /**< peak */
};

/** A wheel in the store. */
struct ws_plan_wheel {
	const char *file;                      /**< its name; NULL: none */
	const char *date;                      /**< when it was built: "2026-11-20"; NULL: not known */
	uint64_t wheel_bytes, installed_bytes; /**< 0: not known */
};

/** Each function may be NULL: nothing is known. */
struct ws_plan_lookups {
	void *self; /**< first argument of all */
	/**
	 * The ledger: unit "causal-conv1d/csrc/a.cu", stage "compile", variant "cuda12.4 sm86" or "";
	 * or of one of nvcc's own commands, "cicc", "cuda12.4 compute_86".
	 */
	struct ws_plan_estimate (*estimate)(
		void *self, const char *unit, const char *stage, const char *variant);
	/** The wheel that was built for a cell key. */
	struct ws_plan_wheel (*wheel)(void *self, const char *key);
	/**
	 * Wheels of a recipe's package that folders and indexes have, as far as is known; how many.
	 */
	size_t (*offers)(void *self, const struct ws_recipe *recipe,
		const struct ws_offered_wheel **wheels, enum ws_indexes_asked *asked);
	/** Fills what is known of @a candidate for a product: state and why. It comes unopened. */
	void (*verdict)(void *self, const struct ws_product *product, struct ws_candidate *candidate);
};

/** An index whose wheels need not be made again. */
struct ws_plan_against {
	const char *name;                   /**< as it is shown */
	const struct ws_wheel_name *wheels; /**< of whatever packages */
	size_t count;
};

struct ws_plan_input {
	const struct ws_matrix *matrix;
	const struct ws_recipe *recipes; /**< one for each of matrix->packages, in that order */
	/** The same for their sources; no entries: not known. NULL: none is known. */
	const struct ws_listing *listings;
	const struct ws_facts *facts; /**< knows at least one torch release */
	const struct ws_lock *lock;   /**< NULL: nothing is locked */
	/** Pins of toolkits and torch releases that other builds made; for keys alone. NULL: none. */
	const struct ws_lock *known;
	struct ws_plan_host host;
	struct ws_plan_lookups lookups;
	/** Prebuilt wheels count. False for who cannot bring them: nothing is a candidate. */
	bool candidates;
	const struct ws_plan_against *against; /**< NULL: nothing counts as published */
	const char *only;       /**< globs over cell names with commas between; NULL: all cells */
	unsigned shard, shards; /**< part @a shard, from 1, of @a shards; 0 and 0: everything */
};

#endif
