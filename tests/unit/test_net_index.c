/* test_net_index.c - looking for packages on real servers. */
#include "test.h"

#include "base/fs.h"
#include "net/download.h"
#include "net/index.h"
#include "served.h"

static struct ws_err err;

struct world {
	struct ws_served s;
	struct ws_http *http;
	struct ws_index *index;
	struct ws_digest digest; /* of demo-1.0 */
	struct ws_arena *a;
};

static struct world
make_world(struct ws_arena *a)
{
	struct world w = {.s = ws_served_start(a), .a = a};
	w.http = ws_served_http(NULL);
	w.index = ws_index_open(w.http, a);
	const char *bytes = ws_served_put(&w.s, "files/demo_x-1.0+cu.12.4-py3-none-any.whl", 100);
	w.digest = ws_digest_bytes(bytes, 100);
	ws_served_put(&w.s, "files/demo_x-1.0+cu.12.1-py3-none-any.whl", 101);
	ws_served_put(&w.s, "files/demo_x-1.0-py3-none-any.whl", 102);
	ws_served_put(&w.s, "files/demo_x-1.0.1-py3-none-any.whl", 103);
	ws_served_put(&w.s, "files/demo_x-1.0.tar.gz", 104);
	ws_served_put(&w.s, "files/demo_x-notawheel.whl", 105);
	return w;
}

static void
end_world(struct world *w)
{
	ws_http_close(w->http);
}

#define AUTO_WORLD __attribute__((cleanup(end_world)))

/* A list of one or two indexes that differ by faults. */
static struct ws_index_list
list_of(const struct world *w, const char *first, const char *second, bool all)
{
	const char **urls = WS_NEW_N(w->a, const char *, 2);
	urls[0] = ws_served_url(&w->s, ws_arena_printf(w->a, "%s/simple", first));
	if (second) {
		urls[1] = ws_served_url(&w->s, ws_arena_printf(w->a, "%s/simple/", second));
	}
	return (struct ws_index_list){urls, second ? 2 : 1, all};
}

WS_TEST(both_forms_give_the_same)
{
	AUTO_WORLD struct world w = make_world(a);
	static const char *const forms[] = {"/~json", "/~html"};
	for (size_t i = 0; i < WS_LEN(forms); i++) {
		struct ws_index_list list = list_of(&w, forms[i], NULL, false);
		const struct ws_index_file *file = ws_index_find(
			w.index, &list, "Demo_X", "demo_x-1.0+cu.12.4-py3-none-any.whl", w.digest.hex, &err);
		assert_ok(file, err);
		assert_string_equal(file->sha256, w.digest.hex);
		assert_string_equal(file->requires_python, ">=3.8");
		assert_int_equal(file->size_bytes, i == 0 ? 100 : 0);
		assert_string_equal(file->url,
			ws_served_url(&w.s,
				ws_arena_printf(a, "%s/files/demo_x-1.0%%2Bcu.12.4-py3-none-any.whl", forms[i])));
	}
	assert_int_equal(
		ws_served_count(&w.s, "\"accept\": \"application/vnd.pypi.simple.v1+json, "), 2);
	assert_int_equal(ws_served_count(&w.s, "/simple/demo-x/\""), 2);
}

WS_TEST(a_page_is_asked_for_once)
{
	AUTO_WORLD struct world w = make_world(a);
	struct ws_index_list list = list_of(&w, "", NULL, false);
	const struct ws_index_page *page;
	for (int i = 0; i < 3; i++) {
		assert_ok(ws_index_page(w.index, list.urls[0], i ? "demo.x" : "demo-x", &page, &err), err);
		assert_int_equal(page->count, 6);
		assert_ok(ws_index_page(w.index, list.urls[0], "absent", &page, &err), err);
		assert_null(page);
	}
	assert_int_equal(ws_served_count(&w.s, ""), 2);
}

WS_TEST(absent_goes_on_and_broken_stops)
{
	AUTO_WORLD struct world w = make_world(a);
	static const char *const absent[] = {"/~status=404", "/~status=403"};
	static const char *const broken[] = {
		"/~status=500", "/~status=401", "/~type=text%2Fplain", "/~cut=9"};
	const struct ws_index_page **pages;
	size_t count;
	for (size_t i = 0; i < WS_LEN(absent); i++) {
		struct ws_index_list list = list_of(&w, absent[i], "", false);
		assert_ok(ws_index_pages(w.index, &list, "demo-x", &pages, &count, &err), err);
		assert_int_equal(count, 1);
		assert_int_equal(err.kind, WS_ERR_NONE);
	}
	for (size_t i = 0; i < WS_LEN(broken); i++) {
		struct ws_index_list list = list_of(&w, broken[i], "", false);
		assert_fails(
			ws_index_pages(w.index, &list, "demo-x", &pages, &count, &err), err, WS_ERR_FETCH);
		assert_contains(err.text, "looking for 'demo-x' on an index");
	}
}

