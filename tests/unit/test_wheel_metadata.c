/* test_wheel_metadata.c - METADATA and WHEEL, to the byte. Real readers: cli/wheel_pack.bats. */
#include "test.h"

#include "wheel/wheel.h"

static const char *
written(const struct ws_metadata *m, const char *torch, const char *description, struct ws_arena *a)
{
	struct ws_wheel_spec spec = {
		.distribution = "flash_attn",
		.version = "2.8.3+cu.12.4.torch.2.5.sm.86",
		.torch = torch,
		.metadata = m,
	};
	WS_AUTO_BUF struct ws_buf b = {0};
	struct ws_err err;
	assert_ok(ws_metadata_write(&spec, ws_str_of(description), &b, &err), err);
	return ws_buf_copy(&b, a);
}

WS_TEST(empty_metadata_has_three_fields)
{
	struct ws_metadata m = {0};
	assert_string_equal(written(&m, NULL, NULL, a),
		"Metadata-Version: 2.1\nName: flash_attn\nVersion: 2.8.3+cu.12.4.torch.2.5.sm.86\n");
}

WS_TEST(all_fields_are_in_order)
{
	static const char *const classifiers[] = {
		"Programming Language :: Python :: 3", "License :: OSI Approved :: BSD License"};
	static const char *const requires[] = {
		"torch>=2.0", "einops", "triton ; platform_system == 'Linux'"};
	static const char *const extras[] = {"Dev_Tools", "pytest>=7", "dev.tools",
		"ninja; python_version < '3.12'", "web",
		"x @ https://example.org/x;y.whl ; os_name == 'posix'"};
	static const char *const keywords[] = {"cuda", "state-space model"};
	static const struct ws_project_url urls[] = {
		{"Repository", "https://example.org/src"}, {"Changes", "https://example.org/news"}};
	struct ws_metadata m = {
		.summary = "Fast and memory-efficient exact attention",
		.home_page = "https://github.com/Dao-AILab/flash-attention",
		.author = "Tri Dao",
		.author_email = "Tri Dao <tri@example.org>, Albert Gu <agu@example.org>",
		.keywords = keywords,
		.keyword_count = WS_LEN(keywords),
		.project_urls = urls,
		.project_url_count = WS_LEN(urls),
		.license = "BSD",
		.requires_python = ">=3.9",
		.requires = requires,
		.require_count = WS_LEN(requires),
		.classifiers = classifiers,
		.classifier_count = WS_LEN(classifiers),
		.extras = extras,
		.extra_count = WS_LEN(extras),
		.description_file = "README.md",
	};
	assert_string_equal(written(&m, "torch==2.5.*", "# Flash\r\n\rtext\n", a),
		"Metadata-Version: 2.1\n"
		"Name: flash_attn\n"
		"Version: 2.8.3+cu.12.4.torch.2.5.sm.86\n"
		"Summary: Fast and memory-efficient exact attention\n"
		"Keywords: cuda,state-space model\n"
		"Home-page: https://github.com/Dao-AILab/flash-attention\n"
		"Author: Tri Dao\n"
		"Author-email: Tri Dao <tri@example.org>, Albert Gu <agu@example.org>\n"
		"License: BSD\n"
		"Classifier: Programming Language :: Python :: 3\n"
		"Classifier: License :: OSI Approved :: BSD License\n"
		"Requires-Python: >=3.9\n"
		"Requires-Dist: torch==2.5.*\n"
		"Requires-Dist: einops\n"
		"Requires-Dist: triton ; platform_system == 'Linux'\n"
		"Project-URL: Repository, https://example.org/src\n"
		"Project-URL: Changes, https://example.org/news\n"
		"Provides-Extra: dev-tools\n"
		"Requires-Dist: pytest>=7 ; extra == \"dev-tools\"\n"
		"Requires-Dist: ninja ; (python_version < '3.12') and extra == \"dev-tools\"\n"
		"Provides-Extra: web\n"
		"Requires-Dist: x @ https://example.org/x;y.whl ; (os_name == 'posix') and extra == "
		"\"web\"\n"
		"Description-Content-Type: text/markdown\n"
		"\n"
		"# Flash\n\ntext\n");
}

