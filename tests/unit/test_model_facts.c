/* test_model_facts.c - conditions at points, look-ups among facts, and names of enums. */
#include "test.h"

#include "config/facts.h"
#include "model/matrix.h"

/* The specifiers, versions and archs of a row; NULL: not given. */
struct row {
	const char *torch, *cuda, *python, *archs;
	int cxx11abi, free_threaded;
};

static const struct ws_specifiers *
set_of(const char *text, struct ws_arena *a)
{
	return text ? ws_specifiers_parse(text, a) : NULL;
}

static const struct ws_version *
version_of(const char *text, struct ws_arena *a)
{
	struct ws_version *version = WS_NEW(a, struct ws_version);
	return text && ws_version_parse(text, a, version) ? version : NULL;
}

static struct ws_arch_set
archs_of(const char *text, struct ws_arena *a)
{
	struct ws_arch_set set = {0};
	const char *why;
	if (text) {
		assert_true(ws_arch_set_parse(text, a, &set, &why));
	}
	return set;
}

static bool
holds(const struct row *when, const struct row *at, struct ws_arena *a)
{
	struct ws_condition condition = {
		.torch = set_of(when->torch, a),
		.cuda = set_of(when->cuda, a),
		.python = set_of(when->python, a),
		.archs = archs_of(when->archs, a),
		.cxx11abi = when->cxx11abi,
		.free_threaded = when->free_threaded,
	};
	struct ws_point_view point = {
		.torch = version_of(at->torch, a),
		.cuda = version_of(at->cuda, a),
		.python = version_of(at->python, a),
		.free_threaded = at->free_threaded == 1,
		.archs = archs_of(at->archs, a),
		.cxx11abi = at->cxx11abi,
	};
	assert_int_equal(condition.archs.count > 0, when->archs != NULL);
	return ws_condition_holds(&condition, &point);
}

WS_TEST(conditions_hold_where_every_named_axis_fits)
{
	static const struct row point = {"2.7.1", "12.6", "3.13", "8.0;9.0+PTX", 1, 0};
	static const struct {
		struct row when;
		bool holds;
	} rows[] = {
		{{NULL, NULL, NULL, NULL, -1, -1}, true},
		{{">=2.6", NULL, NULL, NULL, -1, -1}, true},
		{{"<2.6", NULL, NULL, NULL, -1, -1}, false},
		{{">=2.6", "==12.*", ">=3.13", "9.0", 1, 0}, true},
		{{">=2.6", "==13.*", ">=3.13", "9.0", 1, 0}, false},
		{{NULL, NULL, NULL, "9.0+PTX", -1, -1}, true},
		{{NULL, NULL, NULL, "8.0+PTX", -1, -1}, false},
		{{NULL, NULL, NULL, "9.0a", -1, -1}, false},
		{{NULL, NULL, NULL, "7.5;8.0", -1, -1}, true},
		{{NULL, NULL, NULL, "10.3", -1, -1}, false},
		{{NULL, NULL, NULL, NULL, 0, -1}, false},
		{{NULL, NULL, NULL, NULL, -1, 1}, false},
	};
	for (size_t i = 0; i < WS_LEN(rows); i++) {
		if (holds(&rows[i].when, &point, a) != rows[i].holds) {
			fail_msg("row %zu", i);
		}
	}
}

WS_TEST(an_axis_that_a_cell_lacks_meets_no_condition)
{
	static const struct row none = {NULL, NULL, NULL, NULL, -1, 0};
	static const struct row free_threaded = {NULL, NULL, "3.14", NULL, -1, 1};
	static const struct row any = {NULL, NULL, NULL, NULL, -1, -1};
	assert_true(holds(&any, &none, a));
	static const struct row whens[] = {
		{"", NULL, NULL, NULL, -1, -1},
		{NULL, ">=11", NULL, NULL, -1, -1},
		{NULL, NULL, ">=3", NULL, -1, -1},
		{NULL, NULL, NULL, "8.0", -1, -1},
		{NULL, NULL, NULL, NULL, 0, -1},
		{NULL, NULL, NULL, NULL, -1, 1},
	};
	for (size_t i = 0; i < WS_LEN(whens); i++) {
		assert_false(holds(&whens[i], &none, a));
	}
	assert_true(holds(&whens[5], &free_threaded, a));
}

