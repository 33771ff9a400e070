/* test_net_download.c - files that must arrive whole, whatever the server does. */
#include "test.h"

#include "base/fs.h"
#include "net/download.h"
#include "served.h"
#include "sys/clock.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define SIZE ((size_t)200000)

/* A server with one file, and where its download goes. */
struct world {
	struct ws_served s;
	struct ws_http *http;
	const char *bytes;
	struct ws_digest digest;
	const char *path, *partial;
	struct ws_arena *a;
};

static struct world
make_world(struct ws_arena *a)
{
	struct world w = {.s = ws_served_start(a), .a = a};
	w.http = ws_served_http(NULL);
	w.bytes = ws_served_put(&w.s, "x.whl", SIZE);
	w.digest = ws_digest_bytes(w.bytes, SIZE);
	const char *dir = ws_test_dir(a);
	w.path = ws_path_join(a, dir, "x.whl", NULL);
	w.partial = ws_path_join(a, dir, "partial", NULL);
	return w;
}

static void
end_world(struct world *w)
{
	ws_http_close(w->http);
}

#define AUTO_WORLD __attribute__((cleanup(end_world)))

static struct ws_download
file_of(const struct world *w, const char *faults)
{
	return (struct ws_download){
		.url = ws_served_url(&w->s, ws_arena_printf(w->a, "/%s/x.whl", faults)),
		.path = w->path,
		.partial = w->partial,
		.sha256 = w->digest.hex,
		.size_bytes = SIZE,
	};
}

/* The file is there, right, and nothing else is left. */
static void
assert_landed(const struct world *w, struct ws_download *file)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_err err;
	assert_ok(ws_fs_read(w->path, &text, &err), err);
	assert_int_equal(text.len, SIZE);
	assert_memory_equal(text.data, w->bytes, SIZE);
	assert_int_equal(file->got_bytes, SIZE);
	assert_string_equal(file->digest.hex, w->digest.hex);
	assert_false(ws_fs_exists(w->partial));
	assert_false(ws_fs_exists(ws_arena_printf(w->a, "%s.about", w->partial)));
}

static void
assert_downloads(const struct world *w, const char *faults)
{
	struct ws_download file = file_of(w, faults);
	struct ws_err err;
	ws_fs_remove(w->path, NULL);
	assert_ok(ws_download_all(w->http, &file, 1, &err), err);
	assert_landed(w, &file);
}

/* Leaves the first @a len bytes and a note, as an interrupted run does. */
static void
leave_partial(const struct world *w, const char *bytes, size_t len, const char *note)
{
	struct ws_err err;
	assert_ok(ws_fs_write(w->partial, bytes, len, 0644, &err), err);
	const char *about = ws_arena_printf(w->a, "%s.about", w->partial);
	assert_ok(ws_fs_write(about, note, strlen(note), 0644, &err), err);
}

static const char *
etag_of(const struct world *w)
{
	return ws_arena_printf(w->a, "\"%.16s\"", w->digest.hex);
}

WS_TEST(a_file_comes_whole)
{
	AUTO_WORLD struct world w = make_world(a);
	assert_downloads(&w, "~late=1");
	assert_downloads(&w, "~chunked");
	assert_downloads(&w, "~close");
	assert_downloads(&w, "~redirect=3");
	assert_downloads(&w, "~norange");
	assert_int_equal(ws_served_count(&w.s, "\"encoding\": \"identity\""), 8);
	assert_int_equal(ws_served_count(&w.s, "\"range\": \"bytes"), 0);
}

WS_TEST(a_cut_is_resumed_where_it_was)
{
	AUTO_WORLD struct world w = make_world(a);
	assert_downloads(&w, "~cut=150000:1");
	assert_int_equal(ws_served_count(&w.s, "\"range\": \"bytes=150000-\""), 1);
	assert_int_equal(
		ws_served_count(&w.s, ws_arena_printf(a, "\"if_range\": \"\\\"%.16s", w.digest.hex)), 1);
	assert_downloads(&w, "~status=500:1");
	assert_downloads(&w, "~etag=none,cut=1000:1");
	assert_int_equal(ws_served_count(&w.s, "\"range\": \"bytes=1000-\", \"if_range\": null"), 1);
	assert_downloads(&w, "~etag=weak,cut=1001:1");
	assert_int_equal(ws_served_count(&w.s, "\"range\": \"bytes=1001-\", \"if_range\": \""), 1);
}

WS_TEST(a_stall_is_resumed_too)
{
	AUTO_WORLD struct world w = make_world(a);
	struct ws_http_config hasty = ws_served_hasty();
	ws_http_close(w.http);
	w.http = ws_served_http(&hasty);
	assert_downloads(&w, "~stall=70000:1");
	assert_int_equal(ws_served_count(&w.s, "\"range\": \"bytes=70000-\""), 1);
}