WS_TEST(an_expression_makes_it_2_4_and_excludes_the_old_fields)
{
	static const char *const classifiers[] = {
		"License :: OSI Approved :: BSD License", "Topic :: Scientific/Engineering"};
	static const char *const files[] = {"LICENSE", "csrc/cutlass/LICENSE.txt"};
	struct ws_metadata m = {
		.license = "BSD",
		.license_expression = "BSD-3-Clause",
		.license_files = files,
		.license_file_count = WS_LEN(files),
		.classifiers = classifiers,
		.classifier_count = WS_LEN(classifiers),
	};
	assert_string_equal(written(&m, NULL, NULL, a),
		"Metadata-Version: 2.4\n"
		"Name: flash_attn\n"
		"Version: 2.8.3+cu.12.4.torch.2.5.sm.86\n"
		"License-Expression: BSD-3-Clause\n"
		"License-File: LICENSE\n"
		"License-File: csrc/cutlass/LICENSE.txt\n"
		"Classifier: Topic :: Scientific/Engineering\n");
	m.license_expression = NULL;
	assert_contains(written(&m, NULL, NULL, a), "Metadata-Version: 2.4\n");
	assert_contains(written(&m, NULL, NULL, a), "License: BSD\nLicense-File: LICENSE\n");
}

WS_TEST(the_products_torch_replaces_the_recipes)
{
	static const struct {
		const char *requires, *torch, *expected;
	} rows[] = {
		{"torch", "torch==2.5.*", "Requires-Dist: torch==2.5.*\n"},
		{"Torch>=2", "torch==2.5.*", "Requires-Dist: torch==2.5.*\n"},
		{" torch[opt] (>=2) ; x", "torch==2.5.*", "Requires-Dist: torch==2.5.*\n"},
		{"torch", NULL, "Requires-Dist: torch\n"},
		{"torch-geometric", "torch>=2.10",
			"Requires-Dist: torch>=2.10\nRequires-Dist: torch-geometric\n"},
		{"torchvision", "torch>=2.10", "Requires-Dist: torch>=2.10\nRequires-Dist: torchvision\n"},
	};
	for (size_t i = 0; i < WS_LEN(rows); i++) {
		struct ws_metadata m = {.requires = &rows[i].requires, .require_count = 1};
		const char *text = written(&m, rows[i].torch, NULL, a);
		assert_string_equal(strstr(text, "Requires-Dist"), rows[i].expected);
	}
}

WS_TEST(descriptions_are_utf8_with_plain_line_ends)
{
	static const struct {
		const char *bytes, *expected;
	} rows[] = {
		{"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80",
			"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80"},
		{"a\xff"
		 "b",
			"a\xef\xbf\xbd"
			"b"},
		{"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},
		{"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
		{"\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
		{"\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd"},
		{"a\rb\r\nc\n\rd", "a\nb\nc\n\nd"},
	};
	struct ws_metadata m = {.description_file = "README"};
	for (size_t i = 0; i < WS_LEN(rows); i++) {
		const char *text = written(&m, NULL, rows[i].bytes, a);
		assert_string_equal(strstr(text, "\n\n") + 2, rows[i].expected);
	}
	assert_contains(written(&m, NULL, "x", a), "Description-Content-Type: text/plain\n\nx");
	m.description_file = "docs/README.rst";
	assert_contains(written(&m, NULL, "x", a), "Description-Content-Type: text/x-rst\n\nx");
	assert_null(strstr(written(&m, NULL, "", a), "Description"));
}

WS_TEST(a_line_break_cannot_smuggle_a_field)
{
	static const char *const bad[] = {"a\nRequires-Dist: evil", "a\rb", "a\x0b", "a\x7f",
		"a\xc2\x85"
		"b",
		"a\xe2\x80\xa8"
		"b",
		"a\x1b[0m"};
	for (size_t i = 0; i < WS_LEN(bad); i++) {
		struct ws_metadata m = {.summary = bad[i], .author = "x"};
		struct ws_wheel_spec spec = {.distribution = "x", .version = "1", .metadata = &m};
		WS_AUTO_BUF struct ws_buf b = {0};
		struct ws_err err;
		assert_fails(ws_metadata_write(&spec, ws_str_of(NULL), &b, &err), err, WS_ERR_CONFIG);
		assert_string_equal(err.text, "the metadata field 'Summary' is more than one line");
		assert_contains(err.cure, "description_file");
	}
}

WS_TEST(tags_are_expanded_and_sorted)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	struct ws_wheel_tags tags = {"py3.py2", "none", "manylinux_2_17_x86_64.manylinux2014_x86_64"};
	ws_wheel_file_write(&tags, false, &b);
	assert_string_equal(ws_buf_text(&b),
		"Wheel-Version: 1.0\n"
		"Generator: wheelsmith (" WS_VERSION ")\n"
		"Root-Is-Purelib: false\n"
		"Tag: py2-none-manylinux2014_x86_64\n"
		"Tag: py2-none-manylinux_2_17_x86_64\n"
		"Tag: py3-none-manylinux2014_x86_64\n"
		"Tag: py3-none-manylinux_2_17_x86_64\n");
	ws_buf_clear(&b);
	tags = (struct ws_wheel_tags){"py3", "none", "any"};
	ws_wheel_file_write(&tags, true, &b);
	assert_contains(ws_buf_text(&b), "Root-Is-Purelib: true\nTag: py3-none-any\n");
}
