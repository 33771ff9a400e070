/* partial.c - one descriptor, one hasher, one note. */
#include "net/partial.h"

#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>

/* Ours, and still the file of that name: whoever had it before may have renamed it away. */
static bool
is_current(int fd, const char *path)
{
	struct stat held, named;
	return fstat(fd, &held) == 0 && lstat(path, &named) == 0 && held.st_ino == named.st_ino
		&& held.st_dev == named.st_dev;
}

static enum ws_partial_result
open_locked(struct ws_partial *p, struct ws_err *err)
{
	for (;;) {
		WS_AUTO_FD int fd =
			open(p->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644);
		if (fd < 0) {
			ws_err_sys(err, WS_ERR_IO, "cannot open '%s'", p->path);
			return WS_PARTIAL_FAILED;
		}
		if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
			if (errno == EWOULDBLOCK) {
				return WS_PARTIAL_BUSY;
			}
			ws_err_sys(err, WS_ERR_IO, "cannot lock '%s'", p->path);
			return WS_PARTIAL_FAILED;
		}
		if (is_current(fd, p->path)) {
			p->fd = ws_take_fd(&fd);
			return WS_PARTIAL_OPEN;
		}
	}
}

static bool
hash_what_is_there(struct ws_partial *p, struct ws_err *err)
{
	char chunk[65536];
	ssize_t got;
	while ((got = read(p->fd, chunk, sizeof(chunk))) > 0) {
		ws_hasher_add(p->hasher, chunk, (size_t)got);
		p->len += (uint64_t)got;
	}
	return got == 0 || ws_err_sys(err, WS_ERR_IO, "cannot read '%s'", p->path);
}

/* The note is worth no error: without it the bytes are only harder to trust. */
static void
read_note(struct ws_partial *p)
{
	WS_AUTO_BUF struct ws_buf note = {0};
	if (ws_fs_read_at_most(p->about, sizeof(p->validator) - 1, &note, NULL)) {
		snprintf(p->validator, sizeof(p->validator), "%.*s",
			(int)strcspn(ws_buf_text(&note), "\r\n"), ws_buf_text(&note));
	}
}

enum ws_partial_result
ws_partial_open(struct ws_partial *p, const char *path, struct ws_arena *a, struct ws_err *err)
{
	*p = (struct ws_partial){.path = path, .fd = -1};
	p->about = ws_arena_printf(a, "%s.about", path);
	enum ws_partial_result result = open_locked(p, err);
	if (result != WS_PARTIAL_OPEN) {
		return result;
	}
	p->hasher = ws_hasher_make();
	if (!hash_what_is_there(p, err)) {
		ws_partial_close(p);
		return WS_PARTIAL_FAILED;
	}
	if (p->len > 0) {
		read_note(p);
	}
	return WS_PARTIAL_OPEN;
}

bool
ws_partial_restart(struct ws_partial *p, const char *validator, struct ws_err *err)
{
	ws_hasher_drop(p->hasher);
	p->hasher = ws_hasher_make();
	p->len = 0;
	if (ftruncate(p->fd, 0) < 0 || lseek(p->fd, 0, SEEK_SET) < 0) {
		return ws_err_sys(err, WS_ERR_IO, "cannot empty '%s'", p->path);
	}
	snprintf(p->validator, sizeof(p->validator), "%s", validator);
	if (validator[0]) {
		return ws_fs_write(p->about, validator, strlen(validator), 0644, err);
	}
	return ws_fs_remove(p->about, err);
}

bool
ws_partial_add(struct ws_partial *p, const void *bytes, size_t len, struct ws_err *err)
{
	const char *next = bytes;
	for (size_t left = len; left > 0;) {
		ssize_t put = write(p->fd, next, left);
		if (put < 0 && errno == EINTR) {
			continue;
		}
		if (put < 0) {
			return ws_err_sys(err, WS_ERR_IO, "cannot write '%s'", p->path);
		}
		/* Step by step: what a full disk still took must be hashed too. */
		ws_hasher_add(p->hasher, next, (size_t)put);
		p->len += (uint64_t)put;
		next += put;
		left -= (size_t)put;
	}
	return true;
}

struct ws_digest
ws_partial_digest(struct ws_partial *p)
{
	struct ws_digest digest = ws_hasher_finish(p->hasher);
	p->hasher = NULL;
	return digest;
}

bool
ws_partial_land(struct ws_partial *p, const char *path, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	if (fsync(p->fd) < 0 || rename(p->path, path) < 0) {
		return ws_err_sys(err, WS_ERR_IO, "cannot write '%s'", path);
	}
	ws_fs_remove(p->about, NULL);
	ws_partial_close(p);
	return ws_fs_sync_dir(ws_path_dir(a, path), err);
}

void
ws_partial_close(struct ws_partial *p)
{
	ws_hasher_drop(p->hasher);
	p->hasher = NULL;
	if (p->fd >= 0) {
		close(ws_take_fd(&p->fd));
	}
}

void
ws_partial_drop(struct ws_partial *p)
{
	if (p->fd >= 0) {
		ws_fs_remove(p->path, NULL);
		ws_fs_remove(p->about, NULL);
	}
	ws_partial_close(p);
}