WS_TEST(a_nightly_meets_conditions_on_its_release)
{
	static const struct row nightly = {"2.16.0.dev20261101+cu130", NULL, NULL, NULL, -1, 0};
	static const struct row since = {">=2.15", NULL, NULL, NULL, -1, -1};
	static const struct row exact = {"==2.16.*", NULL, NULL, NULL, -1, -1};
	assert_true(holds(&since, &nightly, a));
	assert_true(holds(&exact, &nightly, a));
}

static struct ws_torch_release
release_of(const char *text, struct ws_arena *a)
{
	return (struct ws_torch_release){.version = *version_of(text, a)};
}

WS_TEST(releases_are_found_without_their_label)
{
	const struct ws_torch_release releases[] = {release_of("2.3.1", a), release_of("2.5.1", a),
		release_of("2.6.0", a), release_of("2.10.0", a)};
	struct ws_facts facts = {.torch = releases, .torch_count = WS_LEN(releases)};
	assert_ptr_equal(ws_facts_torch(&facts, version_of("2.5.1", a)), &releases[1]);
	assert_ptr_equal(ws_facts_torch(&facts, version_of("2.5.1+cu121", a)), &releases[1]);
	assert_ptr_equal(ws_facts_torch(&facts, version_of("2.10", a)), &releases[3]);
	assert_null(ws_facts_torch(&facts, version_of("2.5", a)));
	assert_null(ws_facts_torch(&facts, version_of("2.5.1rc1", a)));
	facts.torch_count = 0;
	assert_null(ws_facts_torch(&facts, version_of("2.5.1", a)));
}

WS_TEST(toolkits_are_found_by_major_and_minor)
{
	const struct ws_cuda_toolkit toolkits[] = {
		{.version = *version_of("12.4", a)}, {.version = *version_of("13.0", a)}};
	struct ws_facts facts = {.cuda = toolkits, .cuda_count = WS_LEN(toolkits)};
	assert_ptr_equal(ws_facts_cuda(&facts, version_of("12.4.131", a)), &toolkits[0]);
	assert_ptr_equal(ws_facts_cuda(&facts, version_of("13", a)), &toolkits[1]);
	assert_null(ws_facts_cuda(&facts, version_of("12.40", a)));
	assert_null(ws_facts_cuda(&facts, version_of("12", a)));
}

WS_TEST(the_most_demanding_extension_decides)
{
	struct ws_extension extensions[] = {
		{.binding = WS_BINDING_C_ABI},
		{.binding = WS_BINDING_TORCH_LIBRARY},
		{.binding = WS_BINDING_STABLE_ABI},
	};
	struct ws_recipe recipe = {.extensions = extensions};
	static const char *const expected[] = {"none", "c-abi", "torch-library", "torch-library"};
	for (size_t i = 0; i < WS_LEN(expected); i++) {
		recipe.extension_count = i;
		assert_string_equal(ws_binding_words[ws_recipe_binding(&recipe)], expected[i]);
	}
	extensions[2].binding = WS_BINDING_PYBIND;
	assert_string_equal(ws_binding_words[ws_recipe_binding(&recipe)], "pybind");
	assert_string_equal(ws_binding_words[WS_BINDING_STABLE_ABI], "stable-abi");
}

WS_TEST(policies_have_names)
{
	assert_int_equal(ws_word_index(ws_policy_words, "prefer-prebuilt"), WS_POLICY_PREFER_PREBUILT);
	assert_int_equal(ws_word_index(ws_policy_words, "prefer-build"), WS_POLICY_PREFER_BUILD);
	assert_int_equal(ws_word_index(ws_policy_words, "prebuilt-only"), WS_POLICY_PREBUILT_ONLY);
	assert_int_equal(ws_word_index(ws_policy_words, "build-only"), WS_POLICY_BUILD_ONLY);
	assert_int_equal(ws_word_index(ws_policy_words, "prebuilt"), -1);
	assert_int_equal(ws_word_index(ws_policy_words, NULL), -1);
}

