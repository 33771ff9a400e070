/* test_publish_bucket.c - objects with conditions, in stores that lose answers, are busy, or heed
 * none. */
#include "test.h"

#include "base/fs.h"
#include "publish_world.h"

static const char *
folder(struct ws_arena *a)
{
	return ws_path_join(a, ws_test_dir(a), "store", NULL);
}

/* Its text; NULL: there is none. */
static const char *
get(const struct ws_bucket *b, const char *key, char *etag, struct ws_arena *a)
{
	struct ws_stored object = {.there = false};
	struct ws_err err = {0};
	assert_ok(ws_bucket_get(b, key, 1000, &object, &err), err);
	const char *text = object.there ? ws_buf_copy(&object.text, a) : NULL;
	if (etag) {
		memcpy(etag, object.etag, WS_ETAG_BYTES);
	}
	ws_buf_release(&object.text);
	return text;
}

/* Creates or replaces the object "k". */
static enum ws_put
create(const struct ws_bucket *b, const char *text, char *etag, struct ws_arena *a)
{
	const struct ws_object object = ws_world_file("k", text, a);
	struct ws_err err = {0};
	return ws_bucket_create(b, &object, etag, &err);
}

static enum ws_put
replace(const struct ws_bucket *b, const char *text, char *etag, struct ws_arena *a)
{
	const struct ws_object object = ws_world_file("k", text, a);
	struct ws_err err = {0};
	return ws_bucket_replace(b, &object, etag, &err);
}

WS_TEST(a_missing_object_is_not_an_error)
{
	struct ws_err err = {0};
	WS_AUTO_BUCKET struct ws_bucket b = ws_world_bucket(folder(a), NULL, a);
	assert_null(get(&b, "none", NULL, a));
	assert_ok(ws_bucket_remove(&b, "none", &err), err);
}

WS_TEST(an_object_is_put_replaced_and_removed_as_a_whole)
{
	struct ws_err err = {0};
	const char *dir = folder(a);
	WS_AUTO_BUCKET struct ws_bucket b = ws_world_bucket(dir, NULL, a);
	const struct ws_object one = ws_world_file("a/b+c.txt", "one", a);
	assert_ok(ws_bucket_put(&b, &one, &err), err);
	assert_string_equal(get(&b, "a/b+c.txt", NULL, a), "one");
	assert_string_equal(ws_world_object(dir, "a/b+c.txt", a), "one");
	const struct ws_object two = ws_world_file("a/b+c.txt", "", a);
	assert_ok(ws_bucket_put(&b, &two, &err), err);
	assert_string_equal(get(&b, "a/b+c.txt", NULL, a), "");
	assert_ok(ws_bucket_remove(&b, "a/b+c.txt", &err), err);
	assert_null(get(&b, "a/b+c.txt", NULL, a));
}

WS_TEST(an_object_longer_than_expected_is_an_error)
{
	struct ws_stored object = {.there = false};
	struct ws_err err = {0};
	const char *dir = folder(a);
	WS_AUTO_BUCKET struct ws_bucket b = ws_world_bucket(dir, NULL, a);
	ws_world_put(dir, "long", "0123456789", a);
	assert_ok(ws_bucket_get(&b, "long", 10, &object, &err), err);
	assert_fails(ws_bucket_get(&b, "long", 9, &object, &err), err, WS_ERR_PUBLISH);
	ws_buf_release(&object.text);
}

WS_TEST(a_created_object_does_not_overwrite_an_existing_one)
{
	char etag[WS_ETAG_BYTES], there[WS_ETAG_BYTES];
	WS_AUTO_BUCKET struct ws_bucket b = ws_world_bucket(folder(a), NULL, a);
	assert_int_equal(create(&b, "one", etag, a), WS_PUT_DONE);
	assert_string_equal(get(&b, "k", there, a), "one");
	assert_string_equal(etag, there);
	/* The same bytes are what was wanted. */
	assert_int_equal(create(&b, "one", NULL, a), WS_PUT_DONE);
	assert_int_equal(create(&b, "two", NULL, a), WS_PUT_REFUSED);
	assert_string_equal(get(&b, "k", NULL, a), "one");
}

