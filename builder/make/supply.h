/**
 * supply.h - where each product's wheel comes from: cache, prebuilt, build or fallback
 *
 * A product that a cell waits for has one supply: open at first, then a wheel, a fallback, or a
 * failure. resolve, graph, delivery and reports all work on supplies; what the plan expected is
 * plan/'s. Plain data; the run that opened them decides them.
 */
#ifndef WS_MAKE_SUPPLY_H
#define WS_MAKE_SUPPLY_H

#include "base/arena.h"
#include "base/crypto.h"
#include "plan/plan.h"

enum ws_supply_kind {
	WS_SUPPLY_NONE,     /**< open; or failed, when `failure` says why */
	WS_SUPPLY_CACHED,   /**< the store had the wheel; nothing ran for it */
	WS_SUPPLY_PREBUILT, /**< somebody else's wheel, which was judged to load */
	WS_SUPPLY_BUILT,
	WS_SUPPLY_FALLBACK,  /**< what the matrix names stands in for it */
	WS_SUPPLY_PUBLISHED, /**< the index that was named has it: nothing is delivered */
};

/** "cached", "prebuilt", "build", "fallback"; "" for none. */
const char *ws_supply_name(enum ws_supply_kind kind);

/** Something that was tried and did not serve. */
struct ws_attempt {
	enum ws_supply_kind kind;
	const char *name; /**< of a candidate: its file; NULL for a build */
	const char *why;  /**< one line */
};

typedef WS_VEC(struct ws_attempt) ws_attempt_list;

/**
 * Adds the candidates that did not serve: those before @a chosen, or all where that is NULL. What
 * was never opened is not among them.
 */
void ws_attempts_add(const struct ws_candidates *candidates, const struct ws_candidate *chosen,
	struct ws_arena *a, ws_attempt_list *tried);

struct ws_supply {
	const struct ws_product *product;
	enum ws_supply_kind kind;
	const char *why;         /**< FALLBACK, PUBLISHED: what stands in, and why; else NULL */
	const char *wheel;       /**< its file name; NULL: there is none */
	struct ws_digest digest; /**< of the wheel, in the cas */
	uint64_t wheel_bytes;
	uint64_t installed_bytes; /**< of its files, unpacked */
	/** The wheel that its first cell had before this one; all 0: none, or the same. */
	struct {
		uint64_t wheel_bytes, installed_bytes;
	} before;
	uint64_t cpu_ms;    /**< of what ran for it now */
	const char *import; /**< what importing it here showed, one line; NULL: it was not tried */
	bool imported;      /**< it was imported; else `import` says what kept this host from it */
	const struct ws_err *failure; /**< what kept it from being built; NULL: nothing did */
	ws_attempt_list tried;        /**< in that order, before what served */
};

/** What came of a cell. */
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

/** WS_ERR_FETCH: the wheel could not be had, and nothing stands in for it without a word. Returns
 * false. */
bool ws_supply_fail_prebuilt(const struct ws_supply *supply, struct ws_err *err);

/** Not decided yet. */
bool ws_supply_is_open(const struct ws_supply *supply);

#endif
