/**
 * process.h - processes of this host, from /proc
 *
 * Describes one process for people who decide whether it is still needed, and finds the processes
 * that hold most memory. Only processes of our pid namespace are visible: a number from outside
 * (from a driver, inside a container) may be another process here, which the caller detects by
 * its program.
 */
#ifndef WS_SYS_PROCESS_H
#define WS_SYS_PROCESS_H

#include "base/arena.h"

#include <sys/types.h>

struct ws_process {
	const char *program; /**< path of its program: "/usr/bin/python3.11"; NULL: not readable */
	const char *command; /**< its arguments, made printable, at most 300 bytes */
	const char *user;    /**< a name, or a number where it has none */
	uint64_t age_s;      /**< since it was started */
	/** Its parent is gone: it belongs to init, and does not lead a session of its own as services
	 * do. */
	bool is_left_behind;
};

/** False when the process does not exist. @a root is "" or the folder of proc/ and etc/. */
bool ws_process_look(
	const char *root, unsigned pid, struct ws_arena *a, struct ws_process *process);

/* ---- which processes hold the memory of this host ---- */

struct ws_holder {
	pid_t pid;
	const char *name; /**< the kernel's 15 characters, made printable */
	uint64_t rss_bytes;
};

/**
 * Fills @a top with at most @a most processes, the largest first; returns their count. @a root is
 * "" or the folder of proc/. Sizes are resident: shared pages count for each process. Unreadable
 * processes are left out.
 */
size_t ws_holders_find(const char *root, struct ws_arena *a, struct ws_holder *top, size_t most);

#endif
