/**
 * run.h - making the wheels of a plan
 *
 * Opens a supply for each product, resolves what those need that are to be built, runs the graph
 * and delivers each wheel when it is packed. Says what happened as data; telling it is report/'s.
 */
#ifndef WS_PRODUCE_RUN_H
#define WS_PRODUCE_RUN_H

#include "make/context.h"
#include "make/pins.h"
#include "make/result.h"

struct ws_candidate_memory;

struct ws_build_options {
	const struct ws_matrix *matrix;         /**< its policy, and what stands in for what fails */
	struct ws_candidate_memory *candidates; /**< for what fails; NULL: none count */
	const char *output;                     /**< folder for wheels, build.json, logs/ */
	unsigned jobs;                          /**< 0: decide */
	uint64_t memory_bytes;                  /**< 0: decide */
	bool keep_going, keep_work;
	uint64_t action_timeout_ms; /**< 0: the engine's rule */
	bool compile_commands;      /**< write compile_commands.json into the output folder */
	unsigned check_replay; /**< after the build: so many units are made both ways (make/replay.h) */
	/** Hears of each failed action when it fails; @a failed is the call's. NULL: nobody does. */
	void (*tell_failure)(void *self, const struct ws_failed_action *failed);
	/** Hears of each wheel when it lies in the output folder. NULL: nobody does. */
	void (*tell_wheel)(void *self, const struct ws_supply *supply);
	void *self; /**< for both */
};

/**
 * True when every cell that was to be built has its wheel, or a fallback where the matrix wants
 * that of failed builds; such a matrix is built as with keep_going. Otherwise @a err says in one
 * line what kept it from that and @a result is filled as far as it came. The result, and all that
 * the run needs until its end, lives in @a a; pins stay in @a pins.
 */
bool ws_build_run(const struct ws_context *ctx, struct ws_pins *pins, const struct ws_plan *plan,
	const struct ws_build_options *options, struct ws_arena *a, struct ws_build_result *result,
	struct ws_err *err);

#endif
