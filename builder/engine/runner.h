/**
 * runner.h - where jobs run
 *
 * The seam between deciding and doing: the engine hands jobs to a runner, which reports their ends.
 * The local runner (local.h) starts children here; a test's runner follows a script; a batch
 * system's would submit steps.
 */
#ifndef WS_ENGINE_RUNNER_H
#define WS_ENGINE_RUNNER_H

#include "base/err.h"
#include "engine/budget.h"
#include "sys/spawn.h"

#include <stdint.h>

/** A command ready to start: everything expanded, its folder prepared. Borrowed until it has started. */
struct ws_job {
	unsigned id;
	const char *program;
	const char *const *argv;
	const char *const *env;
	const char *dir; /**< working folder */
	const char *log; /**< file that gets stdout and stderr */
	struct ws_need need;
	struct ws_limits limits; /**< timeout_ms 0: as long as it takes */
};

/** How a job ended. */
struct ws_done {
	unsigned id;
	int code;   /**< exit status; -1 when a signal ended it */
	int signal; /**< else 0 */
	uint64_t wall_ms, cpu_ms;
	uint64_t rss_bytes; /**< peak: the larger of the sampled sum and the largest process */
	bool timed_out;     /**< we ended it: its deadline had passed */
	bool stopped;       /**< we ended it: ws_runner.stop */
};

enum ws_wait_result {
	WS_WAIT_DONE, /**< a job ended */
	WS_WAIT_TICK, /**< nothing ended; time passed */
};

/** First member of a runner's own struct. */
struct ws_runner {
	/** False when it cannot even be started; @a err says why. */
	bool (*start)(struct ws_runner *self, const struct ws_job *job, struct ws_err *err);
	/** Waits at most @a timeout_ms for the end of any job. */
	enum ws_wait_result (*wait)(struct ws_runner *self, unsigned timeout_ms, struct ws_done *done);
	/** Asks every running job to end; @a now: without grace. Their ends still come through wait. */
	void (*stop)(struct ws_runner *self, bool now);
	/** Bytes that a running job holds at this moment; 0 when not known. */
	uint64_t (*held_bytes)(const struct ws_runner *self, unsigned id);
	/** Monotonic milliseconds. */
	int64_t (*now_ms)(const struct ws_runner *self);
};

#endif
