/* test_net_download_resume.c - downloads that were broken off, in this run or an earlier one. */
#include "test.h"

#include "base/fs.h"
#include "download_world.h"
#include "sys/clock.h"

static struct ws_err err;

WS_TEST(a_cut_is_resumed_where_it_was)
{
	WS_AUTO_DOWNLOADS struct ws_downloads w = ws_downloads_begin(a);
	ws_downloads_assert(&w, "~cut=150000:1");
	assert_int_equal(ws_served_count(&w.s, "\"range\": \"bytes=150000-\""), 1);
	assert_int_equal(
		ws_served_count(&w.s, ws_arena_printf(a, "\"if_range\": \"\\\"%.16s", w.digest.hex)), 1);
	ws_downloads_assert(&w, "~status=500:1");
	ws_downloads_assert(&w, "~etag=none,cut=1000:1");
	assert_int_equal(ws_served_count(&w.s, "\"range\": \"bytes=1000-\", \"if_range\": null"), 1);
	ws_downloads_assert(&w, "~etag=weak,cut=1001:1");
	assert_int_equal(ws_served_count(&w.s, "\"range\": \"bytes=1001-\", \"if_range\": \""), 1);
}

WS_TEST(a_stall_is_resumed_too)
{
	WS_AUTO_DOWNLOADS struct ws_downloads w = ws_downloads_begin(a);
	struct ws_http_config hasty = ws_served_hasty();
	ws_http_close(w.http);
	w.http = ws_served_http(&hasty);
	ws_downloads_assert(&w, "~stall=70000:1");
	assert_int_equal(ws_served_count(&w.s, "\"range\": \"bytes=70000-\""), 1);
}

WS_TEST(a_cut_at_a_server_without_ranges_starts_over)
{
	WS_AUTO_DOWNLOADS struct ws_downloads w = ws_downloads_begin(a);
	ws_downloads_assert(&w, "~norange,cut=150000:2");
}

WS_TEST(bytes_of_an_earlier_run_are_used)
{
	WS_AUTO_DOWNLOADS struct ws_downloads w = ws_downloads_begin(a);
	ws_downloads_leave(&w, w.bytes, 123456, ws_downloads_etag(&w));
	struct ws_download file = ws_downloads_file(&w, "~late=1");
	assert_ok(ws_download_all(w.http, &file, 1, &err), err);
	ws_downloads_assert_landed(&w, &file);
	assert_int_equal(file.wire_bytes, WS_DOWNLOADS_SIZE - 123456);
	/* Whole already: only the name was missing. */
	ws_fs_remove(w.path, NULL);
	ws_downloads_leave(&w, w.bytes, WS_DOWNLOADS_SIZE, "");
	file = ws_downloads_file(&w, "~silent");
	assert_ok(ws_download_all(w.http, &file, 1, &err), err);
	ws_downloads_assert_landed(&w, &file);
}

WS_TEST(bytes_of_a_changed_file_are_not_mixed_in)
{
	WS_AUTO_DOWNLOADS struct ws_downloads w = ws_downloads_begin(a);
	const char *other = ws_arena_copy(a, "other bytes", 11);
	/* The note says which file they were of: If-Range makes the server send the whole. */
	ws_downloads_leave(&w, other, 11, "\"old\"");
	ws_downloads_assert(&w, "~late=1");
	assert_int_equal(ws_served_count(&w.s, "\"status\": 206"), 0);
	/* Only the digest shows it, and the whole file is requested once. */
	ws_downloads_leave(&w, other, 11, "");
	ws_downloads_assert(&w, "~late=1");
	assert_int_equal(ws_served_count(&w.s, "\"status\": 206"), 1);
	assert_int_equal(ws_served_count(&w.s, "\"status\": 200"), 2);
	/* Too long, and just as long. */
	const char *longer = ws_arena_alloc(a, WS_DOWNLOADS_SIZE + 1);
	ws_downloads_leave(&w, longer, WS_DOWNLOADS_SIZE + 1, "");
	ws_downloads_assert(&w, "~late=1");
	ws_downloads_leave(&w, longer, WS_DOWNLOADS_SIZE, "");
	ws_downloads_assert(&w, "~late=1");
}

