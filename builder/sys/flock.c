/* flock.c - flock, one try. Waiting is the caller's: it has other things to do meanwhile. */
#include "sys/flock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

/* A holder may remove the file before it lets go: then ours is a lock on nothing. */
static bool
is_still_there(int file, const char *path)
{
	struct stat ours, there;
	return fstat(file, &ours) == 0 && stat(path, &there) == 0 && ours.st_ino == there.st_ino
		&& ours.st_dev == there.st_dev;
}

enum ws_flock_result
ws_flock_try(const char *path, bool exclusive, int *fd, struct ws_err *err)
{
	WS_AUTO_FD int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (file < 0) {
		ws_err_sys(err, WS_ERR_IO, "cannot open the lock '%s'", path);
		return WS_FLOCK_FAILED;
	}
	if (flock(file, (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0) {
		if (!is_still_there(file, path)) {
			return WS_FLOCK_BUSY;
		}
		*fd = ws_take_fd(&file);
		return WS_FLOCK_HELD;
	}
	if (errno == EWOULDBLOCK) {
		return WS_FLOCK_BUSY;
	}
	ws_err_sys(err, WS_ERR_IO, "cannot lock '%s'", path);
	return WS_FLOCK_FAILED;
}
