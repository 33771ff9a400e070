/* test_net_text.c - URLs and heads of replies as text, bodies of requests from memory and files. */
#include "test.h"

#include "base/crypto.h"
#include "base/fs.h"
#include "net/message.h"
#include "net/url.h"

WS_TEST(a_url_is_taken_apart)
{
	struct ws_url url;
	struct ws_err err;
	assert_ok(
		ws_url_parse("https://me:s%40cret@Example.com/a/../b%2B1?q=1#sha256=00", a, &url, &err),
		err);
	assert_string_equal(url.plain, "https://Example.com/b%2B1?q=1");
	assert_string_equal(url.origin, "https://example.com:443");
	assert_string_equal(url.host, "example.com");
	assert_string_equal(url.user, "me");
	assert_string_equal(url.password, "s@cret");
	assert_true(url.is_https);
	assert_ok(ws_url_parse("http://token@h:8080/x", a, &url, &err), err);
	assert_string_equal(url.origin, "http://h:8080");
	assert_string_equal(url.user, "token");
	assert_string_equal(url.password, "");
	assert_ok(ws_url_parse("http://h/", a, &url, &err), err);
	assert_null(url.user);
	assert_null(url.password);
}

WS_TEST(only_http_and_https_are_urls)
{
	static const char *const bad[] = {"", "/etc/passwd", "file:///etc/passwd", "ftp://h/x",
		"http://", "https://h:99999/", "https://me:p%00w@h/", "gopher://h/"};
	struct ws_url url;
	struct ws_err err;
	for (size_t i = 0; i < WS_LEN(bad); i++) {
		if (ws_url_parse(bad[i], a, &url, &err)) {
			fail_msg("'%s' was taken", bad[i]);
		}
		assert_int_equal(err.kind, WS_ERR_CONFIG);
	}
}

WS_TEST(references_are_joined)
{
	static const char *const cases[][3] = {
		{"https://h/simple/torch/", "../../files/a%2Bb.whl#sha256=1",
			"https://h/files/a%2Bb.whl#sha256=1"},
		{"https://h/simple/torch/", "/whl/x", "https://h/whl/x"},
		{"https://h/simple/torch/", "//other/x", "https://other/x"},
		{"https://h/simple/torch", "x", "https://h/simple/x"},
		{"https://h/simple/torch/", "http://o/x y", "http://o/x%20y"},
		{"https://h/a/?b", "c", "https://h/a/c"},
		{"https://h/", "javascript:alert(1)", NULL},
		{"https://h/", "file:///etc/passwd", NULL},
	};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		const char *joined = ws_url_join(cases[i][0], cases[i][1], a);
		if (cases[i][2]) {
			assert_non_null(joined);
			assert_string_equal(joined, cases[i][2]);
		} else if (joined) {
			/* As a path below the base it is harmless. */
			assert_true(ws_starts_with(joined, "https://h/"));
		}
	}
}

