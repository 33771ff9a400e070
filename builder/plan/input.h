/**
 * input.h - everything that planning needs to know
 *
 * Planning does no I/O and reads no clock: the caller passes what this host has, the lock, the
 * costs of past runs and the wheels in the store, the last two as look-ups because there are many.
 * All of it is borrowed and must outlive the plan.
 */
#ifndef WS_PLAN_INPUT_H
#define WS_PLAN_INPUT_H

#include "base/listing.h"
#include "model/facts.h"
#include "model/lock.h"
#include "model/matrix.h"
#include "model/recipe.h"

struct ws_cuda_kit;
struct ws_product;
struct ws_python_kit;
struct ws_torch_choice;
struct ws_torch_kit;

/** The torch that an interpreter has installed. */
struct ws_plan_installed {
	struct ws_version version;      /**< its own version text: "2.5.1+cu124" */
	const char *cuda;               /**< "12.4"; NULL: built without CUDA */
	int cxx11abi;                   /**< 0 or 1 */
	const char *record;             /**< digest of its RECORD; NULL: it has none */
	const char *const *lists;       /**< as in struct ws_point */
	const struct ws_torch_kit *kit; /**< for building; planning does not read it */
};

/** A Python that the matrix names, as this host has it. */
struct ws_plan_python {
	const char *path; /**< as in the matrix's value; NULL: found by its version, or "host" */
	bool host;        /**< the python3 on PATH */
	struct ws_python_tag tag;
	const struct ws_plan_installed *torch; /**< NULL: none, or not needed */
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

/** This host. */
struct ws_plan_host {
	const struct ws_plan_python *pythons;
	size_t python_count;
	struct ws_arch_set gpus; /**< of its GPUs, each once; count 0: no GPU */
	const struct ws_plan_toolkit *toolkits;
	size_t toolkit_count;
	const char *const *kits; /**< names of the archive kits: "cuda-12.4" */
	size_t kit_count;
	enum ws_kits_choice choice;
	bool builds_elsewhere; /**< wheels are built on another host: a Python may be missing here */
	unsigned cores;        /**< at least 1; for predicted times */
	unsigned jobs;         /**< actions at once, at least 1 */
	uint64_t memory_bytes; /**< limit for all jobs together; 0: none */
};

/** The cost of an action in an earlier run; 0: not known. */
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

/* ---- prebuilt wheels ---- */

/** Where a candidate lies. */
enum ws_candidate_place {
	WS_PLACE_FOLDER,   /**< a folder of the matrix or the configuration */
	WS_PLACE_INDEX,    /**< an index of the role `prebuilt` */
	WS_PLACE_TEMPLATE, /**< an address that follows from a template of the recipe */
};

/** The state of a candidate for one product. */
enum ws_candidate_state {
	WS_CANDIDATE_UNOPENED,    /**< not known yet */
	WS_CANDIDATE_LOADS,       /**< in every torch that the product's cells have */
	WS_CANDIDATE_FAILS,       /**< opened: it does not load, or contradicts its name */
	WS_CANDIDATE_UNKNOWN,     /**< opened, and the judge could not decide */
	WS_CANDIDATE_REFUSED,     /**< by its name or the lock; never fetched */
	WS_CANDIDATE_ABSENT,      /**< the server does not have it */
	WS_CANDIDATE_UNREACHABLE, /**< the server did not answer */
};

/** "unopened", "loads", ..., NULL: stable words for machines. */
extern const char *const ws_candidate_state_words[];

/** A prebuilt wheel that may serve a product. Two wheels of one name with other bytes are two. */
struct ws_candidate {
	const char *file;    /**< its name; with '+', as it is delivered */
	const char *from;    /**< for people: "wheels.example", "Dao-AILab's releases" */
	const char *url;     /**< '+' written as %2B; of a folder's file its absolute path */
	const char *origin;  /**< the URL without a login, or the path: as a lock's pin has it */
	const char *sha256;  /**< of the index, or of the opened file; NULL: not known */
	uint64_t size_bytes; /**< of the index; 0: not known */
	enum ws_candidate_place place;
	const struct ws_wheel_name *name; /**< the parsed file name; NULL: of a template */
	struct ws_wheel_label label;
	bool window; /**< its label names another torch minor than the product's */
	enum ws_candidate_state state;
	const char *why; /**< of the state, one line; UNOPENED: why it did not arrive, or NULL */
	const char *see; /**< REFUSED: where to read about it; NULL */
};

/** A name that one would expect and that was never published. */
struct ws_unpublished {
	const char *file;
	const char *from; /**< the publisher of the others */
	const char *what; /**< the first value that is missing: "torch 2.5"; NULL: the combination */
	const char *why;  /**< "torch 2.5 was never published (2.3, 2.4 were)" */
};

/** When the indexes of a package were read. */
enum ws_indexes_asked {
	WS_INDEXES_NOW,    /**< in this run, or no index is configured */
	WS_INDEXES_BEFORE, /**< in an earlier run: there may be newer wheels */
	WS_INDEXES_NEVER,  /**< at least one never answered */
};

/** Candidates of one product, in the order in which they are tried. */
struct ws_candidates {
	struct ws_candidate *at;
	size_t count;
	enum ws_indexes_asked asked;
	const struct ws_unpublished *unpublished;
	size_t unpublished_count;
};

/* ---- look-ups ---- */

/** Each function may be NULL: without that knowledge. */
struct ws_plan_lookups {
	void *self; /**< first argument of each */
	/**
	 * The ledger: unit "causal-conv1d/csrc/a.cu", stage "compile", variant "cuda12.4 sm86" or "";
	 * or of one of nvcc's own commands, "cicc", "cuda12.4 compute_86".
	 */
	struct ws_plan_estimate (*estimate)(
		void *self, const char *unit, const char *stage, const char *variant);
	/** The wheel that was built for a cell key. */
	struct ws_plan_wheel (*wheel)(void *self, const char *key);
	/** Export lists for a release of torch on @a machine, as in struct ws_point. */
	const char *const *(*lists)(
		void *self, const struct ws_torch_choice *torch, const struct ws_machine *machine);
	/** Prebuilt wheels for a product, ranked, with states. NULL: prebuilt wheels do not count. */
	struct ws_candidates (*candidates)(void *self, const struct ws_product *product);
};

/** An index whose wheels need no new build. */
struct ws_plan_against {
	const char *name;                   /**< as it is shown */
	const struct ws_wheel_name *wheels; /**< of whatever packages */
	size_t count;
};

struct ws_plan_input {
	const struct ws_matrix *matrix;
	const struct ws_recipe *recipes; /**< one for each of matrix->packages, in that order */
	/** The same for their sources; without entries: not known. NULL: all are unknown. */
	const struct ws_listing *listings;
	const struct ws_facts *facts; /**< knows at least one torch release */
	const struct ws_lock *lock;   /**< NULL: no lock */
	/** Pins of toolkits and torch releases that other builds made; for keys alone. NULL: none. */
	const struct ws_lock *known;
	struct ws_plan_host host;
	struct ws_plan_lookups lookups;
	const struct ws_plan_against *against; /**< NULL: nothing counts as published */
	const char *only;       /**< globs over cell names with commas between; NULL: all cells */
	unsigned shard, shards; /**< part @a shard, from 1, of @a shards; 0 and 0: everything */
};

#endif
