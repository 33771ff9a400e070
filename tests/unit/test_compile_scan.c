/* test_compile_scan.c - dependency files and header names in texts. */
#include "test.h"

#include "compile/depfile.h"
#include "compile/scan.h"

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

WS_TEST(a_text_that_is_no_rule_is_refused)
{
	struct ws_err err;
	ws_name_list names = {0};
	assert_fails(ws_depfile_parse("", a, &names, &err), err, WS_ERR_BUILD);
	assert_fails(ws_depfile_parse("just words", a, &names, &err), err, WS_ERR_BUILD);
}

struct seen {
	struct ws_arena *a;
	const char *text;
};

static void
collect(void *self, struct ws_ask ask)
{
	struct seen *seen = self;
	static const char *const forms[] = {"\"%s\" ", "<%s> ", "?\"%s\" ", "?<%s> "};
	char name[200];
	snprintf(name, sizeof(name), "%.*s", WS_STR_ARGS(ask.name));
	const char *mark = strstr(forms[ask.kind], "%s");
	seen->text = ws_arena_printf(seen->a, "%s%.*s%s%s", seen->text, (int)(mark - forms[ask.kind]),
		forms[ask.kind], name, mark + 2);
}

static const char *
scan(const char *text, bool *complete, struct ws_arena *a)
{
	struct seen seen = {a, ""};
	*complete = ws_scan(ws_str_of(text), collect, &seen);
	return seen.text;
}

WS_TEST(includes_are_found_however_they_are_spelled)
{
	bool complete;
	assert_string_equal(
		scan("#include <a.h>\n  #\tinclude\"b.h\"\nint x; // no\n# include_next <c.h>\n"
			 "#import \"d.h\"\n#include MACRO\n#include <e\\\n.h>",
			&complete, a),
		"<a.h> \"b.h\" <c.h> \"d.h\" <e\\\n.h> ");
	assert_true(complete);
}

WS_TEST(questions_are_found_also_through_macros)
{
	bool complete;
	assert_string_equal(scan("#if __has_include(<a.h>) && \\\n  __has_include( \"b.h\" )\n#endif\n"
							 "#define HAS(x) __has_include(x)\n#elif HAS(<c.h>)\n",
							&complete, a),
		"?<a.h> ?\"b.h\" ?<c.h> ");
	assert_true(complete);
	scan("#if defined(__has_include)\n#ifdef __has_include\n", &complete, a);
	assert_true(complete);
	scan("#if __has_include(MACRO)\n", &complete, a);
	assert_false(complete);
	scan("#if __has_include_next(MACRO)\n", &complete, a);
	assert_false(complete);
}

WS_TEST(hostile_texts_end)
{
	bool complete;
	assert_string_equal(scan("#include <", &complete, a), "");
	assert_string_equal(scan("#include <>\n#include \"\"\n#", &complete, a), "");
	assert_string_equal(scan("#if (\\", &complete, a), "");
	assert_string_equal(scan("", &complete, a), "");
}
