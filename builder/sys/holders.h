/**
 * holders.h - which processes hold the memory of this host
 *
 * For a person who wonders where it went. Resident sizes as the kernel counts them: what processes
 * share is counted for each.
 */
#ifndef WS_SYS_HOLDERS_H
#define WS_SYS_HOLDERS_H

#include "base/arena.h"

#include <stdint.h>
#include <sys/types.h>

struct ws_holder {
	pid_t pid;
	const char *name; /**< the kernel's 15 characters, made printable */
	uint64_t rss_bytes;
};

/**
 * Fills @a top with at most @a most, the largest first; returns how many. @a root is "" or the folder
 * that holds proc/. Processes that may not be looked at are left out.
 */
size_t ws_holders_find(const char *root, struct ws_arena *a, struct ws_holder *top, size_t most);

#endif
