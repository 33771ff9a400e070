/**
 * runner.h - interface of the hosts that run jobs
 *
 * The engine decides, a runner acts. The engine passes an action and the digests of its inputs.
 * The runner places the inputs, runs the command, finds its reads, stores its outputs, and
 * reports. The local runner (runner.h) uses folders of this host, remote/execution.c workers of a
 * farm, a test follows a script.
 */
#ifndef WS_ENGINE_RUNNER_H
#define WS_ENGINE_RUNNER_H

#include "base/event.h"
#include "engine/action.h"

/** An action to run. Borrowed from start until forget. */
struct ws_job {
	unsigned id;
	unsigned attempt; /**< from 1, for each id */
	const struct ws_action *action;
	const char *const *made; /**< digest of each input that another action creates */
	struct ws_need need;
	uint64_t deadline_ms; /**< 0: no limit */
	bool is_estimated;    /**< deadline_ms is ten times the last duration, not an option */
	int64_t
		since_file_ns;  /**< age of the oldest digest of files outside of trees (changed_since.h) */
	struct ws_arena *a; /**< for the runner's own data, and for its report */
	const char *dir;    /**< set by start: its folder on this host; NULL: on another */
};

/** The end of a job. Texts and lists are in the job's arena. */
struct ws_done {
	unsigned id;
	int code;   /**< exit status; -1 after a signal */
	int signal; /**< else 0 */
	uint64_t wall_ms, cpu_ms;
	uint64_t rss_bytes; /**< peak: the larger of the sampled sum and the largest process */
	bool timed_out;     /**< ended by us: its time limit had passed */
	bool stopped;       /**< ended by us: ws_runner.stop */
	bool lacks_input;   /**< did not run: an input for which ws_runner.has was true is lost */
	struct ws_worker_run elsewhere;
	enum ws_log_says says; /**< after a failure */
	struct ws_digest log;  /**< stdout and stderr, in the store; "" if there were none */
	/* After a success (code 0): */
	struct ws_digest
		*outputs; /**< one for each, in order; in the store, or known to ws_runner.has */
	uint64_t *sizes;
	struct ws_reads reads;
	const char *changed; /**< a file outside of trees that changed meanwhile; NULL: none */
	/** The command succeeded, but its outputs could not be stored. WS_ERR_IO: a fault of this
	 * host; WS_ERR_FETCH: of the workers. NULL: they were. */
	struct ws_err *failure;
};

enum ws_wait_result {
	WS_WAIT_DONE, /**< a job ended */
	WS_WAIT_TICK, /**< no job ended; time passed */
};

/** First member of a runner's struct. */
struct ws_runner {
	/** True if there is room for @a action beside the running jobs, on the host that would run
	 * it. */
	bool (*has_room)(
		const struct ws_runner *self, const struct ws_action *action, struct ws_need need);
	/** Starts a job. False with @a err: it did not start. */
	bool (*start)(struct ws_runner *self, struct ws_job *job, struct ws_err *err);
	/** True if an output of a transient action can still be used by other jobs. */
	bool (*has)(const struct ws_runner *self, const char *digest);
	/** Waits at most @a timeout_ms for the end of any job. */
	enum ws_wait_result (*wait)(struct ws_runner *self, unsigned timeout_ms, struct ws_done *done);
	/** Releases a job that ended or did not start, and its folder unless @a keep. */
	void (*forget)(struct ws_runner *self, const struct ws_job *job, bool keep);
	/** Stops all running jobs; @a now: without grace. Their ends still arrive by wait. */
	void (*stop)(struct ws_runner *self, bool now);
	/** Bytes that a running job holds now; 0: unknown. */
	uint64_t (*held_bytes)(const struct ws_runner *self, unsigned id);
	/** Monotonic milliseconds. */
	int64_t (*now_ms)(const struct ws_runner *self);
	/** True if @a action would run on another host and uses no budget of this one. NULL: never. */
	bool (*goes_away)(const struct ws_runner *self, const struct ws_action *action);
};

/* ---- the budget: how many jobs run at once ----
 * CPU slots and bytes of memory. A job takes both before it starts and returns both when it has
 * ended. Its memory is predicted by store/ledger.h from earlier runs, or by the table of
 * compile/split.c. A runner checks the memory of its host. One event loop, one budget. */

/** Read it; change it only by the functions. */
struct ws_budget {
	unsigned cpus, cpus_taken;
	uint64_t memory_bytes, memory_taken;
	unsigned jobs;
};

/** A budget from the host's cores and memory; 0 for @a jobs or @a memory_bytes: a default. */
struct ws_budget ws_budget_make(const struct ws_host *host, unsigned jobs, uint64_t memory_bytes);

/** True, and taken, if @a need fits now. A need larger than the whole budget fits when nothing
 * runs. */
bool ws_budget_take(struct ws_budget *b, struct ws_need need);

/** Returns exactly what was taken. */
void ws_budget_give(struct ws_budget *b, struct ws_need need);

/**
 * True if @a host has @a bytes for another job. @a promised_bytes: predicted for the running
 * jobs; @a held_bytes: what they hold now. The difference must stay available.
 */
bool ws_budget_host_has(
	const struct ws_host *host, uint64_t bytes, uint64_t promised_bytes, uint64_t held_bytes);

struct ws_worker_files;
struct ws_work;

/** Other hosts that run actions. First member of its implementation's struct. */
struct ws_executor {
	/**
	 * A runner that sends what it can to the other hosts and the rest to @a local, within @a
	 * budget as it was. Then @a budget is enlarged for both. All borrowed; the runner lives in
	 * @a a.
	 */
	struct ws_runner *(*over)(struct ws_executor *self, struct ws_runner *local,
		const struct ws_work *work, struct ws_budget *budget, struct ws_arena *a);
	bool falls_back; /**< run on this host what the others cannot run */
	struct ws_worker_files
		*platform; /**< files of these hosts; NULL: they must be like this host */
};

/* ---- the local runner ----
 * Runs jobs as children on this host. Each job has a folder below the run's (work.h), a process
 * group and a log. Memory is sampled ten times a second. A job past its time limit gets SIGTERM,
 * then SIGKILL. There is room for another job while the host has the memory. */

struct ws_stop;

/** @a stop (may be NULL) ends a wait when a signal arrives. Lives in @a a. */
struct ws_runner *ws_local_runner(const struct ws_work *work, const struct ws_host *host,
	struct ws_stop *stop, struct ws_arena *a);

/** Completes @a done, which has id, status and costs: reads, changes meanwhile, log, outputs.
 * @a log may be missing; @a started_file_ns: start of the command. */
void ws_collect(const struct ws_work *work, const struct ws_job *job, const char *log,
	int64_t started_file_ns, struct ws_done *done);

/** Waits also end, as WS_WAIT_TICK, when @a fd is readable; -1: none. */
void ws_local_waits_for(struct ws_runner *local, int fd);

#endif