WS_TEST(a_file_that_changes_between_is_fetched_anew)
{
	WS_AUTO_DOWNLOADS struct ws_downloads w = ws_downloads_begin(a);
	ws_downloads_assert(&w, "~etag=once,cut=150000:1");
	assert_int_equal(ws_served_count(&w.s, "\"status\": 200"), 2);
}

/* Without a pin nothing but the tag would show that the rest is another file's. */
WS_TEST(a_server_that_ignores_conditions_is_seen_through)
{
	WS_AUTO_DOWNLOADS struct ws_downloads w = ws_downloads_begin(a);
	struct ws_download file = ws_downloads_file(&w, "~noif,etag=once,cut=5000:1");
	file.sha256 = NULL;
	assert_ok(ws_download_all(w.http, &file, 1, &err), err);
	ws_downloads_assert_landed(&w, &file);
	assert_int_equal(ws_served_count(&w.s, "\"status\": 206"), 1);
	assert_int_equal(ws_served_count(&w.s, "\"status\": 200"), 2);
}

WS_TEST(wrong_content_ranges_are_not_believed)
{
	WS_AUTO_DOWNLOADS struct ws_downloads w = ws_downloads_begin(a);
	static const char *const kinds[] = {"start", "total", "short", "star"};
	for (size_t i = 0; i < WS_LEN(kinds); i++) {
		ws_downloads_leave(&w, w.bytes, 100000, ws_downloads_etag(&w));
		ws_downloads_assert(&w, ws_arena_printf(a, "~range=%s", kinds[i]));
		assert_int_equal(ws_served_count(&w.s, "\"status\": 206"), i + 1);
		assert_int_equal(ws_served_count(&w.s, "\"status\": 200"), i + 1);
	}
}

WS_TEST(the_first_failure_ends_all_and_keeps_what_came)
{
	WS_AUTO_DOWNLOADS struct ws_downloads w = ws_downloads_begin(a);
	struct ws_download files[2] = {
		ws_downloads_file(&w, "~slow=200000"), ws_downloads_file(&w, "~late=300,status=404")};
	files[1].path = ws_arena_printf(a, "%s.1", w.path);
	files[1].partial = ws_arena_printf(a, "%s.1", w.partial);
	assert_fails(ws_download_all(w.http, files, 2, &err), err, WS_ERR_FETCH);
	assert_contains(err.text, "(404)");
	struct stat status;
	assert_int_equal(stat(w.partial, &status), 0);
	assert_true(status.st_size > 10000);
	ws_downloads_assert(&w, "~late=1");
	assert_int_equal(ws_served_count(&w.s, "\"status\": 206"), 1);
}

WS_TEST(a_stop_keeps_what_came)
{
	WS_AUTO_DOWNLOADS struct ws_downloads w = ws_downloads_begin(a);
	struct ws_stop stop = {.fd = -1, .deadline_ms = ws_clock_ms() + 300};
	struct ws_http_config config = ws_served_config();
	config.stop = &stop;
	WS_AUTO_HTTP struct ws_http *http = ws_served_http(&config);
	struct ws_download file = ws_downloads_file(&w, "~slow=200000");
	assert_fails(ws_download_all(http, &file, 1, &err), err, WS_ERR_STOPPED);
	assert_true(file.wire_bytes > 10000 && file.wire_bytes < WS_DOWNLOADS_SIZE);
	uint64_t before = file.wire_bytes;
	stop.deadline_ms = 0;
	stop.late = false;
	file.url = ws_served_url(&w.s, "/x.whl");
	assert_ok(ws_download_all(http, &file, 1, &err), err);
	ws_downloads_assert_landed(&w, &file);
	assert_int_equal(file.wire_bytes, WS_DOWNLOADS_SIZE - before);
}

WS_TEST(progress_forgives_failures)
{
	WS_AUTO_DOWNLOADS struct ws_downloads w = ws_downloads_begin(a);
	size_t size = (size_t)12 << 20;
	const char *bytes = ws_served_put(&w.s, "large", size);
	struct ws_digest digest = ws_digest_bytes(bytes, size);
	struct ws_download file = ws_downloads_file(&w, "");
	/* Six attempts bring 2 MiB each; three without bytes would be the end. */
	file.url = ws_served_url(&w.s, "/~cut=2097152/large");
	file.sha256 = digest.hex;
	file.size_bytes = size;
	assert_ok(ws_download_all(w.http, &file, 1, &err), err);
	assert_int_equal(ws_served_count(&w.s, "large"), 6);
}
