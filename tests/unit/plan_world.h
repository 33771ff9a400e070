/**
 * plan_world.h - the input of planning, from the sections of a case
 *
 *   @recipe  demo 1.0 pybind a.cu b.cpp      a short recipe; further lines are more of its keys, as JSON
 *   @recipe  shipped causal-conv1d 1.5.3.post1      one that comes with the program; both may repeat
 *   @matrix  {...}                           JSON, as in a file
 *   @facts   shipped                         else those of tests/cases/plan/facts
 *   @host    {"python": "3.11", "gpus": "8.6", "toolkits": ["12.4"], "kits": ["cuda-13.0"],
 *            "choice": "host", "cores": 2, "jobs": 2, "memory_mib": 8192,
 *            "interpreters": [{"path": "/py", "python": "3.12", "cuda": "12.4",
 *            "torch": "2.5.1+cu124", "cxx11abi": 0, "record": "ab12"},
 *            {"python": "3.13", "missing": "no Python 3.13"}]}      any of them; see DEFAULT_HOST
 *   @lock    all                             everything is pinned; or a lock's JSON
 *   @listing csrc/a.cu csrc/b.cu             the files of the first package
 *   @ledger  demo/a.cu | cuda12.4 sm86 | 30 s | 900 MiB      one run a line
 *   @wheels  GLOB                            cells whose wheel is in the store, globs with commas
 *   @offers  FILE of WHOM                    wheels that an index has, one a line
 *   @verdicts  GLOB | loads | why            what is known of candidates, by file; the first line that matches
 *   @candidates none                         prebuilt wheels do not count
 */
#ifndef WS_TESTS_UNIT_PLAN_WORLD_H
#define WS_TESTS_UNIT_PLAN_WORLD_H

#include "case.h"
#include "plan/input.h"

/** One line of @ledger. */
struct world_run {
	const char *unit, *stage, *variant;
	struct ws_plan_estimate cost;
};

/** One line of @verdicts. */
struct world_verdict {
	const char *files; /**< a glob */
	enum ws_candidate_state state;
	const char *why; /**< NULL */
};

/** One line of @offers. */
struct world_offer {
	const char *file, *from;
};

/** Everything an input borrows. */
struct world {
	struct ws_plan_input input;
	struct ws_arena *a;
	struct ws_matrix matrix;
	struct ws_facts facts;
	struct ws_lock lock;
	WS_VEC(struct world_run) runs;
	struct ws_map wheels; /**< cell keys whose wheels are in the store */
	WS_VEC(struct world_offer) offers;
	bool unasked; /**< an index never answered */
	WS_VEC(struct world_verdict) verdicts;
	unsigned asked_of_the_ledger; /**< look-ups so far */
};

/** Fills @a world from the sections; false, with @a err, when one of them does not read. */
bool world_read(
	const struct ws_case *c, struct ws_arena *a, struct world *world, struct ws_err *err);

#endif
