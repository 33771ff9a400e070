/* test_publish_render.c - the contents of pages, also for hostile metadata of wheels. */
#include "test.h"

#include "net/index_page.h"
#include "publish/render.h"

#define SHA "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static struct ws_index_entry
entry_of(const char *file, const char *requires_python, const char *yanked, struct ws_arena *a)
{
	struct ws_index_entry entry = {
		.file = file,
		.sha256 = SHA,
		.metadata_sha256 = SHA,
		.size_bytes = 7,
		.uploaded = "2026-11-21T08:30:00.000000Z",
		.requires_python = requires_python,
		.yanked = yanked,
	};
	const char *why;
	assert_true(ws_index_entry_complete(&entry, a, &why));
	return entry;
}

static const char *const hostile[] = {
	"\"><script>alert(1)</script>",
	"' onmouseover='x",
	"</a></body><!--",
	"&quot;&#x3c;",
	"\x80\xff<\xc0\xaf",
	"a\nb\r\x01\t<",
	"\\u003cscript>\\",
};

/* Both forms are read back by the reader of indexes, and say what was said. */
WS_TEST(hostile_texts_stay_texts)
{
	for (size_t i = 0; i < WS_LEN(hostile); i++) {
		struct ws_index_entry entry =
			entry_of("demo-1.0+a.b-py3-none-any.whl", hostile[i], hostile[i], a);
		const struct ws_index_entry *entries[] = {&entry};
		const char *const types[] = {"text/html", "application/vnd.pypi.simple.v1+json"};
		for (size_t form = 0; form < WS_LEN(types); form++) {
			WS_AUTO_BUF struct ws_buf text = {0};
			struct ws_index_page page = {
				.url = "http://localhost/all/simple/demo/", .package = "demo"};
			struct ws_err err = {0};
			(form ? ws_index_page_json : ws_index_page_html)(entries, 1, &text);
			assert_true(ws_index_page_parse(&page, types[form], ws_buf_str(&text), a, &err));
			assert_int_equal(page.count, 1);
			assert_string_equal(page.files[0].name, entry.file);
			assert_string_equal(page.files[0].sha256, SHA);
			assert_string_equal(
				page.files[0].url, "http://localhost/files/demo-1.0%2Ba.b-py3-none-any.whl");
			assert_true(page.files[0].is_yanked);
			if (i < 4 || (form && i == 6)) { /* what is not text in HTML is replaced */
				assert_string_equal(page.files[0].requires_python, hostile[i]);
				assert_string_equal(page.files[0].yanked_why, hostile[i]);
			}
			if (!form) {
				assert_null(strstr(ws_buf_text(&text), "<script"));
				assert_null(strstr(ws_buf_text(&text), "<!--"));
			}
		}
	}
}

WS_TEST(a_page_lists_versions_once_and_yanks_with_and_without_reason)
{
	struct ws_index_entry one = entry_of("demo-1.0+cu.12-py3-none-any.whl", NULL, "", a);
	struct ws_index_entry two =
		entry_of("demo-1.0+cu.12-cp311-cp311-linux_x86_64.whl", ">=3.9", NULL, a);
	const struct ws_index_entry *entries[] = {&one, &two};
	WS_AUTO_BUF struct ws_buf text = {0};
	ws_index_page_json(entries, 2, &text);
	assert_string_equal(ws_buf_text(&text),
		"{\"meta\":{\"api-version\":\"1.1\"},\"name\":\"demo\",\"versions\":[\"1.0+cu.12\"],"
		"\"files\":[{\"filename\":\"demo-1.0+cu.12-py3-none-any.whl\","
		"\"url\":\"../../../files/demo-1.0%2Bcu.12-py3-none-any.whl\",\"hashes\":{\"sha256\":\"" SHA
		"\"},\"size\":7,\"upload-time\":\"2026-11-21T08:30:00.000000Z\",\"core-metadata\":{"
		"\"sha256\":"
		"\"" SHA "\"},\"yanked\":true},"
		"{\"filename\":\"demo-1.0+cu.12-cp311-cp311-linux_x86_64.whl\","
		"\"url\":\"../../../files/demo-1.0%2Bcu.12-cp311-cp311-linux_x86_64.whl\","
		"\"hashes\":{\"sha256\":\"" SHA "\"},\"requires-python\":\">=3.9\",\"size\":7,"
		"\"upload-time\":\"2026-11-21T08:30:00.000000Z\",\"core-metadata\":{\"sha256\":\"" SHA
		"\"},\"yanked\":false}]}");
}
