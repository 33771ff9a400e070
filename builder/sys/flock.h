/**
 * flock.h - advisory locks between wheelsmith processes
 *
 * flock(2) on a file, which is created, or on a folder: the lock ends with the process. The
 * holder may remove the file before it releases the lock; others then find a new file.
 */
#ifndef WS_SYS_FLOCK_H
#define WS_SYS_FLOCK_H

#include "base/err.h"

#include <stdint.h>

struct ws_stop;

enum ws_flock_result {
	WS_FLOCK_HELD,   /**< ours now */
	WS_FLOCK_BUSY,   /**< another process has it */
	WS_FLOCK_FAILED, /**< err says why */
};

/** Tries once. On WS_FLOCK_HELD @a fd holds the lock until it is closed. */
enum ws_flock_result ws_flock_try(const char *path, bool exclusive, int *fd, struct ws_err *err);

/**
 * Locks a number: byte @a number / 2 (offsets have a sign) of the file that @a fd has open for
 * writing. Two numbers share a byte. No file is created or removed. The lock ends with @a fd, or
 * by ws_flock_release_number.
 */
enum ws_flock_result ws_flock_number(int fd, uint64_t number, struct ws_err *err);
void ws_flock_release_number(int fd, uint64_t number);

/** Makes the lock of @a fd exclusive or shared. False when another process holds it; then @a fd
 * may have no lock. */
bool ws_flock_convert(int fd, bool exclusive);

/**
 * Waits for the lock, at most @a longest_ms. True when @a fd holds it, or when nothing can be
 * locked there: then @a fd is unchanged. False when @a stop (may be NULL) asks to stop, or
 * another process held the lock for all that time: WS_ERR_IO.
 */
bool ws_flock_wait(
	const char *path, struct ws_stop *stop, unsigned longest_ms, int *fd, struct ws_err *err);

#endif