WS_TEST(a_shown_url_holds_no_secret)
{
	static const char *const cases[][2] = {
		{"https://me:secret@h/simple/", "https://h/simple/"},
		{"https://secret@h/simple/", "https://h/simple/"},
		{"https://h/f.whl?X-Sig=secret", "https://h/f.whl?..."},
		{"https://me:sec/ret@h/simple/", "https://h/simple/"},
		{"https://me:sec#ret@h/simple/", "https://h/simple/"},
		{"https://me:sec@ret@h/simple/", "https://h/simple/"},
		{"https://me:secret@h", "https://h"},
		{"https://h:8080/@scope/x", "https://h:8080/@scope/x"},
		{"https://[::1]:80/a@b", "https://[::1]:80/a@b"},
		{"me:secret@h/simple", "h/simple"},
		{"me:1/secret@h/simple", "h/simple"},
		{"http:/me:secret@h/simple", "http:/h/simple"},
		{"HTTPS:///me:secret@h/simple", "HTTPS:///h/simple"},
		{"http:me:secret@h/simple", "h/simple"},
		{"http:\\\\me:secret@h/simple", "h/simple"},
		{"https://me:/secret@h/simple", "https://h/simple"},
		{"https:/h/f.whl?X-Sig=secret", "https:/h/f.whl?..."},
		{"file:///me@h/x?y", "file:///me@h/x?..."},
		{"nonsense", "nonsense"},
		{"simple/../x", "simple/../x"},
	};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		assert_string_equal(ws_url_shown(cases[i][0], a), cases[i][1]);
		assert_int_equal(ws_url_has_login(cases[i][0]),
			!!strstr(cases[i][0], "secret@") || !!strstr(cases[i][0], "ret@h"));
	}
	struct ws_url url;
	struct ws_err err;
	assert_false(ws_url_parse("htp://me:secret@h/", a, &url, &err));
	assert_null(strstr(err.text, "secret"));
	/* a shown URL has no login, also where only libcurl finds one. */
	assert_ok(ws_url_parse("http:/me:secret@h/simple", a, &url, &err), err);
	assert_string_equal(url.password, "secret");
}

WS_TEST(a_published_url_ends_with_the_path)
{
	static const char *const cases[][2] = {
		{"https://me:secret@h/x.tar.gz?token=secret#sha256=0", "https://h/x.tar.gz"},
		{"https://h/x.git#secret", "https://h/x.git"},
		{"https://h", "https://h"},
	};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		assert_string_equal(ws_url_bare(cases[i][0], a), cases[i][1]);
	}
}

WS_TEST(file_names_are_decoded)
{
	assert_string_equal(ws_url_file_name("https://h/w/torch-2.5.1%2Bcu124-x.whl?x=/y#z/", a),
		"torch-2.5.1+cu124-x.whl");
	assert_string_equal(ws_url_file_name("https://h/", a), "");
	assert_string_equal(ws_url_file_name("https://h", a), "");
	assert_string_equal(ws_url_file_name("https://h/a%2", a), "a%2");
	assert_string_equal(ws_url_file_name("https://h/a%zzb%00%41", a), "a%zzb%00A");
}

static struct ws_reply
reply_of(const char *head)
{
	struct ws_reply reply = {0};
	struct ws_str rest = ws_str_of(head);
	while (rest.s) {
		ws_reply_add(&reply, ws_str_cut(&rest, '\n'));
	}
	return reply;
}

WS_TEST(a_head_is_understood)
{
	struct ws_reply reply = reply_of("HTTP/1.1 100 Continue\nETag: \"old\"\n"
									 "HTTP/2 206\r\ncontent-TYPE:  Text/HTML; charset=x\r\n"
									 "Content-Range: bytes 5-9/10\r\nContent-Length: 5\r\n"
									 "ETag: \"abc\"\r\nContent-Encoding: Identity\r\n"
									 "Last-Modified: Sat, 21 Nov 2026 13:00:00 GMT\r\n");
	assert_int_equal(reply.status, 206);
	assert_string_equal(reply.type, "text/html");
	assert_string_equal(reply.encoding, "");
	assert_string_equal(ws_reply_validator(&reply), "\"abc\"");
	assert_true(ws_reply_is_range(&reply, 5, 9, 10));
	assert_true(ws_reply_is_range(&reply, 5, 9, UINT64_MAX));
	assert_false(ws_reply_is_range(&reply, 5, 9, 11));
	assert_false(ws_reply_is_range(&reply, 5, 8, 10));
	assert_false(ws_reply_is_range(&reply, 4, 9, 10));
	assert_true(reply.has_length && reply.length_bytes == 5);
}

WS_TEST(weak_tags_are_not_validators)
{
	struct ws_reply reply = reply_of("HTTP/1.1 200 OK\nETag: W/\"abc\"\nLast-Modified: then\n");
	assert_string_equal(ws_reply_validator(&reply), "then");
	reply = reply_of("HTTP/1.1 200 OK\n");
	assert_string_equal(ws_reply_validator(&reply), "");
}

