/**
 * entry_points.h - whether the functions that model libraries look for work in a Python
 *
 * They are imported and called there, in a process for each group (entry_points.py), so that one that
 * crashes or never ends takes nothing along. The environment's code runs: only for a Python that a person
 * named. No network is used.
 */
#ifndef WS_DOCTOR_ENTRY_POINTS_H
#define WS_DOCTOR_ENTRY_POINTS_H

#include "base/vec.h"

enum ws_entry_state {
	WS_ENTRY_WORKS,    /**< called, and agrees with a reference */
	WS_ENTRY_IMPORTED, /**< is there; was not called, or nothing is known of it */
	WS_ENTRY_ABSENT,   /**< its package is not installed */
	WS_ENTRY_FAILS,
	WS_ENTRY_WRONG, /**< gave another result than the reference */
};

/** What came of one function, or of one model's choice of functions. */
struct ws_entry_point {
	const char *group; /**< "flash-attn", "causal-conv1d", "mamba-ssm", "transformers" */
	const char *name;  /**< "flash_attn.flash_attn_func" */
	enum ws_entry_state state;
	const char
		*text; /**< what was seen: of one that fails the error, maybe in several lines; NULL */
};

typedef WS_VEC(struct ws_entry_point) ws_entry_points;

/** What asking needs. */
struct ws_entry_asking {
	const char *script;      /**< entry_points.py */
	const char *interpreter; /**< absolute */
	const char *const *env;  /**< what it is run in, NULL-terminated */
};

/** Asks all groups; @a models (NULL-terminated) are model types, none: those that are known. */
void ws_entry_points_ask(const struct ws_entry_asking *asking, const char *const *models,
	struct ws_arena *a, ws_entry_points *found);

/** "works", "imported", "absent", "fails", "wrong". */
const char *ws_entry_state_word(enum ws_entry_state state);

#endif
