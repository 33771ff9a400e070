/**
 * process.h - one process of this host, as /proc shows it
 *
 * For a person who wonders what it is and whether anybody needs it. Only processes of our pid
 * namespace are seen; a number from outside (a driver's, inside a container) may be another process
 * here, which the caller finds out by its program.
 */
#ifndef WS_SYS_PROCESS_H
#define WS_SYS_PROCESS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct ws_process {
	const char *program; /**< what it runs: "/usr/bin/python3.11"; NULL: may not be looked at */
	const char *command; /**< its words, made printable, at most 300 bytes; "" none */
	const char *user;    /**< a name, or a number where it has none */
	uint64_t age_s;      /**< since it was started */
	/** Nobody waits for it: its parent is gone, it belongs to init, and it leads no session of its
	 * own, as services do. */
	bool is_left_behind;
};

/** False when there is no such process. @a root is "" or the folder that holds proc/ and etc/. */
bool ws_process_look(
	const char *root, unsigned pid, struct ws_arena *a, struct ws_process *process);

/* ---- which processes hold the memory of this host ----
 * For a person who wonders where it went. Resident sizes as the kernel counts them: what processes
 * share is counted for each. */

struct ws_holder {
	pid_t pid;
	const char *name; /**< the kernel's 15 characters, made printable */
	uint64_t rss_bytes;
};

/**
 * Fills @a top with at most @a most, the largest first; returns how many. @a root is "" or the
 * folder that holds proc/. Processes that may not be looked at are left out.
 */
size_t ws_holders_find(const char *root, struct ws_arena *a, struct ws_holder *top, size_t most);

#endif
