/* cas.c - cas/aa/<sha256>. A file is synced before the rename that makes it visible, so a file
 * that is there is whole; reading does not hash it again. */
#include "store/cas.h"

#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

char *
ws_cas_path(const struct ws_store *store, const char *digest, struct ws_arena *a)
{
	return ws_arena_printf(a, "%s/cas/%.2s/%s", store->path, digest, digest);
}

bool
ws_cas_has(const struct ws_store *store, const char *digest)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	return ws_fs_exists(ws_cas_path(store, digest, a));
}

static bool
sync_file(const char *path, struct ws_err *err)
{
	WS_AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fsync(fd) < 0) {
		return ws_err_sys(err, WS_ERR_IO, "cannot sync '%s'", path);
	}
	return true;
}

/* Moves @a path, whose digest is known, to its place. */
static bool
move_in(const struct ws_store *store, const char *path, const char *digest, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const char *place = ws_cas_path(store, digest, a);
	if (ws_fs_exists(place)) {
		return ws_fs_remove(path, err);
	}
	if (chmod(path, 0444) < 0) {
		return ws_err_sys(err, WS_ERR_IO, "cannot protect '%s'", path);
	}
	if (!ws_fs_mkdirs(ws_path_dir(a, place), err) || !sync_file(path, err)) {
		return false;
	}
	if (rename(path, place) == 0) {
		return true;
	}
	if (errno != EXDEV) {
		return ws_err_sys(err, WS_ERR_IO, "cannot store '%s'", path);
	}
	return ws_fs_copy_atomic(path, place, 0444, err) && ws_fs_remove(path, err);
}

bool
ws_cas_take(const struct ws_store *store, const char *path, struct ws_digest *digest,
	uint64_t *size, struct ws_err *err)
{
	return ws_digest_file(path, digest, size, err) && move_in(store, path, digest->hex, err);
}

bool
ws_cas_put(const struct ws_store *store, const void *bytes, size_t len, struct ws_digest *digest,
	struct ws_err *err)
{
	*digest = ws_digest_bytes(bytes, len);
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const char *place = ws_cas_path(store, digest->hex, a);
	return ws_fs_exists(place)
		|| (ws_fs_mkdirs(ws_path_dir(a, place), err)
			&& ws_fs_write_atomic(place, bytes, len, 0444, err));
}

bool
ws_cas_read(const struct ws_store *store, const char *digest, struct ws_buf *b, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	return ws_fs_read(ws_cas_path(store, digest, a), b, err);
}

bool
ws_cas_link(const struct ws_store *store, const char *digest, const char *to, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	return ws_fs_link(ws_cas_path(store, digest, a), to, err);
}
