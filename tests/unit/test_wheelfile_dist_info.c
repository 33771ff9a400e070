/* test_wheelfile_dist_info.c - WHEEL and METADATA read, refused, and held against a file name. */
#include "test.h"

#include "wheel/wheel.h"
#include "wheelfile/dist_info.h"

#define WHEEL \
	"Wheel-Version: 1.0\nGenerator: bdist_wheel (0.45.1)\nRoot-Is-Purelib: false\n" \
	"Tag: cp311-cp311-linux_x86_64\n"
#define METADATA "Metadata-Version: 2.1\nName: flash_attn\nVersion: 2.8.3+CU12torch2.6\n"

static struct ws_wheel_info
read_wheel(const char *text, struct ws_arena *a)
{
	struct ws_wheel_info info;
	struct ws_err err = {0};
	assert_ok(ws_wheel_info_read(ws_str_of(text), a, &info, &err), err);
	return info;
}

static struct ws_metadata_info
read_metadata(const char *text, struct ws_arena *a)
{
	struct ws_metadata_info info;
	struct ws_err err = {0};
	assert_ok(ws_metadata_info_read(ws_str_of(text), a, &info, &err), err);
	return info;
}

static void
refuse_wheel(const char *text, const char *why, struct ws_arena *a)
{
	struct ws_wheel_info info;
	struct ws_err err = {0};
	assert_fails(ws_wheel_info_read(ws_str_of(text), a, &info, &err), err, WS_ERR_FETCH);
	assert_string_equal(err.text, why);
}

static void
refuse_metadata(struct ws_str text, const char *why, struct ws_arena *a)
{
	struct ws_metadata_info info;
	struct ws_err err = {0};
	assert_fails(ws_metadata_info_read(text, a, &info, &err), err, WS_ERR_FETCH);
	assert_string_equal(err.text, why);
}

#define CONTINUED "Metadata-Version: 2.1\r\nName: demo\nVersion: 1\nSummary: one\n  two\n"

WS_TEST_ERR(fields_are_cut_with_their_continued_lines)
{
	struct ws_metadata_info info;
	struct ws_str text = ws_str_of(CONTINUED "License:\n\nno colon\n");
	assert_ok(ws_metadata_info_read(text, a, &info, &err), err);
	assert_string_equal(info.summary, "one");
	assert_string_equal(info.license, "");
	text = ws_str_of(CONTINUED "no colon\n");
	refuse_metadata(text, "line 6 of METADATA is not \"Name: value\"", a);
	text = ws_str_of(CONTINUED "License : MIT\n");
	refuse_metadata(text, "line 6 of METADATA is not \"Name: value\"", a);
}

WS_TEST(wheel_gives_version_generator_and_expanded_tags)
{
	struct ws_wheel_info info =
		read_wheel("wheel-version: 1.9\nGenerator: x\nRoot-Is-Purelib: True\n"
				   "Tag: py2.py3-none-any\nTag: py3-none-any\nBuild: 1a\n\n",
			a);
	assert_int_equal(info.minor, 9);
	assert_string_equal(info.generator, "x");
	assert_string_equal(info.build, "1a");
	assert_true(info.purelib);
	assert_int_equal(info.tag_count, 2);
	assert_string_equal(info.tags[0], "py2-none-any");
	assert_string_equal(info.tags[1], "py3-none-any");
}

WS_TEST(wheel_is_refused_by_line)
{
	refuse_wheel(
		"Wheel-Version: 2.0\n", "line 1 of WHEEL gives a Wheel-Version that is not 1.x", a);
	refuse_wheel(WHEEL "Wheel-Version: 1.0\n", "line 5 of WHEEL: 'wheel-version' is repeated", a);
	refuse_wheel("Wheel-Version: 1.0\nRoot-Is-Purelib: yes\n",
		"line 2 of WHEEL gives a Root-Is-Purelib that is not true or false", a);
	refuse_wheel("Wheel-Version: 1.0\nTag: cp311-cp311\n",
		"line 2 of WHEEL is not a compatibility tag (cp311-cp311-linux_x86_64)", a);
	refuse_wheel("Wheel-Version: 1.0\nTag: a..b-c-d\n",
		"line 2 of WHEEL is not a compatibility tag (cp311-cp311-linux_x86_64)", a);
	refuse_wheel("Wheel-Version: 1.0\nTag: a-b-c-d\n",
		"line 2 of WHEEL is not a compatibility tag (cp311-cp311-linux_x86_64)", a);
	refuse_wheel("Wheel-Version: 1.0\nRoot-Is-Purelib: true\n", "WHEEL has no 'tag'", a);
	refuse_wheel("Tag: a-b-c\n", "WHEEL has no 'wheel-version'", a);
	refuse_wheel("Wheel-Version : 1.0\n", "line 1 of WHEEL is not \"Name: value\"", a);
	refuse_wheel(
		WHEEL "\nTag: x-y-z\n", "line 4 of WHEEL is followed by an empty line and more", a);
	refuse_wheel(WHEEL "X: a\rTag: x-y-z\n",
		"line 5 of WHEEL holds a control character, or is not UTF-8", a);
}

WS_TEST(absurd_tags_end)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	ws_buf_puts(&text, "Wheel-Version: 1.0\nTag: ");
	for (int i = 0; i < 300; i++) {
		ws_buf_printf(&text, "%scp%d", i ? "." : "", i);
	}
	ws_buf_puts(&text, "-a.b.c.d-e.f.g.h\n");
	refuse_wheel(ws_buf_text(&text), "line 2 of WHEEL makes absurdly many tags", a);
}

