/* test_base_json.c - what is read, where it stands, and what each mistake is reported as. */
#include "test.h"

#include "base/fs.h"
#include "base/json.h"

#include <time.h>

static struct ws_json_doc
parse(const char *text, enum ws_json_flags flags, struct ws_arena *a)
{
	struct ws_json_doc doc;
	struct ws_err err = {0};
	assert_ok(ws_json_parse("x.json", text, strlen(text), flags, a, &doc, &err), err);
	return doc;
}

WS_TEST(every_kind_has_its_place)
{
	const char *text =
		"{\"n\": null, \"b\": true, \"d\": -1.50e+3, \"s\": \"a\\u00e4\\n\", \"l\": [1, []]}";
	struct ws_json_doc doc = parse(text, WS_JSON_STRICT, a);
	assert_int_equal(doc.root->count, 5);
	assert_int_equal(ws_json_find(doc.root, "n")->kind, WS_JSON_NULL);
	assert_true(ws_json_find(doc.root, "b")->truth);
	assert_string_equal(ws_json_find(doc.root, "d")->text, "-1.50e+3");
	assert_string_equal(ws_json_text(doc.root, "s"), "a\xc3\xa4\n");
	const struct ws_json *s = ws_json_find(doc.root, "s");
	assert_string_equal(s->key, "s");
	assert_memory_equal(text + s->key_offset, "\"s\"", 3);
	assert_memory_equal(text + s->offset, "\"a\\u00e4\\n\"", s->len);
	const struct ws_json *list = ws_json_find(doc.root, "l");
	assert_int_equal(list->count, 2);
	assert_memory_equal(text + list->offset, "[1, []]", list->len);
	assert_int_equal(list->first->next->kind, WS_JSON_ARRAY);
	assert_null(list->first->key);
	assert_null(ws_json_find(list, "n"));
	assert_null(ws_json_find(NULL, "n"));
	assert_null(ws_json_text(doc.root, "l"));
}

WS_TEST(integers_keep_all_their_digits)
{
	struct ws_json_doc doc = parse("{\"a\": 18446744073709551615, \"b\": 1.0, \"c\": 2.10}", 0, a);
	uint64_t value = 0;
	assert_true(ws_json_u64(doc.root, "a", &value));
	assert_true(value == UINT64_MAX);
	assert_false(ws_json_u64(doc.root, "b", &value));
	assert_string_equal(ws_json_find(doc.root, "c")->text, "2.10");
}

WS_TEST_ERR(comments_and_trailing_commas_are_relaxed_only)
{
	const char *text = "// one\n{\"a\": [1, /* two */ 2,], \"b\": \"//no\", // three\n}\n/**/";
	struct ws_json_doc doc = parse(text, WS_JSON_RELAXED, a);
	assert_int_equal(ws_json_find(doc.root, "a")->count, 2);
	assert_string_equal(ws_json_text(doc.root, "b"), "//no");
	assert_memory_equal(doc.text + ws_json_find(doc.root, "a")->first->next->offset, "2,]", 3);
	assert_fails(ws_json_parse("x", text, strlen(text), 0, a, &doc, &err), err, WS_ERR_CONFIG);
	assert_contains(err.text, "comment where plain JSON is wanted");
}

WS_TEST(a_byte_order_mark_is_skipped)
{
	struct ws_json_doc doc = parse("\xef\xbb\xbf[1]", WS_JSON_STRICT, a);
	assert_int_equal(doc.root->offset, 0);
	assert_string_equal(doc.text, "[1]");
}

