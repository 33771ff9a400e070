/* member_sink.c - three ways for a file: added to the tree, compared with what is there, or written
 * beside it. */
#include "base/fs.h"
#include "wheelfile/opened_wheel.h"

#include <errno.h>
#include <fcntl.h>

struct ws_member_sink
ws_member_sink_make(struct ws_tree_builder *tree, const char *archive, struct ws_stop *stop)
{
	return (struct ws_member_sink){.tree = tree, .archive = archive, .stop = stop, .fd = -1};
}

bool
ws_member_sink_open(struct ws_member_sink *l, const char *path, struct ws_err *err)
{
	l->is_beside = false;
	if (ws_tree_added(l->tree, path)) {
		l->hasher = ws_hasher_make();
	} else if (!ws_tree_open_file(l->tree, path, false, err)) {
		return ws_err_wrap(err, "taking files out of '%s'", l->archive);
	}
	l->path = path;
	return true;
}

bool
ws_member_sink_open_beside(struct ws_member_sink *l, const char *path, struct ws_err *err)
{
	l->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (l->fd < 0) {
		return ws_err_sys(err, WS_ERR_IO, "cannot create '%s'", path);
	}
	l->is_beside = true;
	l->hasher = ws_hasher_make();
	l->path = path;
	return true;
}

bool
ws_member_sink_add(struct ws_member_sink *l, const void *bytes, size_t len, struct ws_err *err)
{
	if (ws_stop_asked(l->stop)) {
		return ws_stop_err(l->stop, err);
	}
	if (!l->hasher) {
		return ws_tree_write(l->tree, bytes, len, err);
	}
	ws_hasher_add(l->hasher, bytes, len);
	return !l->is_beside || ws_fs_write_all(l->fd, bytes, len)
		|| ws_err_sys(err, WS_ERR_IO, "cannot write '%s'", l->path);
}

static bool
compare(const struct ws_member_sink *l, const struct ws_digest *digest, struct ws_err *err)
{
	const struct ws_tree_entry *there = ws_tree_added(l->tree, l->path);
	return (there->kind != WS_TREE_LINK && ws_digest_is(digest, there->value))
		|| ws_err_set(err, WS_ERR_FETCH,
			"'%s' holds another '%s' than an archive of the kit before it", l->archive, l->path);
}

bool
ws_member_sink_close(struct ws_member_sink *l, struct ws_digest *digest, struct ws_err *err)
{
	bool fine = true;
	if (!l->hasher) {
		fine = ws_tree_close_file(l->tree, digest, err);
		l->path = NULL;
		return fine;
	}
	*digest = ws_hasher_finish(l->hasher);
	l->hasher = NULL;
	if (l->is_beside && close(ws_take_fd(&l->fd)) < 0) {
		fine = ws_err_sys(err, WS_ERR_IO, "cannot write '%s'", l->path);
	} else if (!l->is_beside) {
		fine = compare(l, digest, err);
	}
	l->path = NULL;
	return fine;
}

void
ws_member_sink_drop(struct ws_member_sink *l)
{
	ws_hasher_drop(l->hasher);
	l->hasher = NULL;
	if (l->fd >= 0) {
		close(ws_take_fd(&l->fd));
	}
	l->path = NULL;
}
