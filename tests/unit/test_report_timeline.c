/* test_report_timeline.c - what a command waited for. */
#include "test.h"

#include "report/timeline.h"

static void
take(struct ws_timeline *t, int64_t at_ms, enum ws_event_kind kind, unsigned id, unsigned other,
	const char *subject)
{
	struct ws_event event = {.kind = kind,
		.at_ms = at_ms,
		.id = id,
		.subject = subject,
		.stage = "compile",
		.outcome = kind == WS_EVENT_ACTION_DONE ? WS_OUTCOME_RAN : WS_OUTCOME_NONE};
	*(kind == WS_EVENT_ACTION_DONE ? &event.whole : &event.after) = other;
	t->sink.take(&t->sink, &event);
}

static void
assert_why(const struct ws_timeline *t, const char *subject, const char *expected)
{
	char *text;
	size_t len;
	FILE *file = open_memstream(&text, &len);
	ws_timeline_print_why(t, subject, &(struct ws_out){.out = file, .err = file});
	fclose(file);
	assert_string_equal(text, expected);
	free(text);
}

WS_TEST(the_user_of_a_whole_waited_for_the_whole)
{
	struct ws_timeline *t = ws_timeline_make(a);
	take(t, 1000, WS_EVENT_ACTION_STARTED, 3, 0, "a.cu (host)");
	take(t, 3000, WS_EVENT_ACTION_DONE, 3, 1, "a.cu (host)");
	take(t, 3000, WS_EVENT_ACTION_DONE, 1, 0, "a.cu");
	take(t, 4000, WS_EVENT_ACTION_STARTED, 2, 1, "a.so");
	take(t, 6000, WS_EVENT_ACTION_DONE, 2, 0, "a.so");
	assert_why(t, "a.so",
		"compile a.so  began at 3.0 s, took 2.0 s\n"
		"  waited for compile a.cu, then 1.0 s for a slot\n");
}

WS_TEST(a_later_graph_may_use_an_id_again)
{
	struct ws_timeline *t = ws_timeline_make(a);
	take(t, 1000, WS_EVENT_ACTION_DONE, 1, 0, "judged");
	take(t, 2000, WS_EVENT_ACTION_STARTED, 2, 1, "judge");
	take(t, 3000, WS_EVENT_ACTION_DONE, 2, 0, "judge");
	take(t, 4000, WS_EVENT_ACTION_STARTED, 1, 0, "a.cu");
	take(t, 9000, WS_EVENT_ACTION_DONE, 1, 0, "a.cu");
	assert_why(t, "judge",
		"compile judge  began at 1.0 s, took 1.0 s\n"
		"  waited for compile judged, then 1.0 s for a slot\n");
}

WS_TEST(a_trace_has_the_time_between_ready_and_begun)
{
	struct ws_timeline *t = ws_timeline_make(a);
	take(t, 1000, WS_EVENT_ACTION_STARTED, 1, 0, "a.cu");
	take(t, 1500, WS_EVENT_ACTION_STARTED, 2, 0, "b.cu");
	take(t, 3000, WS_EVENT_ACTION_DONE, 1, 0, "a.cu");
	take(t, 3700, WS_EVENT_ACTION_STARTED, 3, 1, "a.so");
	take(t, 6000, WS_EVENT_ACTION_DONE, 3, 0, "a.so");
	WS_AUTO_BUF struct ws_buf trace = {0};
	ws_timeline_trace(t, &trace);
	const char *waited[] = {"\"waited_ms\":0,", "\"waited_ms\":500,", "\"waited_ms\":700,"};
	const char *at = trace.data;
	for (size_t i = 0; i < 3; i++) {
		at = strstr(at, waited[i]);
		assert_non_null(at);
	}
}

WS_TEST(a_trace_says_where_a_command_ran_and_what_it_waited_for_there)
{
	struct ws_timeline *t = ws_timeline_make(a);
	take(t, 1000, WS_EVENT_ACTION_STARTED, 1, 0, "a.cu");
	struct ws_event event = {.kind = WS_EVENT_ACTION_DONE,
		.at_ms = 3000,
		.id = 1,
		.subject = "a.cu",
		.stage = "compile",
		.elsewhere = {"w1", 700, 40},
		.outcome = WS_OUTCOME_RAN};
	t->sink.take(&t->sink, &event);
	WS_AUTO_BUF struct ws_buf trace = {0}, page = {0};
	ws_timeline_trace(t, &trace);
	assert_non_null(strstr(trace.data, "\"worker\":\"w1\",\"queued_ms\":700,\"fetch_ms\":40"));
	ws_timeline_page(t, NULL, 0, NULL, 0, &page);
	assert_non_null(strstr(page.data, ", on w1</title>"));
}
