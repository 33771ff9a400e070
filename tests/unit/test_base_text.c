/* test_base_text.c - views, buffers, paths as text, suggestions. */
#include "test.h"

#include "base/fs.h"

WS_TEST(cut_walks_every_part)
{
	struct ws_str rest = ws_str_of("a,,bc");
	assert_true(ws_str_is(ws_str_cut(&rest, ','), "a"));
	assert_true(ws_str_is(ws_str_cut(&rest, ','), ""));
	assert_true(ws_str_is(ws_str_cut(&rest, ','), "bc"));
	assert_null(rest.s);
}

WS_TEST(trim_and_compare)
{
	assert_true(ws_str_is(ws_str_trim(ws_str_of(" \tx y\r\n")), "x y"));
	assert_true(ws_str_cmp(ws_str_of("a"), ws_str_of("ab")) < 0);
	assert_true(ws_str_cmp(ws_str_of("b"), ws_str_of("ab")) > 0);
	assert_int_equal(ws_str_cmp(ws_str_of(""), ws_str_of(NULL)), 0);
}

WS_TEST(numbers_do_not_overflow)
{
	uint64_t value = 7;
	assert_true(ws_str_to_u64(ws_str_of("18446744073709551615"), &value));
	assert_true(value == UINT64_MAX);
	assert_false(ws_str_to_u64(ws_str_of("18446744073709551616"), &value));
	assert_false(ws_str_to_u64(ws_str_of(""), &value));
	assert_false(ws_str_to_u64(ws_str_of("-1"), &value));
}

WS_TEST(buffer_grows_and_stays_terminated)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	assert_string_equal(ws_buf_text(&b), "");
	for (int i = 0; i < 1000; i++) {
		ws_buf_printf(&b, "%d,", i);
	}
	assert_int_equal(strlen(b.data), b.len);
	assert_true(ws_ends_with(b.data, "998,999,"));
	ws_buf_clear(&b);
	assert_string_equal(ws_buf_text(&b), "");
}

WS_TEST(words_are_quoted_where_a_shell_would_read_them_otherwise)
{
	static const char *const cases[][2] = {
		{"-DX=1", "-DX=1"},
		{"", "''"},
		{"a b", "'a b'"},
		{"it's", "'it'\\''s'"},
		{"$(rm)`\\\"*", "'$(rm)`\\\"*'"},
		{"~", "'~'"},
	};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		WS_AUTO_BUF struct ws_buf b = {0};
		ws_buf_put_quoted(&b, cases[i][0]);
		assert_string_equal(ws_buf_text(&b), cases[i][1]);
	}
}

WS_TEST(paths_are_normalised_by_text)
{
	assert_string_equal(ws_path_normal(a, "cuda/bin/../include//x.h"), "cuda/include/x.h");
	assert_string_equal(ws_path_normal(a, "./a/./b/"), "a/b");
	assert_string_equal(ws_path_normal(a, "../a/../../b"), "../../b");
	assert_string_equal(ws_path_normal(a, "/../a"), "/a");
	assert_string_equal(ws_path_normal(a, "a/.."), ".");
	assert_string_equal(ws_path_join(a, "a/", "b", NULL), "a/b");
	assert_string_equal(ws_path_join(a, "a", "/b", "c", NULL), "/b/c");
	assert_string_equal(ws_path_dir(a, "/x"), "/");
	assert_string_equal(ws_path_dir(a, "x"), ".");
}

WS_TEST(only_paths_that_stay_inside_are_inside)
{
	assert_true(ws_path_is_inside("a/b.c"));
	assert_true(ws_path_is_inside("a/..b"));
	static const char *const bad[] = {
		"", "/a", "../a", "a/../b", "a//b", "a/", ".", "a/.", "a\nb", "a\\b", "a/.."};
	for (size_t i = 0; i < WS_LEN(bad); i++) {
		assert_false(ws_path_is_inside(bad[i]));
	}
}

WS_TEST(suggestions_are_near)
{
	static const char *const words[] = {"2.5.1", "2.11.0", "packages", "python"};
	assert_string_equal(ws_suggest("2.51", words, WS_LEN(words)), "2.5.1");
	assert_string_equal(ws_suggest("pacakges", words, WS_LEN(words)), "packages");
	assert_string_equal(ws_suggest("Pyhton", words, WS_LEN(words)), "python");
	assert_null(ws_suggest("zebra", words, WS_LEN(words)));
	assert_null(ws_suggest("", words, WS_LEN(words)));
}
