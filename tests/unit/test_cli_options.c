/* test_cli_options.c - command lines by table. */
#include "test.h"

#include "cli/options.h"

struct values {
	bool keep_going;
	unsigned jobs, verbosity;
	const char *matrix;
	uint64_t memory_bytes, timeout_ms;
	ws_words only;
};

static bool
parse(struct values *v, const char *const *argv, ws_words *words, struct ws_arena *a,
	struct ws_err *err)
{
	const struct ws_option rows[] = {
		{"matrix", 'm', WS_OPTION_TEXT, &v->matrix, "FILE", "the matrix"},
		{"keep-going", 0, WS_OPTION_FLAG, &v->keep_going, NULL, "finish the rest"},
		{"jobs", 'j', WS_OPTION_NUMBER, &v->jobs, "N", "how many"},
		{"memory", 0, WS_OPTION_SIZE, &v->memory_bytes, "SIZE", "how much"},
		{"timeout", 0, WS_OPTION_SECONDS, &v->timeout_ms, "T", "how long"},
		{"only", 0, WS_OPTION_LIST, &v->only, "CELLS", "which"},
	};
	const struct ws_option common[] = {
		{"verbose", 'v', WS_OPTION_COUNT, &v->verbosity, NULL, "say more"},
	};
	struct ws_usage usage = {.command = "build",
		.synopsis = "[PKG==V]",
		.summary = "Builds.",
		WS_OPTIONS(rows),
		.common = common,
		.common_count = 1,
		.most = 1};
	int argc = 0;
	while (argv[argc]) {
		argc++;
	}
	*v = (struct values){0};
	*words = (ws_words){0};
	return ws_options_parse(&usage, argc, argv, false, a, words, err);
}

#define PARSE(...) parse(&v, (const char *const[]){"build", __VA_ARGS__, NULL}, &words, a, &err)

WS_TEST(values_are_converted)
{
	struct values v;
	ws_words words;
	struct ws_err err;
	assert_true(PARSE("--matrix=x.json", "-j3", "--memory", "1.5G", "--timeout", "10m", "-vv",
		"--only", "a*", "p==1", "--only=b", "--keep-going"));
	assert_string_equal(v.matrix, "x.json");
	assert_int_equal(v.jobs, 3);
	assert_true(v.memory_bytes == (uint64_t)3 << 29);
	assert_int_equal(v.timeout_ms, 600000);
	assert_int_equal(v.verbosity, 2);
	assert_int_equal(v.only.len, 2);
	assert_string_equal(v.only.at[1], "b");
	assert_true(v.keep_going);
	assert_int_equal(words.len, 1);
	assert_string_equal(words.at[0], "p==1");
	assert_fails(PARSE("-h"), err, WS_ERR_NONE);
}

WS_TEST(mistakes_are_named)
{
	struct values v;
	ws_words words;
	struct ws_err err;
	assert_fails(PARSE("--matirx", "x"), err, WS_ERR_USAGE);
	assert_string_equal(err.text, "unknown option '--matirx'");
	assert_contains(err.cure, "did you mean --matrix?");
	assert_fails(PARSE("--jobs", "0"), err, WS_ERR_USAGE);
	assert_string_equal(err.text, "--jobs: '0' is not a number from 1 to 100000");
	assert_fails(PARSE("--memory", "lots"), err, WS_ERR_USAGE);
	assert_fails(PARSE("--memory", "8"), err, WS_ERR_USAGE);
	assert_string_equal(err.text, "--memory: '8' is not a size with its unit");
	assert_string_equal(err.cure, "write it like this: --memory 8G, --memory 512M\n");
	assert_fails(PARSE("--timeout", "-3"), err, WS_ERR_USAGE);
	assert_fails(PARSE("--matrix"), err, WS_ERR_USAGE);
	assert_string_equal(err.text, "--matrix needs a value");
	assert_fails(PARSE("one", "two"), err, WS_ERR_USAGE);
	assert_contains(err.text, "'two'");
}

WS_TEST(sizes_and_times_have_units)
{
	uint64_t value;
	assert_true(ws_options_size("512M", &value) && value == (uint64_t)512 << 20);
	assert_true(ws_options_size("8GiB", &value) && value == (uint64_t)8 << 30);
	assert_false(ws_options_size("8", &value)); /* bytes, or GiB? */
	assert_true(ws_options_size("8388607T", &value) && value == (uint64_t)8388607 << 40);
	assert_false(ws_options_size("8388608T", &value)); /* 2^63 */
	assert_false(ws_options_size("99999999T", &value));
	assert_false(ws_options_size("1e400G", &value));
	assert_false(ws_options_size("0.0001k", &value));
	assert_false(ws_options_size("8X", &value));
	assert_false(ws_options_size("", &value));
	assert_false(ws_options_size("0", &value));
	assert_true(ws_options_duration("90", &value) && value == 90000);
	assert_true(ws_options_duration("1.5h", &value) && value == 5400000);
	assert_false(ws_options_duration("1d", &value));
	assert_false(ws_options_duration("1e14h", &value));
}