WS_TEST(a_cut_at_a_server_without_ranges_starts_over)
{
	AUTO_WORLD struct world w = make_world(a);
	assert_downloads(&w, "~norange,cut=150000:2");
}

WS_TEST(bytes_of_an_earlier_run_are_used)
{
	AUTO_WORLD struct world w = make_world(a);
	leave_partial(&w, w.bytes, 123456, etag_of(&w));
	struct ws_download file = file_of(&w, "~late=1");
	struct ws_err err;
	assert_ok(ws_download_all(w.http, &file, 1, &err), err);
	assert_landed(&w, &file);
	assert_int_equal(file.wire_bytes, SIZE - 123456);
	/* Whole already: only the name was missing. */
	ws_fs_remove(w.path, NULL);
	leave_partial(&w, w.bytes, SIZE, "");
	file = file_of(&w, "~silent");
	assert_ok(ws_download_all(w.http, &file, 1, &err), err);
	assert_landed(&w, &file);
}

WS_TEST(bytes_of_another_file_are_not_mixed_in)
{
	AUTO_WORLD struct world w = make_world(a);
	const char *other = ws_arena_copy(a, "other bytes", 11);
	/* The note says which file they were of: If-Range makes the server send the whole. */
	leave_partial(&w, other, 11, "\"old\"");
	assert_downloads(&w, "~late=1");
	assert_int_equal(ws_served_count(&w.s, "\"status\": 206"), 0);
	/* Nothing says so: the digest does, and the whole is asked for once. */
	leave_partial(&w, other, 11, "");
	assert_downloads(&w, "~late=1");
	assert_int_equal(ws_served_count(&w.s, "\"status\": 206"), 1);
	assert_int_equal(ws_served_count(&w.s, "\"status\": 200"), 2);
	/* Too long, and just as long. */
	const char *longer = ws_arena_alloc(a, SIZE + 1);
	leave_partial(&w, longer, SIZE + 1, "");
	assert_downloads(&w, "~late=1");
	leave_partial(&w, longer, SIZE, "");
	assert_downloads(&w, "~late=1");
}

WS_TEST(a_file_that_changes_between_is_fetched_anew)
{
	AUTO_WORLD struct world w = make_world(a);
	assert_downloads(&w, "~etag=once,cut=150000:1");
	assert_int_equal(ws_served_count(&w.s, "\"status\": 200"), 2);
}

/* Without a pin nothing but the tag would show that the rest is another file's. */
WS_TEST(a_server_that_ignores_conditions_is_seen_through)
{
	AUTO_WORLD struct world w = make_world(a);
	struct ws_download file = file_of(&w, "~noif,etag=once,cut=5000:1");
	file.sha256 = NULL;
	struct ws_err err;
	assert_ok(ws_download_all(w.http, &file, 1, &err), err);
	assert_landed(&w, &file);
	assert_int_equal(ws_served_count(&w.s, "\"status\": 206"), 1);
	assert_int_equal(ws_served_count(&w.s, "\"status\": 200"), 2);
}

WS_TEST(wrong_content_ranges_are_not_believed)
{
	AUTO_WORLD struct world w = make_world(a);
	static const char *const kinds[] = {"start", "total", "short", "star"};
	for (size_t i = 0; i < WS_LEN(kinds); i++) {
		leave_partial(&w, w.bytes, 100000, etag_of(&w));
		assert_downloads(&w, ws_arena_printf(a, "~range=%s", kinds[i]));
		assert_int_equal(ws_served_count(&w.s, "\"status\": 206"), i + 1);
		assert_int_equal(ws_served_count(&w.s, "\"status\": 200"), i + 1);
	}
}

WS_TEST(a_wrong_digest_names_both)
{
	AUTO_WORLD struct world w = make_world(a);
	struct ws_download file = file_of(&w, "~wrong");
	struct ws_err err;
	assert_fails(ws_download_all(w.http, &file, 1, &err), err, WS_ERR_FETCH);
	assert_contains(err.text, w.digest.hex);
	assert_contains(err.text, file.digest.hex);
	assert_false(ws_fs_exists(w.path));
	assert_false(ws_fs_exists(w.partial));
	assert_int_equal(ws_served_count(&w.s, ""), 1);
	/* The bytes of the first half might have been to blame: one more, whole. */
	leave_partial(&w, w.bytes, 100000, etag_of(&w));
	assert_fails(ws_download_all(w.http, &file, 1, &err), err, WS_ERR_FETCH);
	assert_int_equal(ws_served_count(&w.s, ""), 3);
	leave_partial(&w, w.bytes, 100000, etag_of(&w));
	assert_downloads(&w, "~wrong:1");
}

