/* test_compile_scan.c - dependency files and header names in texts. */
#include "test.h"

#include "compile/asks.h"
#include "compile/header_reads.h"

static const char *
parse(const char *text, struct ws_arena *a)
{
	struct ws_err err;
	ws_name_list names = {0};
	if (!ws_depfile_parse(text, a, &names, &err)) {
		return ws_arena_strdup(a, err.text);
	}
	const char *joined = "";
	for (size_t i = 0; i < names.len; i++) {
		joined = ws_arena_printf(a, "%s[%s]", joined, names.at[i]);
	}
	return joined;
}

WS_TEST(depfiles_of_gcc_nvcc_and_ld_are_read)
{
	assert_string_equal(parse("a.o: a.c \\\n  /usr/x.h\n", a), "[a.c][/usr/x.h]");
	assert_string_equal(parse("a.o : src/a.cu \\\n    b.h\n", a), "[src/a.cu][b.h]");
	assert_string_equal(parse("m.so: \\\n\ta.o \\\n\tb.o\n\na.o:\n\nb.o:\n", a), "[a.o][b.o]");
	assert_string_equal(parse("a.o: a.c\\\r\n b.h\r\n", a), "[a.c][b.h]");
}

WS_TEST(depfile_quoting_is_makes)
{
	assert_string_equal(
		parse("a.o: with\\ space a$$b c\\#d e\\f", a), "[with space][a$b][c#d][e\\f]");
	assert_string_equal(parse("a\\ b.o c.o: d.c", a), "[d.c]");
	assert_string_equal(parse("c:x.o: d.c", a), "[d.c]");
}

WS_TEST(a_text_that_is_not_a_rule_is_refused)
{
	struct ws_err err;
	ws_name_list names = {0};
	assert_fails(ws_depfile_parse("", a, &names, &err), err, WS_ERR_BUILD);
	assert_fails(ws_depfile_parse("just words", a, &names, &err), err, WS_ERR_BUILD);
}

/* "kind<text>" of each directive; "name" or <name> as it is read of an include. */
static const char *
scan_bytes(const char *text, size_t len, struct ws_arena *a)
{
	static const char *const kinds[] = {"include", "next", "if", "define", "odd"};
	const char *all = "";
	struct ws_scan s = ws_scan_begin((struct ws_str){text, len});
	struct ws_directive d;
	while (ws_scan_next(&s, &d)) {
		struct ws_str t = ws_str_trim(d.text);
		all = ws_arena_printf(a, "%s%s[%.*s]", all, kinds[d.kind], WS_STR_ARGS(t));
	}
	ws_buf_release(&s.line);
	return all;
}

static const char *
scan(const char *text, struct ws_arena *a)
{
	return scan_bytes(text, strlen(text), a);
}

WS_TEST(directives_are_found_however_they_are_spelled)
{
	static const struct {
		const char *text, *found;
	} cases[] = {
		{"#include <a.h>\n  #\tinclude\"b.h\"\nint x; // no\n", "include[<a.h>]include[\"b.h\"]"},
		{"# include_next <c.h>\n#import \"d.h\"\n", "next[<c.h>]include[\"d.h\"]"},
		{"#include MACRO\n#if X\n#elif Y\n#ifdef Z\n#define A B\n",
			"include[MACRO]if[X]if[Y]define[A B]"},
		{"#include <e\\\n.h>", "include[<e.h>]"},
		{"#include <e\\ \t\n.h>", "include[<e.h>]"},
		{"#inc\\\r\nlude <e.h>\r\n", "include[<e.h>]"},
		{"%:include <a.h>\n%\\\n: include <b.h>", "include[<a.h>]include[<b.h>]"},
		{"/* a */ # /* b */ include /* c */ <a.h>\n", "include[<a.h>]"},
		{"/* over\nlines */ #include <a.h>", "include[<a.h>]"},
		{"# /* over\nlines */ include /* and\n*/ <a.h>\n", "include[<a.h>]"},
		{"// not \\\n#include <a.h>\n#include <b.h>", "include[<b.h>]"},
		{"#include <a//b.h>\n#include \"a/*b.h\"\n", "include[<a//b.h>]include[\"a/*b.h\"]"},
		{"\xEF\xBB\xBF#include <a.h>", "include[<a.h>]"},
		{"\f\v#\finclude\v<a.h>", "include[<a.h>]"},
	};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		assert_string_equal(scan(cases[i].text, a), cases[i].found);
	}
	assert_string_equal(scan_bytes("\0#\0include\0<a.h>", 16, a), "include[<a.h>]");
}

WS_TEST(text_that_only_resembles_a_directive_is_not_one)
{
	static const char *const texts[] = {
		"/*\n#include <a.h>\n*/\n",
		"x #include <a.h>\n",
		"x /*\n*/ #include <a.h>\n",
		"const char *s = \"\\\n#include <a.h>\";\n",
		"R\"x(\n#include <a.h>\n)y\"\n)x\";\n",
		"auto s = u8R\"(\n/* )\";\n",
		"#error don't\n#pragma once\n#pragma GCC poison x\n",
		"#undef x\n#line 3 \"a.h\"\n#",
		"",
	};
	for (size_t i = 0; i < WS_LEN(texts); i++) {
		assert_string_equal(scan(texts[i], a), "");
	}
}

/* Comments and strings begin and end as for compilers, so that the directives behind them are
 * found. */
WS_TEST(a_false_start_of_a_comment_hides_no_directive)
{
	static const char *const before[] = {
		"const char *s = \"/*\";\n",
		"char c = '\"'; char d = '\\''; /* \" */\n",
		"int n = 1'000 /* ' */ + 0x1'f;\n",
		"auto s = R\"(\" /* )\";\n",
		"#error it's /* not a comment\n",
		"#if 0\ndon't /* do\n#endif\n",
		"int LR = 1; x = LR /* */;\n",
		"// \"\n",
		"/* \\*/\n",
		"/**/\n/***/\n",
		"xR\"(\";\n",
	};
	for (size_t i = 0; i < WS_LEN(before); i++) {
		const char *text = ws_arena_printf(a, "%s#include <a.h>\n", before[i]);
		const char *found = scan(text, a);
		assert_true(ws_ends_with(found, "include[<a.h>]"));
		assert_null(strstr(found, "odd"));
	}
}

WS_TEST(text_that_compilers_read_differently_is_odd)
{
	static const char *const texts[] = {
		"int x;\r#include <a.h>\n",
		"// x\r/*\n",
		"?\?=include <a.h>\n",
		"// x ?\?/\n#include <a.h>\n",
		"auto s = R\"(\n",
		"auto s = R\"a b(x)a b\";\n",
		"auto s = R\\\n\"(x)\";\n",
		"#define X R\"(\n)\"\n",
		"#embed \"x.bin\"\n",
		"#pragma GCC dependency \"x.h\"\n",
		"#pragma GCC pch_preprocess \"x.gch\"\n",
	};
	for (size_t i = 0; i < WS_LEN(texts); i++) {
		assert_contains(scan(texts[i], a), "odd[");
	}
}

WS_TEST(hostile_texts_end)
{
	static const char *const texts[] = {"#include <", "#include <>\n#include \"\"\n#", "#if (\\",
		"/*", "/", "'", "\"\\", "R\"", "#define", "#define x R\"(", "%", "%:", "\\", "1'"};
	for (size_t i = 0; i < WS_LEN(texts); i++) {
		scan(texts[i], a);
	}
}
