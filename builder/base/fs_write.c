/* fs_write.c - writing, copying and linking, in one step where other processes look. A file has a
 * hidden name until then, ".NAME.part-PID.XXXXXX", by which leftovers of dead processes are
 * found. */
#include "base/crypto.h"
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <time.h>

#define PART ".part-"
#define PART_AGE_S ((time_t)3600)

bool
ws_fs_write(const char *path, const void *bytes, size_t len, mode_t mode, struct ws_err *err)
{
	WS_AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
	if (fd < 0) {
		return ws_err_sys(err, WS_ERR_IO, "cannot create '%s'", path);
	}
	if (!ws_fs_write_all(fd, bytes, len) || fchmod(fd, mode) < 0) {
		return ws_err_sys(err, WS_ERR_IO, "cannot write '%s'", path);
	}
	return true;
}

/* @a h (may be NULL) gets what was copied. */
static bool
copy_contents(int in, int out, struct ws_hasher *h)
{
	bool cloned = ioctl(out, FICLONE, in) == 0;
	if (cloned && !h) {
		return true;
	}
	char chunk[65536];
	ssize_t got;
	while ((got = read(in, chunk, sizeof(chunk))) > 0) {
		if (h) {
			ws_hasher_add(h, chunk, (size_t)got);
		}
		if (!cloned && !ws_fs_write_all(out, chunk, (size_t)got)) {
			return false;
		}
	}
	return got == 0;
}

bool
ws_fs_copy(const char *from, const char *to, mode_t mode, struct ws_err *err)
{
	WS_AUTO_FD int in = ws_fs_open_regular(from, 0, NULL, err);
	if (in < 0) {
		return false;
	}
	WS_AUTO_FD int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
	if (out < 0) {
		return ws_err_sys(err, WS_ERR_IO, "cannot create '%s'", to);
	}
	if (!copy_contents(in, out, NULL) || fchmod(out, mode) < 0) {
		ws_err_sys(err, WS_ERR_IO, "cannot write '%s'", to);
		unlink(to);
		return false;
	}
	return true;
}

bool
ws_fs_link(const char *from, const char *to, struct ws_err *err)
{
	if (link(from, to) == 0) {
		return true;
	}
	struct stat status;
	if (stat(from, &status) < 0) {
		return ws_err_sys(err, WS_ERR_IO, "cannot link '%s'", from);
	}
	return ws_fs_copy(from, to, status.st_mode & 07777, err);
}

int
ws_fs_part_open(const char *path, char **part, struct ws_arena *a, struct ws_err *err)
{
	struct stat status;
	/* A rename would take /dev/null away. */
	if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
		ws_err_set(err, WS_ERR_IO, "'%s' exists and is not a file", path);
		return -1;
	}
	const char *name =
		ws_arena_printf(a, ".%s" PART "%d.XXXXXX", ws_path_base(path), (int)getpid());
	*part = ws_path_join(a, ws_path_dir(a, path), name, NULL);
	int fd = mkostemp(*part, O_CLOEXEC);
	if (fd < 0) {
		ws_err_sys(err, WS_ERR_IO, "cannot create '%s'", path);
	}
	return fd;
}

bool
ws_fs_part_land(
	int fd, const char *part, const char *path, mode_t mode, bool written, struct ws_err *err)
{
	if (written && fchmod(fd, mode) == 0 && fsync(fd) == 0 && rename(part, path) == 0) {
		return true;
	}
	ws_err_sys(err, WS_ERR_IO, "cannot write '%s'", path);
	unlink(part);
	return false;
}

bool
ws_fs_write_atomic(const char *path, const void *bytes, size_t len, mode_t mode, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	char *part;
	WS_AUTO_FD int fd = ws_fs_part_open(path, &part, a, err);
	return fd >= 0 && ws_fs_part_land(fd, part, path, mode, ws_fs_write_all(fd, bytes, len), err);
}

bool
ws_fs_copy_atomic(
	const char *from, const char *to, mode_t mode, const char *sha256, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	char *part;
	WS_AUTO_FD int in = ws_fs_open_regular(from, 0, NULL, err);
	if (in < 0) {
		return false;
	}
	WS_AUTO_FD int out = ws_fs_part_open(to, &part, a, err);
	if (out < 0) {
		return false;
	}
	struct ws_hasher *h = sha256 ? ws_hasher_make() : NULL;
	bool copied = copy_contents(in, out, h);
	struct ws_digest digest = {""};
	if (h) {
		digest = ws_hasher_finish(h);
	}
	if (copied && sha256 && !ws_digest_is(&digest, sha256)) {
		unlink(part);
		ws_err_set(err, WS_ERR_IO, "'%s' is damaged: its sha256 is %s", from, digest.hex);
		return ws_err_cure(err, "run it again: what is damaged in the store is made again");
	}
	return ws_fs_part_land(out, part, to, mode, copied, err);
}

void
ws_fs_remove_parts(const char *folder)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	WS_AUTO_DIR DIR *dir = opendir(folder);
	const struct dirent *entry;
	while (dir && (entry = readdir(dir))) {
		const char *path = ws_path_join(a, folder, entry->d_name, NULL);
		const char *part = entry->d_name[0] == '.' ? strstr(entry->d_name, PART) : NULL;
		long pid = part ? strtol(part + strlen(PART), NULL, 10) : 0;
		struct stat status;
		/* Process numbers of other containers and hosts mean nothing here. So the file must be old
		 * as well: writing one takes seconds. */
		if (pid > 0 && kill((pid_t)pid, 0) < 0 && errno == ESRCH && lstat(path, &status) == 0
			&& status.st_mtime + PART_AGE_S < time(NULL)) {
			unlink(path);
		}
	}
}
