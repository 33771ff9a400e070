/* test_draft_pkg_info.c - metadata of source distributions: what a recipe takes of it. */
#include "test.h"

#include "draft/pkg_info.h"

static struct ws_pkg_info
read_info(const char *text, struct ws_arena *a)
{
	struct ws_pkg_info info;
	ws_pkg_info_read(ws_str_of(text), a, &info);
	return info;
}

WS_TEST(every_field_has_its_place)
{
	struct ws_pkg_info info = read_info(
		"Metadata-Version: 2.4\nName: demo_ops\nVersion: 1.0\nSummary: Two, kernels\n"
		"home-page: https://example.org/x\nProject-URL: Repository, https://example.org/r\n"
		"Author: A, B\nAuthor-email: a@example.org\nLicense: MIT\nLicense-File: "
		"LICENSE\nLicense-File: doc/NOTICE\n"
		"Keywords: cuda,pytorch, x\nClassifier: A :: B\nClassifier: A :: B\nClassifier: C\n"
		"Requires-Python: >=3.9\nRequires-Dist: torch\nRequires-Dist: einops >= 0.6 ; "
		"python_version < \"3.13\"\n"
		"Provides-Extra: dev\nRequires-Dist: pytest; extra == \"dev\"\n"
		"Requires-Dist: tomli; python_version < '3.11' and extra == 'dev'\n"
		"Requires-Dist: x; extra == 'all' and python_version > '3'\n"
		"Description-Content-Type: text/markdown\n\nName: not this\nSummary: nor this\n",
		a);
	const struct ws_metadata *m = &info.metadata;
	assert_string_equal(info.name, "demo_ops");
	assert_string_equal(info.version, "1.0");
	assert_string_equal(info.description_type, "text/markdown");
	assert_string_equal(m->summary, "Two, kernels");
	assert_string_equal(m->home_page, "https://example.org/x");
	assert_string_equal(m->author, "A, B");
	assert_string_equal(m->author_email, "a@example.org");
	assert_string_equal(m->license, "MIT");
	assert_string_equal(m->requires_python, ">=3.9");
	assert_int_equal(m->license_file_count, 2);
	assert_int_equal(m->classifier_count, 2);
	assert_int_equal(m->keyword_count, 3);
	assert_string_equal(m->keywords[2], "x");
	assert_int_equal(m->require_count, 2);
	assert_string_equal(m->requires[1], "einops >= 0.6 ; python_version < \"3.13\"");
	assert_int_equal(m->extra_count, 6);
	assert_string_equal(m->extras[0], "dev");
	assert_string_equal(m->extras[1], "pytest");
	assert_string_equal(m->extras[3], "tomli ; python_version < '3.11'");
	assert_string_equal(m->extras[4], "all");
	assert_string_equal(m->extras[5], "x ; python_version > '3'");
	assert_int_equal(m->project_url_count, 2);
	assert_string_equal(m->project_urls[1], "https://example.org/r");
}

WS_TEST(what_a_recipe_cannot_hold_is_left_out)
{
	struct ws_pkg_info info =
		read_info("Name: x\nLicense:    Apache License\n   Version 2.0\n\t\n   long text\n"
				  "Home-page: UNKNOWN\nSummary: a\x01z\nAuthor: \xff\nProject-URL: X, "
				  "ftp://x\nProject-URL: Y, https://u:p@h/\n"
				  "Project-URL: no comma\nLicense-File: ../LICENSE\nLicense-File: /etc/passwd\n"
				  "Requires-Dist: -x\nRequires-Dist: ; y\nRequires-Dist: ok\n"
				  "Requires-Dist: odd; extra == 'a' or extra == 'b'\nVersion: 2\n",
			a);
	const struct ws_metadata *m = &info.metadata;
	assert_true(info.has_long_license);
	assert_null(m->license);
	assert_null(m->home_page);
	assert_null(m->summary);
	assert_null(m->author);
	assert_int_equal(m->project_url_count, 0);
	assert_int_equal(m->license_file_count, 0);
	assert_int_equal(m->require_count, 2);
	assert_string_equal(m->requires[0], "ok");
	assert_string_equal(m->requires[1], "odd ; extra == 'a' or extra == 'b'");
	assert_string_equal(info.version, "2");
}

WS_TEST(odd_texts)
{
	static const char *const odd[] = {"", "\n", ":", "Name", "Name:", " Name: x", "Name: x\n ",
		"\r\n", "Requires-Dist: x; extra ==", "Requires-Dist: x; extra == 'a",
		"Requires-Dist: x; extra == \"\"", "Requires-Dist: x;", "Keywords: ,,", "Project-URL: ,"};
	for (size_t i = 0; i < WS_LEN(odd); i++) {
		struct ws_pkg_info info = read_info(odd[i], a);
		assert_int_equal(info.metadata.extra_count, 0);
	}
	struct ws_pkg_info crlf = read_info("Name: x\r\nVersion: 1\r\n\r\nSummary: no\r\n", a);
	assert_string_equal(crlf.name, "x");
	assert_string_equal(crlf.version, "1");
	assert_null(crlf.metadata.summary);
}

WS_TEST(requirements_of_an_egg)
{
	struct ws_metadata m = {.summary = "kept"};
	ws_requires_txt_read(
		ws_str_of(
			"torch\nnumpy>=1\n\n[:python_version < \"3.8\"]\ntyping_extensions\n\n[dev]\npytest\n"
			"\n[dev:sys_platform == 'linux']\nx\n[-]\nno\n"),
		a, &m);
	assert_string_equal(m.summary, "kept");
	assert_int_equal(m.require_count, 3);
	assert_string_equal(m.requires[2], "typing_extensions ; python_version < \"3.8\"");
	assert_int_equal(m.extra_count, 4);
	assert_string_equal(m.extras[3], "x ; sys_platform == 'linux'");
}