WS_TEST(only_the_object_that_was_read_is_replaced)
{
	struct ws_err err = {0};
	char etag[WS_ETAG_BYTES] = "", stale[WS_ETAG_BYTES];
	const char *dir = folder(a);
	WS_AUTO_BUCKET struct ws_bucket b = ws_world_bucket(dir, NULL, a);
	assert_int_equal(create(&b, "one", etag, a), WS_PUT_DONE);
	memcpy(stale, etag, sizeof(stale));
	assert_int_equal(replace(&b, "two", etag, a), WS_PUT_DONE);
	assert_string_not_equal(etag, stale);
	assert_int_equal(replace(&b, "three", stale, a), WS_PUT_REFUSED);
	assert_string_equal(get(&b, "k", NULL, a), "two");
	/* The returned ETag is the valid one. */
	assert_int_equal(replace(&b, "four", etag, a), WS_PUT_DONE);
	assert_ok(ws_bucket_remove(&b, "k", &err), err);
	assert_int_equal(replace(&b, "one", etag, a), WS_PUT_REFUSED);
}

/* Each put meets the fault once, and is what it would have been without. */
WS_TEST(a_lost_answer_a_busy_key_and_bare_etags_change_nothing)
{
	static const char *const faults[] = {"lost-put=k", "busy=k", "quotes"};
	for (size_t i = 0; i < WS_LEN(faults); i++) {
		char etag[WS_ETAG_BYTES] = "";
		const char *dir = ws_arena_printf(a, "%s-%zu", folder(a), i);
		WS_AUTO_BUCKET struct ws_bucket b = ws_world_bucket(dir, faults[i], a);
		assert_int_equal(create(&b, "one", etag, a), WS_PUT_DONE);
		assert_int_equal(replace(&b, "two", etag, a), WS_PUT_DONE);
		assert_string_equal(get(&b, "k", NULL, a), "two");
		assert_int_equal(create(&b, "three", NULL, a), WS_PUT_REFUSED);
	}
}

WS_TEST(a_replacement_whose_answer_is_lost_goes_on_with_its_etag)
{
	char etag[WS_ETAG_BYTES] = "";
	const char *dir = folder(a);
	WS_AUTO_BUCKET struct ws_bucket b = ws_world_bucket(dir, "lost-put=k", a);
	ws_world_put(dir, "k", "zero", a);
	get(&b, "k", etag, a);
	assert_int_equal(replace(&b, "one", etag, a), WS_PUT_DONE);
	assert_int_equal(replace(&b, "two", etag, a), WS_PUT_DONE);
	assert_string_equal(get(&b, "k", NULL, a), "two");
}

WS_TEST(a_store_without_conditional_requests_is_not_written)
{
	WS_AUTO_BUCKET struct ws_bucket b = ws_world_bucket(folder(a), "refuses", a);
	assert_int_equal(create(&b, "one", NULL, a), WS_PUT_UNSUPPORTED);
	assert_null(get(&b, "k", NULL, a));
}

WS_TEST(an_error_text_has_no_markup_and_no_token)
{
	static const char *const cases[][2] = {
		{"no, thank you", "no, thank you"},
		{"<html><body><p>File\n already\texists</p></body></html>", "File already exists"},
		{"<?xml version='1.0'?><Error><Code>NoSuchBucket</Code><Message>gone</Message></Error>",
			"NoSuchBucket gone"},
		{"caf\xc3\xa9 \x1b[31mred", "caf?? [31mred"},
		{"", ""},
		{" \n<br/>", ""},
		{"<script never ends", ""},
		{"no: s<e&same 1!", ""},
		{"<Head>s&lt;e&amp;same 1</Head>refused", ""},
		{"x=s%3Ce%26same%201&y", ""},
	};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		WS_AUTO_BUF struct ws_buf text = {0};
		ws_buf_puts(&text, cases[i][0]);
		assert_string_equal(ws_bucket_error_text(&text, "s<e&same 1", a), cases[i][1]);
	}
	WS_AUTO_BUF struct ws_buf many = {0};
	for (int i = 0; i < 1000; i++) {
		ws_buf_puts(&many, "word ");
	}
	assert_in_range(strlen(ws_bucket_error_text(&many, NULL, a)), 200, 230);
}