/* text -> the one line, where, and the cure (NULL: none). */
static const struct mistake {
	const char *text;
	const char *place, *line, *cure;
} strict_mistakes[] = {
	{"", "1:1", "expected a value, found the end of the text", NULL},
	{"[1 2]", "1:4", "expected ',' or ']', found '2'", NULL},
	{"[1", "1:3", "expected ',' or ']', found the end of the text",
		"the '[' at x:1:1 is not closed"},
	{"{\"a\": {\"b\": 1\n", "2:1", "expected ',' or '}', found the end of the text",
		"the '{' at x:1:7 is not closed"},
	{"{\"a\" 1}", "1:6", "expected ':' after the key, found '1'", NULL},
	{"{a: 1}", "1:2", "expected a key in double quotes or '}', found 'a'", NULL},
	{"{\"a\": 1,}", "1:8", "comma after the last value", NULL},
	{"{\"a\": 1, 2}", "1:10", "expected a key in double quotes, found '2'", NULL},
	{"[1,]", "1:3", "comma after the last value", NULL},
	{"[,]", "1:2", "expected a value, found ','", NULL},
	{"{\"a\": 1 \"b\": 2}", "1:9", "expected ',' or '}', found a string", NULL},
	{"[1]]", "1:4", "expected the end of the text, found ']'", NULL},
	{"[True]", "1:2", "expected a value, found 'True'", "write true in lower case"},
	{"['x']", "1:2", "expected a value, found '''", "use double quotes for strings"},
	{"[nan]", "1:2", "expected a value, found 'nan'", "use double quotes for strings"},
	{"[2.5.1]", "1:2", "'2.5.1' is not a number", "write \"2.5.1\" in quotes if it is a text"},
	{"[01]", "1:2", "'01' is not a number", NULL},
	{"[1.]", "1:2", "'1.' is not a number", NULL},
	{"[+1]", "1:2", "'+1' is not a number", NULL},
	{"[-]", "1:2", "'-' is not a number", NULL},
	{"[1e]", "1:2", "'1e' is not a number", NULL},
	{"[\"ab", "1:2", "string is not closed on its line", NULL},
	{"[\"ab\n\"]", "1:2", "string is not closed on its line", NULL},
	{"[\"a\tb\"]", "1:4", "control character 0x09 in a string", "write \\u0009"},
	{"[\"a\\qb\"]", "1:4", "unknown escape in a string", "a backslash itself is written \\\\"},
	{"[\"\\u12g4\"]", "1:3", "expected four hexadecimal digits after '\\u'", NULL},
	{"[\"\\u0000\"]", "1:3", "'\\u0000' is not allowed in a text", NULL},
	{"[\"\\ud800\"]", "1:3", "'\\ud800' is the first half of a character without its second", NULL},
	{"[\"\\ud800\\u0041\"]", "1:3", "'\\ud800' is the first half of a character without", NULL},
	{"[\"\\udc00\"]", "1:3", "'\\udc00' is the second half of a character without its first", NULL},
	{"[\"\xff\"]", "1:3", "byte 0xff is not UTF-8", NULL},
	{"[\"\xed\xa0\x80\"]", "1:3", "byte 0xed is not UTF-8", NULL},
	{"[\"\xc0\x80\"]", "1:3", "byte 0xc0 is not UTF-8", NULL},
	{"[\x01]", "1:2", "expected a value, found byte 0x01", NULL},
	{"[\xc3\xa4]", "1:2", "expected a value, found '\xc3\xa4'", NULL},
	{"[/ 1]", "1:2", "expected '//' or '/*', found a single '/'", NULL},
	{"[/* 1]", "1:2", "comment is not closed", NULL},
	{"{\"a\": 1,\n \"b\": 2, \"\\u0061\": 3}", "2:10", "key 'a' is repeated",
		"the first is at x:1:2"},
	{"[{\"a\": {\"b\": 1, \"b\": 2}}]", "1:17", "key 'b' is repeated", "the first is at x:1:9"},
};

WS_TEST(mistakes_say_what_was_expected_and_where)
{
	for (size_t i = 0; i < WS_LEN(strict_mistakes); i++) {
		const struct mistake *m = &strict_mistakes[i];
		struct ws_json_doc doc;
		struct ws_err err = {0};
		bool parsed = ws_json_parse("x", m->text, strlen(m->text), WS_JSON_STRICT, a, &doc, &err);
		if (parsed || err.kind != WS_ERR_CONFIG) {
			fail_msg("%s: kind %d, %s", m->text, (int)err.kind, err.text);
		}
		assert_contains(err.text, m->line);
		assert_string_equal(err.place, ws_arena_printf(a, "x:%s", m->place));
		assert_contains(err.excerpt, "^");
		if (m->cure) {
			assert_contains(err.cure, m->cure);
		}
		/* The same without anybody to tell. */
		assert_false(ws_json_parse("x", m->text, strlen(m->text), WS_JSON_STRICT, a, &doc, NULL));
	}
}

WS_TEST_ERR(nul_bytes_are_mistakes)
{
	struct ws_json_doc doc;
	assert_fails(ws_json_parse("x", "[1]\0", 4, WS_JSON_STRICT, a, &doc, &err), err, WS_ERR_CONFIG);
	assert_string_equal(err.text, "NUL byte");
	assert_string_equal(err.place, "x:1:4");
}

static char *
nested(size_t depth, struct ws_arena *a)
{
	char *text = ws_arena_alloc(a, 2 * depth + 1);
	memset(text, '[', depth);
	memset(text + depth, ']', depth);
	return text;
}

WS_TEST_ERR(depth_is_limited)
{
	struct ws_json_doc doc;
	parse(nested(100, a), WS_JSON_STRICT, a);
	assert_fails(ws_json_parse("x", nested(101, a), 202, 0, a, &doc, &err), err, WS_ERR_CONFIG);
	assert_string_equal(err.text, "nested more than 100 deep");
	char *deep = nested(5000000, a);
	assert_fails(ws_json_parse("x", deep, 5000000, 0, a, &doc, &err), err, WS_ERR_CONFIG);
}

WS_TEST(a_number_of_any_length_keeps_its_digits)
{
	char text[100 + 3] = "[";
	memset(text + 1, '7', 100);
	strcpy(text + 101, "]");
	struct ws_json_doc doc = parse(text, WS_JSON_STRICT, a);
	assert_memory_equal(doc.root->first->text, text + 1, 100);
	assert_int_equal(strlen(doc.root->first->text), 100);
}

