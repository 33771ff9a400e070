/* test_net_download.c - files that must arrive whole, whatever the server does.
 * test_net_download_resume.c tests downloads in several pieces. */
#include "test.h"

#include "base/fs.h"
#include "download_world.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>

static struct ws_err err;

WS_TEST(a_file_comes_whole)
{
	WS_AUTO_DOWNLOADS struct ws_downloads w = ws_downloads_begin(a);
	ws_downloads_assert(&w, "~late=1");
	ws_downloads_assert(&w, "~chunked");
	ws_downloads_assert(&w, "~close");
	ws_downloads_assert(&w, "~redirect=3");
	ws_downloads_assert(&w, "~norange");
	assert_int_equal(ws_served_count(&w.s, "\"encoding\": \"identity\""), 8);
	assert_int_equal(ws_served_count(&w.s, "\"range\": \"bytes"), 0);
}

WS_TEST(a_wrong_digest_names_both)
{
	WS_AUTO_DOWNLOADS struct ws_downloads w = ws_downloads_begin(a);
	struct ws_download file = ws_downloads_file(&w, "~wrong");
	assert_fails(ws_download_all(w.http, &file, 1, &err), err, WS_ERR_FETCH);
	assert_contains(err.text, w.digest.hex);
	assert_contains(err.text, file.digest.hex);
	assert_false(ws_fs_exists(w.path));
	assert_false(ws_fs_exists(w.partial));
	assert_int_equal(ws_served_count(&w.s, ""), 1);
	/* The bytes of the first half might have been to blame: one more, whole. */
	ws_downloads_leave(&w, w.bytes, 100000, ws_downloads_etag(&w));
	assert_fails(ws_download_all(w.http, &file, 1, &err), err, WS_ERR_FETCH);
	assert_int_equal(ws_served_count(&w.s, ""), 3);
	ws_downloads_leave(&w, w.bytes, 100000, ws_downloads_etag(&w));
	ws_downloads_assert(&w, "~wrong:1");
}

WS_TEST(a_wrong_length_is_refused_before_it_comes)
{
	WS_AUTO_DOWNLOADS struct ws_downloads w = ws_downloads_begin(a);
	struct ws_download file = ws_downloads_file(&w, "~late=1");
	file.size_bytes = WS_DOWNLOADS_SIZE - 1;
	assert_fails(ws_download_all(w.http, &file, 1, &err), err, WS_ERR_FETCH);
	assert_contains(err.text, "has 200000 bytes at 'http://127.0.0.1");
	assert_contains(err.text, "where 199999 are expected");
	assert_int_equal(file.wire_bytes, 0);
	/* A server that does not say the length is noticed when it is exceeded. */
	file.url = ws_served_url(&w.s, "/~chunked/x.whl");
	assert_fails(ws_download_all(w.http, &file, 1, &err), err, WS_ERR_FETCH);
	assert_contains(err.text, "longer than 199999 bytes");
	file.size_bytes = WS_DOWNLOADS_SIZE + 1;
	file.url = ws_served_url(&w.s, "/~close/x.whl");
	assert_fails(ws_download_all(w.http, &file, 1, &err), err, WS_ERR_FETCH);
}

WS_TEST(each_by_itself_as_many_come_as_can)
{
	WS_AUTO_DOWNLOADS struct ws_downloads w = ws_downloads_begin(a);
	static const char *const faults[] = {"~status=404", "~wrong", "~late=1", "~cut=9"};
	static const unsigned statuses[] = {404, 200, 200, 206};
	struct ws_download files[WS_LEN(faults)];
	for (size_t i = 0; i < WS_LEN(faults); i++) {
		files[i] = ws_downloads_file(&w, faults[i]);
		files[i].path = ws_arena_printf(a, "%s%zu", w.path, i);
		files[i].partial = ws_arena_printf(a, "%s%zu", w.partial, i);
	}
	assert_ok(ws_download_each(w.http, files, WS_LEN(files), &err), err);
	for (size_t i = 0; i < WS_LEN(faults); i++) {
		assert_int_equal(files[i].failure.kind, i == 2 ? WS_ERR_NONE : WS_ERR_FETCH);
		assert_int_equal(files[i].status, statuses[i]);
		assert_int_equal(ws_fs_exists(files[i].path), i == 2);
	}
	assert_contains(files[1].failure.text, "is not what was pinned");
	/* A local write error ends all downloads. */
	files[0].partial = "/nowhere/at/all";
	assert_fails(ws_download_each(w.http, &files[0], 1, &err), err, WS_ERR_IO);
}

