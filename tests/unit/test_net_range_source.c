/* test_net_range_source.c - parts of files, and servers that give something else. */
#include "test.h"

#include "base/fs.h"
#include "net/range_source.h"
#include "served.h"

#define SIZE ((size_t)500000)

struct world {
	struct ws_served s;
	struct ws_http *http;
	const char *bytes;
	struct ws_range_source r;
	struct ws_err err;
	struct ws_arena *a;
};

static struct world
make_world(struct ws_arena *a)
{
	struct world w = {.s = ws_served_start(a), .a = a};
	w.http = ws_served_http(NULL);
	w.bytes = ws_served_put(&w.s, "x.whl", SIZE);
	return w;
}

static void
end_world(struct world *w)
{
	ws_range_source_close(&w->r);
	ws_http_close(w->http);
}

#define AUTO_WORLD __attribute__((cleanup(end_world)))

static enum ws_range_source_result
open_remote(struct world *w, const char *faults, uint64_t tail)
{
	const char *url = ws_served_url(&w->s, ws_arena_printf(w->a, "/%s/x.whl", faults));
	ws_range_source_close(&w->r);
	return ws_range_source_open(w->http, url, tail, w->a, &w->r, &w->err);
}

/* Gathers what was read, and says where each piece starts. */
static bool
gather(void *self, const void *bytes, size_t len, struct ws_err *err WS_UNUSED)
{
	ws_buf_add(self, bytes, len);
	return true;
}

/* Reads these spans and compares; two numbers a span. */
static bool
reads(struct world *w, const uint64_t (*at)[2], size_t count)
{
	WS_AUTO_BUF struct ws_buf got = {0};
	WS_AUTO_BUF struct ws_buf expected = {0};
	struct ws_span spans[16];
	for (size_t i = 0; i < count; i++) {
		spans[i] =
			(struct ws_span){.offset = at[i][0], .len = at[i][1], .take = gather, .self = &got};
		if (at[i][0] <= SIZE && at[i][1] <= SIZE - at[i][0]) {
			ws_buf_add(&expected, w->bytes + at[i][0], at[i][1]);
		}
	}
	if (!w->r.source.read(&w->r.source, spans, count, &w->err)) {
		return false;
	}
	assert_int_equal(got.len, expected.len);
	assert_memory_equal(got.data, expected.data, got.len);
	return true;
}

static const uint64_t mixed[][2] = {{499000, 1000}, {0, 100}, {300000, 150000}, {489990, 20},
	{10, 1}, {450000, 50000}, {0, 250000}};

WS_TEST(spans_come_in_order_from_tail_and_network)
{
	AUTO_WORLD struct world w = make_world(a);
	assert_int_equal(open_remote(&w, "~late=1", 10000), WS_RANGES_OPEN);
	assert_int_equal(w.r.source.size, SIZE);
	assert_string_equal(w.r.source.name, "x.whl");
	assert_int_equal(ws_served_count(&w.s, "\"range\": \"bytes=-10000\""), 1);
	assert_ok(reads(&w, mixed, WS_LEN(mixed)), w.err);
	assert_int_equal(ws_served_count(&w.s, ""), 7);
	assert_int_equal(w.r.requests, 7);
	assert_int_equal(w.r.wire_bytes, 10000 + 100 + 150000 + 10 + 1 - 10 + 10 + 40000 + 250000);
	assert_int_equal(ws_served_count(&w.s, "bytes=489990-489999"), 1);
}

WS_TEST(the_tail_alone_needs_no_request)
{
	AUTO_WORLD struct world w = make_world(a);
	assert_int_equal(open_remote(&w, "~late=1", 10000), WS_RANGES_OPEN);
	static const uint64_t at[][2] = {{490000, 10000}, {499999, 1}};
	assert_ok(reads(&w, at, 2), w.err);
	assert_int_equal(ws_served_count(&w.s, ""), 1);
}

WS_TEST(a_file_shorter_than_the_tail_is_all_there)
{
	AUTO_WORLD struct world w = make_world(a);
	static const char *const faults[] = {"~late=1", "~norange", "~redirect=2", "~nosuffix"};
	static const uint64_t at[][2] = {{0, 500000}};
	for (size_t i = 0; i < WS_LEN(faults); i++) {
		assert_int_equal(open_remote(&w, faults[i], 1000000), WS_RANGES_OPEN);
		assert_ok(reads(&w, at, 1), w.err);
		assert_int_equal(w.r.requests, 1);
	}
}

WS_TEST(a_server_without_suffix_ranges_is_asked_by_offset)
{
	AUTO_WORLD struct world w = make_world(a);
	assert_int_equal(open_remote(&w, "~nosuffix", 10000), WS_RANGES_OPEN);
	assert_ok(reads(&w, mixed, WS_LEN(mixed)), w.err);
	assert_int_equal(ws_served_count(&w.s, "bytes=490000-499999"), 1);
}

WS_TEST(servers_without_ranges_are_recognised)
{
	AUTO_WORLD struct world w = make_world(a);
	static const char *const faults[] = {
		"~norange", "~chunked,norange", "~range=star", "~range=short", "~range=start", "~gzip"};
	for (size_t i = 0; i < WS_LEN(faults); i++) {
		if (open_remote(&w, faults[i], 10000) != WS_RANGES_NO_RANGES) {
			fail_msg("'%s' was taken", faults[i]);
		}
		assert_contains(w.err.text, "does not support range requests");
	}
	/* refusals and failures do not count as missing ranges. */
	assert_int_equal(open_remote(&w, "~status=404", 10000), WS_RANGES_FAILED);
	assert_contains(w.err.text, "(404)");
	assert_int_equal(open_remote(&w, "~status=500", 10000), WS_RANGES_FAILED);
}

