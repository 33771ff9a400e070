/* test_doctor_rows.c - what a row's text shows of its values, where the JSON has them, and the
 * warning of ignored variables. */
#include "test.h"

#include "doctor/doctor.h"

static void
word(void *self WS_UNUSED, struct ws_err *err)
{
	ws_err_cure(err, "worded");
	err->cure_count = 0;
}

static struct ws_rows
some_rows(struct ws_arena *a)
{
	return (struct ws_rows){.a = a, .home = "/home/x", .part = "host", .word = word};
}

#define assert_shown(text, expected, ...) \
	do { \
		struct ws_rows rows_ = some_rows(a); \
		assert_string_equal( \
			ws_row_shown(&rows_, ws_rows_add(&rows_, "", text, __VA_ARGS__)), expected); \
	} while (0)

static char *
print(const struct ws_rows *rows, void (*printer)(const struct ws_rows *, const struct ws_out *))
{
	char *text;
	size_t len;
	FILE *file = open_memstream(&text, &len);
	const struct ws_out out = {.out = file, .err = file, .columns = 80};
	printer(rows, &out);
	fclose(file);
	return text;
}

WS_TEST(a_value_is_padded_or_has_a_word_in_its_place)
{
	const char *volatile none = NULL; /* else the compiler sees it */
	assert_shown("{kind:5}|{a|no a}|{b|no b}", "gcc  |no a|no b", "kind %s a %s b %ju", "gcc", none,
		(uintmax_t)0);
}

WS_TEST(bytes_and_paths_are_shown_as_people_read_them)
{
	assert_shown("{n:size} {n:memory} {n}", "3.0 MB 3 MiB 3000000", "n %ju", (uintmax_t)3000000);
	assert_shown("{p}", "~/g++", "p %s", "/home/x/g++");
	assert_shown("{p}", "/home/xy", "p %s", "/home/xy");
}

WS_TEST(a_bracket_needs_all_its_values)
{
	const char *volatile none = NULL; /* else the compiler sees it */
	assert_shown("a[ b {x}][ c {y}][ d {t}][ e {f}]", "a b 1 d ", "x %ju y %s t %d f %d",
		(uintmax_t)1, none, true, false);
}

WS_TEST(a_plural_follows_the_number_before_it)
{
	assert_shown(
		"{n} file{s}, {m} tree{s}", "1 file, 2 trees", "n %ju m %ju", (uintmax_t)1, (uintmax_t)2);
}

WS_TEST(a_value_is_not_parsed_as_a_format)
{
	assert_shown("{x}", "{x} [y]", "x %s", "{x} [y]");
}

WS_TEST(the_json_has_objects_lists_and_empty_lists)
{
	const char *const list[] = {"p", "q"};
	struct ws_rows rows = some_rows(a);
	ws_rows_add(&rows, "host", NULL, "cores %ju", (uintmax_t)2);
	ws_rows_list(&rows, "host.holders[]");
	ws_rows_add(&rows, "host.holders[]", NULL, "pid %ju .shown %s", (uintmax_t)7, "x");
	ws_rows_list(&rows, "gpus[]");
	ws_rows_add(&rows, "", NULL, "driver %s seen %p %zu", "5\"", (const void *)list, (size_t)2);
	char *text = print(&rows, ws_rows_print_json);
	assert_string_equal(text,
		"{\n  \"schema\": \"wheelsmith.doctor/1\",\n  \"wheelsmith\": \"" WS_VERSION "\",\n"
		"  \"host\": {\n    \"cores\": 2,\n    \"holders\": [\n      {\n        \"pid\": 7\n"
		"      }\n    ]\n  },\n  \"gpus\": [],\n  \"driver\": \"5\\\"\",\n"
		"  \"seen\": [\"p\", \"q\"],\n  \"problems\": [],\n  \"can_build\": true\n}\n");
	free(text);
}

WS_TEST(problems_are_last_in_their_part_and_listed_in_the_json)
{
	struct ws_rows rows = some_rows(a);
	struct ws_err err = {0};
	ws_err_set(&err, WS_ERR_IO, "no room");
	ws_rows_problem_err(&rows, WS_PROBLEM_BLOCKS, &err);
	ws_rows_note(&rows, "2 cores");
	ws_rows_note(&rows, " and more");
	rows.part = "store";
	ws_rows_problem(&rows, WS_PROBLEM_NOTE, "first\nthen", "small");
	char *page = print(&rows, ws_rows_print_page), *json = print(&rows, ws_rows_print_json);
	assert_string_equal(page,
		"host          2 cores\n"
		"                and more\n"
		"            x no room\n"
		"                -> worded\n"
		"store       ! small\n"
		"                -> first\n"
		"                -> then\n"
		"\nx nothing can be built here until 1 problem is solved; 1 note is marked !\n");
	assert_contains(json, "\"cure\": \"first\\nthen\\n\"");
	assert_contains(json, "\"can_build\": false");
	free(page);
	free(json);
}

/* ---- variables that are ignored ---- */

WS_TEST(a_plain_environment_gives_no_finding)
{
	const char *const vars[] = {
		"PATH=/bin", "CC=", "CCACHE_DIR=/x", "XCFLAGS=-O3", "CFLAGS", "MAX_JOBS_X=3", NULL};
	assert_null(ws_ignored_env_warning(vars, a));
}

WS_TEST(each_has_its_place)
{
	const char *const vars[] = {"MAX_JOBS=4", "TORCH_CUDA_ARCH_LIST=8.0", "CC=gcc-11", NULL};
	assert_string_equal(ws_ignored_env_warning(vars, a),
		"set in the environment and ignored: CC (instead: the newest compiler that the CUDA "
		"toolkit "
		"takes is chosen), TORCH_CUDA_ARCH_LIST (instead: the matrix's 'arch', or --arch), "
		"MAX_JOBS "
		"(instead: -j N, or --memory SIZE)");
}

WS_TEST(one_warning_names_all)
{
	const char *const all[] = {"CC=a", "CXX=a", "CUDAHOSTCXX=a", "CFLAGS=a", "NVCC_PREPEND_FLAGS=a",
		"NVCC_APPEND_FLAGS=a", "NVCC_CCBIN=a", "TORCH_CUDA_ARCH_LIST=a", "MAX_JOBS=a",
		"LIBRARY_PATH=a", "CPATH=a", NULL};
	const char *text = ws_ignored_env_warning(all, a);
	for (size_t i = 0; all[i]; i++) {
		assert_contains(text, ws_arena_copy(a, all[i], strlen(all[i]) - 2));
	}
	assert_null(strchr(text, '\n'));
	const char *const two[] = {"CXX=a", "CC=b", NULL};
	assert_string_equal(ws_ignored_env_warning(two, a),
		"set in the environment and ignored: CC, CXX (instead: the newest compiler that the CUDA "
		"toolkit takes is chosen)");
}
