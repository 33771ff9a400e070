/* download_world.c - see download_world.h. */
#include "download_world.h"

#include "test.h"

#include "base/fs.h"

struct ws_downloads
ws_downloads_begin(struct ws_arena *a)
{
	struct ws_downloads w = {.s = ws_served_start(a), .a = a};
	w.http = ws_served_http(NULL);
	w.bytes = ws_served_put(&w.s, "x.whl", WS_DOWNLOADS_SIZE);
	w.digest = ws_digest_bytes(w.bytes, WS_DOWNLOADS_SIZE);
	const char *dir = ws_test_dir(a);
	w.path = ws_path_join(a, dir, "x.whl", NULL);
	w.partial = ws_path_join(a, dir, "partial", NULL);
	return w;
}

void
ws_downloads_end(struct ws_downloads *w)
{
	ws_http_close(w->http);
}

struct ws_download
ws_downloads_file(const struct ws_downloads *w, const char *faults)
{
	return (struct ws_download){
		.url = ws_served_url(&w->s, ws_arena_printf(w->a, "/%s/x.whl", faults)),
		.path = w->path,
		.partial = w->partial,
		.sha256 = w->digest.hex,
		.size_bytes = WS_DOWNLOADS_SIZE,
	};
}

void
ws_downloads_assert_landed(const struct ws_downloads *w, struct ws_download *file)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_err err;
	assert_ok(ws_fs_read(w->path, &text, &err), err);
	assert_int_equal(text.len, WS_DOWNLOADS_SIZE);
	assert_memory_equal(text.data, w->bytes, WS_DOWNLOADS_SIZE);
	assert_int_equal(file->got_bytes, WS_DOWNLOADS_SIZE);
	assert_string_equal(file->digest.hex, w->digest.hex);
	assert_false(ws_fs_exists(w->partial));
	assert_false(ws_fs_exists(ws_arena_printf(w->a, "%s.about", w->partial)));
}

void
ws_downloads_assert(const struct ws_downloads *w, const char *faults)
{
	struct ws_download file = ws_downloads_file(w, faults);
	struct ws_err err;
	ws_fs_remove(w->path, NULL);
	assert_ok(ws_download_all(w->http, &file, 1, &err), err);
	ws_downloads_assert_landed(w, &file);
}

void
ws_downloads_leave(const struct ws_downloads *w, const char *bytes, size_t len, const char *note)
{
	struct ws_err err;
	assert_ok(ws_fs_write(w->partial, bytes, len, 0644, &err), err);
	const char *about = ws_arena_printf(w->a, "%s.about", w->partial);
	assert_ok(ws_fs_write(about, note, strlen(note), 0644, &err), err);
}

const char *
ws_downloads_etag(const struct ws_downloads *w)
{
	return ws_arena_printf(w->a, "\"%.16s\"", w->digest.hex);
}
