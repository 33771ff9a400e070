/* test_kit_dryrun.c - the words of nvcc's commands, as a shell parts them. */
#include "test.h"

#include "kit/cuda/nvcc.h"

static const char *
joined(const ws_dryrun_words *words, struct ws_arena *a)
{
	const char *all = "";
	for (size_t i = 0; i < words->len; i++) {
		all = ws_arena_printf(a, "%s[%s]", all, words->at[i]);
	}
	return all;
}

WS_TEST(words_are_parted_as_a_shell_parts_them)
{
	static const struct {
		const char *text, *words;
	} cases[] = {
		{" a  b\tc ", "[a][b][c]"},
		{"\"$CICC_PATH/cicc\" --c++17", "[$CICC_PATH/cicc][--c++17]"},
		{"\"/usr/bin\"/g++-12 -E", "[/usr/bin/g++-12][-E]"},
		{"-D \"FOO=\\\"a b\\\"\"", "[-D][FOO=\"a b\"]"},
		{"-DX=\\$y \"\\$z \\\\ \\n\"", "[-DX=$y][$z \\ \\n]"},
		{"\"\" x", "[][x]"},
		{"--cmdline=\"-v  \" -64", "[--cmdline=-v  ][-64]"},
	};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		ws_dryrun_commands commands = {0};
		const char *line = ws_arena_printf(a, "#$ %s\n", cases[i].text), *why;
		assert_true(ws_dryrun_read(line, a, &commands, &why));
		assert_string_equal(joined(&commands.at[0], a), cases[i].words);
	}
}

WS_TEST(words_with_a_meaning_for_the_shell_are_refused)
{
	static const char *const cases[] = {"", "a > b", "a; b", "a && b", "`id`", "\"`id`\"", "$HOME",
		"\"$HOME\"", "$CICC_PATHS/x", "*.cu", "(a)", "~/x", "'a b'", "\"open", "a # b"};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		ws_dryrun_commands commands = {0};
		const char *line = ws_arena_printf(a, "#$ %s\n", cases[i]), *why;
		assert_false(ws_dryrun_read(line, a, &commands, &why));
	}
}

WS_TEST(commands_are_what_is_neither_a_variable_nor_housekeeping)
{
	static const char printed[] = "#$ _SPACE_= \n#$ CICC_PATH=cuda/bin/../nvvm/bin\n"
								  "#$ \"{cxx}\" -E \"x.cu\" -o \"tmp/x.ii\" \n"
								  "#$ -- Filter Dependencies -- > x.d\n"
								  "#$ ptxas \"tmp/x.ptx\"\n#$ rm tmp/x.fatbin\nnvcc warning : y\n";
	ws_dryrun_commands commands = {0};
	const char *why = NULL;
	assert_true(ws_dryrun_read(printed, a, &commands, &why));
	assert_int_equal(commands.len, 2);
	assert_string_equal(joined(&commands.at[0], a), "[{cxx}][-E][x.cu][-o][tmp/x.ii]");
	assert_string_equal(joined(&commands.at[1], a), "[ptxas][tmp/x.ptx]");

	commands.len = 0;
	assert_false(ws_dryrun_read("#$ a | b\n", a, &commands, &why));
	assert_string_equal(why, "a shell would do more with 'a | b'");
	assert_false(ws_dryrun_read("nvcc fatal : no\n", a, &commands, &why));
	assert_string_equal(why, "nvcc names no commands");
}
