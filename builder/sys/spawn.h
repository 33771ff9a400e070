/**
 * spawn.h - starts, limits, watches and ends a child; the sweeper kills leftovers after a crash
 *
 * A child gets an argv array, never a shell; a whole environment, nothing inherited; a process
 * group of its own, so that a signal reaches its children; a pidfd, which the caller polls before
 * it reaps. The caller decides when to kill.
 */
#ifndef WS_SYS_SPAWN_H
#define WS_SYS_SPAWN_H

#include "base/err.h"

#include <stdint.h>
#include <sys/types.h>

/* ---- limits ---- */

/** Limits of a process that reads files of unknown origin: a symbol name of a hundred bytes can
 * expand to gigabytes. 0: no limit. The kernel enforces memory and CPU, the waiting process the
 * rest. */
struct ws_limits {
	/** Private memory: above it allocations fail. Mapped files do not count. */
	uint64_t memory_bytes;
	unsigned cpu_s;      /**< then SIGXCPU ends it, without a core file */
	uint64_t timeout_ms; /**< from its start */
	unsigned silence_ms; /**< between two outputs */
	size_t answer_bytes;
};

/**
 * Limits process @a pid, our child, or this process when it is 0; for good. Memory is not limited
 * under a sanitizer, which needs much itself.
 */
void ws_limit(pid_t pid, const struct ws_limits *limits);

/**
 * Raises a limit (RLIMIT_STACK, RLIMIT_NOFILE) of this process and its children to @a wanted, or
 * to the hard limit. False when that is less than @a least. Needs little stack.
 */
bool ws_limit_raise(int resource, uint64_t least, uint64_t wanted);

/* ---- one child ---- */

/** The program to start. Descriptors are borrowed; -1 stands for /dev/null. */
struct ws_spawn {
	const char *program;     /**< path of the executable, without a search in PATH */
	const char *const *argv; /**< NULL-terminated; argv[0] may differ from program */
	const char *const *env;  /**< NULL-terminated "NAME=value"; the whole environment */
	const char *dir;         /**< working folder; NULL: ours */
	struct ws_limits limits;
	bool is_in_our_group; /**< a shell for a person shares our terminal */
	int in, out, err;
};

/** A running child. */
struct ws_child {
	pid_t pid; /**< also the id of its process group */
	int pidfd; /**< readable once it has ended; -1 after the reap */
};

/** How a child ended, and its use, its reaped children included. */
struct ws_exit {
	int code;               /**< exit status; meaningless when signal is set */
	int signal;             /**< the signal that ended it, else 0 */
	uint64_t cpu_ms;        /**< user and system */
	uint64_t max_rss_bytes; /**< largest single process, not the sum */
};

/** Starts a child. A missing program, or one that cannot run, is an error, not an exit status. */
bool ws_spawn_start(const struct ws_spawn *spawn, struct ws_child *child, struct ws_err *err);

/** Waits for the end of @a child, kills the rest of its group, and releases it. Blocks unless
 * pidfd is readable. */
struct ws_exit ws_spawn_reap(struct ws_child *child);

/** Sends @a signal to the whole group, which may have ended. */
void ws_spawn_signal(const struct ws_child *child, int signal);

/** Resident bytes of a process and everything below it, summed; 0 when it has ended. */
uint64_t ws_spawn_rss_bytes(pid_t pid);

/* ---- nothing keeps running when we are gone ---- */

/** Starts the sweeper: `wheelsmith internal sweep DIR`, a small child that waits on a pipe. When
 * this process ends, however it ends, the pipe closes and the sweeper kills every process that
 * works below @a dir: PDEATHSIG does not reach the children of a compiler. The engine starts all
 * jobs below that folder, so no list of processes is needed. Groups are left alone: a person's
 * shell may be in the group of the script that started it. Returns the pipe's descriptor; -1 on
 * failure. */
int ws_sweep_start(const char *program, const char *dir, struct ws_err *err);

/** Sweeps @a dir now, stops the sweeper and closes @a fd. */
void ws_sweep_end(int fd, const char *dir);

/** The sweeper's main loop: waits for the end of @a fd, then sweeps @a dir. A byte on the pipe
 * stops it without a sweep. */
void ws_sweep_wait(int fd, const char *dir);

/** Kills processes that work below @a dir until there are none; returns their number. */
unsigned ws_sweep_now(const char *dir);

#endif
