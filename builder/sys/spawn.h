/**
 * spawn.h - starting, watching and ending one child
 *
 * An argv array, never a shell; an environment given whole, never inherited; a process group of
 * its own, so that a signal reaches what the child started; a pidfd to poll on. The caller polls,
 * then reaps. Deciding when to kill is the caller's.
 */
#ifndef WS_SYS_SPAWN_H
#define WS_SYS_SPAWN_H

#include "base/err.h"
#include "sys/limits.h"

#include <stdint.h>

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

#endif