WS_TEST(escapes_become_the_characters_that_they_stand_for)
{
	static const struct {
		const char *text, *value;
	} cases[] = {
		{"[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"]", "\"\\/\b\f\n\r\t"},
		{"[\"\\u0041\\u007f\\u0080\\u07ff\"]", "A\x7f\xc2\x80\xdf\xbf"},
		{"[\"\\u0800\\uFFFD\\ud7ff\"]", "\xe0\xa0\x80\xef\xbf\xbd\xed\x9f\xbf"},
		{"[\"\\ud800\\udc00\\uDBFF\\uDFFF!\"]", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf!"},
	};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		struct ws_json_doc doc = parse(cases[i].text, WS_JSON_STRICT, a);
		assert_string_equal(doc.root->first->text, cases[i].value);
	}
}

/* 200,000 keys took 0.2 s; with a comparison of each with each it would be an hour. */
WS_TEST_ERR(many_keys_cost_little)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	ws_buf_puts(&b, "{");
	for (unsigned i = 0; i < 200000; i++) {
		ws_buf_printf(&b, "\"k%u\": 1, ", i * 7919U);
	}
	ws_buf_puts(&b, "\"k0\": 2}");
	struct ws_json_doc doc;
	clock_t start = clock();
	assert_fails(ws_json_parse("x", b.data, b.len, 0, a, &doc, &err), err, WS_ERR_CONFIG);
	assert_contains(err.text, "key 'k0' is repeated");
	assert_true(clock() - start < 5 * CLOCKS_PER_SEC);
}

WS_TEST_ERR(values_are_limited)
{
	size_t len = (size_t)2 * 1000002;
	char *text = ws_arena_alloc(a, len + 1);
	for (size_t i = 0; i < len; i += 2) {
		memcpy(text + i, "1,", 2);
	}
	text[0] = '[';
	text[1] = ' ';
	struct ws_json_doc doc;
	assert_fails(ws_json_parse("x", text, len, 0, a, &doc, &err), err, WS_ERR_CONFIG);
	assert_string_equal(err.text, "more than 1000000 values");
}

WS_TEST_ERR(files_are_named_in_messages)
{
	const char *path = ws_path_join(a, ws_test_dir(a), "m.json", NULL);
	struct ws_json_doc doc;
	assert_ok(ws_fs_write(path, "{\"a\": [1,\n}", 11, 0644, &err), err);
	assert_fails(ws_json_read(path, WS_JSON_RELAXED, a, &doc, &err), err, WS_ERR_CONFIG);
	assert_string_equal(err.place, ws_arena_printf(a, "%s:2:1", path));
	assert_fails(ws_json_read("/nowhere", 0, a, &doc, &err), err, WS_ERR_IO);
}

WS_TEST_ERR(errors_at_values_and_keys)
{
	struct ws_json_doc doc = parse("{\"key\": [\n1], \"q\\\"k\": \"v\"}", 0, a);
	assert_false(ws_json_err(&doc, doc.root->first, &err, "bad %d", 7));
	assert_string_equal(err.text, "bad 7");
	assert_string_equal(err.place, "x.json:1:9");
	assert_string_equal(err.excerpt, "    1 | {\"key\": [\n      |         ^\n");
	assert_false(ws_json_err(&doc, doc.root->first->next, &err, "bad"));
	assert_string_equal(err.excerpt, "    2 | 1], \"q\\\"k\": \"v\"}\n      |             ^~~\n");
	assert_false(ws_json_err_key(&doc, doc.root->first->next, &err, "bad"));
	assert_string_equal(err.excerpt, "    2 | 1], \"q\\\"k\": \"v\"}\n      |     ^~~~~~\n");
}

WS_TEST(utf8_takes_shortest_forms_only)
{
	assert_int_equal(ws_utf8_len("a", 1), 1);
	assert_int_equal(ws_utf8_len("\xc3\xa4", 2), 2);
	assert_int_equal(ws_utf8_len("\xc3\xa4", 1), 0);
	assert_int_equal(ws_utf8_len("\xe2\x82\xac", 3), 3);
	assert_int_equal(ws_utf8_len("\xf0\x9f\x90\x8d", 4), 4);
	assert_int_equal(ws_utf8_len("\xf4\x90\x80\x80", 4), 0);
	assert_int_equal(ws_utf8_len("\xf5\x80\x80\x80", 4), 0);
	assert_int_equal(ws_utf8_len("\xe0\x9f\xbf", 3), 0);
	assert_int_equal(ws_utf8_len("\xf0\x8f\xbf\xbf", 4), 0);
	assert_int_equal(ws_utf8_len("\xed\xa0\x80", 3), 0);
	assert_int_equal(ws_utf8_len("\x80", 1), 0);
	assert_int_equal(ws_utf8_len("", 0), 0);
}
