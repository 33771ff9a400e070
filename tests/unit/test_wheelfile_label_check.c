/* test_wheelfile_label_check.c - what WHEEL and METADATA say beside a file name, a Python and a
 * torch. */
#include "test.h"

#include "wheelfile/label_check.h"

/* Whether a WHEEL with these tags agrees with a wheel's name. */
static bool
tags_agree(struct ws_arena *a, const char *file, const char *const *tags, size_t count)
{
	struct ws_wheel_name name;
	struct ws_wheel_info wheel = {.tags = tags, .tag_count = count};
	const char *why;
	assert_true(ws_wheel_name_parse(file, a, &name, &why));
	return !ws_label_check_tags(&name, &wheel, a);
}

WS_TEST(whole_tags_are_compared_except_the_kind_of_linux)
{
	static const struct {
		const char *file, *tag;
		bool agrees;
	} cases[] = {
		{"demo-1.0-cp311-cp311-linux_x86_64.whl", "cp311-cp311-linux_x86_64", true},
		{"demo-1.0-cp311-cp311-manylinux_2_28_x86_64.whl", "cp311-cp311-linux_x86_64", true},
		{"demo-1.0-cp311-cp311-manylinux2014_x86_64.whl", "cp311-cp311-manylinux_2_17_x86_64",
			true},
		{"demo-1.0-cp311-cp311-linux_aarch64.whl", "cp311-cp311-linux_aarch64", true},
		{"demo-1.0-cp311-cp311-manylinux_2_28_aarch64.whl", "cp311-cp311-linux_aarch64", true},
		{"demo-1.0-cp311-cp311-linux_aarch64.whl", "cp311-cp311-linux_x86_64", false},
		{"demo-1.0-cp311-cp311-linux_x86_64.whl", "cp312-cp312-linux_x86_64", false},
		{"demo-1.0-cp311-abi3-linux_x86_64.whl", "cp311-cp311-linux_x86_64", false},
		{"demo-1.0-py3-none-any.whl", "py3-none-any", true},
		{"demo-1.0-cp311-cp311-linux_x86_64.whl", "py3-none-any", false},
		{"demo-1.0-py3-none-linux_x86_64.whl", "py3-none-any", true},
		{"demo-1.0-cp311-cp311-linux_x86_64.whl", "cp311", false},
		{"demo-1.0-pypy311-pypy311_pp73_with_a_very_long_name_that_goes_on_for_more_than_64_bytes-"
		 "linux_x86_64.whl",
			"pypy311-pypy311_pp73_with_a_very_long_name_that_goes_on_for_more_than_64_bytes-"
			"linux_x86_64",
			true},
	};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		if (tags_agree(a, cases[i].file, &cases[i].tag, 1) != cases[i].agrees) {
			fail_msg("%s, %s", cases[i].file, cases[i].tag);
		}
	}
}

WS_TEST(one_tag_of_several_is_enough)
{
	static const char *const tags[] = {"cp310-cp310-linux_x86_64", "cp311-cp311-linux_x86_64"};
	assert_true(tags_agree(a, "demo-1.0-cp310.cp311-cp310.cp311-linux_x86_64.whl", tags, 2));
	assert_true(tags_agree(a, "demo-1.0-cp311-cp311-linux_x86_64.whl", tags, 2));
	assert_false(tags_agree(a, "demo-1.0-cp312-cp312-linux_x86_64.whl", tags, 2));
}

WS_TEST(a_python_is_refused_when_no_patch_release_is_in_the_range)
{
	static const struct {
		const char *range;
		bool has;
	} cases[] = {
		{NULL, true},
		{">=3.8", true},
		{">=3.11.4,<3.11.9", true},
		{"==3.11.7", true},
		{"!=3.11.0,!=3.11.99,~=3.11.1", true},
		{">=3.11.1,<3.12", true},
		{"<3.11", false},
		{">=3.12", false},
		{">3.11.4,<3.11.5", false},
	};
	const struct ws_python_tag python = {3, 11, false};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		struct ws_metadata_info metadata = {.requires_python = cases[i].range};
		const char *why = ws_label_check_python(&metadata, &python, a);
		if (!why != cases[i].has) {
			fail_msg("%s: %s", cases[i].range, why ? why : "has it");
		}
	}
}

WS_TEST(a_torch_is_held_against_what_metadata_asks_for_without_a_marker)
{
	static const struct {
		const char *specifiers, *marker, *torch;
		bool fits;
	} cases[] = {
		{"==2.5.*", NULL, "2.5.1", true},
		{"==2.5.*", NULL, "2.6.0", false},
		{"==2.5.*", "python_version < '3'", "2.6.0", true},
		{"==2.5.1+cu121", NULL, "2.5.1", true},
		{"==2.5.1+cu121", NULL, "2.5.1+cu124", false},
		{"==2.5.1+cu121,>=2.6", NULL, "2.5.1", false},
		{"", NULL, "2.6.0", true},
	};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		const struct ws_requirement asked[] = {
			{.package = "numpy", .specifiers = "<1"},
			{.package = "torch", .specifiers = cases[i].specifiers, .marker = cases[i].marker},
		};
		struct ws_metadata_info metadata = {.requires = asked, .require_count = 2};
		struct ws_version torch;
		assert_true(ws_version_parse(cases[i].torch, a, &torch));
		const char *why = ws_label_check_torch(&metadata, &torch, a);
		if (!why != cases[i].fits) {
			fail_msg("torch%s, %s: %s", cases[i].specifiers, cases[i].torch, why ? why : "fits");
		}
	}
}
