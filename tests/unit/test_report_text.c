/* test_report_text.c - what people read: words, log excerpts, plain progress, the redrawn line. */
#include "test.h"

#include "report/failure.h"
#include "report/format.h"
#include "report/status.h"

WS_TEST(sizes_and_times_in_words)
{
	char text[WS_FORMAT_BYTES];
	assert_string_equal(ws_format_clock(24000, text), "0:24");
	assert_string_equal(ws_format_clock(664500, text), "11:05");
	assert_string_equal(ws_format_clock(3723000, text), "1:02:03");
	assert_string_equal(ws_format_duration(300, text), "0.3 s");
	assert_string_equal(ws_format_duration(72000, text), "1 m 12 s");
	assert_string_equal(ws_format_memory((uint64_t)512 << 20, text), "512 MiB");
	assert_string_equal(ws_format_memory((uint64_t)2300 << 20, text), "2.2 GiB");
	assert_string_equal(ws_format_size(16300000, text), "16.3 MB");
	assert_string_equal(ws_format_size(812, text), "812 B");
	assert_string_equal(ws_format_size(999600, text), "1.0 MB");
}

WS_TEST(a_long_log_is_cut_to_its_errors)
{
	WS_AUTO_BUF struct ws_buf log = {0};
	WS_AUTO_BUF struct ws_buf out = {0};
	for (int i = 0; i < 1000; i++) {
		ws_buf_printf(&log, "note %d\n", i);
	}
	ws_buf_puts(&log, "src/a.cu(3): error: identifier \"x\" is undefined\n  x = 1;\n  ^\n\n");
	ws_buf_puts(&log, "1 error detected\n");
	ws_failure_excerpt(ws_buf_str(&log), &out);
	assert_string_equal(ws_buf_text(&out),
		"  src/a.cu(3): error: identifier \"x\" is undefined\n"
		"    x = 1;\n    ^\n  1 error detected\n");
}

WS_TEST(a_log_without_errors_shows_its_end)
{
	WS_AUTO_BUF struct ws_buf out = {0};
	ws_failure_excerpt(ws_str_of("one\ntwo\n\n"), &out);
	assert_string_equal(ws_buf_text(&out), "  one\n  two\n");
	ws_buf_clear(&out);
	ws_failure_excerpt(ws_str_of(""), &out);
	assert_string_equal(ws_buf_text(&out), "");
}

/* collect2's own line says only that ld failed. */
WS_TEST(the_linker_s_own_line_is_shown)
{
	static const char *const lines[] = {
		"/usr/bin/ld: cannot open linker script file src/x.map: No such file or directory",
		"/usr/bin/ld: cannot find -lnothing: No such file or directory",
		"/usr/bin/ld:src/x.map:1: syntax error in VERSION script",
	};
	for (size_t i = 0; i < WS_LEN(lines); i++) {
		WS_AUTO_BUF struct ws_buf out = {0};
		const char *log =
			ws_arena_printf(a, "%s\ncollect2: error: ld returned 1 exit status\n", lines[i]);
		ws_failure_excerpt(ws_str_of(log), &out);
		assert_contains(ws_buf_text(&out), lines[i]);
	}
}

/* Which ones: tests/cases/explain. */
WS_TEST(known_logs_have_the_cures_of_who_builds)
{
	static const char *const text[] = {"fatal error: {header}: No such file or directory"};
	static const char *const cures[] = {"check the recipe's `include`"};
	static const struct ws_sign sign = {.name = "header",
		.texts = text,
		.text_count = 1,
		.cause = "it is missing",
		.build_cures = cures,
		.build_cure_count = 1};
	const struct ws_signs signs = {&sign, 1};
	struct ws_err err;
	ws_err_set(&err, WS_ERR_BUILD, "x");
	ws_failure_cures(
		&signs, ws_str_of("a.cu:1: fatal error: cusparse.h: No such file or directory"), a, &err);
	assert_string_equal(err.cure, "check the recipe's `include`\n");
	ws_err_set(&err, WS_ERR_BUILD, "x");
	ws_failure_cures(&signs, ws_str_of("all is well"), a, &err);
	assert_string_equal(err.cure, "");
}

WS_TEST(text_is_cut_by_columns_not_bytes)
{
	char text[] = "a·b·c·d";
	assert_int_equal(ws_term_columns(text), 7);
	ws_term_cut(text, 7);
	assert_string_equal(text, "a·b·c·d");
	ws_term_cut(text, 4);
	assert_string_equal(text, "a...");
	char plain[] = "not built yet";
	ws_term_cut(plain, 12);
	assert_string_equal(plain, "not built...");
	char tiny[] = "ab";
	ws_term_cut(tiny, 1);
	assert_string_equal(tiny, ".");
}

