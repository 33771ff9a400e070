/* test_prebuilt_rank.c - which wheels might serve a product, in which order, and what was
 * never published. */
#include "test.h"

#include "plan_world.h"
#include "prebuilt/candidates.h"

#define AT "https://example.org/v{version}/"
#define DEMO \
	"demo 1.0 pybind a.cu\n" \
	"\"prebuilt\": [{\"from\": \"demo's releases\", \"url\": \"" AT \
	"demo-{version}+cu{cuda}torch{torch}cxx11abi{cxx11abi}-{python}-{python}-linux_x86_64.whl\"," \
	" \"cuda\": [\"118\", \"123\"], \"torch\": [\"2.3\", \"2.4\"]," \
	" \"cxx11abi\": [\"FALSE\", \"TRUE\"], \"python\": [\"3.11\", \"3.12\"]," \
	" \"except\": [{\"torch\": \"==2.4.*\", \"python\": \"3.12.*\"}]}]"

/* The candidates of the only product of a matrix, one a line, then the names that were never
 * published. */
static const char *
list(const char *recipe, const char *axes, bool window, const struct ws_candidate *wheels,
	size_t count, struct ws_arena *a)
{
	struct ws_case c = {.names = {"recipe", "matrix"}, .count = 2};
	struct world *world = WS_NEW(a, struct world);
	struct ws_plan plan;
	struct ws_err err = {0};
	WS_AUTO_BUF struct ws_buf b = {0};
	c.texts[0] = recipe;
	c.texts[1] = ws_arena_printf(a, "{\"packages\": [\"demo==1.0\"], %s}", axes);
	assert_ok(world_read(&c, a, world, &err), err);
	assert_ok(ws_plan_make(&world->input, a, &plan, &err), err);
	assert_int_equal(plan.product_count, 1);
	struct ws_candidate *at = WS_NEW_N(a, struct ws_candidate, count + 1);
	struct ws_index_wheels found = {.at = at};
	for (size_t i = 0; i < count; i++) {
		struct ws_candidate *wheel = &at[found.count];
		if (ws_index_wheel_parse(wheels[i].file, plan.products[0]->recipe, a, wheel)) {
			wheel->place = wheels[i].place;
			found.count++;
		}
	}
	struct ws_candidates all = ws_candidates_rank(plan.products[0], window, &found, a);
	for (size_t i = 0; i < all.count; i++) {
		assert_int_equal(all.at[i].state, WS_CANDIDATE_UNOPENED);
		ws_buf_printf(&b, "%s%s\n", all.at[i].file, all.at[i].window ? " (window)" : "");
	}
	for (size_t i = 0; i < all.unpublished_count; i++) {
		ws_buf_printf(&b, "not %s: %s\n", all.unpublished[i].file, all.unpublished[i].why);
	}
	return ws_buf_copy(&b, a);
}

#define POINT(torch, cuda, python) \
	"\"torch\": [\"" torch "\"], \"cuda\": [\"" cuda "\"], \"python\": [\"" python \
	"\"], \"arch\": [\"9.0\"]"
#define ABI0 "cxx11abiFALSE-cp311-cp311-linux_x86_64.whl"

WS_TEST(the_published_name_serves_another_minor_of_its_cuda)
{
	assert_string_equal(list(DEMO, POINT("2.4.1", "12.4", "3.11"), false, NULL, 0, a),
		"demo-1.0+cu123torch2.4" ABI0 "\n"
		"not demo-1.0+cu124torch2.4" ABI0 ": cu124 was never published (cu118, cu123 were)\n");
}

WS_TEST(a_release_that_was_never_published)
{
	assert_string_equal(list(DEMO, POINT("2.5.1", "12.4", "3.11"), false, NULL, 0, a),
		"not demo-1.0+cu124torch2.5" ABI0 ": torch 2.5 was never published (2.3, 2.4 were);"
		" cu124 was never published (cu118, cu123 were)\n");
}

WS_TEST(the_window_lets_other_minors_in)
{
	assert_string_equal(list(DEMO, POINT("2.5.1", "12.4", "3.11"), true, NULL, 0, a),
		"demo-1.0+cu123torch2.4" ABI0 " (window)\n"
		"demo-1.0+cu123torch2.3" ABI0 " (window)\n"
		"not demo-1.0+cu124torch2.5" ABI0 ": torch 2.5 was never published (2.3, 2.4 were);"
		" cu124 was never published (cu118, cu123 were)\n");
}

WS_TEST(combinations_and_pythons_that_were_never_published)
{
	assert_non_null(strstr(list(DEMO, POINT("2.5.1", "12.4", "3.13"), false, NULL, 0, a),
		"Python 3.13 was never published (3.11, 3.12 were)"));
	assert_string_equal(list(DEMO, POINT("2.4.1+cu118", "11.8", "3.12"), false, NULL, 0, a),
		"not demo-1.0+cu118torch2.4cxx11abiFALSE-cp312-cp312-linux_x86_64.whl:"
		" this combination of values was never published\n");
}

WS_TEST(the_address_of_a_published_wheel)
{
	struct ws_case c = {.names = {"recipe", "matrix"},
		.texts = {DEMO, "{\"packages\": [\"demo==1.0\"], " POINT("2.4.1", "12.4", "3.11") "}"},
		.count = 2};
	struct world *world = WS_NEW(a, struct world);
	struct ws_plan plan;
	struct ws_err err = {0};
	assert_ok(world_read(&c, a, world, &err), err);
	assert_ok(ws_plan_make(&world->input, a, &plan, &err), err);
	struct ws_candidates all =
		ws_candidates_rank(plan.products[0], false, &(struct ws_index_wheels){0}, a);
	assert_int_equal(all.count, 1);
	assert_string_equal(all.at[0].url, "https://example.org/v1.0/demo-1.0%2Bcu123torch2.4" ABI0);
	assert_string_equal(all.at[0].from, "demo's releases");
	assert_string_equal(all.at[0].label.cuda, "12.3");
	assert_string_equal(all.at[0].label.torch, "2.4");
	assert_int_equal(all.at[0].label.cxx11abi, 0);
}