WS_TEST(a_wrong_length_is_refused_before_it_comes)
{
	AUTO_WORLD struct world w = make_world(a);
	struct ws_download file = file_of(&w, "~late=1");
	file.size_bytes = SIZE - 1;
	struct ws_err err;
	assert_fails(ws_download_all(w.http, &file, 1, &err), err, WS_ERR_FETCH);
	assert_contains(err.text, "has 200000 bytes at 'http://127.0.0.1");
	assert_contains(err.text, "where 199999 are expected");
	assert_int_equal(file.wire_bytes, 0);
	/* A server that does not say the length is noticed when it is exceeded. */
	file.url = ws_served_url(&w.s, "/~chunked/x.whl");
	assert_fails(ws_download_all(w.http, &file, 1, &err), err, WS_ERR_FETCH);
	assert_contains(err.text, "longer than 199999 bytes");
	file.size_bytes = SIZE + 1;
	file.url = ws_served_url(&w.s, "/~close/x.whl");
	assert_fails(ws_download_all(w.http, &file, 1, &err), err, WS_ERR_FETCH);
}

WS_TEST(an_encoding_is_refused)
{
	AUTO_WORLD struct world w = make_world(a);
	struct ws_download file = file_of(&w, "~gzip");
	struct ws_err err;
	file.size_bytes = 0;
	assert_fails(ws_download_all(w.http, &file, 1, &err), err, WS_ERR_FETCH);
	assert_contains(err.text, "comes encoded as 'gzip'");
	/* Some servers call a .tar.gz a gzip-encoded tar; its bytes are the file's. */
	ws_served_put(&w.s, "x.tar.gz", SIZE);
	file.url = ws_served_url(&w.s, "/~label=x-gzip/x.tar.gz");
	assert_ok(ws_download_all(w.http, &file, 1, &err), err);
	assert_landed(&w, &file);
}

WS_TEST(without_a_pin_the_digest_is_told)
{
	AUTO_WORLD struct world w = make_world(a);
	struct ws_download file = file_of(&w, "~cut=5000:1");
	file.sha256 = NULL;
	file.size_bytes = 0;
	struct ws_err err;
	assert_ok(ws_download_all(w.http, &file, 1, &err), err);
	assert_landed(&w, &file);
	assert_int_equal(ws_served_count(&w.s, "\"range\": \"bytes=5000-\""), 1);
	/* Nothing would notice a mixture: no resumption. */
	file.url = ws_served_url(&w.s, "/~etag=none,cut=5001:1/x.whl");
	assert_ok(ws_download_all(w.http, &file, 1, &err), err);
	assert_landed(&w, &file);
	assert_int_equal(ws_served_count(&w.s, "\"range\": \"bytes=5001-\""), 0);
}

WS_TEST(what_is_there_is_not_fetched)
{
	AUTO_WORLD struct world w = make_world(a);
	assert_downloads(&w, "~late=1");
	struct ws_http_config config = ws_served_config();
	config.offline = true;
	WS_AUTO_HTTP struct ws_http *http = ws_served_http(&config);
	struct ws_download file = file_of(&w, "~late=1");
	struct ws_err err;
	assert_ok(ws_download_all(http, &file, 1, &err), err);
	assert_landed(&w, &file);
	ws_fs_remove(w.path, NULL);
	assert_fails(ws_download_all(http, &file, 1, &err), err, WS_ERR_FETCH);
	assert_contains(err.text, "'x.whl' is not at hand");
	assert_int_equal(ws_served_count(&w.s, ""), 1);
}

WS_TEST(many_files_come_together)
{
	AUTO_WORLD struct world w = make_world(a);
	enum { MANY = 20 };
	struct ws_download files[MANY];
	for (int i = 0; i < MANY; i++) {
		files[i] = file_of(&w, i % 3 ? "~late=50" : "~status=503:1");
		files[i].path = ws_arena_printf(a, "%s.%d", w.path, i);
		files[i].partial = ws_arena_printf(a, "%s.%d", w.partial, i);
	}
	struct ws_err err;
	assert_ok(ws_download_all(w.http, files, MANY, &err), err);
	for (int i = 0; i < MANY; i++) {
		assert_string_equal(files[i].digest.hex, w.digest.hex);
		assert_true(ws_fs_exists(files[i].path));
	}
}

WS_TEST(the_first_failure_ends_all_and_keeps_what_came)
{
	AUTO_WORLD struct world w = make_world(a);
	struct ws_download files[2] = {
		file_of(&w, "~slow=200000"), file_of(&w, "~late=300,status=404")};
	files[1].path = ws_arena_printf(a, "%s.1", w.path);
	files[1].partial = ws_arena_printf(a, "%s.1", w.partial);
	struct ws_err err;
	assert_fails(ws_download_all(w.http, files, 2, &err), err, WS_ERR_FETCH);
	assert_contains(err.text, "(404)");
	struct stat status;
	assert_int_equal(stat(w.partial, &status), 0);
	assert_true(status.st_size > 10000);
	assert_downloads(&w, "~late=1");
	assert_int_equal(ws_served_count(&w.s, "\"status\": 206"), 1);
}