/* The next index may be anybody's: a login that has expired must not lead there. */
WS_TEST(an_index_that_denies_a_login_ends_the_search)
{
	AUTO_WORLD struct world w = make_world(a);
	static const char netrc[] = "machine localhost login me password secret\n";
	const struct ws_index_page **pages;
	size_t count;
	struct ws_http_config config = ws_served_config();
	config.netrc_path = ws_path_join(a, ws_test_dir(a), "netrc", NULL);
	assert_ok(ws_fs_write(config.netrc_path, netrc, strlen(netrc), 0600, &err), err);
	WS_AUTO_HTTP struct ws_http *http = ws_served_http(&config);
	const char *const urls[] = {
		ws_arena_printf(a, "http://me:secret@127.0.0.1:%u/~status=403/simple", w.s.port),
		ws_arena_printf(a, "http://localhost:%u/~status=403/simple", w.s.port),
	};
	for (size_t i = 0; i < WS_LEN(urls); i++) {
		struct ws_index_list list = list_of(&w, "", "", false);
		list.urls = (const char *const[]){urls[i], list.urls[1]};
		struct ws_index *index = ws_index_open(http, a);
		assert_fails(
			ws_index_pages(index, &list, "demo-x", &pages, &count, &err), err, WS_ERR_FETCH);
		assert_contains(err.text, "denies access to this login (403)");
		assert_contains(err.cure, "the search ends here");
		assert_null(strstr(err.text, "secret"));
		assert_int_equal(ws_served_count(&w.s, "demo-x"), i + 1);
	}
}

WS_TEST(the_first_index_wins_unless_all_are_wanted)
{
	AUTO_WORLD struct world w = make_world(a);
	const struct ws_index_page **pages;
	size_t count;
	struct ws_index_list list = list_of(&w, "/~html", "/~json", false);
	assert_ok(ws_index_pages(w.index, &list, "demo-x", &pages, &count, &err), err);
	assert_int_equal(count, 1);
	assert_int_equal(ws_served_count(&w.s, "~json"), 0);
	list.all = true;
	assert_ok(ws_index_pages(w.index, &list, "demo-x", &pages, &count, &err), err);
	assert_int_equal(count, 2);
	assert_ok(ws_index_pages(w.index, &list, "absent", &pages, &count, &err), err);
	assert_int_equal(count, 0);
}

WS_TEST(wheels_of_a_version)
{
	AUTO_WORLD struct world w = make_world(a);
	struct ws_index_list list = list_of(&w, "", NULL, false);
	static const struct {
		const char *version;
		size_t count;
	} cases[] = {{"1.0", 3}, {"1.0+cu.12.4", 1}, {"1.0.0", 3}, {"1.0.1", 1}, {"2", 0}};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		struct ws_version version;
		const struct ws_index_wheel *wheels;
		size_t count;
		assert_true(ws_version_parse(cases[i].version, a, &version));
		assert_ok(ws_index_wheels(w.index, &list, "demo-x", &version, &wheels, &count, &err), err);
		if (count != cases[i].count) {
			fail_msg("%zu wheels of %s", count, cases[i].version);
		}
	}
}

