/**
 * lock.h - advisory locks between wheelsmith processes
 *
 * flock(2) on a file: it goes with the process, however that ends. The holder may remove the file before
 * it lets go; others then find a new one.
 */
#ifndef WS_SYS_LOCK_H
#define WS_SYS_LOCK_H

#include "base/err.h"

enum ws_lock_result {
	WS_LOCK_HELD,   /**< ours now */
	WS_LOCK_BUSY,   /**< another process has it */
	WS_LOCK_FAILED, /**< err says why */
};

/** Tries once. On WS_LOCK_HELD @a fd holds the lock until it is closed. */
enum ws_lock_result ws_lock_try(const char *path, bool exclusive, int *fd, struct ws_err *err);

#endif
