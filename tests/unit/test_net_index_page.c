/* test_net_index_page.c - the two forms of a page, and what is not one. */
#include "test.h"

#include "net/index_page.h"

static const char html_type[] = "text/html";
static const char json_type[] = "application/vnd.pypi.simple.v1+json";

#define HEX_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static struct ws_index_page
page_at(const char *url)
{
	return (struct ws_index_page){.url = url, .package = "torch"};
}

/* Parses a page that is fine. */
static struct ws_index_page
parsed(const char *type, const char *text, struct ws_arena *a)
{
	struct ws_index_page page = page_at("https://h/simple/torch/");
	struct ws_err err;
	assert_ok(ws_index_page_parse(&page, type, ws_str_of(text), a, &err), err);
	return page;
}

WS_TEST(html_lists_files)
{
	struct ws_index_page page = parsed(html_type,
		"<!DOCTYPE html><html><head><meta name=\"pypi:repository-version\" "
		"content=\"1.4\"></head>\n"
		"<body><h1>Links for torch</h1>\n"
		"<a href=\"/whl/cu124/torch-2.5.1%2Bcu124-cp311-cp311-linux_x86_64.whl#sha256=" HEX_A "\" "
		"data-requires-python=\"&gt;=3.8.0\" data-dist-info-metadata=\"sha256=0\">torch</a><br/>\n"
		"<A HREF='../../f/torch-2.0.tar.gz' data-yanked='broken &amp; wrong'>x</A>\n"
		"<a href=https://files/torch-1.0.tar.gz#egg=torch&sha256=AAAA data-yanked>y\n"
		"<a name=none>z</a></body></html>",
		a);
	assert_int_equal(page.count, 3);
	const struct ws_index_file *file = page.files;
	assert_string_equal(file[0].name, "torch-2.5.1+cu124-cp311-cp311-linux_x86_64.whl");
	assert_string_equal(
		file[0].url, "https://h/whl/cu124/torch-2.5.1%2Bcu124-cp311-cp311-linux_x86_64.whl");
	assert_string_equal(file[0].sha256, HEX_A);
	assert_string_equal(file[0].requires_python, ">=3.8.0");
	assert_false(file[0].is_yanked);
	assert_int_equal(file[0].size_bytes, 0);
	assert_string_equal(file[1].url, "https://h/f/torch-2.0.tar.gz");
	assert_true(file[1].is_yanked);
	assert_string_equal(file[1].yanked_why, "broken & wrong");
	assert_string_equal(file[1].sha256, "");
	assert_string_equal(file[2].url, "https://files/torch-1.0.tar.gz");
	assert_true(file[2].is_yanked);
	assert_string_equal(file[2].sha256, "");
}

WS_TEST(base_moves_the_links_after_it)
{
	struct ws_index_page page = parsed(html_type,
		"<base href='https://cdn/whl/'><a href='a-1.0.tar.gz'>a</a>"
		"<base href='javascript:x'><a href='b-1.0.tar.gz'>b</a>",
		a);
	assert_string_equal(page.files[0].url, "https://cdn/whl/a-1.0.tar.gz");
	assert_int_equal(page.count, 2);
}

WS_TEST(json_lists_files)
{
	struct ws_index_page page = parsed(json_type,
		"{\"meta\":{\"api-version\":\"1.1\"},\"name\":\"torch\",\"versions\":[\"2.5.1\"],\"files\":"
		"["
		"{\"filename\":\"torch-2.5.1+cu124-cp311-cp311-linux_x86_64.whl\","
		"\"url\":\"torch-2.5.1%2Bcu124-cp311-cp311-linux_x86_64.whl\","
		"\"hashes\":{\"sha256\":\"" HEX_A
		"\",\"md5\":\"x\"},\"requires-python\":\">=3.8\",\"size\":906474467,\"yanked\":false},"
		"{\"filename\":\"a.tar.gz\",\"url\":\"https://c/x?id=3\",\"hashes\":{},\"yanked\":true},"
		"{\"filename\":\"b.tar.gz\",\"url\":\"/b\",\"hashes\":{},\"yanked\":\"bad\",\"size\":-1},"
		"{\"filename\":\"c.tar.gz\",\"url\":null},{\"url\":\"/d\"},17,"
		"{\"filename\":\"e.tar.gz\",\"url\":\"ftp://x/e\"}]}",
		a);
	assert_int_equal(page.count, 3);
	const struct ws_index_file *file = page.files;
	assert_string_equal(
		file[0].url, "https://h/simple/torch/torch-2.5.1%2Bcu124-cp311-cp311-linux_x86_64.whl");
	assert_string_equal(file[0].sha256, HEX_A);
	assert_true(file[0].size_bytes == 906474467);
	assert_string_equal(file[0].requires_python, ">=3.8");
	assert_string_equal(file[1].url, "https://c/x?id=3");
	assert_string_equal(file[1].sha256, "");
	assert_true(file[1].is_yanked);
	assert_string_equal(file[1].yanked_why, "");
	assert_string_equal(file[2].yanked_why, "bad");
	assert_int_equal(file[2].size_bytes, 0);
}

