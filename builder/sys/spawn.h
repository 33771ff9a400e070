/**
 * spawn.h - starting, limiting, watching and ending child processes
 *
 * An argv array, never a shell; an environment given whole, never inherited; a process group of
 * its own, so that a signal reaches what the child started; a pidfd to poll on. The caller polls,
 * then reaps, and decides when to kill.
 */
#ifndef WS_SYS_SPAWN_H
#define WS_SYS_SPAWN_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- limits ---- */

/** 0: no bound. The kernel holds a process to memory and CPU, whoever waits for it to the rest. */
struct ws_limits {
	/** Of its own (files that are mapped to be read do not count), beyond which allocations
	 * fail. */
	uint64_t memory_bytes;
	unsigned cpu_s;      /**< after which SIGXCPU ends it, without a core file */
	uint64_t timeout_ms; /**< from its start */
	unsigned silence_ms; /**< between two outputs */
	size_t answer_bytes;
};

/**
 * Bounds process @a pid, a child of ours, or this one when it is 0; never lifted again. Under a
 * sanitizer, which has memory of its own, memory is not bounded.
 */
void ws_limit(pid_t pid, const struct ws_limits *limits);

/**
 * Raises a limit (RLIMIT_STACK, RLIMIT_NOFILE) of this process, and of its children, to @a wanted,
 * or as far as the hard limit goes. False when that is less than @a least. Uses next to no stack
 * itself.
 */
bool ws_limit_raise(int resource, uint64_t least, uint64_t wanted);

/* ---- one child ---- */

/** What to start. Descriptors are borrowed; -1 stands for /dev/null. */
struct ws_spawn {
	const char *program;     /**< path of the executable; not searched for */
	const char *const *argv; /**< NULL-terminated; argv[0] may differ from program */
	const char *const *env;  /**< NULL-terminated "NAME=value"; the whole environment */
	const char *dir;         /**< working folder; NULL: ours */
	struct ws_limits limits;
	bool no_network;      /**< a network namespace of its own; not started where that cannot be */
	bool is_in_our_group; /**< a person's shell: the terminal is its as well as ours */
	int in, out, err;
};

/** A running child. */
struct ws_child {
	pid_t pid; /**< also the id of its process group */
	int pidfd; /**< readable once it has ended; -1 after the reap */
};

/** How a child ended and what it used, the children it waited for included. */
struct ws_exit {
	int code;               /**< exit status; meaningless when signal is set */
	int signal;             /**< the signal that ended it, else 0 */
	uint64_t cpu_ms;        /**< user and system */
	uint64_t max_rss_bytes; /**< largest single process, not the sum */
};

/** A program that is not there or cannot run is an error here, not an exit status. */
bool ws_spawn_start(const struct ws_spawn *spawn, struct ws_child *child, struct ws_err *err);

/** Waits for the end of @a child, kills what is left of its group, and releases it. Call when pidfd
 * is readable, or be patient. */
struct ws_exit ws_spawn_reap(struct ws_child *child);

/** Sends @a signal to the whole group. A group that has ended is fine. */
void ws_spawn_signal(const struct ws_child *child, int signal);

/** Resident bytes of a process and everything below it, summed; 0 when it has ended. */
uint64_t ws_spawn_rss_bytes(pid_t pid);

/* ---- nothing keeps running when we are gone ---- */

/** Starts the child; it sweeps once the returned descriptor is closed. -1 on failure. */
int ws_sweep_start(const char *program, const char *dir, struct ws_err *err);

/** The good end: sweeps @a dir here and now, sends the child of @a fd home and closes @a fd. */
void ws_sweep_end(int fd, const char *dir);

/** The child's whole life: waits for the end of @a fd, then sweeps @a dir; a byte sends it home. */
void ws_sweep_wait(int fd, const char *dir);

/** Kills what works below @a dir until nothing does; returns how many processes that were. */
unsigned ws_sweep_now(const char *dir);

#endif
