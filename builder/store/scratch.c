/* scratch.c - flock(2) on the folder itself, so there is no second file to clean up. */
#include "store/scratch.h"

#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <time.h>

#define WEEK_S ((time_t)7 * 24 * 3600)

enum hold {
	HELD,
	BUSY,
	CANNOT, /* gone, or not to be locked */
};

static enum hold
try_lock(const char *path, int *fd)
{
	WS_AUTO_FD int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder < 0 || flock(folder, LOCK_EX | LOCK_NB) < 0) {
		return folder >= 0 && errno == EWOULDBLOCK ? BUSY : CANNOT;
	}
	*fd = ws_take_fd(&folder);
	return HELD;
}

bool
ws_scratch_make(const char *partial, const char *prefix, struct ws_arena *a, struct ws_scratch *s,
	struct ws_err *err)
{
	for (;;) {
		*s = (struct ws_scratch){.fd = -1};
		const char *path = ws_fs_temp_dir(partial, prefix, a, err);
		if (!path) {
			return false;
		}
		/* Another run may have swept the folder before it was locked. */
		if (try_lock(path, &s->fd) != BUSY && ws_fs_is_dir(path)) {
			s->path = path;
			return true;
		}
		if (s->fd >= 0) {
			close(s->fd);
		}
	}
}

void
ws_scratch_drop(struct ws_scratch *s)
{
	if (s->path) {
		ws_fs_remove(s->path, NULL);
	}
	if (s->path && s->fd >= 0) {
		close(s->fd);
	}
	*s = (struct ws_scratch){.fd = -1};
}

/* A folder that cannot be locked goes by its age too. */
static void
sweep_one(const char *path)
{
	WS_AUTO_FD int fd = -1;
	struct stat status;
	if (lstat(path, &status) < 0) {
		return;
	}
	enum hold hold = S_ISDIR(status.st_mode) ? try_lock(path, &fd) : CANNOT;
	if (hold == HELD || (hold == CANNOT && status.st_mtime + WEEK_S < time(NULL))) {
		ws_fs_remove(path, NULL);
	}
}

void
ws_scratch_sweep(const char *partial)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	if (ws_fs_is_link(partial)) {
		return; /* what lies there may be another store's */
	}
	WS_AUTO_DIR DIR *dir = opendir(partial);
	const struct dirent *entry;
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] != '.') {
			sweep_one(ws_path_join(a, partial, entry->d_name, NULL));
		}
	}
}