WS_TEST(names_that_leave_a_folder_are_left_out)
{
	struct ws_index_page page = parsed(html_type,
		"<a href='/x/..%2f..%2fetc%2fpasswd'>a</a><a href='/x/%2e%2e'>b</a><a href='/x/'>c</a>"
		"<a href='/x/a%0ab'>d</a><a href='/x/a%5cb'>e</a><a href='mailto:x'>f</a><a href=''>g</a>",
		a);
	/* "mailto:x" stays: seen as a path it is a harmless name. */
	for (size_t i = 0; i < page.count; i++) {
		assert_null(strpbrk(page.files[i].name, "/\\\n"));
		assert_string_not_equal(page.files[i].name, "..");
	}
	page = parsed(json_type,
		"{\"files\":[{\"filename\":\"../x\",\"url\":\"/x\"},{\"filename\":\"\",\"url\":\"/x\"}]}",
		a);
	assert_int_equal(page.count, 0);
}

WS_TEST(credentials_of_links_are_dropped)
{
	struct ws_index_page page =
		parsed(html_type, "<a href='https://me:pw@h/a-1.0.tar.gz'>a</a>", a);
	assert_string_equal(page.files[0].url, "https://h/a-1.0.tar.gz");
}

WS_TEST(a_text_that_is_not_a_page_is_reported)
{
	static const struct {
		const char *type, *text, *part;
	} cases[] = {
		{"text/plain", "", "neither HTML nor JSON"},
		{"", "", "no content type"},
		{json_type, "<html>", "expected"},
		{json_type, "{}", "lists no files"},
		{json_type, "{\"files\":{}}", "lists no files"},
		{json_type, "{\"meta\":{\"api-version\":\"2.0\"},\"files\":[]}", "uses version 2.0"},
		{html_type, "<meta name=pypi:repository-version content=10.0>", "uses version 10.0"},
	};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		struct ws_index_page page = page_at("https://h/simple/torch/?token=secret");
		struct ws_err err;
		assert_fails(ws_index_page_parse(&page, cases[i].type, ws_str_of(cases[i].text), a, &err),
			err, WS_ERR_FETCH);
		char text[WS_ERR_PRINTED];
		assert_contains(ws_err_print(&err, text), cases[i].part);
		assert_null(strstr(text, "secret"));
	}
}

WS_TEST(hostile_pages_end)
{
	/* Open tags without end, an attribute that is never closed, entities upon entities, NULs. */
	WS_AUTO_BUF struct ws_buf text = {0};
	for (int i = 0; i < 50000; i++) {
		ws_buf_puts(&text, "<div><a href='&amp;&#x41;&nope;");
	}
	ws_buf_add(&text, "\0\0\0<a href='x-1.tar.gz'>", 24);
	struct ws_index_page page = page_at("https://h/simple/torch/");
	struct ws_err err;
	assert_ok(ws_index_page_parse(&page, html_type, ws_buf_str(&text), a, &err), err);
	/* Entities of a document type are neither expanded nor loaded. */
	parsed(html_type,
		"<!DOCTYPE x [<!ENTITY e SYSTEM \"file:///etc/passwd\">]><a href='&e;-1.tar.gz'>a</a>", a);
}
