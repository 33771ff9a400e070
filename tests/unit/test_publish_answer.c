/* test_publish_answer.c - what of a server's answer is quoted, and which answers are pages for
 * people. */
#include "test.h"

#include "publish/answer.h"

static const char *
quote(const char *answer, const struct ws_login *login, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_err *err = WS_NEW(a, struct ws_err);
	ws_buf_puts(&text, answer);
	ws_err_set(err, WS_ERR_PUBLISH, "refused");
	ws_answer_quote(&text, login, a, err);
	size_t len = strlen(err->cure);
	return len > 0 ? ws_arena_copy(a, err->cure, len - 1) : NULL;
}

WS_TEST(the_first_words_are_quoted_without_markup_and_scripts)
{
	static const char *const cases[][2] = {
		{"no, thank you", "the server says: no, thank you"},
		{"<html><head><title>409</title></head><body><p>File\n already\texists</p></body></html>",
			"the server says: File already exists"},
		{"<STYLE>b {}</STYLE><script>alert(1)</script>it exists", "the server says: it exists"},
		{"<?xml version='1.0'?><Error><Code>NoSuchBucket</Code><Message>gone</Message></Error>",
			"the server says: NoSuchBucket gone"},
		{"caf\xc3\xa9 \x1b[31mred", "the server says: caf?? [31mred"},
		{"", NULL},
		{" \n<br/>", NULL},
		{"<script>never ends", NULL},
	};
	const struct ws_login none = {NULL, NULL};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		const char *said = quote(cases[i][0], &none, a);
		assert_true(ws_same(said, cases[i][1]));
	}
	WS_AUTO_BUF struct ws_buf many = {0};
	for (int i = 0; i < 1000; i++) {
		ws_buf_puts(&many, "word ");
	}
	assert_in_range(strlen(quote(ws_buf_text(&many), &none, a)), 200, 230);
}

WS_TEST(words_with_the_login_in_them_are_not_quoted)
{
	const struct ws_login login = {"alice", "sesame"};
	assert_string_equal(quote("your password sesame is wrong", &login, a),
		"the server says something with the login in it, which is not shown");
	/* Also where it stands behind what would be shown, or in what a browser hides. */
	assert_non_null(strstr(quote("<head>sesame</head>refused", &login, a), "which is not shown"));
	assert_string_equal(quote("alice may not", &login, a), "the server says: alice may not");
}

WS_TEST(a_page_is_html_with_something_on_it)
{
	static const struct {
		const char *text, *type;
		bool is_page;
	} cases[] = {
		{"<html><body>Sign in</body></html>", "text/html", true},
		{"Sign in", "text/html", true},
		{"\n <!DOCTYPE HTML><title>x</title>", "", true},
		{"<HTML>", "text/plain", true},
		{"", "text/html", false},
		{" \r\n", "text/html", false},
		{"OK", "text/plain", false},
		{"{\"message\": \"201 Created\"}", "application/json", false},
		{"<?xml version='1.0'?><ok/>", "application/xml", false},
	};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		WS_AUTO_BUF struct ws_buf text = {0};
		ws_buf_puts(&text, cases[i].text);
		assert_int_equal(ws_answer_is_page(&text, cases[i].type), cases[i].is_page);
	}
}
