/* opened_wheel.c - opening, and extracting members with the digest of RECORD. archive/ reads
 * zips, net/ requests ranges. */
#include "wheelfile/opened_wheel.h"

#include "base/fs.h"
#include "net/download.h"
#include "wheel/record_file.h"

#include <errno.h>
#include <fcntl.h>

/* ---- where members go ---- */

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

/* A file at @path, which goes into no tree. */
static bool
open_beside(struct ws_member_sink *l, const char *path, struct ws_err *err)
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
		const struct ws_tree_entry *there = ws_tree_added(l->tree, l->path);
		fine = (there->kind != WS_TREE_LINK && ws_digest_is(digest, there->value))
			|| ws_err_set(err, WS_ERR_FETCH,
				"'%s' holds another '%s' than an archive of the kit before it", l->archive,
				l->path);
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

/* ---- the wheel ---- */

#define LARGEST_RECORD ((size_t)32 << 20) /* torch 2.15.0 has 1.3 MB */
#define GAP_BYTES ((uint64_t)256 << 10)   /* one request more takes longer than these bytes */

static bool
open_zip(struct ws_opened_wheel *w, struct ws_byte_source *source, struct ws_arena *a,
	struct ws_err *err)
{
	if (!ws_zip_open(source, NULL, a, &w->zip, err)) {
		return false;
	}
	const struct ws_zip_entry *record = NULL;
	for (size_t i = 0; i < w->zip.count && !record; i++) {
		const char *name = w->zip.entries[i].name, *slash = strchr(name, '/');
		if (ws_ends_with(name, ".dist-info/RECORD") && ws_same(slash, "/RECORD")) {
			record = &w->zip.entries[i];
		}
	}
	if (!record) {
		return ws_err_set(err, WS_ERR_FETCH, "'%s' has no RECORD; is it a wheel?", w->name);
	}
	if (!ws_zip_load(&w->zip, record, LARGEST_RECORD, &w->record, err)) {
		return false;
	}
	w->record_sha256 = ws_digest_bytes(ws_buf_text(&w->record), w->record.len);
	return true;
}

static bool
open_file(const char *path, struct ws_arena *a, struct ws_opened_wheel *w, struct ws_err *err)
{
	if (!ws_file_source_open(path, &w->file, err)) {
		return false;
	}
	w->file.source.name = w->name;
	return open_zip(w, &w->file.source, a, err);
}

bool
ws_opened_wheel_read(const char *path, const char *name, struct ws_arena *a,
	struct ws_opened_wheel *w, struct ws_err *err)
{
	*w = (struct ws_opened_wheel){.name = name, .file.fd = -1};
	if (!open_file(path, a, w, err)) {
		ws_opened_wheel_close(w);
		return false;
	}
	return true;
}

/* Another process may continue the part file, one at a time. The complete file belongs to this
 * process, which removes it when it closes the wheel. */
static bool
open_whole(const struct ws_fetch *fetch, const struct ws_index_file *file, struct ws_arena *a,
	struct ws_opened_wheel *w, struct ws_err *err)
{
	const char *much =
		file->size_bytes ? ws_arena_printf(a, " (%.1f MB)", (double)file->size_bytes / 1e6) : "";
	ws_events_warn(fetch->events,
		"the server of '%s' does not support range requests: the whole file is downloaded%s",
		file->name, much);
	struct ws_digest url = ws_digest_bytes(file->url, strlen(file->url));
	const char *partial = ws_store_path(fetch->store, a, "partial");
	if (!ws_scratch_make(
			ws_store_path(fetch->store, a, "partial"), "wheel-", a, &w->scratch, err)) {
		return false;
	}
	const char *path = ws_path_join(a, w->scratch.path, "whole.whl", NULL);
	struct ws_download download = {
		.url = file->url,
		.path = path,
		.partial = ws_arena_printf(
			a, "%s/wheel-%.16s.part", partial, file->sha256[0] ? file->sha256 : url.hex),
		.sha256 = file->sha256,
		.size_bytes = file->size_bytes,
	};
	if (!ws_download_all(fetch->http, &download, 1, err)) {
		return false;
	}
	w->scratch_bytes = download.wire_bytes;
	return open_file(path, a, w, err);
}

