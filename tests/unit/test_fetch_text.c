/* test_fetch_text.c - which git URLs are allowed, and what .gitmodules says. */
#include "test.h"

#include "fetch/source_tree.h"
#include "model/git_url.h"

WS_TEST(urls_are_allowed_by_list)
{
	static const char *const good[] = {"https://github.com/Dao-AILab/flash-attention.git",
		"https://h:8443/x", "https://[2001:db8::1]/x", "http://127.0.0.1:8080/x.git",
		"http://localhost/x", "http://[::1]:80/x", "http://127.1.2.3/x"};
	static const char *const bad[] = {"", "/srv/x.git", "x.git", "host:x.git", "git@h:x.git",
		"git://h/x", "ssh://h/x", "ftp://h/x", "file:///srv/x", "HTTPS://h/x", "https://",
		"https://h", "https://h/", "https:///x", "https://user@h/x", "https://u:p@h/x",
		"https://h/x y", "https://h/x\ny", "https://h/x?y", "https://h/x#y", "https://h/\\x",
		"http://h/x", "http://127.0.0.1.example.org/x", "http://localhost.example.org/x",
		"http://127.0.0/x", "http://1270.0.0.1/x", "http://128.0.0.1/x", "http://[::1].org/x",
		"http://127.0.0.1@h/x", "-u./x", "ext::sh -c x"};
	struct ws_err err = {0};
	for (size_t i = 0; i < WS_LEN(good); i++) {
		assert_ok(ws_git_url_check(good[i], false, &err), err);
	}
	for (size_t i = 0; i < WS_LEN(bad); i++) {
		if (ws_git_url_check(bad[i], false, &err)) {
			fail_msg("allowed: %s", bad[i]);
		}
		assert_int_equal(err.kind, WS_ERR_CONFIG);
		assert_null(strstr(err.text, "u:p"));
	}
	assert_ok(ws_git_url_check("file:///srv/x", true, &err), err);
	assert_fails(ws_git_url_check("file://h/x", true, &err), err, WS_ERR_CONFIG);
	assert_fails(ws_git_url_check("file://x", true, &err), err, WS_ERR_CONFIG);
}

WS_TEST(urls_of_submodules_are_joined)
{
	static const struct {
		const char *base, *reference, *joined;
	} cases[] = {
		{"https://h/a/b.git", "../c.git", "https://h/a/c.git"},
		{"https://h/a/b.git/", "../c.git", "https://h/a/c.git"},
		{"https://h/a/b", "./c", "https://h/a/b/c"},
		{"https://h/a/b.git", "../../other/c.git", "https://h/other/c.git"},
		{"https://h/a/b", "../../../c", NULL},
		{"https://h/a/b/d", "../../c", "https://h/a/c"},
		{"https://h/a", "../", NULL},
		{"https://h/a/b", "../", NULL},
		{"https://h/a/b", "https://g/c", "https://g/c"},
		{"https://h/a/b", ".../c", ".../c"},
	};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		struct ws_err err = {0};
		const char *joined = ws_git_url_join(cases[i].base, cases[i].reference, a, &err);
		if (!cases[i].joined) {
			if (joined) {
				fail_msg("%s + %s = %s", cases[i].base, cases[i].reference, joined);
			}
			assert_int_equal(err.kind, WS_ERR_FETCH);
		} else {
			assert_string_equal(joined, cases[i].joined);
		}
	}
	assert_string_equal(ws_git_url_name("https://h/a/flash-attention.git", a), "flash-attention");
	assert_string_equal(ws_git_url_name("https://h/a/b/", a), "b");
	assert_string_equal(ws_git_url_name("https://h/.git", a), ".git");
}

WS_TEST(gitmodules_are_read)
{
	static const char text[] =
		"# cutlass\n[submodule \"csrc/cutlass\"]\n\tpath = csrc/cutlass\n\turl = "
		"https://github.com/NVIDIA/cutlass.git\n"
		"[core]\n\tpath = other\n\n[ submodule ] ; odd\n\turl = x\n"
		"[SubModule \"a \\\"b\\\" \\\\c\"] # comment\n  URL=\"https://h/x;y\" ; comment\n  PATH = "
		"a  b \n"
		"  shallow\n\tupdate = \"!rm -rf /\"\n\tdeep.er = 1 \n";
	ws_gitmodule_list modules;
	struct ws_err err = {0};
	assert_fails(ws_gitmodules_parse(ws_str_of(text), a, &modules, &err), err, WS_ERR_FETCH);
	assert_contains(err.text, "line 15 ");
	struct ws_str most = {text, strlen(text) - strlen("\tdeep.er = 1 \n")};
	assert_ok(ws_gitmodules_parse(most, a, &modules, &err), err);
	assert_int_equal(modules.len, 2);
	const struct ws_gitmodule *cutlass = ws_gitmodules_find(&modules, "csrc/cutlass");
	assert_string_equal(cutlass->url, "https://github.com/NVIDIA/cutlass.git");
	const struct ws_gitmodule *odd = ws_gitmodules_find(&modules, "a  b");
	assert_string_equal(odd->name, "a \"b\" \\c");
	assert_string_equal(odd->url, "https://h/x;y");
	assert_null(ws_gitmodules_find(&modules, "other"));
	assert_null(ws_gitmodules_find(&modules, "csrc"));
}

WS_TEST(gitmodules_that_are_none)
{
	static const char *const bad[] = {"[submodule \"x\"", "[submodule \"x]", "[submodule x]",
		"[submodule \"\"]", "[submodule \"x\"] path = y", "path", "= x", "[", "[core] x",
		"[submodule \"x\"]\npath = \"a", "[submodule \"x\"]\npath = a\\", "path = \\q", "a b = c",
		"[submodule \"x\\"};
	for (size_t i = 0; i < WS_LEN(bad); i++) {
		ws_gitmodule_list modules;
		struct ws_err err = {0};
		bool fine = ws_gitmodules_parse(ws_str_of(bad[i]), a, &modules, &err);
		if (fine && strcmp(bad[i], "path") != 0) {
			fail_msg("taken: %s", bad[i]);
		}
	}
	ws_gitmodule_list modules;
	struct ws_err err = {0};
	assert_ok(ws_gitmodules_parse(ws_str_of(""), a, &modules, &err), err);
	assert_int_equal(modules.len, 0);
}