WS_TEST(a_malformed_url_fails_alone)
{
	WS_AUTO_DOWNLOADS struct ws_downloads w = ws_downloads_begin(a);
	struct ws_download files[] = {
		ws_downloads_file(&w, "~late=1"), ws_downloads_file(&w, "~late=1")};
	files[0].url = "http://h:99999/x.whl";
	files[0].path = ws_arena_printf(a, "%s0", w.path);
	files[0].partial = ws_arena_printf(a, "%s0", w.partial);
	assert_ok(ws_download_each(w.http, files, WS_LEN(files), &err), err);
	assert_contains(files[0].failure.text, "is not an http or https URL");
	ws_downloads_assert_landed(&w, &files[1]);
}

WS_TEST(an_encoding_is_refused)
{
	WS_AUTO_DOWNLOADS struct ws_downloads w = ws_downloads_begin(a);
	struct ws_download file = ws_downloads_file(&w, "~gzip");
	file.size_bytes = 0;
	assert_fails(ws_download_all(w.http, &file, 1, &err), err, WS_ERR_FETCH);
	assert_contains(err.text, "with an unexpected Content-Encoding 'gzip'");
	/* Some servers call a .tar.gz a gzip-encoded tar; its bytes are the file's. */
	ws_served_put(&w.s, "x.tar.gz", WS_DOWNLOADS_SIZE);
	file.url = ws_served_url(&w.s, "/~label=x-gzip/x.tar.gz");
	assert_ok(ws_download_all(w.http, &file, 1, &err), err);
	ws_downloads_assert_landed(&w, &file);
}

WS_TEST(without_a_pin_the_digest_is_reported)
{
	WS_AUTO_DOWNLOADS struct ws_downloads w = ws_downloads_begin(a);
	struct ws_download file = ws_downloads_file(&w, "~cut=5000:1");
	file.sha256 = NULL;
	file.size_bytes = 0;
	assert_ok(ws_download_all(w.http, &file, 1, &err), err);
	ws_downloads_assert_landed(&w, &file);
	assert_int_equal(ws_served_count(&w.s, "\"range\": \"bytes=5000-\""), 1);
	/* A mixture could not be detected, so the download is not resumed. */
	file.url = ws_served_url(&w.s, "/~etag=none,cut=5001:1/x.whl");
	assert_ok(ws_download_all(w.http, &file, 1, &err), err);
	ws_downloads_assert_landed(&w, &file);
	assert_int_equal(ws_served_count(&w.s, "\"range\": \"bytes=5001-\""), 0);
}

WS_TEST(a_present_file_is_not_fetched)
{
	WS_AUTO_DOWNLOADS struct ws_downloads w = ws_downloads_begin(a);
	ws_downloads_assert(&w, "~late=1");
	struct ws_http_config config = ws_served_config();
	config.offline = true;
	WS_AUTO_HTTP struct ws_http *http = ws_served_http(&config);
	struct ws_download file = ws_downloads_file(&w, "~late=1");
	assert_ok(ws_download_all(http, &file, 1, &err), err);
	ws_downloads_assert_landed(&w, &file);
	ws_fs_remove(w.path, NULL);
	assert_fails(ws_download_all(http, &file, 1, &err), err, WS_ERR_FETCH);
	assert_contains(err.text, "'x.whl' is missing");
	assert_int_equal(ws_served_count(&w.s, ""), 1);
}

WS_TEST(many_files_come_together)
{
	WS_AUTO_DOWNLOADS struct ws_downloads w = ws_downloads_begin(a);
	enum { MANY = 20 };
	struct ws_download files[MANY];
	for (int i = 0; i < MANY; i++) {
		files[i] = ws_downloads_file(&w, i % 3 ? "~late=50" : "~status=503:1");
		files[i].path = ws_arena_printf(a, "%s.%d", w.path, i);
		files[i].partial = ws_arena_printf(a, "%s.%d", w.partial, i);
	}
	assert_ok(ws_download_all(w.http, files, MANY, &err), err);
	for (int i = 0; i < MANY; i++) {
		assert_string_equal(files[i].digest.hex, w.digest.hex);
		assert_true(ws_fs_exists(files[i].path));
	}
}

