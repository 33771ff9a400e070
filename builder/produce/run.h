/**
 * run.h - making the wheels of a plan
 *
 * Resolves what the products need, runs the graph, delivers. Says what happened as data; telling it
 * is report/'s.
 */
#ifndef WS_PRODUCE_RUN_H
#define WS_PRODUCE_RUN_H

#include "engine/engine.h"
#include "plan/plan.h"
#include "produce/context.h"

enum ws_cell_state {
	WS_CELL_EXCLUDED,
	WS_CELL_FALLBACK, /**< the matrix names what stands in: so planned, or its build failed */
	WS_CELL_READY,    /**< its wheel is in the output folder */
	WS_CELL_FAILED,
	WS_CELL_CANCELLED, /**< something else failed or the run was stopped before it was done */
};

/** What came of a cell. */
struct ws_cell_result {
	const struct ws_cell *cell;
	enum ws_cell_state state;
	bool cached;       /**< READY: nothing had to run for it */
	const char *wheel; /**< READY: file name in the output folder */
	struct ws_digest digest;
	uint64_t size_bytes;
	uint64_t cpu_ms;          /**< of what ran for its product now */
	const struct ws_err *why; /**< FAILED; FALLBACK when a build failed; else NULL */
};

/** A failed action, as people need it. */
struct ws_failed_action {
	const char *cell, *subject, *stage;
	const struct ws_err *err;
	const char *command;         /**< the command line, quoted for a shell */
	const char *log;             /**< path of its log in the output folder; NULL: it said nothing */
	struct ws_digest log_digest; /**< of the log in the cas; "" none */
	const char *folder;          /**< --keep-work: where it ran; else NULL */
};

struct ws_build_options {
	const struct ws_matrix *matrix; /**< says what stands in for what fails; NULL: nothing does */
	const char *output;             /**< folder for wheels, build.json, logs/ */
	unsigned jobs;                  /**< 0: decide */
	uint64_t memory_bytes;          /**< 0: decide */
	bool keep_going, keep_work;
	uint64_t action_timeout_ms; /**< 0: the engine's rule */
	const char *fetch_command;  /**< what brings all that an offline run lacks; NULL: in words */
	bool compile_commands;      /**< write compile_commands.json into the output folder */
	/** Hears of each failed action when it fails; @a failed is the call's. NULL: nobody does. */
	void (*tell_failure)(void *self, const struct ws_failed_action *failed);
	void *self; /**< for tell_failure */
};

struct ws_build_result {
	const struct ws_cell_result *cells;
	size_t cell_count;
	const struct ws_failed_action *failed;
	size_t failed_count;
	struct ws_run_summary actions;
	uint64_t wall_ms;
};

/**
 * True when every cell that was to be built is READY, or FALLBACK where the matrix wants that of failed
 * builds; such a matrix is built as with keep_going. Otherwise @a err says in one line what kept
 * it from that and @a result is filled as far as it came.
 */
bool ws_build_run(struct ws_context *ctx, const struct ws_plan *plan,
	const struct ws_build_options *options, struct ws_build_result *result, struct ws_err *err);

#endif
