/**
 * flock.h - advisory locks between wheelsmith processes
 *
 * flock(2) on a file: it goes with the process, however that ends. The holder may remove the file before
 * it lets go; others then find a new one.
 */
#ifndef WS_SYS_FLOCK_H
#define WS_SYS_FLOCK_H

#include "base/err.h"

enum ws_flock_result {
	WS_FLOCK_HELD,   /**< ours now */
	WS_FLOCK_BUSY,   /**< another process has it */
	WS_FLOCK_FAILED, /**< err says why */
};

/** Tries once. On WS_FLOCK_HELD @a fd holds the lock until it is closed. */
enum ws_flock_result ws_flock_try(const char *path, bool exclusive, int *fd, struct ws_err *err);

#endif