WS_TEST(a_pinned_file_is_found_on_whatever_index_has_it)
{
	AUTO_WORLD struct world w = make_world(a);
	/* The first index lists a file of that name with other bytes. */
	const char *page = "<a href='/f/demo_x-1.0+cu.12.4-py3-none-any.whl#sha256="
					   "00000000000000000000000000000000000000000000000000000000000000ff'>x</a>";
	const char *other = ws_path_join(a, w.s.dir, "other/demo-x/index.html", NULL);
	assert_ok(ws_fs_mkdirs(ws_path_dir(a, other), &err), err);
	assert_ok(ws_fs_write(other, page, strlen(page), 0644, &err), err);
	struct ws_index_list list = list_of(&w, "", "", false);
	const char *urls[] = {ws_served_url(&w.s, "/~type=text%2Fhtml/other"), list.urls[0]};
	list.urls = urls;
	const char *name = "demo_x-1.0+cu.12.4-py3-none-any.whl";
	const struct ws_index_file *file =
		ws_index_find(w.index, &list, "demo-x", name, w.digest.hex, &err);
	assert_ok(file, err);
	assert_contains(file->url, "/files/");
	/* Without a pin the first file is used; with an unknown pin, the found files are reported. */
	file = ws_index_find(w.index, &list, "demo-x", name, NULL, &err);
	assert_ok(file, err);
	assert_contains(file->url, "/f/");
	static const char pin[] = "1111111111111111111111111111111111111111111111111111111111111111";
	assert_null(ws_index_find(w.index, &list, "demo-x", name, pin, &err));
	assert_contains(err.text, "no index has the pinned 'demo_x-1.0+cu.12.4-py3-none-any.whl'");
	assert_contains(err.cure, w.digest.hex);
}

WS_TEST(a_missing_file_is_reported_with_the_found_ones)
{
	AUTO_WORLD struct world w = make_world(a);
	struct ws_index_list list = list_of(&w, "", "/~html", false);
	assert_null(ws_index_find(w.index, &list, "demo-x", "demo_x-1.0.2-py3-none-any.whl", "", &err));
	assert_contains(err.text, "no index has 'demo_x-1.0.2-py3-none-any.whl'");
	assert_contains(err.cure, "it has 'demo_x-1.0.1-py3-none-any.whl'");
	assert_null(ws_index_find(w.index, &list, "absent", "absent-1.0.tar.gz", NULL, &err));
	assert_contains(err.text, "no index has the package 'absent'");
	assert_contains(err.cure, "asked: http://127.0.0.1:");
	assert_cure(err, WS_CURE_INDEX, "");
	assert_null(ws_index_find(w.index, &list, "a/../b", "x", NULL, &err));
	assert_int_equal(err.kind, WS_ERR_CONFIG);
	struct ws_index_list none = {NULL, 0, false};
	assert_null(ws_index_find(w.index, &none, "demo-x", "x", NULL, &err));
	assert_int_equal(err.kind, WS_ERR_FETCH);
}

/* 20 000 files in JSON would take 120 MB to read. */
WS_TEST(a_large_page_is_asked_for_in_html)
{
	AUTO_WORLD struct world w = make_world(a);
	for (int i = 0; i < 300; i++) {
		const char *long_name = ws_arena_printf(a, "files/large-1.%d-%0200d.tar.gz", i, i);
		ws_served_put(&w.s, long_name, 1);
	}
	struct ws_index_list list = list_of(&w, "", NULL, false);
	const struct ws_index_page *page;
	assert_ok(ws_index_page(w.index, list.urls[0], "large", &page, &err), err);
	assert_int_equal(page->count, 300);
	assert_int_equal(ws_served_count(&w.s, "/simple/large/"), 1);
	list = list_of(&w, "/~pad=4000000", NULL, false);
	assert_ok(ws_index_page(w.index, list.urls[0], "large", &page, &err), err);
	assert_int_equal(page->count, 300);
	assert_int_equal(page->files[0].size_bytes, 0);
	assert_int_equal(ws_served_count(&w.s, "/simple/large/"), 3);
	list = list_of(&w, "/~pad=20000000", NULL, false);
	assert_fails(ws_index_page(w.index, list.urls[0], "large", &page, &err), err, WS_ERR_FETCH);
	assert_contains(err.text, "longer than 16777216 bytes");
}

WS_TEST(a_login_of_the_index_serves_for_its_files)
{
	AUTO_WORLD struct world w = make_world(a);
	const char *url =
		ws_arena_printf(a, "http://me:secret@127.0.0.1:%u/~auth=me:secret/simple", w.s.port);
	struct ws_index_list list = {&url, 1, false};
	const struct ws_index_file *file =
		ws_index_find(w.index, &list, "demo-x", "demo_x-1.0.tar.gz", NULL, &err);
	assert_ok(file, err);
	assert_null(strstr(file->url, "secret@"));
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_get get = {.url = file->url, .limit_bytes = 1000};
	assert_ok(ws_get_text(w.http, &get, a, &text, &err), err);
	assert_int_equal(text.len, 104);
	assert_null(ws_index_find(w.index, &list, "demo-x", "nope", NULL, &err));
	assert_null(strstr(err.cure, "me:secret@"));
}