WS_TEST(a_server_that_stops_giving_ranges_is_reported)
{
	AUTO_WORLD struct world w = make_world(a);
	assert_int_equal(open_remote(&w, "~late=1", 10000), WS_RANGES_OPEN);
	static const uint64_t at[][2] = {{0, 1000}};
	static const char *const faults[] = {
		"~norange", "~range=start", "~range=short", "~range=star", "~label=gzip"};
	for (size_t i = 0; i < WS_LEN(faults); i++) {
		w.r.no_ranges = false;
		w.r.url = ws_served_url(&w.s, ws_arena_printf(a, "/%s/x.whl", faults[i]));
		assert_fails(reads(&w, at, 1), w.err, WS_ERR_FETCH);
		assert_true(w.r.no_ranges || strstr(w.err.text, "changed"));
	}
}

WS_TEST(a_file_that_changes_is_noticed)
{
	AUTO_WORLD struct world w = make_world(a);
	static const uint64_t at[][2] = {{0, 1000}};
	static const char *const faults[] = {"~etag=once", "~etag=change"};
	for (size_t i = 0; i < WS_LEN(faults); i++) {
		assert_int_equal(open_remote(&w, faults[i], 10000), WS_RANGES_OPEN);
		assert_fails(reads(&w, at, 1), w.err, WS_ERR_FETCH);
		assert_contains(w.err.text, "changed on the server");
		assert_false(w.r.no_ranges);
	}
	/* Without tags the length tells, and the date. */
	assert_int_equal(open_remote(&w, "~etag=none", 10000), WS_RANGES_OPEN);
	w.r.url = ws_served_url(&w.s, "/~etag=none,range=total/x.whl");
	assert_fails(reads(&w, at, 1), w.err, WS_ERR_FETCH);
	assert_contains(w.err.text, "changed on the server");
	assert_int_equal(open_remote(&w, "~etag=weak", 10000), WS_RANGES_OPEN);
	assert_ok(reads(&w, at, 1), w.err);
	snprintf(w.r.version, sizeof(w.r.version), "Sat, 21 Nov 2020 13:00:00 GMT");
	assert_fails(reads(&w, at, 1), w.err, WS_ERR_FETCH);
}

WS_TEST(cuts_and_stalls_go_on_from_the_byte_reached)
{
	AUTO_WORLD struct world w = make_world(a);
	struct ws_http_config hasty = ws_served_hasty();
	ws_http_close(w.http);
	w.http = ws_served_http(&hasty);
	assert_int_equal(open_remote(&w, "~late=1", 10000), WS_RANGES_OPEN);
	static const char *const faults[] = {
		"~cut=77777:2", "~stall=50000:1", "~status=503:3", "~silent:1"};
	static const uint64_t at[][2] = {{1000, 200000}};
	for (size_t i = 0; i < WS_LEN(faults); i++) {
		w.r.url = ws_served_url(&w.s, ws_arena_printf(a, "/%s/x.whl", faults[i]));
		assert_ok(reads(&w, at, 1), w.err);
	}
	assert_int_equal(ws_served_count(&w.s, "bytes=78777-200999"), 1);
	assert_int_equal(ws_served_count(&w.s, "bytes=156554-200999"), 1);
	assert_int_equal(ws_served_count(&w.s, "bytes=51000-200999"), 1);
}

/* Three wait for the first, whose connection breaks: its place must still be free. */
WS_TEST(waiting_requests_do_not_replace_the_first)
{
	AUTO_WORLD struct world w = make_world(a);
	assert_int_equal(open_remote(&w, "~late=1", 10), WS_RANGES_OPEN);
	w.r.url = ws_served_url(&w.s, "/~cut=60000:6/x.whl");
	static const uint64_t at[][2] = {{0, 100000}, {100000, 100000}, {200000, 100000},
		{300000, 100000}, {400000, 50000}, {450000, 50000}, {0, 1}};
	assert_ok(reads(&w, at, WS_LEN(at)), w.err);
}

WS_TEST(a_span_outside_the_file_is_an_error)
{
	AUTO_WORLD struct world w = make_world(a);
	assert_int_equal(open_remote(&w, "~late=1", 10000), WS_RANGES_OPEN);
	static const uint64_t at[][1][2] = {
		{{499999, 2}}, {{500001, 1}}, {{UINT64_MAX, 1}}, {{1, UINT64_MAX}}, {{0, 500001}}};
	for (size_t i = 0; i < WS_LEN(at); i++) {
		assert_fails(reads(&w, at[i], 1), w.err, WS_ERR_FETCH);
	}
	assert_int_equal(ws_served_count(&w.s, ""), 1);
}

static bool
refuse(void *self, const void *bytes WS_UNUSED, size_t len WS_UNUSED, struct ws_err *err)
{
	unsigned *calls = self;
	(*calls)++;
	return ws_err_set(err, WS_ERR_IO, "enough");
}

WS_TEST(the_taker_can_end_it)
{
	AUTO_WORLD struct world w = make_world(a);
	assert_int_equal(open_remote(&w, "~late=1", 10000), WS_RANGES_OPEN);
	unsigned calls = 0;
	struct ws_span spans[2] = {{.offset = 0, .len = 300000, .take = refuse, .self = &calls},
		{.offset = 1, .len = 300000, .take = refuse, .self = &calls}};
	assert_fails(w.r.source.read(&w.r.source, spans, 2, &w.err), w.err, WS_ERR_IO);
	assert_string_equal(w.err.text, "enough");
	assert_int_equal(calls, 1);
}
