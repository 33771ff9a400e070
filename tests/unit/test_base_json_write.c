/* test_base_json_write.c - layouts, escapes, exact numbers; what is written is read back. */
#include "test.h"

#include "base/json.h"

static void
write_sample(struct ws_json_writer *w)
{
	const char *texts[] = {"8.0", "9.0"};
	ws_json_open_object(w, NULL);
	ws_json_add_text(w, "schema", "wheelsmith.build/1");
	ws_json_add_u64(w, "most", UINT64_MAX);
	ws_json_add_i64(w, "least", INT64_MIN);
	ws_json_add_texts(w, "archs", texts, 2);
	ws_json_add_texts(w, "none", NULL, 0);
	ws_json_open_list(w, "cells");
	ws_json_open_object(w, NULL);
	ws_json_add_bool(w, "done", true);
	ws_json_add_null(w, "log");
	ws_json_add_text(w, "why", NULL);
	ws_json_close(w);
	ws_json_open_object(w, NULL);
	ws_json_close(w);
	ws_json_close(w);
	ws_json_close(w);
}

WS_TEST(pretty)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	struct ws_json_writer *w = ws_json_begin();
	write_sample(w);
	ws_json_finish(w, WS_JSON_PRETTY, &b);
	assert_string_equal(b.data,
		"{\n"
		"  \"schema\": \"wheelsmith.build/1\",\n"
		"  \"most\": 18446744073709551615,\n"
		"  \"least\": -9223372036854775808,\n"
		"  \"archs\": [\"8.0\", \"9.0\"],\n"
		"  \"none\": [],\n"
		"  \"cells\": [\n"
		"    {\n"
		"      \"done\": true,\n"
		"      \"log\": null,\n"
		"      \"why\": null\n"
		"    },\n"
		"    {}\n"
		"  ]\n"
		"}\n");
}

WS_TEST(compact)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	struct ws_json_writer *w = ws_json_begin();
	write_sample(w);
	ws_buf_puts(&b, "> ");
	ws_json_finish(w, WS_JSON_COMPACT, &b);
	assert_string_equal(b.data,
		"> {\"schema\":\"wheelsmith.build/1\",\"most\":18446744073709551615,"
		"\"least\":-9223372036854775808,\"archs\":[\"8.0\",\"9.0\"],"
		"\"none\":[],\"cells\":[{\"done\":true,\"log\":null,\"why\":null},{}]}");
}

WS_TEST(long_lists_stand_one_below_another)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	struct ws_json_writer *w = ws_json_begin();
	ws_json_open_list(w, NULL);
	for (int i = 0; i < 40; i++) {
		ws_json_add_u64(w, NULL, 100);
	}
	ws_json_close(w);
	ws_json_finish(w, WS_JSON_PRETTY, &b);
	assert_contains(b.data, "[\n  100,\n  100,\n");
}

WS_TEST(a_plain_value_may_stand_alone)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	struct ws_json_writer *w = ws_json_begin();
	ws_json_add_text(w, NULL, "x");
	ws_json_finish(w, WS_JSON_PRETTY, &b);
	assert_string_equal(b.data, "\"x\"\n");
}

WS_TEST_ERR(any_bytes_come_out_as_json)
{
	char text[256];
	for (unsigned i = 1; i < 256; i++) {
		text[i - 1] = (char)i;
	}
	text[255] = '\0';
	WS_AUTO_BUF struct ws_buf b = {0};
	struct ws_json_writer *w = ws_json_begin();
	ws_json_open_object(w, NULL);
	ws_json_add_text(w, "a\"\\\n", text);
	ws_json_add_text(w, "ok", "\xc3\xa4 \xf0\x9f\x90\x8d");
	ws_json_close(w);
	ws_json_finish(w, WS_JSON_COMPACT, &b);

	struct ws_json_doc doc;
	assert_ok(ws_json_parse("x", b.data, b.len, WS_JSON_STRICT, a, &doc, &err), err);
	const char *read = ws_json_text(doc.root, "a\"\\\n");
	assert_memory_equal(read, text, 127);
	assert_int_equal(strlen(read), 127 + 3 * 128);
	assert_memory_equal(read + 127, "\xef\xbf\xbd", 3);
	assert_string_equal(ws_json_text(doc.root, "ok"), "\xc3\xa4 \xf0\x9f\x90\x8d");
}
