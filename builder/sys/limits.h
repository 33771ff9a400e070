/**
 * limits.h - what a process may use
 *
 * A crafted file can ask for gigabytes or for years: a symbol name of a hundred bytes expands to
 * either. So whoever starts a process that reads one limits it. And what this process cannot do
 * without: a stack, and files that it may open.
 */
#ifndef WS_SYS_LIMITS_H
#define WS_SYS_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

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

#endif
