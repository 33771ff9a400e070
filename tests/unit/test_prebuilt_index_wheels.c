/* test_prebuilt_index_wheels.c - the wheels of folders and indexes, and the memory of both. */
#include "test.h"

#include "kit_scene.h"
#include "prebuilt/candidates.h"

struct world {
	struct ws_scene scene;
	struct ws_recipe recipe;
	struct ws_map warned;
	struct ws_lock lock;
	struct ws_index_wheels wheels;
};

static void
begin_world(struct world *w, struct ws_arena *a)
{
	*w = (struct world){.recipe = {.name = "tiny"}};
	ws_scene_begin(&w->scene, a);
	assert_true(ws_version_parse("1.0", a, &w->recipe.version));
}

static void
end_world(struct world *w)
{
	ws_scene_end(&w->scene);
}

#define WS_AUTO_WORLD __attribute__((cleanup(end_world)))

static void
ask(struct world *w, const char *url)
{
	const char *const urls[] = {url};
	const struct ws_wheel_places places = {urls, 1};
	w->scene.fetch.index = ws_index_open(w->scene.fetch.http, w->scene.a);
	const struct ws_index_page **pages;
	assert_ok(ws_index_pages_read(&w->scene.fetch, &places, w->recipe.name, &w->warned, w->scene.a,
				  &pages, &w->scene.err),
		w->scene.err);
	w->wheels =
		ws_index_wheels_list(&w->scene.store, &places, pages, &w->lock, &w->recipe, w->scene.a);
}

static struct ws_index_wheels
recall(const struct world *w, const char *url)
{
	const char *const urls[] = {url};
	const struct ws_wheel_places places = {urls, 1};
	return ws_index_wheels_list(&w->scene.store, &places, NULL, &w->lock, &w->recipe, w->scene.a);
}

WS_TEST(the_list_of_an_index_is_remembered)
{
	WS_AUTO_WORLD struct world w;
	begin_world(&w, a);
	const char *url = ws_served_url(&w.scene.served, "/x/simple");
	assert_false(recall(&w, url).complete);
	ws_served_put(&w.scene.served, "x/files/tiny-1.0-py3-none-any.whl", 1000);
	ws_served_put(&w.scene.served, "x/files/tiny-2.0-py3-none-any.whl", 1000);
	ws_served_put(&w.scene.served, "x/files/tiny-1.0.tar.gz", 1000);
	ask(&w, url);
	assert_int_equal(w.wheels.count, 1);
	struct ws_index_wheels known = recall(&w, url);
	assert_true(known.complete);
	assert_int_equal(known.count, 1);
	assert_string_equal(known.at[0].file, "tiny-1.0-py3-none-any.whl");
	assert_string_equal(known.at[0].from, "127.0.0.1");
	assert_string_equal(known.at[0].url, w.wheels.at[0].url);
	assert_int_equal(known.at[0].size_bytes, w.wheels.at[0].size_bytes);
	if (w.wheels.at[0].sha256) {
		assert_string_equal(known.at[0].sha256, w.wheels.at[0].sha256);
	}
	/* Each version has its own list. */
	assert_true(ws_version_parse("2.0", a, &w.recipe.version));
	assert_false(recall(&w, url).complete);
}

WS_TEST(a_silent_index_keeps_its_list_with_one_warning)
{
	WS_AUTO_WORLD struct world w;
	begin_world(&w, a);
	const char *url = ws_served_url(&w.scene.served, "/x/simple");
	ws_served_put(&w.scene.served, "x/files/tiny-1.0-py3-none-any.whl", 1000);
	ask(&w, url);
	struct ws_http *online = w.scene.fetch.http;
	struct ws_http_config config = ws_served_config();
	config.offline = true;
	w.scene.fetch.http = ws_served_http(&config);
	ask(&w, url);
	assert_int_equal(w.wheels.count, 1);
	assert_true(w.wheels.complete);
	const char *warnings = w.scene.warnings;
	assert_contains(warnings, "prebuilt wheels: ");
	ask(&w, url);
	assert_string_equal(w.scene.warnings, warnings);
	ws_http_close(w.scene.fetch.http);
	w.scene.fetch.http = online;
}

WS_TEST(places_are_the_role_prebuilt_or_the_default_index_without_a_build)
{
	WS_AUTO_WORLD struct world w;
	begin_world(&w, a);
	assert_int_equal(ws_wheel_places_of(&w.scene.indexes, &w.recipe).count, 0);
	w.recipe.prebuilt_only = true;
	assert_string_equal(ws_wheel_places_of(&w.scene.indexes, &w.recipe).at[0],
		ws_served_url(&w.scene.served, "/simple"));
	ws_scene_set_index(&w.scene, "prebuilt", "/wheels");
	assert_string_equal(ws_wheel_places_of(&w.scene.indexes, &w.recipe).at[0],
		ws_served_url(&w.scene.served, "/wheels"));
	assert_int_equal(ws_wheel_places_of(NULL, &w.recipe).count, 0);
}

WS_TEST(the_digest_of_a_url_is_remembered_and_replaced)
{
	static const char one[] = "1111111111111111111111111111111111111111111111111111111111111111";
	static const char two[] = "2222222222222222222222222222222222222222222222222222222222222222";
	WS_AUTO_WORLD struct world w;
	begin_world(&w, a);
	assert_null(ws_url_digest_recall(&w.scene.store, "https://x.example/a.whl", a));
	ws_url_digest_remember(&w.scene.store, "https://x.example/a.whl", one);
	ws_url_digest_remember(&w.scene.store, "https://y.example/a.whl", two);
	assert_string_equal(ws_url_digest_recall(&w.scene.store, "https://x.example/a.whl", a), one);
	ws_url_digest_remember(&w.scene.store, "https://x.example/a.whl", two);
	assert_string_equal(ws_url_digest_recall(&w.scene.store, "https://x.example/a.whl", a), two);
}