/* Bytes written before the disk was full count and are hashed: the next run continues behind them.
 * */
WS_TEST(a_full_disk_is_this_hosts_fault)
{
	WS_AUTO_DOWNLOADS struct ws_downloads w = ws_downloads_begin(a);
	struct rlimit old, low;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	low = old;
	low.rlim_cur = 100001;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
	struct ws_download file = ws_downloads_file(&w, "~late=1");
	bool ok = ws_download_all(w.http, &file, 1, &err);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_fails(ok, err, WS_ERR_IO);
	assert_contains(err.text, w.partial);
	assert_ok(ws_download_all(w.http, &file, 1, &err), err);
	ws_downloads_assert_landed(&w, &file);
	assert_int_equal(file.wire_bytes, WS_DOWNLOADS_SIZE - 100001);
}

/* Another process holds the partial file for a while, then lands it. */
WS_TEST(two_processes_fetch_once)
{
	WS_AUTO_DOWNLOADS struct ws_downloads w = ws_downloads_begin(a);
	int ready[2];
	assert_int_equal(pipe(ready), 0);
	pid_t other = fork();
	if (other == 0) {
		int fd = open(w.partial, O_RDWR | O_CREAT, 0644);
		flock(fd, LOCK_EX);
		(void)!write(ready[1], "x", 1);
		usleep(400 * 1000);
		(void)!write(fd, w.bytes, WS_DOWNLOADS_SIZE);
		rename(w.partial, w.path);
		_exit(0);
	}
	char byte;
	assert_int_equal(read(ready[0], &byte, 1), 1);
	struct ws_download file = ws_downloads_file(&w, "~late=1");
	assert_ok(ws_download_all(w.http, &file, 1, &err), err);
	ws_downloads_assert_landed(&w, &file);
	assert_int_equal(ws_served_count(&w.s, ""), 0);
	waitpid(other, NULL, 0);
	close(ready[0]);
	close(ready[1]);
}

/* Counts the events of a transfer. */
struct counter {
	struct ws_sink sink;
	unsigned started, progress, done;
	uint64_t total, wire;
};

static void
count(struct ws_sink *self, const struct ws_event *event)
{
	struct counter *c = (struct counter *)self;
	c->started += event->kind == WS_EVENT_FETCH_STARTED;
	c->progress += event->kind == WS_EVENT_FETCH_PROGRESS;
	c->done += event->kind == WS_EVENT_FETCH_DONE;
	if (event->kind == WS_EVENT_FETCH_STARTED) {
		assert_string_equal(event->subject, "x.whl");
		assert_string_equal(event->detail, "127.0.0.1");
		c->total = event->total;
	}
	if (event->kind == WS_EVENT_FETCH_DONE) {
		c->wire = event->done;
	}
}

WS_TEST(events_tell_the_way)
{
	WS_AUTO_DOWNLOADS struct ws_downloads w = ws_downloads_begin(a);
	struct counter counter = {.sink.take = count};
	struct ws_events events = {0};
	ws_events_add(&events, &counter.sink);
	struct ws_http_config config = ws_served_config();
	config.events = &events;
	WS_AUTO_HTTP struct ws_http *http = ws_served_http(&config);
	struct ws_download file = ws_downloads_file(&w, "~slow=400000");
	assert_ok(ws_download_all(http, &file, 1, &err), err);
	assert_int_equal(counter.started, 1);
	assert_int_equal(counter.done, 1);
	assert_true(counter.progress >= 3 && counter.progress <= 8);
	assert_int_equal(counter.total, WS_DOWNLOADS_SIZE);
	assert_int_equal(counter.wire, WS_DOWNLOADS_SIZE);
}

WS_TEST(a_folder_that_is_not_there_is_an_error_of_this_host)
{
	WS_AUTO_DOWNLOADS struct ws_downloads w = ws_downloads_begin(a);
	struct ws_download file = ws_downloads_file(&w, "~late=1");
	file.partial = "/nonexistent/partial";
	assert_fails(ws_download_all(w.http, &file, 1, &err), err, WS_ERR_IO);
	assert_contains(err.text, "/nonexistent/partial");
}
