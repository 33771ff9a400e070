/* test_compile_markers.c - line markers lose the folder in which text was preprocessed. */
#include "test.h"

#include "compile/split.h"

WS_TEST(relative_names_of_markers_get_a_root)
{
	static const struct {
		const char *text, *anchored;
	} cases[] = {
		{"# 1 \"src/a.cu\"\nint a;\n", "# 1 \"/wheelsmith/src/a.cu\"\nint a;\n"},
		{"# 12 \"cuda/include/x.h\" 1 3 4", "# 12 \"/wheelsmith/cuda/include/x.h\" 1 3 4"},
		{"# 1 \"/usr/include/stdio.h\" 3\n", "# 1 \"/usr/include/stdio.h\" 3\n"},
		{"# 0 \"<built-in>\"\n", "# 0 \"<built-in>\"\n"},
		{"# 1 \"\"\n", "# 1 \"\"\n"},
		{"#pragma once \"a\"\n# pragma 1 \"a\"\n", "#pragma once \"a\"\n# pragma 1 \"a\"\n"},
		{" # 1 \"a\"\n# 1\n#\n\n", " # 1 \"a\"\n# 1\n#\n\n"},
		{"", ""},
	};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		WS_AUTO_BUF struct ws_buf out = {0};
		ws_markers_anchor(ws_str_of(cases[i].text), &out);
		assert_string_equal(ws_buf_text(&out), cases[i].anchored);
	}
}
