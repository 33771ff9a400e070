/**
 * run.h - making the wheels of a plan
 *
 * Opens a supply for each product, resolves what those need that are to be built, runs the graph
 * and delivers each wheel when it is packed. Returns plain data; report/ prints it.
 */
#ifndef WS_PRODUCE_RUN_H
#define WS_PRODUCE_RUN_H

#include "make/context.h"
#include "make/pins.h"
#include "make/result.h"

struct ws_candidate_memory;

struct ws_build_options {
	const struct ws_matrix *matrix; /**< its policy and its fallbacks */
	struct ws_candidate_memory
		*candidates;       /**< for failed builds; NULL: prebuilt wheels do not count */
	const char *output;    /**< folder for wheels, build.json, logs/ */
	unsigned jobs;         /**< 0: decide */
	uint64_t memory_bytes; /**< 0: decide */
	bool keep_going, keep_work;
	uint64_t action_timeout_ms; /**< 0: the engine's rule */
	bool compile_commands;      /**< write compile_commands.json into the output folder */
	/** Called for each failed action at once; @a failed lives during the call. May be NULL. */
	void (*tell_failure)(void *self, const struct ws_failed_action *failed);
	/** Called for each wheel in the output folder. May be NULL. */
	void (*tell_wheel)(void *self, const struct ws_supply *supply);
	void *self; /**< for both */
};

/**
 * True when every cell to build has its wheel, or a fallback where the matrix has one for failed
 * builds; such a matrix is built as with keep_going. Else @a err has the reason in one line, and @a
 * result is filled as far as the build came. The result lives in @a a; pins stay in @a pins.
 */
bool ws_build_run(const struct ws_context *ctx, struct ws_pins *pins, const struct ws_plan *plan,
	const struct ws_build_options *options, struct ws_arena *a, struct ws_build_result *result,
	struct ws_err *err);

#endif