WS_TEST(metadata_gives_identity_and_requirements)
{
	struct ws_metadata_info info = read_metadata(METADATA
		"Summary: fast\nLicense: BSD\n        more lines\nRequires-Python: >=3.9\n"
		"Requires-Dist: Torch.X [opt,b] (>=2.4,<3) ; python_version < \"3.12\"\n"
		"Requires-Dist: einops\nRequires-Dist: a@ https://h/a;b.whl ; extra == 'c'\n"
		"License-Expression: MIT\n\nName: not a field\n",
		a);
	assert_string_equal(info.name, "flash_attn");
	assert_string_equal(info.package, "flash-attn");
	assert_string_equal(info.version.text, "2.8.3+cu12torch2.6");
	assert_string_equal(info.summary, "fast");
	assert_string_equal(info.license, "MIT");
	assert_string_equal(info.requires_python, ">=3.9");
	assert_int_equal(info.require_count, 3);
	assert_string_equal(info.requires[0].package, "torch-x");
	assert_string_equal(info.requires[0].specifiers, ">=2.4,<3");
	assert_string_equal(info.requires[0].marker, "python_version < \"3.12\"");
	assert_string_equal(info.requires[1].specifiers, "");
	assert_null(info.requires[1].marker);
	assert_string_equal(info.requires[2].url, "https://h/a;b.whl");
	assert_string_equal(info.requires[2].marker, "extra == 'c'");
}

WS_TEST(metadata_is_refused_by_line)
{
	refuse_metadata(
		ws_str_of(METADATA "NAME: other\n"), "line 4 of METADATA: 'name' is repeated", a);
	refuse_metadata(ws_str_of("Metadata-Version: 3.0\n"),
		"line 1 of METADATA gives a Metadata-Version that is not 1.x or 2.x", a);
	refuse_metadata(ws_str_of("Name: -x\n"), "line 1 of METADATA is not a package's name", a);
	refuse_metadata(ws_str_of("Name: a b\n"), "line 1 of METADATA is not a package's name", a);
	refuse_metadata(ws_str_of("Version: one\n"), "line 1 of METADATA is not a version", a);
	refuse_metadata(ws_str_of(METADATA "Requires-Python: 3\n"),
		"line 4 of METADATA is not a set of version specifiers", a);
	refuse_metadata(ws_str_of(METADATA "Requires-Dist: torch ==\n"),
		"line 4 of METADATA is not a requirement", a);
	refuse_metadata(
		ws_str_of(METADATA "Requires-Dist: [x]\n"), "line 4 of METADATA is not a requirement", a);
	refuse_metadata(ws_str_of("Metadata-Version: 2.1\nVersion: 1\n"), "METADATA has no 'name'", a);
	refuse_metadata(ws_str_of(""), "METADATA has no 'metadata-version'", a);
	refuse_metadata(ws_str_of(" Name: x\n"), "line 1 of METADATA is not \"Name: value\"", a);
	refuse_metadata((struct ws_str){"Name: a\0b\n", 10},
		"line 1 of METADATA holds a control character, or is not UTF-8", a);
	refuse_metadata(ws_str_of("Summary: \xff\n"),
		"line 1 of METADATA holds a control character, or is not UTF-8", a);
}

/* The findings, one a line. */
static const char *
disagreements(const char *file, const char *folder, const char *wheel, const char *metadata,
	struct ws_arena *a)
{
	struct ws_wheel_name name;
	const char *why;
	assert_true(ws_wheel_name_parse(file, a, &name, &why));
	struct ws_wheel_info w = read_wheel(wheel, a);
	struct ws_metadata_info m = read_metadata(metadata, a);
	size_t count;
	const char *const *lines = ws_dist_info_disagreements(&name, folder, &w, &m, a, &count);
	WS_AUTO_BUF struct ws_buf text = {0};
	for (size_t i = 0; i < count; i++) {
		ws_buf_printf(&text, "%s\n", lines[i]);
	}
	return ws_buf_copy(&text, a);
}

WS_TEST(spelling_alone_is_not_a_disagreement)
{
	assert_string_equal(disagreements("Flash_Attn-2.8.3+cu12torch2.6-cp311-cp311-linux_x86_64.whl",
							"flash.attn-2.8.3+cu12torch2.6.dist-info", WHEEL, METADATA, a),
		"");
}

WS_TEST(every_disagreement_is_named)
{
	assert_string_equal(
		disagreements(
			"flash_attn-2.8.3-1-cp311-cp311-manylinux2014_x86_64.manylinux_2_17_x86_64.whl",
			"other-2.8.2.dist-info", WHEEL, METADATA, a),
		"version: the file name has '2.8.3', METADATA has '2.8.3+cu12torch2.6'\n"
		"name: the file name has 'flash-attn', the dist-info folder has 'other'\n"
		"version: the file name has '2.8.3', the dist-info folder has '2.8.2'\n"
		"tag: the file name has 'cp311-cp311-manylinux2014_x86_64', WHEEL does not\n"
		"tag: the file name has 'cp311-cp311-manylinux_2_17_x86_64', WHEEL does not\n"
		"tag: WHEEL has 'cp311-cp311-linux_x86_64', the file name does not\n"
		"build tag: the file name has '1', WHEEL has 'none'\n");
	assert_string_equal(disagreements("flash_attn-2.8.3+cu12torch2.6-cp311-cp311-linux_x86_64.whl",
							"x.dist-info", WHEEL, METADATA, a),
		"the folder 'x.dist-info' is not NAME-VERSION.dist-info\n");
}

WS_TEST(our_own_files_are_read)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_wheel_tags tags = {"cp311", "cp311", "manylinux2014_x86_64.manylinux_2_17_x86_64"};
	ws_wheel_file_write(&tags, false, &text);
	struct ws_wheel_info info = read_wheel(ws_buf_text(&text), a);
	assert_int_equal(info.tag_count, 2);
	assert_false(info.purelib);
}
