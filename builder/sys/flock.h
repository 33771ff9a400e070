/**
 * flock.h - advisory locks between wheelsmith processes
 *
 * flock(2) on a file, which is made, or on a folder: it goes with the process, however that ends.
 * The holder may remove the file before it lets go; others then find a new one.
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
 * As ws_flock_try with a number in place of a name: a byte of the file that @a fd has open for
 * writing is locked, which makes and removes nothing: byte @a number / 2, as an offset has a sign.
 * Two numbers share it. It goes with @a fd, or by ws_flock_release_number.
 */
enum ws_flock_result ws_flock_number(int fd, uint64_t number, struct ws_err *err);
void ws_flock_release_number(int fd, uint64_t number);

/** Makes a lock that @a fd holds exclusive, or shared; false, and there may be none then, where
 * another process has it. */
bool ws_flock_convert(int fd, bool exclusive);

/**
 * Waits for it, at most @a longest_ms. True when @a fd holds it, or when nothing can be locked
 * there: then
 * @a fd stays as it is. False when @a stop (which may be NULL) was asked for, or another process
 * kept it for all that time: WS_ERR_IO.
 */
bool ws_flock_wait(
	const char *path, struct ws_stop *stop, unsigned longest_ms, int *fd, struct ws_err *err);

#endif
