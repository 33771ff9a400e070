/* flock.c - tries with pauses, so that a waiting process can be stopped. */
#include "sys/flock.h"

#include "sys/clock.h"
#include "sys/stop.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

enum ws_flock_result
ws_flock_try(const char *path, bool exclusive, int *fd, struct ws_err *err)
{
	WS_AUTO_FD int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (file < 0 && errno == EISDIR) {
		file = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	if (file < 0) {
		ws_err_sys(err, WS_ERR_IO, "cannot open the lock '%s'", path);
		return WS_FLOCK_FAILED;
	}
	if (flock(file, (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0) {
		/* The holder may remove the file before it releases the lock: then ours is on no file. */
		struct stat ours, there;
		if (fstat(file, &ours) < 0 || stat(path, &there) < 0 || ours.st_ino != there.st_ino
			|| ours.st_dev != there.st_dev) {
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

/* F_OFD_SETLK: the lock belongs to the open file, not to the process. */
static int
set_byte(int fd, uint64_t number, short type)
{
	struct flock lock = {
		.l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)(number >> 1), .l_len = 1};
	return fcntl(fd, F_OFD_SETLK, &lock);
}

enum ws_flock_result
ws_flock_number(int fd, uint64_t number, struct ws_err *err)
{
	if (set_byte(fd, number, F_WRLCK) == 0) {
		return WS_FLOCK_HELD;
	}
	if (errno == EAGAIN || errno == EACCES) {
		return WS_FLOCK_BUSY;
	}
	ws_err_sys(err, WS_ERR_IO, "cannot lock");
	return WS_FLOCK_FAILED;
}

void
ws_flock_release_number(int fd, uint64_t number)
{
	set_byte(fd, number, F_UNLCK);
}

bool
ws_flock_convert(int fd, bool exclusive)
{
	return flock(fd, (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0;
}

bool
ws_flock_wait(
	const char *path, struct ws_stop *stop, unsigned longest_ms, int *fd, struct ws_err *err)
{
	int64_t end_ms = ws_clock_ms() + longest_ms;
	for (long pause_ms = 5; ws_flock_try(path, true, fd, NULL) == WS_FLOCK_BUSY;) {
		if (ws_stop_asked(stop)) {
			return ws_stop_err(stop, err);
		}
		if (ws_clock_ms() >= end_ms) {
			ws_err_set(err, WS_ERR_IO, "'%s' is locked by another process", path);
			return ws_err_cure(err, "find it with `fuser %s`", path);
		}
		nanosleep(&(struct timespec){.tv_nsec = pause_ms * 1000 * 1000}, NULL);
		pause_ms = pause_ms < 80 ? pause_ms * 2 : 100;
	}
	return true;
}
