/* test_draft_python_text.c - words, strings and logical lines; texts that are no Python. */
#include "test.h"

#include "base/buf.h"
#include "draft/python_text.h"

/* The words with their kinds, "N:x S:y O:+ ;" */
static const char *
words(const char *text, struct ws_arena *a)
{
	static const char kinds[] = "NSO";
	WS_AUTO_BUF struct ws_buf b = {0};
	struct ws_python_text read = ws_python_text_read(ws_str_of(text), a);
	for (size_t i = 0; i < read.count; i++) {
		const struct ws_python_word *word = &read.words[i];
		if (word->kind == WS_PYTHON_END) {
			ws_buf_puts(&b, ";");
		} else {
			ws_buf_printf(
				&b, "%c%s:%s ", kinds[word->kind], word->formatted ? "f" : "", word->text);
		}
	}
	return ws_buf_copy(&b, a);
}

WS_TEST(lines_and_words)
{
	assert_string_equal(words("", a), "");
	assert_string_equal(words("\n\n  # nothing\n", a), "");
	assert_string_equal(
		words("x = f(1) # c\ny += x\n", a), "N:x O:= N:f O:( N:1 O:) ;N:y O:+= N:x ;");
	assert_string_equal(words("x = [\n  1,\n  2]\ny", a), "N:x O:= O:[ N:1 O:, N:2 O:] ;N:y ;");
	assert_string_equal(words("x = 1 + \\\n  2\n", a), "N:x O:= N:1 O:+ N:2 ;");
	assert_string_equal(words("a != b // c", a), "N:a O:!= N:b O:// N:c ;");
}

WS_TEST(strings_of_every_kind)
{
	assert_string_equal(
		words("'a' \"b\" '' f'{x}y' r'a\\n' rb\"z\"", a), "S:a S:b S: Sf:{x}y S:a\\n S:z ;");
	assert_string_equal(words("'it\\'s' 'a\\\\b' 'x\\ny'", a), "S:it's S:a\\b S:x\ny ;");
	assert_string_equal(
		words("\"\"\"a\n\"b\" # no comment\n\"\"\" c", a), "S:a\n\"b\" # no comment\n N:c ;");
	assert_string_equal(words("'# no comment' x", a), "S:# no comment N:x ;");
	assert_string_equal(words("frob'x'", a), "N:frob S:x ;");
}

WS_TEST(indentation_is_of_the_logical_line)
{
	struct ws_python_text read = ws_python_text_read(ws_str_of("if x:\n    y = [\n  1]\n\tz\n"), a);
	assert_int_equal(read.words[0].indent, 0);
	assert_string_equal(read.words[4].text, "y");
	assert_int_equal(read.words[4].indent, 4);
	assert_string_equal(read.words[7].text, "1");
	assert_int_equal(read.words[7].indent, 4);
	assert_string_equal(read.words[10].text, "z");
	assert_int_equal(read.words[10].indent, 8);
}

WS_TEST(what_is_no_python_does_no_harm)
{
	assert_string_equal(words("'open\nx", a), "S:open ;N:x ;");
	assert_string_equal(words("\"\"\"open\nx", a), "S:open\nx ;");
	assert_string_equal(words("x)))\ny", a), "N:x O:) O:) O:) ;N:y ;");
	assert_string_equal(words("((((\ny", a), "O:( O:( O:( O:( N:y ;");
	assert_string_equal(words("'\\", a), "S:\\ ;");
	assert_string_equal(words("\\", a), "");
	assert_string_equal(words("$ \x01 \xff!", a), "O:$ N:\xff O:! ;");
	struct ws_python_text none = ws_python_text_read((struct ws_str){NULL, 0}, a);
	assert_int_equal(none.count, 0);
	assert_false(ws_python_is(&none, 0, "x"));
	assert_int_equal(ws_python_skip(&none, 0), 0);
	static const char nul[] = {'x', '\0', '\'', '\0', '\'', 'y'};
	struct ws_python_text odd = ws_python_text_read((struct ws_str){nul, sizeof(nul)}, a);
	assert_int_equal(odd.count, 4);
}

WS_TEST(brackets_are_skipped_whole)
{
	struct ws_python_text read = ws_python_text_read(ws_str_of("f(a, [b, (c)], {d}) + g"), a);
	assert_int_equal(ws_python_skip(&read, 0), 1);
	size_t behind = ws_python_skip(&read, 1);
	assert_true(ws_python_is(&read, behind, "+"));
	struct ws_python_text open = ws_python_text_read(ws_str_of("f(a"), a);
	assert_int_equal(ws_python_skip(&open, 1), open.count);
}