WS_TEST(a_stop_keeps_what_came)
{
	AUTO_WORLD struct world w = make_world(a);
	struct ws_stop stop = {.fd = -1, .deadline_ms = ws_clock_ms() + 300};
	struct ws_http_config config = ws_served_config();
	config.stop = &stop;
	WS_AUTO_HTTP struct ws_http *http = ws_served_http(&config);
	struct ws_download file = file_of(&w, "~slow=200000");
	struct ws_err err;
	assert_fails(ws_download_all(http, &file, 1, &err), err, WS_ERR_STOPPED);
	assert_true(file.wire_bytes > 10000 && file.wire_bytes < SIZE);
	uint64_t before = file.wire_bytes;
	stop.deadline_ms = 0;
	stop.late = false;
	file.url = ws_served_url(&w.s, "/x.whl");
	assert_ok(ws_download_all(http, &file, 1, &err), err);
	assert_landed(&w, &file);
	assert_int_equal(file.wire_bytes, SIZE - before);
}

/* What a full disk still took counts, and is hashed: the next run goes on from there. */
WS_TEST(a_full_disk_is_this_hosts_fault)
{
	AUTO_WORLD struct world w = make_world(a);
	struct rlimit old, low;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	low = old;
	low.rlim_cur = 100001;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
	struct ws_download file = file_of(&w, "~late=1");
	struct ws_err err;
	bool ok = ws_download_all(w.http, &file, 1, &err);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_fails(ok, err, WS_ERR_IO);
	assert_contains(err.text, w.partial);
	assert_ok(ws_download_all(w.http, &file, 1, &err), err);
	assert_landed(&w, &file);
	assert_int_equal(file.wire_bytes, SIZE - 100001);
}

WS_TEST(progress_forgives_failures)
{
	AUTO_WORLD struct world w = make_world(a);
	size_t size = (size_t)12 << 20;
	const char *bytes = ws_served_put(&w.s, "large", size);
	struct ws_digest digest = ws_digest_bytes(bytes, size);
	struct ws_download file = file_of(&w, "");
	/* Six attempts bring 2 MiB each; three in vain would be the end. */
	file.url = ws_served_url(&w.s, "/~cut=2097152/large");
	file.sha256 = digest.hex;
	file.size_bytes = size;
	struct ws_err err;
	assert_ok(ws_download_all(w.http, &file, 1, &err), err);
	assert_int_equal(ws_served_count(&w.s, "large"), 6);
}

/* Another process holds the partial file for a while, then lands it. */
WS_TEST(two_processes_fetch_once)
{
	AUTO_WORLD struct world w = make_world(a);
	int ready[2];
	assert_int_equal(pipe(ready), 0);
	pid_t other = fork();
	if (other == 0) {
		int fd = open(w.partial, O_RDWR | O_CREAT, 0644);
		flock(fd, LOCK_EX);
		(void)!write(ready[1], "x", 1);
		usleep(400 * 1000);
		(void)!write(fd, w.bytes, SIZE);
		rename(w.partial, w.path);
		_exit(0);
	}
	char byte;
	assert_int_equal(read(ready[0], &byte, 1), 1);
	struct ws_download file = file_of(&w, "~late=1");
	struct ws_err err;
	assert_ok(ws_download_all(w.http, &file, 1, &err), err);
	assert_landed(&w, &file);
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
	AUTO_WORLD struct world w = make_world(a);
	struct counter counter = {.sink.take = count};
	struct ws_events events = {0};
	ws_events_add(&events, &counter.sink);
	struct ws_http_config config = ws_served_config();
	config.events = &events;
	WS_AUTO_HTTP struct ws_http *http = ws_served_http(&config);
	struct ws_download file = file_of(&w, "~slow=400000");
	struct ws_err err;
	assert_ok(ws_download_all(http, &file, 1, &err), err);
	assert_int_equal(counter.started, 1);
	assert_int_equal(counter.done, 1);
	assert_true(counter.progress >= 3 && counter.progress <= 8);
	assert_int_equal(counter.total, SIZE);
	assert_int_equal(counter.wire, SIZE);
}

WS_TEST(a_folder_that_is_not_there_is_an_error_of_this_host)
{
	AUTO_WORLD struct world w = make_world(a);
	struct ws_download file = file_of(&w, "~late=1");
	file.partial = "/nonexistent/partial";
	struct ws_err err;
	assert_fails(ws_download_all(w.http, &file, 1, &err), err, WS_ERR_IO);
	assert_contains(err.text, "/nonexistent/partial");
}