WS_TEST(the_nearest_release_is_of_the_same_minor_where_there_is_one)
{
	static const struct {
		const char *version, *nearest;
	} rows[] = {
		{"2.5.2", "2.5.1"},
		{"2.5.9", "2.5.5"},
		{"2.5.0", "2.5.1"}, /* no earlier one, except of the same minor */
		{"2.5.3+cu121", "2.5.1"},
		{"2.6.0", "2.5.5"},
		{"2.9.0", "2.8.0"},
		{"1.13.0", "2.4.0"},
	};
	static const char *const known[] = {"2.4.0", "2.5.1", "2.5.5", "2.8.0"};
	struct ws_torch_release releases[WS_LEN(known)] = {0};
	struct ws_facts facts = {.torch = releases, .torch_count = WS_LEN(known)};
	for (size_t i = 0; i < WS_LEN(known); i++) {
		releases[i].version = *version_of(known[i], a);
	}
	for (size_t i = 0; i < WS_LEN(rows); i++) {
		const struct ws_torch_release *near =
			ws_facts_torch_nearest(&facts, version_of(rows[i].version, a));
		assert_string_equal(near->version.text, rows[i].nearest);
	}
	assert_string_equal(ws_cuda_label("12.4", a), "cu124");
	assert_string_equal(ws_cuda_label("13.0", a), "cu130");
}

/* A range, a pattern and a point compare different parts of a label. */
WS_TEST(wheels_that_are_known_to_be_bad)
{
	const struct ws_shared_bad rules[] = {
		{.rule = {.when = {.cxx11abi = -1, .free_threaded = -1}},
			.package = "demo",
			.versions = set_of(">=1,<2", a),
			.label = "cu12*abifalse"},
		{.rule = {.when = {.torch = set_of(">=2.6", a), .cxx11abi = -1, .free_threaded = -1}},
			.label = "cu11*"},
		{.rule = {.when = {.cxx11abi = -1, .free_threaded = -1}}, .package = "third"},
		{.rule = {.when = {.cxx11abi = -1, .free_threaded = -1}, .gcc = 10}, .package = "fourth"},
	};
	static const struct {
		const char *file, *torch;
		int rule; /* -1: none */
	} wheels[] = {
		{"demo-1.0+cu12torch2.6cxx11abiFALSE-py3-none-any.whl", "2.5.1", 0},
		{"demo-1.0+cu12torch2.6cxx11abiFALSE-py3-none-any.whl", NULL, 0},
		{"demo-1.0+cu12torch2.6cxx11abiTRUE-py3-none-any.whl", "2.5.1", -1},
		{"demo-2.0+cu12torch2.6cxx11abiFALSE-py3-none-any.whl", "2.5.1", -1},
		{"other-1.0+cu12torch2.6cxx11abiFALSE-py3-none-any.whl", "2.5.1", -1},
		{"other-1.0+cu118-py3-none-any.whl", "2.6.0", 1},
		{"other-1.0+cu118-py3-none-any.whl", "2.5.1", -1},
		{"other-1.0-py3-none-any.whl", "2.6.0", -1},
		{"third-1.0-py3-none-any.whl", "2.6.0", 2},
		{"fourth-1.0-py3-none-any.whl", "2.6.0", -1},
	};
	for (size_t i = 0; i < WS_LEN(wheels); i++) {
		struct ws_wheel_name name;
		struct ws_point_view view = {.torch = version_of(wheels[i].torch, a), .cxx11abi = -1};
		const char *why;
		assert_true(ws_wheel_name_parse(wheels[i].file, a, &name, &why));
		const struct ws_shared_bad *bad = ws_shared_bad_wheel(rules, WS_LEN(rules), &name, &view);
		assert_int_equal(bad ? bad - rules : -1, wheels[i].rule);
	}
}

WS_TEST(the_suggested_release_is_the_nearest_one)
{
	static const char *const pairs[][2] = {
		{"2.99.0", "2.15.0"},
		{"2.51", "2.5.1"},
		{"2.12.0", "2.12.1"},
		{"1.0", "2.3.1"},
		{"3.0", "2.15.0"},
	};
	struct ws_facts facts;
	struct ws_err err;
	assert_ok(ws_facts_read(WS_SOURCE_DATA_DIR "/matrix/facts", a, &facts, &err), err);
	for (size_t i = 0; i < WS_LEN(pairs); i++) {
		const struct ws_version *version = version_of(pairs[i][0], a);
		assert_string_equal(ws_facts_torch_suggest(&facts, version), pairs[i][1]);
	}
}