WS_TEST(wheels_for_a_second_machine_serve_its_cells)
{
	static const struct ws_candidate wheels[] = {
		{.file = "demo-1.0+cu130torch2.11-cp311-cp311-linux_x86_64.whl"},
		{.file = "demo-1.0+cu130torch2.11-cp311-cp311-manylinux_2_34_aarch64.whl"},
		{.file = "demo-1.0+cu130torch2.11-cp311-cp311-linux_aarch64.whl"},
	};
	assert_string_equal(list(DEMO, POINT("2.11.0", "13.0", "3.11") ", \"platform\": [\"aarch64\"]",
							false, wheels, WS_LEN(wheels), a),
		"demo-1.0+cu130torch2.11-cp311-cp311-manylinux_2_34_aarch64.whl\n"
		"demo-1.0+cu130torch2.11-cp311-cp311-linux_aarch64.whl\n");
}

WS_TEST(files_of_indexes_and_folders)
{
	static const struct ws_candidate wheels[] = {
		{.file = "demo-1.0+cu118torch2.4-cp311-cp311-linux_x86_64.whl", .place = WS_PLACE_INDEX},
		{.file = "demo-1.0+cu126torch2.4-cp311-cp311-linux_x86_64.whl", .place = WS_PLACE_INDEX},
		{.file = "demo-1.0+cu124torch2.4-cp311-cp311-linux_x86_64.whl", .place = WS_PLACE_INDEX},
		{.file = "demo-1.0+cu124torch2.4-cp312-cp312-linux_x86_64.whl", .place = WS_PLACE_INDEX},
		{.file = "demo-1.0+cu124torch2.4-cp311-cp311-linux_aarch64.whl", .place = WS_PLACE_INDEX},
		{.file = "demo-1.0+cpu-cp311-cp311-linux_x86_64.whl", .place = WS_PLACE_INDEX},
		{.file = "demo-1.1+cu124torch2.4-cp311-cp311-linux_x86_64.whl", .place = WS_PLACE_INDEX},
		{.file = "other-1.0-cp311-cp311-linux_x86_64.whl", .place = WS_PLACE_INDEX},
		{.file = "demo-1.0-cp311-cp311-linux_x86_64.whl", .place = WS_PLACE_FOLDER},
		{.file = "demo-1.0+cu12torch2.4-cp311-abi3-linux_x86_64.whl", .place = WS_PLACE_FOLDER},
		{.file = "demo-1.0+cu124torch2.6-cp311-cp311-linux_x86_64.whl", .place = WS_PLACE_INDEX},
		{.file = "demo-1.0+cu124torch2.3-cp311-cp311-linux_x86_64.whl", .place = WS_PLACE_INDEX},
		{.file = "demo-1.0+cu124torch2.2-cp311-cp311-linux_x86_64.whl", .place = WS_PLACE_INDEX},
		{.file = "demo-1.0.tar.gz", .place = WS_PLACE_INDEX},
	};
	assert_string_equal(list("demo 1.0 pybind a.cu", POINT("2.4.1", "12.4", "3.11"), true, wheels,
							WS_LEN(wheels), a),
		"demo-1.0-cp311-cp311-linux_x86_64.whl\n"
		"demo-1.0+cu12torch2.4-cp311-abi3-linux_x86_64.whl\n"
		"demo-1.0+cu124torch2.4-cp311-cp311-linux_x86_64.whl\n"
		"demo-1.0+cu126torch2.4-cp311-cp311-linux_x86_64.whl\n"
		"demo-1.0+cu124torch2.3-cp311-cp311-linux_x86_64.whl (window)\n"
		"demo-1.0+cu124torch2.2-cp311-cp311-linux_x86_64.whl (window)\n"
		"demo-1.0+cu124torch2.6-cp311-cp311-linux_x86_64.whl (window)\n");
}

WS_TEST(a_wheel_must_fit_every_python_of_its_product)
{
	static const struct ws_candidate wheels[] = {
		{.file = "demo-1.0+cu124torch2.5-cp311-cp311-linux_x86_64.whl"},
		{.file = "demo-1.0+cu124torch2.5-py3-none-linux_x86_64.whl"},
	};
	assert_string_equal(list("demo 1.0 torch-library a.cu",
							"\"torch\": [\"2.5.1\"], \"cuda\": [\"12.4\"], \"arch\": [\"9.0\"],"
							" \"python\": [\"3.11\", \"3.12\"]",
							false, wheels, 2, a),
		"demo-1.0+cu124torch2.5-py3-none-linux_x86_64.whl\n");
}

WS_TEST(the_stable_abi_loads_in_later_releases)
{
	static const struct ws_candidate wheels[] = {
		{.file = "demo-1.0+cu130torch2.10-cp311-abi3-linux_x86_64.whl"},
		{.file = "demo-1.0+cu130torch2.12-cp311-abi3-linux_x86_64.whl"},
	};
	assert_string_equal(
		list("demo 1.0 stable-abi a.cu", POINT("2.11.0", "13.0", "3.13"), false, wheels, 2, a),
		"demo-1.0+cu130torch2.10-cp311-abi3-linux_x86_64.whl\n");
}
