/* test_make_pack.c - what the order of a pack brings into its folder. Real packs are in cli/. */
#include "test.h"

#include "base/fs.h"
#include "config/recipe.h"
#include "make/pack.h"

#define PATCH "--- a/x\n+++ b/x\n"

static void
put(const char *dir, const char *name, const char *text, struct ws_arena *a)
{
	struct ws_err err;
	const char *path = ws_path_join(a, dir, name, NULL);
	assert_ok(ws_fs_mkdirs(ws_path_dir(a, path), &err), err);
	assert_ok(ws_fs_write(path, text, strlen(text), 0644, &err), err);
}

WS_TEST(patches_go_beside_the_recipe_whatever_folder_it_was_named_by)
{
	struct ws_err err;
	const char *dir = ws_test_dir(a);
	struct ws_digest digest = ws_digest_bytes(PATCH, strlen(PATCH));
	struct ws_store store;
	assert_ok(ws_store_open(ws_path_join(a, dir, "store", NULL), a, &store, &err), err);
	put(dir, "recipes/tiny/patches/fix.patch", PATCH, a);
	put(dir, "recipes/tiny/1.0.json",
		ws_arena_printf(a,
			"{\"name\": \"tiny\", \"version\": \"1.0\", \"source\": [{\"folder\": \"src\"}],"
			" \"patches\": [{\"file\": \"patches/fix.patch\", \"sha256\": \"%s\"}],"
			" \"python\": {\"packages\": [\"tiny\"]}}",
			digest.hex),
		a);
	assert_int_equal(chdir(dir), 0);
	const char *const ways[] = {"recipes/tiny/1.0.json", "./recipes/tiny/../tiny/1.0.json",
		ws_path_join(a, dir, "recipes/tiny/1.0.json", NULL)};
	for (size_t i = 0; i < WS_LEN(ways); i++) {
		struct ws_recipe recipe;
		assert_ok(ws_recipe_read(ways[i], a, &recipe, &err), err);
		struct ws_tree source = {.path = dir};
		struct ws_pack_order order = {.recipe = &recipe, .source = &source};
		const struct ws_action *action = ws_pack_action(&order, &store, WS_PROGRAM, a, &err);
		assert_ok(action != NULL, err);
		assert_string_equal(action->inputs[0].name, "recipe/1.0.json");
		assert_string_equal(action->inputs[1].name, "recipe/patches/fix.patch");
		assert_string_equal(action->inputs[1].digest, digest.hex);
	}
	ws_store_close(&store);
}
