/**
 * result.h - what a build did for each product and cell
 *
 * A product that some cell needs has one supply: open at first, then a wheel, a fallback or a
 * failure. Resolving, the graph, delivery and reports work on supplies; produce/run.c fills them.
 * The plan's expectation is plan/'s. Plain data.
 */
#ifndef WS_MAKE_RESULT_H
#define WS_MAKE_RESULT_H

#include "engine/engine.h"
#include "judge/asking.h"
#include "plan/plan.h"

enum ws_supply_kind {
	WS_SUPPLY_NONE,     /**< open; or failed, when `failure` says why */
	WS_SUPPLY_CACHED,   /**< the store had the wheel; nothing ran for it */
	WS_SUPPLY_PREBUILT, /**< somebody else's wheel, which was judged to load */
	WS_SUPPLY_BUILT,
	WS_SUPPLY_FALLBACK,  /**< a fallback of the matrix */
	WS_SUPPLY_PUBLISHED, /**< the named index has it: no file is delivered */
};

/** "cached", "prebuilt", "build", "fallback"; "" for none. */
extern const char *const ws_supply_words[];

/** A candidate or a build that was tried without success. */
struct ws_attempt {
	enum ws_supply_kind kind;
	const char *name; /**< of a candidate: its file; NULL for a build */
	const char *why;  /**< one line */
};

typedef WS_VEC(struct ws_attempt) ws_attempt_list;

/**
 * Adds the candidates that were rejected: those before @a chosen, or all where that is NULL,
 * without those that were never opened.
 */
void ws_attempts_add(const struct ws_candidates *candidates, const struct ws_candidate *chosen,
	struct ws_arena *a, ws_attempt_list *tried);

struct ws_supply {
	const struct ws_product *product;
	enum ws_supply_kind kind;
	const char *why;         /**< FALLBACK, PUBLISHED: the replacement and the reason; else NULL */
	const char *wheel;       /**< its file name; NULL: there is none */
	struct ws_digest digest; /**< of the wheel, in the cas */
	uint64_t wheel_bytes;
	uint64_t installed_bytes; /**< of its files, unpacked */
	/** The wheel that its first cell had before this one; all 0: none, or the same. */
	struct ws_wheel_sizes {
		uint64_t wheel_bytes, installed_bytes;
	} before;
	uint64_t cpu_ms;    /**< of what ran for it now */
	const char *import; /**< what importing it here showed, one line; NULL: it was not tried */
	bool imported;      /**< it was imported; else `import` says what kept this host from it */
	const struct ws_err *failure; /**< what kept it from being built; NULL: nothing did */
	ws_attempt_list tried;        /**< in that order, before what served */
};

/** The result of a cell. */
enum ws_cell_state {
	WS_CELL_EXCLUDED,
	WS_CELL_FALLBACK,
	WS_CELL_PUBLISHED, /**< its wheel is in the index that was named */
	WS_CELL_READY,     /**< its wheel is in the output folder */
	WS_CELL_FAILED,
	WS_CELL_CANCELLED, /**< something else failed or the run was stopped before it was done */
};

/** A cell and the supply of its product, which others may share. */
struct ws_cell_result {
	const struct ws_cell *cell;
	const struct ws_supply *supply; /**< NULL: it is excluded */
};

enum ws_cell_state ws_cell_state(const struct ws_cell_result *result);

/** "excluded", "fallback", "cached", "prebuilt", "build", "failed", "cancelled": for machines. */
const char *ws_cell_state_name(const struct ws_cell_result *result);

/** Why it is what it is, in one line. */
const char *ws_cell_reason(const struct ws_cell_result *result);

/** Supplies and cells of one plan, in its order. */
struct ws_supplies {
	struct ws_supply *at;
	size_t count;
	struct ws_cell_result *cells;
	size_t cell_count;
};

/**
 * Opens one for each product that some cell is not excluded from; where the plan has nothing but a
 * fallback for it, it has that at once.
 */
void ws_supplies_open(struct ws_supplies *supplies, const struct ws_plan *plan, struct ws_arena *a);

/** Open, and somebody else's wheel is to serve it: its product's `chosen`, where one is known to
 * load. */
bool ws_supply_is_prebuilt(const struct ws_supply *supply);

/** WS_ERR_FETCH: no prebuilt wheel, and the policy allows no silent build. Returns false. */
bool ws_supply_fail_prebuilt(const struct ws_supply *supply, struct ws_err *err);

/** Not decided yet. */
bool ws_supply_is_open(const struct ws_supply *supply);

/* ---- a failed action, for people ---- */

struct ws_failed_action {
	const char *cell, *subject, *stage;
	const struct ws_err *err;
	const char *command;          /**< the command line, quoted for a shell */
	const char *log;              /**< path of its log in the output folder; NULL: no output */
	struct ws_digest log_digest;  /**< of the log in the cas; "" none */
	bool elsewhere;               /**< on other hosts, by a compiler of theirs */
	const char *folder;           /**< --keep-work: where it ran; else NULL */
	const struct ws_asking *asks; /**< of a check: who asks for what it misses */
	size_t ask_count;
};

/**
 * Describes @a node, which is FAILED; `log` is left to whoever delivers it. The failure of a check
 * is made a verdict (WS_ERR_VERIFY).
 */
struct ws_failed_action ws_failed_action_of(
	const struct ws_node *node, bool keep_work, const struct ws_store *store, struct ws_arena *a);

struct ws_build_result {
	struct ws_supplies supplies;
	const struct ws_failed_action *failed;
	size_t failed_count;
	struct ws_run_summary actions;
	ws_node_list
		undivided; /**< ran in one command though nvcc's own were wanted: ws_node.undivided */
	ws_node_list on_farm; /**< other hosts ran them: ws_node.elsewhere */
	uint64_t wall_ms;
};

#endif
