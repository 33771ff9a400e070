/* test_wheel_record_file.c - RECORD written, read, and refused. */
#include "test.h"

#include "wheel/record_file.h"

#include <inttypes.h>

#define HELLO "sha256=LPJNul-wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ" /* of "hello" */

/* Lines read, as "path digest size\n". */
static bool
note(void *self, const struct ws_record_entry *entry, struct ws_err *err WS_UNUSED)
{
	ws_buf_printf(
		self, "%.*s %.8s %" PRIu64 "\n", WS_STR_ARGS(entry->path), entry->digest.hex, entry->size);
	return true;
}

static bool
stop(void *self WS_UNUSED, const struct ws_record_entry *entry WS_UNUSED, struct ws_err *err)
{
	return ws_err_set(err, WS_ERR_VERIFY, "enough");
}

WS_TEST_ERR(lines_are_read_in_order)
{
	static const char text[] = "a/b.py," HELLO ",5\r\n"
							   "\"odd, \"\"name\"\".py\"," HELLO ",5\n"
							   "x-1.dist-info/RECORD.jws,,\n"
							   "x-1.dist-info/RECORD,,";
	WS_AUTO_BUF struct ws_buf read = {0};
	assert_ok(ws_record_read(ws_str_of(text), false, a, note, &read, &err), err);
	assert_string_equal(ws_buf_text(&read),
		"a/b.py 2cf24dba 5\n"
		"odd, \"name\".py 2cf24dba 5\n"
		"x-1.dist-info/RECORD.jws  0\n"
		"x-1.dist-info/RECORD  0\n");
}

static bool
keep_path(void *self, const struct ws_record_entry *entry, struct ws_err *err WS_UNUSED)
{
	*(const char **)self = entry->path.s;
	return true;
}

WS_TEST_ERR(a_plain_path_is_a_view_of_the_text)
{
	static const char text[] = "a.py," HELLO ",5\n";
	const char *path = NULL;
	assert_ok(ws_record_read(ws_str_of(text), false, a, keep_path, &path, &err), err);
	assert_ptr_equal(path, text);
}

WS_TEST_ERR(the_taker_may_end_it)
{
	static const char text[] = "a.py," HELLO ",5\nno line\n";
	assert_fails(ws_record_read(ws_str_of(text), false, a, stop, NULL, &err), err, WS_ERR_VERIFY);
	assert_ok(ws_record_read(ws_str_of(""), false, a, stop, NULL, &err), err);
}

WS_TEST_ERR(a_written_record_is_read_again)
{
	static const char *const paths[] = {"a.py", "a,b.py", "say \"hi\".txt", "\"", ","};
	WS_AUTO_BUF struct ws_buf record = {0};
	struct ws_digest digest = ws_digest_bytes("hello", 5);
	for (size_t i = 0; i < WS_LEN(paths); i++) {
		ws_record_add(&record, paths[i], &digest, UINT64_MAX - i);
	}
	ws_record_add(&record, "a-1.dist-info/RECORD", NULL, 0);
	assert_ptr_equal(strstr(ws_buf_text(&record), "a.py," HELLO ",18446744073709551615\n"),
		ws_buf_text(&record));
	WS_AUTO_BUF struct ws_buf read = {0};
	assert_ok(ws_record_read(ws_buf_str(&record), false, a, note, &read, &err), err);
	assert_string_equal(ws_buf_text(&read),
		"a.py 2cf24dba 18446744073709551615\n"
		"a,b.py 2cf24dba 18446744073709551614\n"
		"say \"hi\".txt 2cf24dba 18446744073709551613\n"
		"\" 2cf24dba 18446744073709551612\n"
		", 2cf24dba 18446744073709551611\n"
		"a-1.dist-info/RECORD  0\n");
}

WS_TEST(digests_of_every_value_come_back)
{
	for (unsigned i = 0; i < 200; i++) {
		struct ws_digest digest = ws_digest_bytes(&i, sizeof(i));
		WS_AUTO_BUF struct ws_buf record = {0};
		ws_record_add(&record, digest.hex, &digest, i);
		WS_AUTO_BUF struct ws_buf read = {0};
		struct ws_err err;
		assert_ok(ws_record_read(ws_buf_str(&record), false, a, note, &read, &err), err);
		assert_string_equal(
			ws_buf_text(&read), ws_arena_printf(a, "%s %.8s %u\n", digest.hex, digest.hex, i));
	}
}

WS_TEST(strange_lines_are_refused)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
		{"a.py\n", "three fields"},
		{"a.py," HELLO "\n", "three fields"},
		{"a.py," HELLO ",5,\n", "three fields"},
		{"a.py," HELLO ",5 \n", "no size"},
		{"a.py," HELLO ",-5\n", "no size"},
		{"a.py," HELLO ",18446744073709551616\n", "no size"},
		{"a.py," HELLO ",\n", "no size"},
		{"a.py,,\n", "no SHA-256"},
		{"a.py,,5\n", "no SHA-256"},
		{"a.py,md5=XUFAKrxLKna5cZ2REBfFkg,5\n", "no SHA-256"},
		{"a.py," HELLO "=,5\n", "no SHA-256"},
		{"a.py,sha256=LPJNul-wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCR,5\n", "no SHA-256"},
		{"a.py,sha256=LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ,5\n", "no SHA-256"},
		{"a.py,SHA256=LPJNul-wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ,5\n", "no SHA-256"},
		{"../a.py," HELLO ",5\n", "no path"},
		{"/a.py," HELLO ",5\n", "no path"},
		{"a\\b.py," HELLO ",5\n", "no path"},
		{"," HELLO ",5\n", "no path"},
		{"\"a\nb\"," HELLO ",5\n", "no path"},
		{"\n", "three fields"},
		{"\"a.py," HELLO ",5\n", "three fields"},
		{"a\"b\".py," HELLO ",5\n", "three fields"},
		{"\"a\"b," HELLO ",5\n", "three fields"},
		{"a.py," HELLO ",5\ra.py," HELLO ",5\n", "three fields"},
		{"deep/x-1.dist-info/RECORD,,\n", "no SHA-256"},
		{".dist-info/RECORD,,\n", "no SHA-256"},
	};
	for (size_t i = 0; i < WS_LEN(bad); i++) {
		const char *text = ws_arena_printf(a, "ok.py," HELLO ",5\n%s", bad[i].text);
		WS_AUTO_BUF struct ws_buf read = {0};
		struct ws_err err = {0};
		if (ws_record_read(ws_str_of(text), false, a, note, &read, &err)) {
			fail_msg("taken: %s", bad[i].text);
		}
		assert_int_equal(err.kind, WS_ERR_FETCH);
		assert_contains(err.text, "line 2 of RECORD");
		assert_contains(err.text, bad[i].why);
	}
}

WS_TEST_ERR(paths_of_any_length_end_somewhere)
{
	WS_AUTO_BUF struct ws_buf record = {0};
	ws_buf_putc(&record, '"');
	for (int i = 0; i < 100000; i++) {
		ws_buf_puts(&record, "a");
	}
	ws_buf_puts(&record, "\"," HELLO ",5\n");
	WS_AUTO_BUF struct ws_buf read = {0};
	assert_fails(
		ws_record_read(ws_buf_str(&record), false, a, note, &read, &err), err, WS_ERR_FETCH);
	struct ws_str cut = ws_buf_str(&record);
	for (size_t n = 0; n < 40; n++) { /* no byte beyond the view is looked at */
		cut.n = n;
		ws_record_read(cut, false, a, note, &read, &err);
	}
}
