/* test_base_err.c - messages as people read them. */
#include "test.h"

#include <errno.h>

WS_TEST_ERR(an_error_says_where_what_and_what_to_do)
{
	static const char matrix[] = "{\n  \"torch\": [\"2.51\", \"2.11.0\"]\n}\n";
	assert_false(ws_err_set(&err, WS_ERR_CONFIG, "no torch release '%s'", "2.51"));
	ws_err_at(&err, "fleet.json", matrix, 14, 4);
	ws_err_cure(&err, "did you mean \"2.5.1\"?");
	char text[WS_ERR_PRINTED];
	assert_string_equal(ws_err_print(&err, text),
		"fleet.json:2:13: error: no torch release '2.51'\n"
		"    2 |   \"torch\": [\"2.51\", \"2.11.0\"]\n"
		"      |             ^~~~\n"
		"       did you mean \"2.5.1\"?\n");
	assert_int_equal(ws_err_exit_code(err.kind), 3);
}

/* Messages contain foreign names and answers; a terminal would obey their control characters. */
WS_TEST_ERR(a_message_brings_no_control_characters)
{
	char text[WS_ERR_PRINTED];
	ws_err_set(&err, WS_ERR_FETCH, "redirects to '%s'", "\033]0;x\a\r\302\233\177é\302\240\233");
	ws_err_cure(&err, "see '%s'", "\b");
	ws_err_at(&err, "a\033b", "\302\233x", 0, 1);
	assert_string_equal(ws_err_print(&err, text),
		"a?b:1:1: error: redirects to '?]0;x??\?\?é\302\240?'\n    1 | ?x\n      | ^\n       see "
		"'?'\n");
}

/* U+202E: what follows is shown from right to left, "gpj.exe" as "exe.jpg". */
WS_TEST_ERR(a_name_begins_no_line_of_a_message)
{
	ws_err_set(&err, WS_ERR_CONFIG, "no file '%s'", "a\nerror: b");
	ws_err_wrap(&err, "reading '%s'", "c\nd");
	ws_err_cure(&err, "make '%s'", "a\nerror: b");
	assert_string_equal(err.text, "reading 'c?d': no file 'a?error: b'");
	assert_string_equal(err.cure, "make 'a?error: b'\n");
}

WS_TEST_ERR(a_message_is_shown_in_its_own_order)
{
	ws_err_set(&err, WS_ERR_IO,
		"'a\xe2\x80\xae"
		"b\xe2\x81\xa9\xd8\x9c\xe2\x80\xa8"
		"c\xe2\x80\xa6'");
	assert_string_equal(err.text, "'a?b???c\xe2\x80\xa6'");
}

WS_TEST_ERR(wrapping_puts_knowledge_in_front)
{
	errno = ENOENT;
	ws_err_sys(&err, WS_ERR_IO, "cannot open '%s'", "x");
	ws_err_wrap(&err, "reading recipe '%s'", "demo");
	assert_string_equal(
		err.text, "reading recipe 'demo': cannot open 'x': No such file or directory");
}

WS_TEST_ERR(a_full_disk_has_a_cure)
{
	errno = ENOSPC;
	ws_err_sys(&err, WS_ERR_IO, "cannot write '%s'", "x");
	assert_cure(err, WS_CURE_FREE_SPACE, "");
	errno = EROFS;
	ws_err_sys(&err, WS_ERR_IO, "cannot write '%s'", "x");
	assert_cure(err, WS_CURE_READ_ONLY, "");
}

WS_TEST_ERR(too_many_open_files_are_the_hosts_fault_and_have_a_cure)
{
	errno = EMFILE;
	assert_fails(ws_err_sys(&err, WS_ERR_INTERNAL, "cannot make a pipe"), err, WS_ERR_IO);
	assert_int_equal(err.os, EMFILE);
	assert_string_equal(err.cure, "raise the limit:  ulimit -n 4096\n");
	assert_fails(ws_err_set(&err, WS_ERR_IO, "'x' is damaged"), err, WS_ERR_IO);
	assert_int_equal(err.os, 0);
}

WS_TEST_ERR(texts_that_are_too_long_are_cut)
{
	char longer[3000];
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	ws_err_set(&err, WS_ERR_CONFIG, "%s", longer);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	assert_string_equal(err.text + strlen(err.text) - 4, "x...");
	ws_err_wrap(&err, "%s", longer);
	for (int i = 0; i < 5; i++) {
		ws_err_cure(&err, "%s", longer);
	}
	ws_err_at(&err, longer, longer, 2900, 50);
	char text[WS_ERR_PRINTED];
	assert_true(strlen(ws_err_print(&err, text)) < WS_ERR_PRINTED);
}

