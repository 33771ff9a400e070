/* test_publish_browse.c - what the page for people has of each wheel. How it looks:
 * cli/browse_real.bats. */
#include "test.h"

#include "publish/render.h"

static struct ws_index_entry
entry_of(const char *file, const char *label, const char *facts, struct ws_arena *a)
{
	struct ws_err err = {0};
	struct ws_json_doc doc = {.root = NULL};
	const char *why, **labels = WS_NEW(a, const char *);
	if (facts) {
		assert_ok(ws_json_parse("facts", facts, strlen(facts), WS_JSON_STRICT, a, &doc, &err), err);
	}
	labels[0] = label;
	struct ws_index_entry entry = {
		.file = file,
		.sha256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		.size_bytes = 4200000,
		.uploaded = "2026-11-24T03:00:00.000000Z",
		.kind = label ? WS_INDEX_BOUND : WS_INDEX_NONE,
		.labels = labels,
		.place_count = label != NULL,
		.facts = doc.root,
	};
	assert_true(ws_index_entry_complete(&entry, a, &why));
	return entry;
}

/* The data of the page. */
static const struct ws_json *
data_of(struct ws_index_catalog *catalog, bool pins, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf page = {0};
	struct ws_err err = {0};
	struct ws_json_doc doc;
	size_t count;
	ws_index_catalog_sort(catalog);
	const struct ws_index_path *paths = ws_index_paths(catalog, a, &count);
	ws_index_browse_html(catalog, paths, count, pins, &page);
	const char *text = ws_buf_copy(&page, a);
	const char *start = strstr(text, "id=\"data\">");
	assert_non_null(start);
	start += strlen("id=\"data\">");
	size_t len = (size_t)(strstr(start, "</script>") - start);
	/* Its text cannot end the element or begin a new one. */
	assert_null(memchr(start, '<', len));
	assert_ok(ws_json_parse("data", start, len, WS_JSON_STRICT, a, &doc, &err), err);
	return doc.root;
}

static const struct ws_json *
wheel_of(const struct ws_json *data, size_t number)
{
	const struct ws_json *wheel = ws_json_find(data, "wheels")->first;
	while (number-- > 0) {
		wheel = wheel->next;
	}
	return wheel;
}

WS_TEST(each_wheel_has_its_file_size_day_and_digest)
{
	struct ws_index_catalog catalog = {.snapshot = "2026-11-24.1"};
	*ws_vec_push(&catalog.entries, a) =
		entry_of("d-1+cu.12.4.torch.2.5.sm.86-cp311-cp311-linux_x86_64.whl",
			"cu.12.4.torch.2.5.sm.86", NULL, a);
	const struct ws_json *wheel = wheel_of(data_of(&catalog, true, a), 0);
	uint64_t size;
	assert_string_equal(ws_json_text(wheel, "file"), catalog.entries.at[0].file);
	assert_true(ws_json_u64(wheel, "size", &size));
	assert_int_equal(size, 4200000);
	assert_string_equal(ws_json_text(wheel, "date"), "2026-11-24");
	assert_string_equal(ws_json_text(wheel, "sha256"), catalog.entries.at[0].sha256);
	assert_string_equal(ws_json_text(wheel, "archs"), "8.6");
	assert_int_equal(ws_json_find(wheel, "in")->count, 2); /* the path, and that of sm_86 */
}

WS_TEST(the_driver_is_the_later_of_what_cuda_and_the_packing_need)
{
	static const char packed[] = "{\"measured\": {\"modules\": [{\"module\": \"x\"}, "
								 "{\"gpu_code\": {\"driver\": \"550.54.14\"}}]}}";
	static const char plain[] =
		"{\"measured\": {\"modules\": [{\"gpu_code\": {\"driver\": null}}]}}";
	static const struct {
		const char *file, *label, *facts, *driver;
	} cases[] = {
		{"a-1+cu.12.4.torch.2.5.sm.86-cp311-cp311-linux_x86_64.whl", "cu.12.4.torch.2.5.sm.86",
			packed, "550.54.14"},
		{"b-1+cu.12.4.torch.2.5.sm.86-cp311-cp311-linux_x86_64.whl", "cu.12.4.torch.2.5.sm.86",
			plain, "525.60.13"},
		{"c-1+cu.13.0.torch.2.11.sm.90-cp311-cp311-linux_x86_64.whl", "cu.13.0.torch.2.11.sm.90",
			packed, "580.65.06"},
		{"d-1+cu.11.8.torch.2.5.sm.86-cp311-cp311-linux_x86_64.whl", "cu.11.8.torch.2.5.sm.86",
			NULL, "450.80.02"},
		{"e-1-py3-none-any.whl", NULL, NULL, NULL},
		{"f-1+cu.14.0.torch.3.0.sm.90-cp311-cp311-linux_x86_64.whl", "cu.14.0.torch.3.0.sm.90",
			NULL, NULL},
	};
	struct ws_index_catalog catalog = {.snapshot = "2026-11-24.1"};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		*ws_vec_push(&catalog.entries, a) =
			entry_of(cases[i].file, cases[i].label, cases[i].facts, a);
	}
	const struct ws_json *data = data_of(&catalog, true, a);
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		assert_true(ws_same(ws_json_text(wheel_of(data, i), "driver"), cases[i].driver));
	}
}

WS_TEST(the_title_is_the_owners_and_text_alone)
{
	static const char *const titles[] = {"Wheels of the team", "</script><img src=x>", "\"&'"};
	for (size_t i = 0; i < WS_LEN(titles); i++) {
		struct ws_index_catalog catalog = {.snapshot = "2026-11-24.1", .title = titles[i]};
		assert_string_equal(ws_json_text(data_of(&catalog, true, a), "title"), titles[i]);
	}
	struct ws_index_catalog none = {.snapshot = "2026-11-24.1"};
	assert_null(ws_json_text(data_of(&none, true, a), "title"));
}

/* An object store keeps pages of the visible snapshot alone. */
WS_TEST(lines_for_one_snapshot_are_offered_where_snapshots_keep_their_pages)
{
	struct ws_index_catalog catalog = {.snapshot = "2026-11-24.1"};
	assert_true(ws_json_find(data_of(&catalog, true, a), "pins")->truth);
	assert_false(ws_json_find(data_of(&catalog, false, a), "pins")->truth);
}