/* Feeds events to a status sink and returns what it wrote. */
static const char *
play(struct ws_arena *a, bool redraws, unsigned width, const struct ws_event *events, size_t count)
{
	char *text = NULL;
	size_t len = 0;
	FILE *err = open_memstream(&text, &len);
	struct ws_out out = {.out = err, .err = err, .redraws = redraws, .width = width};
	struct ws_sink *sink = ws_status_sink(&out, (uint64_t)16 << 30, a);
	for (size_t i = 0; i < count; i++) {
		sink->take(sink, &events[i]);
	}
	fclose(err);
	char *copy = ws_arena_strdup(a, text);
	free(text);
	return copy;
}

static const struct ws_event story[] = {
	{.kind = WS_EVENT_ACTION_STARTED,
		.at_ms = 1000,
		.id = 1,
		.subject = "bwd.cu",
		.stage = "compile"},
	{.kind = WS_EVENT_ACTION_SAMPLED,
		.at_ms = 2000,
		.id = 1,
		.subject = "bwd.cu",
		.rss_bytes = 1 << 30},
	{.kind = WS_EVENT_QUEUE,
		.at_ms = 65000,
		.done = 2,
		.total = 9,
		.wall_ms = 372000,
		.rss_bytes = 1 << 30},
	{.kind = WS_EVENT_ACTION_DONE,
		.at_ms = 66000,
		.id = 1,
		.subject = "bwd.cu",
		.stage = "compile",
		.outcome = WS_OUTCOME_RAN,
		.done = 3,
		.total = 9,
		.cpu_ms = 65000,
		.rss_bytes = 1 << 30},
	{.kind = WS_EVENT_WARNING, .at_ms = 66000, .subject = "careful"},
};

WS_TEST(a_log_gets_one_line_for_each_action)
{
	struct ws_event events[WS_LEN(story)];
	memcpy(events, story, sizeof(story));
	events[2].at_ms = 30999; /* of 30 s nothing is said */
	assert_string_equal(play(a, false, 0, events, WS_LEN(story)),
		"[ 3/9 ] compile bwd.cu  1 m 5 s cpu, 1.0 GiB\nwarning: careful\n");
}

WS_TEST(a_log_says_every_30_seconds_what_goes_on)
{
	struct ws_event events[] = {
		story[0], story[2], story[1], story[1], story[3], story[1], story[0]};
	events[1].at_ms = 31000;
	events[2].at_ms = 40000;
	events[3].at_ms = 61000;
	events[5].at_ms = events[6].at_ms = 200000; /* no action runs, or it has just begun */
	assert_string_equal(play(a, false, 0, events, WS_LEN(events)),
		"[ 2/9 ] 6:12 left   1 running, 1.0 of 16 GiB   bwd.cu 0:30\n"
		"[ 2/9 ] 6:12 left   1 running, 1.0 of 16 GiB   bwd.cu 1:00 1.0 GiB\n"
		"[ 3/9 ] compile bwd.cu  1 m 5 s cpu, 1.0 GiB\n");
}

/* An ETA that leaves something out says so. */
WS_TEST(actions_of_unknown_cost_are_reported)
{
	struct ws_event events[] = {story[0], story[2]};
	events[1].unknown = 3;
	assert_contains(
		play(a, true, 200, events, 2), "\r[ 2/9 ] 6:12 left + 3 of unknown cost   1 running");
	events[1].wall_ms = 0;
	assert_contains(play(a, true, 200, events, 2), "\r[ 2/9 ] 3 of unknown cost   1 running");
}

WS_TEST(an_action_far_beyond_its_estimate_is_longer_than_expected)
{
	struct ws_event events[] = {story[0], story[2]};
	events[0].wall_ms = 40000;
	events[1].at_ms = 60000;
	assert_contains(play(a, true, 200, events, 2), "\r[ 2/9 ] 6:12 left   1 running");
	events[1].at_ms = 62000;
	assert_contains(play(a, true, 200, events, 2), "\r[ 2/9 ] longer than expected   1 running");
	events[0].wall_ms = 4000; /* seconds do not matter */
	events[1].at_ms = 14000;
	assert_contains(play(a, true, 200, events, 2), "\r[ 2/9 ] 6:12 left   1 running");
}

WS_TEST(a_terminal_gets_one_line_that_fits)
{
	const char *text = play(a, true, 200, story, 3);
	assert_contains(
		text, "\r[ 2/9 ] 6:12 left   1 running, 1.0 of 16 GiB   bwd.cu 1:04 1.0 GiB\033[K");
	assert_contains(play(a, true, 60, story, 3), "\r[ 2/9 ] 6:12 left   bwd.cu 1:04 1.0 GiB\033[K");
	text = play(a, true, 24, story, 3);
	const char *last = strrchr(text, '\r') + 1;
	char *line = ws_arena_copy(a, last, strcspn(last, "\033"));
	assert_int_equal(ws_term_columns(line), 23);
	assert_true(ws_ends_with(line, "..."));
}