WS_TEST_ERR(cures_by_code_are_kept_once_and_not_for_ever)
{
	char text[WS_ERR_PRINTED];
	ws_err_set(&err, WS_ERR_CONFIG, "no torch");
	assert_false(ws_err_has_cure(&err));
	for (int i = 0; i < 2; i++) {
		assert_false(ws_err_cure_code(&err, WS_CURE_INDEX, "torch"));
	}
	ws_err_cure(&err, "a line");
	assert_string_equal(
		ws_err_print(&err, text), "error: no torch\n       a line\n       (cure: index torch)\n");
	for (int code = WS_CURE_FREE_SPACE; code <= WS_CURE_ACTION_TIMEOUT; code++) {
		assert_true(strlen(ws_cure_words[code]) > 0);
		ws_err_cure_code(&err, (enum ws_cure)code, NULL);
	}
	assert_int_equal(err.cure_count, WS_ERR_CURES);
	ws_err_set(&err, WS_ERR_CONFIG, "another");
	assert_false(ws_err_has_cure(&err));
}

WS_TEST(no_error_wanted_is_fine)
{
	assert_false(ws_err_set(NULL, WS_ERR_IO, "x"));
	assert_false(ws_err_wrap(NULL, "x"));
	assert_false(ws_err_cure(NULL, "x"));
	assert_false(ws_err_cure_code(NULL, WS_CURE_INDEX, NULL));
}

/* Columns as a terminal has them: accents and CJK take one and two, not two and three bytes. */
WS_TEST_ERR(the_caret_stands_below_what_it_means)
{
	const char *text = "{\"é\": \"日本\", \"x\": 1}";
	ws_err_at(&err, "f", text, (size_t)(strstr(text, "\"x\"") - text), 3);
	assert_string_equal(err.place, "f:1:13");
	assert_string_equal(
		err.excerpt, "    1 | {\"é\": \"日本\", \"x\": 1}\n      |               ^~~\n");
	ws_err_at(&err, "f", text, (size_t)(strstr(text, "\"日") - text), 8);
	assert_string_equal(err.excerpt, "    1 | {\"é\": \"日本\", \"x\": 1}\n      |       ^~~~~~\n");
	/* A long line is cut between characters. */
	char longer[400] = "";
	for (int i = 0; i < 120; i++) {
		strcat(longer, "é");
	}
	ws_err_at(&err, "f", longer, 121, 2); /* within a character: it is taken from there */
	const char *shown = strstr(err.excerpt, "...") + strlen("...");
	assert_memory_equal(shown, "é", 2);
}

/* Whatever the message is about, and also where the line is cut before the '@'. */
WS_TEST_ERR(a_password_in_the_line_that_is_shown_is_stars)
{
	static const char *const lines[][2] = {
		{"{\"url\": \"https://me:sesame@h.example/x\"}", "\"https://*********@h.example/x\"}"},
		{"{\"url\": \"ftp://me:ses/ame@h\", \"a\": 1}", "\"ftp://**********@h\", \"a\": 1}"},
		{"{\"url\": \"ftp://me:s/s@me@h\", \"a\": 1}", "\"ftp://*********@h\", \"a\": 1}"},
		{"me:sesame@h.example", "| *********@h.example"},
		{"git@host.example:demo", "| git@host.example:demo"},
		{"demo @ https://h.example:80/x", "| demo @ https://h.example:80/x"},
	};
	for (size_t i = 0; i < WS_LEN(lines); i++) {
		err = (struct ws_err){0};
		ws_err_at(&err, "f", lines[i][0], 1, 1);
		assert_non_null(strstr(err.excerpt, lines[i][1]));
		assert_null(strstr(err.excerpt, "sesame"));
	}
	char line[400] = "";
	memset(line, 'x', 80);
	strcpy(line + 80, " \"https://me:sesamesesamesesamesesame@h\"");
	ws_err_at(&err, "f", line, 1, 1);
	assert_null(strstr(err.excerpt, "sesame"));
}

/* A carriage return alone ends no line: what stands after it is shown as well. */
WS_TEST_ERR(a_carriage_return_within_a_line)
{
	char text[200];
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	text[3] = '\r';
	ws_err_at(&err, "f", text, 150, 2);
	assert_string_equal(err.place, "f:1:151");
	assert_contains(err.excerpt, "^~\n");
	ws_err_at(&err, "f", "ab\r\ncd", 2, 1);
	assert_string_equal(err.excerpt, "    1 | ab\n      |   ^\n");
	ws_err_at(&err, "f", "a\rb", 2, 1);
	assert_string_equal(err.excerpt, "    1 | a b\n      |   ^\n");
}
