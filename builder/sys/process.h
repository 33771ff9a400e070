/**
 * process.h - one process of this host, as /proc shows it
 *
 * For a person who wonders what it is and whether anybody needs it. Only processes of our pid namespace
 * are seen; a number from outside (a driver's, inside a container) may be another process here, which the
 * caller finds out by its program.
 */
#ifndef WS_SYS_PROCESS_H
#define WS_SYS_PROCESS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct ws_process {
	const char *program; /**< what it runs: "/usr/bin/python3.11"; NULL: may not be looked at */
	const char *command; /**< its words, made printable, at most 300 bytes; "" none */
	const char *user;    /**< a name, or a number where it has none */
	uint64_t age_s;      /**< since it was started */
	/** Nobody waits for it: its parent is gone, it belongs to init, and it leads no session of its own,
	 * as services do. */
	bool is_left_behind;
};

/** False when there is no such process. @a root is "" or the folder that holds proc/ and etc/. */
bool ws_process_look(
	const char *root, unsigned pid, struct ws_arena *a, struct ws_process *process);

#endif