WS_TEST(nonsense_in_a_head_counts_as_absent)
{
	static const char *const ranges[] = {"bytes 5-4/10", "bytes 5-10/10", "bytes -5/10",
		"bytes 0-99999999999999999999/100", "bytes */10", "items 0-1/2", "bytes", "bytes 0-1",
		"bytes 0-1/", "bytes 0x1-2/3", ""};
	for (size_t i = 0; i < WS_LEN(ranges); i++) {
		struct ws_reply reply = {.status = 206};
		char line[100];
		snprintf(line, sizeof(line), "Content-Range: %s", ranges[i]);
		ws_reply_add(&reply, ws_str_of(line));
		if (reply.has_range) {
			fail_msg("'%s' was taken", line);
		}
	}
	struct ws_reply reply = reply_of("HTTP/1.1 206 x\nContent-Range: bytes 0-1/*\n"
									 "Content-Length: -1\n: x\nno colon\n\n");
	assert_true(reply.has_range && reply.range_total == UINT64_MAX);
	assert_false(ws_reply_is_range(&reply, 0, 1, UINT64_MAX));
	assert_false(reply.has_length);
	char longer[400];
	memset(longer, 'e', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	memcpy(longer, "ETag: \"", 7);
	ws_reply_add(&reply, ws_str_of(longer));
	assert_string_equal(reply.etag, "");
	ws_reply_add(&reply, ws_str_of("HTTP/1.1 abc"));
	assert_int_equal(reply.status, 0);
}

/* ---- the body of a request ---- */

/* Reads @a room bytes at a time; returns how many came, and in @a last the last result. */
static size_t
read_all(struct ws_body_reader *r, size_t room, char *to, ptrdiff_t *last)
{
	size_t all = 0;
	while ((*last = ws_body_read(r, to + all, room)) > 0) {
		all += (size_t)*last;
	}
	return all;
}

WS_TEST(a_body_is_read_whole_and_again_after_a_rewind)
{
	struct ws_err err;
	const char *path = ws_path_join(a, ws_test_dir(a), "file", NULL);
	assert_ok(ws_fs_write(path, "0123456789", 10, 0600, &err), err);
	struct ws_digest digest = ws_digest_bytes("23456", 5);
	const struct ws_body bodies[] = {
		{.bytes = "23456", .length_bytes = 5},
		{.path = path, .offset = 2, .length_bytes = 5},
		{.path = path, .offset = 2, .length_bytes = 5, .sha256 = digest.hex},
	};
	for (size_t i = 0; i < WS_LEN(bodies); i++) {
		for (size_t room = 1; room < 7; room++) {
			struct ws_body_reader r = {.body = &bodies[i], .fd = -1};
			char text[32] = "";
			ptrdiff_t last;
			ws_body_read(&r, text, room);
			ws_body_rewind(&r);
			assert_int_equal(read_all(&r, room, text, &last), 5);
			assert_int_equal(last, 0);
			assert_memory_equal(text, "23456", 5);
			ws_body_rewind(&r);
		}
	}
}

WS_TEST(the_end_of_a_changed_file_is_not_sent)
{
	struct ws_err err;
	const char *path = ws_path_join(a, ws_test_dir(a), "file", NULL);
	assert_ok(ws_fs_write(path, "0123456789", 10, 0600, &err), err);
	struct ws_digest digest = ws_digest_bytes("0123456780", 10);
	const struct ws_body body = {.path = path, .length_bytes = 10, .sha256 = digest.hex};
	for (size_t room = 1; room < 12; room++) {
		struct ws_body_reader r = {.body = &body, .fd = -1};
		char text[32] = "";
		ptrdiff_t last;
		assert_true(read_all(&r, room, text, &last) < 10);
		assert_int_equal(last, -1);
		ws_body_rewind(&r);
	}
}
