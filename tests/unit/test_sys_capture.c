/* test_sys_command.c - short questions to programs that do odd things with their answer. */
#include "test.h"

#include "sys/capture.h"
#include "sys/clock.h"

static bool
ask(const char *script, unsigned timeout_ms, struct ws_buf *out, struct ws_err *err)
{
	const char *const argv[] = {"/bin/sh", "-c", script, NULL};
	return ws_capture_run(&(struct ws_capture){.argv = argv, .timeout_ms = timeout_ms}, out, err);
}

WS_TEST(an_answer_is_all_that_was_printed)
{
	WS_AUTO_BUF struct ws_buf out = {0};
	struct ws_err err;
	assert_ok(ask("seq 1 20000; echo nothing >&2", 0, &out, &err), err);
	assert_int_equal(out.len, 108894);
	assert_fails(ask("echo said; exit 3", 0, &out, &err), err, WS_ERR_BUILD);
	assert_string_equal(err.text, "'/bin/sh' exited with 3");
	(void)a;
}

WS_TEST(a_program_that_closes_its_output_and_goes_on_is_ended)
{
	WS_AUTO_BUF struct ws_buf out = {0};
	struct ws_err err;
	int64_t begun = ws_clock_ms();
	assert_fails(ask("echo 12; exec >&-; exec sleep 60", 300, &out, &err), err, WS_ERR_BUILD);
	assert_contains(err.text, "gave no answer");
	assert_true(ws_clock_ms() - begun < 5000);
	(void)a;
}

WS_TEST(what_a_program_leaves_behind_does_not_keep_its_answer)
{
	WS_AUTO_BUF struct ws_buf out = {0};
	struct ws_err err;
	int64_t begun = ws_clock_ms();
	assert_ok(ask("setsid sleep 5 & echo 12", 4000, &out, &err), err);
	assert_string_equal(ws_buf_text(&out), "12\n");
	assert_true(ws_clock_ms() - begun < 3000);
	(void)a;
}
