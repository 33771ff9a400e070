/* shared.c - the results of a store into a tar archive, and back. */
#include "bundle/shared.h"

#include "archive/tar.h"
#include "archive/unpack.h"
#include "base/fs.h"
#include "base/text.h"
#include "engine/action_cache.h"
#include "store/cas.h"
#include "store/results.h"
#include "store/store.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define MARK "cache/1"
#define RESULT_MOST ((size_t)4 << 20)

/* ---- writing ---- */

static bool
add_item(const struct ws_store *store, struct ws_tar *tar, const struct ws_store_item *item,
	struct ws_shared_count *count, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	WS_AUTO_BUF struct ws_buf text = {0};
	if (item->room == WS_ROOM_RESULTS) {
		count->results++;
		return ws_results_export(store, item->name, &text, err)
			&& ws_tar_add(tar, ws_arena_printf(a, "results/%s", item->name), ws_buf_text(&text),
				text.len, err);
	}
	count->files++;
	const char *path = ws_cas_open(store, item->name, a, err);
	return path
		&& ws_tar_add_file(
			tar, ws_arena_printf(a, "blobs/%s", item->name), path, false, item->name, err);
}

static bool
write_members(const struct ws_store *store, const struct ws_inventory *inventory,
	struct ws_tar *tar, struct ws_stop *stop, struct ws_shared_count *count, struct ws_err *err)
{
	/* A result comes after the files that it names. */
	static const enum ws_room order[] = {WS_ROOM_FILES, WS_ROOM_RESULTS};
	bool done = ws_tar_add(tar, MARK, "", 0, err);
	for (size_t k = 0; k < WS_LEN(order); k++) {
		for (size_t i = 0; i < inventory->items.len && done; i++) {
			const struct ws_store_item *item = &inventory->items.at[i];
			if (item->room != order[k] || (item->room == WS_ROOM_FILES && !item->named)) {
				continue;
			}
			count->bytes += item->bytes;
			done = ws_stop_asked(stop) ? ws_stop_err(stop, err)
									   : add_item(store, tar, item, count, err);
		}
	}
	return done;
}

bool
ws_shared_export(const struct ws_store *store, const struct ws_inventory *inventory,
	const char *path, struct ws_stop *stop, struct ws_shared_count *count, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	char *part;
	*count = (struct ws_shared_count){0};
	WS_AUTO_FD int fd = ws_fs_part_open(path, &part, a, err);
	if (fd < 0) {
		return false;
	}
	struct ws_tar *tar = ws_tar_begin(fd, path, a, err);
	bool written =
		tar && write_members(store, inventory, tar, stop, count, err) && ws_tar_finish(tar, err);
	ws_tar_drop(tar);
	if (!written) {
		ws_fs_remove(part, NULL);
		return false;
	}
	return ws_fs_part_land(fd, part, path, 0644, true, err);
}

/* ---- reading ---- */

struct reading {
	struct ws_unpack_sink sink;
	const struct ws_store *store;
	const char *path; /* of the file, for messages */
	const char *blob; /* where a file grows */
	struct ws_stop *stop;
	struct ws_shared_count *count;
	bool is_marked;
	char name[65];       /* digest or key of the member that is open; "": of the mark */
	int fd;              /* of a file; -1: the member is a text */
	struct ws_buf bytes; /* of a text */
};

static bool
refuse(const struct reading *r, const char *what, struct ws_err *err)
{
	return ws_err_set(err, WS_ERR_FETCH, "'%s' %s", r->path, what);
}

static bool
begin(struct ws_unpack_sink *self, const struct ws_member *member, struct ws_err *err)
{
	struct reading *r = (struct reading *)self;
	struct ws_digest digest;
	struct ws_str name = ws_str_of(member->name), kind = ws_str_cut(&name, '/');
	if (ws_stop_asked(r->stop)) {
		return ws_stop_err(r->stop, err);
	}
	ws_buf_clear(&r->bytes);
	if (!r->is_marked) {
		r->is_marked = strcmp(member->name, MARK) == 0;
		return r->is_marked || refuse(r, "is not what `cache export` writes", err);
	}
	bool blob = ws_str_is(kind, "blobs");
	if (member->kind != WS_MEMBER_FILE || (!blob && !ws_str_is(kind, "results")) || name.n != 64
		|| !ws_digest_parse(name.s, &digest) || !ws_digest_is(&digest, name.s)) {
		return refuse(r, "is not what `cache export` writes", err);
	}
	memcpy(r->name, digest.hex, sizeof(r->name));
	if (blob) {
		r->fd = open(r->blob, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
		return r->fd >= 0 || ws_err_sys(err, WS_ERR_IO, "cannot create '%s'", r->blob);
	}
	return true;
}

static bool
add_bytes(struct ws_unpack_sink *self, const void *bytes, size_t len, struct ws_err *err)
{
	struct reading *r = (struct reading *)self;
	r->count->bytes += len;
	if (r->fd >= 0) {
		return ws_fs_write_all(r->fd, bytes, len)
			|| ws_err_sys(err, WS_ERR_IO, "cannot write '%s'", r->blob);
	}
	if (r->bytes.len + len > RESULT_MOST) {
		return refuse(r, "has a result that is too long", err);
	}
	ws_buf_add(&r->bytes, bytes, len);
	return true;
}

static bool
end(struct ws_unpack_sink *self, struct ws_err *err)
{
	struct reading *r = (struct reading *)self;
	struct ws_digest digest;
	if (!r->name[0]) {
		return true;
	}
	if (r->fd < 0) {
		r->count->results++;
		return ws_results_is_whole(r->name, &r->bytes)
			? ws_cache_import(r->store, r->name, &r->bytes, err)
			: refuse(r, "was changed or is cut", err);
	}
	r->count->files++;
	if (close(ws_take_fd(&r->fd)) < 0 || !ws_digest_file(r->blob, &digest, NULL, err)) {
		return ws_err_sys(err, WS_ERR_IO, "cannot write '%s'", r->blob);
	}
	return ws_digest_is(&digest, r->name) ? ws_cas_take(r->store, r->blob, &digest, NULL, err)
										  : refuse(r, "was changed or is cut", err);
}

bool
ws_shared_import(const struct ws_store *store, const char *path, struct ws_stop *stop,
	struct ws_arena *a, struct ws_shared_count *count, struct ws_err *err)
{
	static const struct ws_member_limits limits = {
		.members = 4000000, .total_bytes = (uint64_t)1 << 40, .ratio = 1000};
	WS_AUTO_SCRATCH struct ws_scratch scratch = {.fd = -1};
	struct reading r = {
		.sink = {NULL, begin, add_bytes, end},
		.store = store,
		.path = path,
		.stop = stop,
		.count = count,
		.fd = -1,
	};
	*count = (struct ws_shared_count){0};
	if (!ws_scratch_make(ws_store_path(store, a, "partial"), "shared-", a, &scratch, err)) {
		return false;
	}
	r.blob = ws_path_join(a, scratch.path, "blob", NULL);
	bool read = ws_unpack(path, path, WS_UNPACK_TAR, &limits, &r.sink, err)
		&& (r.is_marked || refuse(&r, "is not what `cache export` writes", err));
	if (r.fd >= 0) {
		close(r.fd);
	}
	ws_buf_release(&r.bytes);
	return read;
}