bool
ws_opened_wheel_get(const struct ws_fetch *fetch, const struct ws_index_file *file,
	uint64_t tail_bytes, struct ws_arena *a, struct ws_opened_wheel *w, struct ws_err *err)
{
	*w = (struct ws_opened_wheel){.name = file->name, .file.fd = -1};
	bool fine = false;
	switch (ws_range_source_open(fetch->http, file->url, tail_bytes, a, &w->remote, err)) {
	case WS_RANGES_OPEN:
		w->is_remote = true;
		fine = open_zip(w, &w->remote.source, a, err);
		break;
	case WS_RANGES_NO_RANGES:
		fine = open_whole(fetch, file, a, w, err);
		break;
	case WS_RANGES_FAILED:
		break;
	}
	if (!fine) {
		ws_opened_wheel_close(w);
	}
	return fine;
}

void
ws_opened_wheel_close(struct ws_opened_wheel *w)
{
	if (w->is_remote) {
		ws_range_source_close(&w->remote);
		w->is_remote = false;
	}
	ws_file_source_close(&w->file);
	ws_buf_release(&w->record);
	ws_scratch_drop(&w->scratch);
}

/* ---- digests of RECORD ---- */

struct lookup {
	struct ws_map places; /* name -> where in digests */
	struct ws_arena *a;
};

static bool
note_digest(void *self, const struct ws_record_entry *entry, struct ws_err *err WS_UNUSED)
{
	struct lookup *lookup = self;
	struct ws_arena_mark mark = ws_arena_mark(lookup->a);
	struct ws_digest *place = ws_map_get(&lookup->places, ws_str_copy(entry->path, lookup->a));
	ws_arena_rewind(lookup->a, mark);
	if (place) {
		*place = entry->digest;
	}
	return true;
}

/* ---- members on their way ---- */

struct taking {
	struct ws_zip_sink sink; /* first */
	const struct ws_opened_wheel *wheel;
	const struct ws_pick *pick;     /* the one that comes next */
	const struct ws_digest *digest; /* of that */
	struct ws_member_sink *file;
};

static bool
begin(struct ws_zip_sink *self, const struct ws_zip_entry *entry WS_UNUSED, struct ws_err *err)
{
	struct taking *t = (struct taking *)self;
	const char *path = t->pick->path;
	return path[0] == '/' ? open_beside(t->file, path, err)
						  : ws_member_sink_open(t->file, path, err);
}

static bool
add(struct ws_zip_sink *self, const void *bytes, size_t len, struct ws_err *err)
{
	return ws_member_sink_add(((struct taking *)self)->file, bytes, len, err);
}

static bool
end(struct ws_zip_sink *self, struct ws_err *err)
{
	struct taking *t = (struct taking *)self;
	struct ws_digest digest;
	if (!ws_member_sink_close(t->file, &digest, err)) {
		return false;
	}
	if (!ws_digest_eq(&digest, t->digest)) {
		ws_err_set(err, WS_ERR_FETCH, "'%s' in '%s' does not match its RECORD: sha256 %s, not %s",
			t->pick->entry->name, t->wheel->name, digest.hex, t->digest->hex);
		return ws_err_cure(err, "the wheel on that server was tampered with or damaged");
	}
	t->pick++;
	t->digest++;
	return true;
}

static int
cmp_place(const void *x, const void *y)
{
	const struct ws_pick *left = x;
	const struct ws_pick *right = y;
	return left->entry < right->entry ? -1 : left->entry > right->entry;
}

bool
ws_opened_wheel_take(struct ws_opened_wheel *w, struct ws_pick *picks, size_t count,
	struct ws_member_sink *sink, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	if (count > 0) {
		qsort(picks, count, sizeof(*picks), cmp_place);
	}
	struct ws_digest *digests = WS_NEW_N(a, struct ws_digest, count);
	const struct ws_zip_entry **entries = WS_NEW_N(a, const struct ws_zip_entry *, count);
	struct lookup lookup = {.a = a};
	for (size_t i = 0; i < count; i++) {
		entries[i] = picks[i].entry;
		ws_map_put(&lookup.places, entries[i]->name, &digests[i], a);
	}
	if (!ws_record_read(ws_buf_str(&w->record), false, a, note_digest, &lookup, err)) {
		return ws_err_wrap(err, "'%s'", w->name);
	}
	for (size_t i = 0; i < count; i++) {
		if (!digests[i].hex[0]) {
			return ws_err_set(err, WS_ERR_FETCH, "RECORD of '%s' gives no digest of '%s'", w->name,
				entries[i]->name);
		}
	}
	struct taking t = {{begin, add, end}, w, picks, digests, sink};
	if (!ws_zip_read(&w->zip, entries, count, GAP_BYTES, &t.sink, err)) {
		ws_member_sink_drop(sink);
		return false;
	}
	return true;
}
