/* test_compile_sources.c - a recipe's paths and patterns against a listing. */
#include "test.h"

#include "compile/sources.h"

static const struct ws_tree_entry entries[] = {
	{"csrc/a.cu", WS_TREE_FILE, ""},
	{"csrc/b.cu", WS_TREE_FILE, ""},
	{"csrc/bind.cpp", WS_TREE_FILE, ""},
	{"csrc/deep/c.cu", WS_TREE_FILE, ""},
	{"csrc/linked.cu", WS_TREE_LINK, "a.cu"},
	{"csrc/old.c", WS_TREE_FILE, ""},
	{"csrc/readme.txt", WS_TREE_FILE, ""},
};
static const struct ws_tree tree = {.entries = entries, .count = WS_LEN(entries)};
static const struct ws_recipe recipe = {
	.name = "demo", .version = {.text = "1.0"}, .path = "demo/1.0.json"};

WS_TEST(every_ending_that_a_recipe_may_name_is_compiled)
{
	static const char *const paths[] = {"a.cu", "a.cpp", "a.cc", "a.cxx", "a.c"};
	bool cuda;
	for (size_t i = 0; i < WS_LEN(paths); i++) {
		assert_true(ws_unit_kind(paths[i], &cuda));
		assert_int_equal(cuda, i == 0);
	}
	assert_false(ws_unit_kind("a.cuh", &cuda));
	assert_false(ws_unit_kind("cu", &cuda));
}

WS_TEST(paths_are_units)
{
	ws_unit_list units = {0};
	struct ws_err err;
	static const char *const paths[] = {"csrc/bind.cpp", "csrc/old.c", "csrc/a.cu"};
	const struct ws_source_list list = {.paths = paths, .path_count = 3};
	assert_ok(ws_units_add_list(&recipe, &tree, &list, a, &units, &err), err);
	assert_int_equal(units.len, 3);
	assert_string_equal(units.at[1].path, "csrc/old.c");
	assert_false(units.at[1].cuda);
	assert_true(units.at[2].cuda);
	assert_fails(ws_units_add(&recipe, &tree, "csrc/none.cu", a, &units, &err), err, WS_ERR_CONFIG);
	assert_string_equal(err.text, "demo 1.0: its sources hold no 'csrc/none.cu'");
	assert_fails(
		ws_units_add(&recipe, &tree, "csrc/readme.txt", a, &units, &err), err, WS_ERR_CONFIG);
	assert_contains(err.text, "nobody compiles 'csrc/readme.txt'");
}

WS_TEST(patterns_stay_in_their_folder_and_are_counted)
{
	ws_unit_list units = {0};
	struct ws_err err;
	struct ws_source_list list = {.glob = "csrc/*.cu", .expected = 2};
	assert_ok(ws_units_add_list(&recipe, &tree, &list, a, &units, &err), err);
	assert_int_equal(units.len, 2);
	assert_string_equal(units.at[1].path, "csrc/b.cu");
	list.expected = 3;
	assert_fails(ws_units_add_list(&recipe, &tree, &list, a, &units, &err), err, WS_ERR_CONFIG);
	assert_string_equal(
		err.text, "demo 1.0: 'csrc/*.cu' matches 2 files where the recipe expects 3");
}
