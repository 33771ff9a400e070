/* cas.c - cas/aa/<sha256>. A file is synced before the rename that makes it visible, so a file
 * that is there is whole; reading does not hash it again. */
#include "store/cas.h"

#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static char *
path_of(const struct ws_store *store, const char *digest, struct ws_arena *a)
{
	return ws_arena_printf(a, "%s/cas/%.2s/%s", store->path, digest, digest);
}

bool
ws_cas_has(const struct ws_store *store, const char *digest)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	return ws_fs_exists(path_of(store, digest, a));
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
	const char *place = path_of(store, digest, a);
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
	const char *place = path_of(store, digest->hex, a);
	return ws_fs_exists(place)
		|| (ws_fs_mkdirs(ws_path_dir(a, place), err)
			&& ws_fs_write_atomic(place, bytes, len, 0444, err));
}

bool
ws_cas_read(const struct ws_store *store, const char *digest, struct ws_buf *b, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	return ws_fs_read(path_of(store, digest, a), b, err);
}

bool
ws_cas_begin(const struct ws_store *store, const char *digest, struct ws_arena *a,
	struct ws_cas_incoming *incoming, struct ws_err *err)
{
	*incoming = (struct ws_cas_incoming){
		.digest = ws_arena_strdup(a, digest),
		.partial = ws_arena_printf(a, "%s/partial/%s.part", store->path, digest),
		.path = path_of(store, digest, a),
	};
	return ws_fs_mkdirs(ws_path_dir(a, incoming->path), err);
}

bool
ws_cas_commit(const struct ws_store *store WS_UNUSED, const struct ws_cas_incoming *incoming,
	struct ws_err *err)
{
	return chmod(incoming->path, 0444) == 0
		|| ws_err_sys(err, WS_ERR_IO, "cannot protect '%s'", incoming->path);
}

const char *
ws_cas_open(
	const struct ws_store *store, const char *digest, struct ws_arena *a, struct ws_err *err)
{
	const char *path = path_of(store, digest, a);
	if (!ws_fs_exists(path)) {
		ws_err_set(err, WS_ERR_IO, "'%s' is missing", path);
		return NULL;
	}
	return path;
}

bool
ws_cas_copy_to(const struct ws_store *store, const char *digest, const char *to, mode_t mode,
	struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	return ws_fs_copy_atomic(path_of(store, digest, a), to, mode, err);
}

bool
ws_cas_link_into(const struct ws_store *store, const char *digest, const char *to, bool executable,
	struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const char *path = path_of(store, digest, a);
	return executable ? ws_fs_copy(path, to, 0755, err) : ws_fs_link(path, to, err);
}
