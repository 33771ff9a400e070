/* test_publish_login.c - logins of files and of netrc, and the spellings in which one may come
 * back. */
#include "test.h"

#include "publish/login.h"

WS_TEST(a_file_has_a_user_and_a_password_or_a_token)
{
	static const struct {
		const char *text, *user, *password;
	} cases[] = {
		{"alice\nsesame\n", "alice", "sesame"},
		{" alice \r\n sesame \r\nmore", "alice", "sesame"},
		{"token", "__token__", "token"},
		{"token\n\n", "__token__", "token"},
		{"\nsesame\n", NULL, NULL},
		{"", NULL, NULL},
		{"ali\rce\nsesame\n", NULL, NULL},
		{"alice\nses\001ame\n", NULL, NULL},
	};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		struct ws_login login = {0};
		struct ws_err err = {0};
		bool read = ws_login_read(ws_str_of(cases[i].text), "login", a, &login, &err);
		assert_int_equal(read, cases[i].user != NULL);
		if (read) {
			assert_string_equal(login.user, cases[i].user);
			assert_string_equal(login.password, cases[i].password);
		} else {
			assert_int_equal(err.kind, WS_ERR_CONFIG);
			assert_null(strstr(err.text, "sesame"));
		}
	}
}

WS_TEST(of_netrc_the_first_entry_for_the_host_counts)
{
	static const struct {
		const char *text, *user, *password;
	} cases[] = {
		{"machine h.example login alice password sesame", "alice", "sesame"},
		{"machine H.Example\n\tlogin alice\n\tpassword sesame\n", "alice", "sesame"},
		{"machine other login bob password open\nmachine h.example login alice password sesame",
			"alice", "sesame"},
		{"machine h.example login alice password one\nmachine h.example login bob password two",
			"alice", "one"},
		{"machine h.example password sesame", NULL, "sesame"},
		{"default login alice password sesame", "alice", "sesame"},
		{"machine other login bob password open\ndefault login alice password sesame", "alice",
			"sesame"},
		{"machine h.example login \"a b\" password \"se \\\"same\\\\\"", "a b", "se \"same\\"},
		{"# machine h.example login x password y\nmachine h.example login alice password sesame",
			"alice", "sesame"},
		{"macdef init\ncd machine h.example login x password y\n\nmachine h.example login alice "
		 "password sesame",
			"alice", "sesame"},
		{"machine h.example login alice account x password sesame", "alice", "sesame"},
		{"machine other login bob password open", NULL, NULL},
		{"machine h.example login alice", NULL, NULL},
		{"machine h.example login alice password", NULL, NULL},
		{"machine h.example.org login alice password sesame", NULL, NULL},
		{"machine", NULL, NULL},
		{"macdef x", NULL, NULL},
		{"\"", NULL, NULL},
		{"", NULL, NULL},
	};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		struct ws_login login;
		bool found = ws_login_find_netrc(ws_str_of(cases[i].text), "h.example", a, &login);
		assert_int_equal(found, cases[i].password != NULL);
		if (found) {
			assert_true(ws_same(login.user, cases[i].user));
			assert_string_equal(login.password, cases[i].password);
		}
	}
}

WS_TEST(a_password_is_known_again_in_each_spelling)
{
	const struct ws_login login = {"alice", "s<e&same 1"};
	static const char *const has[] = {"no: s<e&same 1!", "no: s&lt;e&amp;same 1",
		"x=s%3Ce%26same%201&y", "Authorization: Basic YWxpY2U6czxlJnNhbWUgMQ=="};
	static const char *const has_not[] = {"", "no", "s<e&sam", "alice"};
	for (size_t i = 0; i < WS_LEN(has); i++) {
		assert_true(ws_login_is_in(&login, has[i], a));
	}
	for (size_t i = 0; i < WS_LEN(has_not); i++) {
		assert_false(ws_login_is_in(&login, has_not[i], a));
	}
	const struct ws_login none = {"alice", NULL}, empty = {"alice", ""};
	assert_false(ws_login_is_in(&none, "alice", a));
	assert_false(ws_login_is_in(&empty, "alice", a));
}
