/* results.c - one file per key, at most 4 MiB; the first line is "wheelsmith.known/1 <sha256 of
 * the key and the other lines>". */
#include "store/results.h"

#include "base/fs.h"
#include "store/cas.h"
#include "sys/clock.h"

#include <fcntl.h>
#include <inttypes.h>

#define HOUR_S ((int64_t)3600)
#define LONGEST ((size_t)4 << 20)
#define HEADER "wheelsmith.known/1"

static char *
path_of(const struct ws_store *store, const char *key, struct ws_arena *a)
{
	return ws_arena_printf(a, "%s/ac/%.2s/%s", store->path, key, key);
}

/* Covers the key, so that a text in another's place is found like a torn one. */
static struct ws_digest
sum_of(const char *key, struct ws_str text)
{
	struct ws_hasher *h = ws_hasher_make();
	ws_hasher_add_field(h, key);
	ws_hasher_add(h, text.s, text.n);
	return ws_hasher_finish(h);
}

bool
ws_results_is_whole(const char *key, size_t start, struct ws_buf *b)
{
	struct ws_str body = {ws_buf_text(b) + start, b->len - start};
	struct ws_str line = ws_str_cut(&body, '\n');
	struct ws_digest sum = sum_of(key, body);
	if (!ws_str_is(ws_str_cut(&line, ' '), HEADER) || !ws_str_is(line, sum.hex)) {
		return false;
	}
	b->len = start + body.n;
	memmove(b->data + start, body.s, body.n + 1);
	return true;
}

bool
ws_results_get(const struct ws_store *store, const char *key, struct ws_buf *b)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const char *path = path_of(store, key, a);
	size_t start = b->len;
	struct stat status;
	struct ws_err err = {0};
	if (!ws_store_stat(store, path, &status)) {
		return false;
	}
	if (S_ISREG(status.st_mode) && ws_fs_read_at_most(path, LONGEST, b, &err)
		&& ws_results_is_whole(key, start, b)) {
		/* The mtime has no other use; once an hour is precise enough. */
		if (status.st_mtime + HOUR_S < ws_clock_wall_s()) {
			utimensat(AT_FDCWD, path, NULL, 0);
		}
		return true;
	}
	ws_buf_cut(b, start);
	ws_store_reject(store, path, &err);
	return false;
}

static void
write_whole(const char *key, struct ws_str body, struct ws_buf *whole)
{
	ws_buf_printf(whole, HEADER " %s\n", sum_of(key, body).hex);
	ws_buf_add(whole, body.s, body.n);
}

bool
ws_results_export(
	const struct ws_store *store, const char *key, struct ws_buf *whole, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	if (!ws_results_get(store, key, &text)) {
		return ws_err_set(err, WS_ERR_IO, "'%s' is missing in the store", key);
	}
	write_whole(key, ws_buf_str(&text), whole);
	return true;
}

bool
ws_results_put(
	const struct ws_store *store, const char *key, const struct ws_buf *text, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	WS_AUTO_BUF struct ws_buf whole = {0};
	const char *path = path_of(store, key, a);
	struct ws_str body = ws_buf_str(text);
	if (store->lock_fd < 0) {
		return true; /* no store: ws_store_look */
	}
	write_whole(key, body, &whole);
	return ws_store_may_make(store, err) && ws_fs_mkdirs(ws_path_dir(a, path), err)
		&& ws_fs_write_atomic(path, whole.data, whole.len, 0644, err);
}

/* ---- cells: "wheelsmith.cell/2 <sha256> <seconds> <bytes> <bytes installed> <file>" ---- */

#define SCHEMA "wheelsmith.cell/2"

struct ws_digest
ws_cells_last_key(const char *name)
{
	struct ws_hasher *h = ws_hasher_make();
	ws_hasher_add_field(h, "the last wheel of a cell");
	ws_hasher_add_field(h, name);
	return ws_hasher_finish(h);
}

bool
ws_cells_get(const struct ws_store *store, const char *key, struct ws_arena *a,
	struct ws_cell_record *record)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	if (!ws_results_get(store, key, &text)) {
		return false;
	}
	struct ws_str rest = ws_str_trim(ws_buf_str(&text));
	uint64_t seconds;
	if (!ws_str_is(ws_str_cut(&rest, ' '), SCHEMA)
		|| !ws_digest_parse(ws_str_copy(ws_str_cut(&rest, ' '), a), &record->digest)
		|| !ws_str_to_u64(ws_str_cut(&rest, ' '), &seconds)
		|| !ws_str_to_u64(ws_str_cut(&rest, ' '), &record->wheel_bytes)
		|| !ws_str_to_u64(ws_str_cut(&rest, ' '), &record->installed_bytes) || rest.n == 0) {
		return false;
	}
	record->built_s = (int64_t)seconds;
	record->file = ws_str_copy(rest, a);
	return ws_cas_has(store, record->digest.hex);
}

bool
ws_cells_put(const struct ws_store *store, const char *key, const struct ws_cell_record *record,
	struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	ws_buf_printf(&text, SCHEMA " %s %" PRId64 " %" PRIu64 " %" PRIu64 " %s\n", record->digest.hex,
		record->built_s, record->wheel_bytes, record->installed_bytes, record->file);
	return ws_results_put(store, key, &text, err);
}
