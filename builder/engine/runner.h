/**
 * runner.h - where jobs run
 *
 * The seam between deciding and doing. The engine hands over an action and the digests of what it
 * takes; the runner stages them where it runs things, runs the command, finds out what it read,
 * takes what it left into the store, and reports all that. The local runner (local.h) does so in
 * folders of this host; a test's follows a script; a remote one's folders are on other hosts.
 */
#ifndef WS_ENGINE_RUNNER_H
#define WS_ENGINE_RUNNER_H

#include "base/err.h"
#include "base/event.h"
#include "engine/action.h"

#include <stdint.h>

/** An action to be run. Borrowed from start until forget. */
struct ws_job {
	unsigned id;
	unsigned attempt; /**< from 1; of the same id */
	const struct ws_action *action;
	const char *const *made; /**< digest of each input that another action makes */
	struct ws_need need;
	uint64_t deadline_ms; /**< 0: as long as it takes */
	int64_t
		since_file_ns; /**< digests of files outside of trees are as old as this (reads_manifest.h) */
	struct ws_arena *a; /**< for what the runner needs to remember of it, and for what it says */
	const char *dir;    /**< set by start: where it runs on this host; NULL: elsewhere */
};

/** How a job ended, and what it left. Texts and lists are in the job's arena. */
struct ws_done {
	unsigned id;
	int code;   /**< exit status; -1 when a signal ended it */
	int signal; /**< else 0 */
	uint64_t wall_ms, cpu_ms;
	uint64_t rss_bytes; /**< peak: the larger of the sampled sum and the largest process */
	bool timed_out;     /**< we ended it: its deadline had passed */
	bool stopped;       /**< we ended it: ws_runner.stop */
	bool lacks_input; /**< it did not run: ws_runner.has was true of an input and is not any more */
	struct ws_worker_run elsewhere;
	enum ws_log_says says; /**< of a command that did not succeed */
	struct ws_digest log;  /**< stdout and stderr, in the store; "" when there was nothing */
	/* Of one that succeeded (code 0): */
	struct ws_digest *outputs; /**< one for each, in order; in the store, or such as has knows */
	uint64_t *sizes;
	struct ws_reads reads;
	const char *changed; /**< outside of trees: what changed meanwhile; NULL: nothing */
	/** It succeeded and this kept its outputs from being taken. WS_ERR_IO: the host's fault;
	 * WS_ERR_FETCH: that of the hosts where it was to run. NULL: they were. */
	struct ws_err *failure;
};

enum ws_wait_result {
	WS_WAIT_DONE, /**< a job ended */
	WS_WAIT_TICK, /**< nothing ended; time passed */
};

/** First member of a runner's own struct. */
struct ws_runner {
	/** Where @a action would run, there is room for it beside those that run. */
	bool (*has_room)(
		const struct ws_runner *self, const struct ws_action *action, struct ws_need need);
	/** False when it cannot even be started; @a err says why. */
	bool (*start)(struct ws_runner *self, struct ws_job *job, struct ws_err *err);
	/** What a transient action made is still where jobs that take it can have it. */
	bool (*has)(const struct ws_runner *self, const char *digest);
	/** Waits at most @a timeout_ms for the end of any job. */
	enum ws_wait_result (*wait)(struct ws_runner *self, unsigned timeout_ms, struct ws_done *done);
	/** Of a job that ended or did not start: what is left of it goes, its folder unless @a keep. */
	void (*forget)(struct ws_runner *self, const struct ws_job *job, bool keep);
	/** Asks every running job to end; @a now: without grace. Their ends still come through wait. */
	void (*stop)(struct ws_runner *self, bool now);
	/** Bytes that a running job holds at this moment; 0 when not known. */
	uint64_t (*held_bytes)(const struct ws_runner *self, unsigned id);
	/** Monotonic milliseconds. */
	int64_t (*now_ms)(const struct ws_runner *self);
	/** @a action would run on another host: it does not compete with those of this one. NULL: none
	 * does. */
	bool (*goes_away)(const struct ws_runner *self, const struct ws_action *action);
};

struct ws_budget;
struct ws_worker_files;
struct ws_work;

/** Other hosts that run what may run there. First member of its own struct. */
struct ws_executor {
	/**
	 * A runner that sends away what it can and hands the rest to @a local, within what @a budget
	 * was. Afterwards @a budget is for both. All of it is borrowed; the runner lives in @a a.
	 */
	struct ws_runner *(*over)(struct ws_executor *self, struct ws_runner *local,
		const struct ws_work *work, struct ws_budget *budget, struct ws_arena *a);
	bool falls_back;                  /**< what others do not do is done here */
	struct ws_worker_files *platform; /**< those hosts; NULL: they are to be as this one is */
};

#endif
