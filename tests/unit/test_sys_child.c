/* test_sys_child.c - orders to programs that do odd things with their answer. */
#include "test.h"

#include "base/fs.h"
#include "sys/child.h"
#include "sys/clock.h"

#include <sys/wait.h>

static bool
ask(const char *script, struct ws_limits limits, struct ws_buf *out, struct ws_err *err)
{
	const char *const argv[] = {"/bin/sh", "-c", script, NULL};
	return ws_child_ask(&(struct ws_child_order){.argv = argv, .limits = limits}, out, err);
}

WS_TEST_ERR(an_answer_is_all_that_was_printed)
{
	WS_AUTO_BUF struct ws_buf out = {0};
	assert_ok(ask("seq 1 20000; echo nothing >&2", (struct ws_limits){0}, &out, &err), err);
	assert_int_equal(out.len, 108894);
	assert_fails(ask("echo said; exit 3", (struct ws_limits){0}, &out, &err), err, WS_ERR_BUILD);
	assert_string_equal(err.text, "'/bin/sh' exited with 3");
	(void)a;
}

WS_TEST_ERR(an_answer_above_its_limit_is_an_error)
{
	WS_AUTO_BUF struct ws_buf out = {0};
	struct ws_limits limits = {.answer_bytes = 100000};
	assert_fails(ask("seq 1 20000", limits, &out, &err), err, WS_ERR_BUILD);
	assert_string_equal(err.text, "'/bin/sh' printed more than 97 KiB");
	ws_buf_clear(&out);
	assert_fails(ask("yes", (struct ws_limits){0}, &out, &err), err, WS_ERR_BUILD);
	assert_contains(err.text, "printed more than 4096 KiB");
	(void)a;
}

WS_TEST_ERR(a_program_that_closes_its_output_and_goes_on_is_ended)
{
	WS_AUTO_BUF struct ws_buf out = {0};
	struct ws_limits limits = {.timeout_ms = 300};
	int64_t begun = ws_clock_ms();
	assert_fails(ask("echo 12; exec >&-; exec sleep 60", limits, &out, &err), err, WS_ERR_BUILD);
	assert_contains(err.text, "gave no answer");
	assert_true(ws_clock_ms() - begun < 5000);
	(void)a;
}

WS_TEST_ERR(leftover_processes_of_a_program_do_not_delay_its_answer)
{
	WS_AUTO_BUF struct ws_buf out = {0};
	int64_t begun = ws_clock_ms();
	assert_ok(ask("setsid sleep 5 & echo 12", (struct ws_limits){0}, &out, &err), err);
	assert_string_equal(ws_buf_text(&out), "12\n");
	assert_true(ws_clock_ms() - begun < 3000);
	(void)a;
}

WS_TEST_ERR(silence_ends_it_and_lines_go_on)
{
	struct ws_limits limits = {.silence_ms = 400};
	assert_ok(ask("for i in 1 2 3 4; do sleep 0.2; echo $i; done", limits, NULL, &err), err);
	assert_fails(ask("echo 1; exec sleep 60", limits, NULL, &err), err, WS_ERR_BUILD);
	assert_string_equal(err.text, "'/bin/sh': no answer for 1 s");
	(void)a;
}

static void
collect(void *self, const char *line)
{
	ws_buf_printf(self, "<%s>", line);
}

WS_TEST_ERR(lines_come_whole)
{
	WS_AUTO_BUF struct ws_buf lines = {0};
	const char *const argv[] = {
		"/bin/sh", "-c", "printf on; sleep 0.1; printf 'e\\n\\ntwo\\nrest'", NULL};
	const struct ws_child_order order = {.argv = argv, .on_line = collect, .self = &lines};
	assert_ok(ws_child_ask(&order, NULL, &err), err);
	assert_string_equal(ws_buf_text(&lines), "<one><><two>");
	(void)a;
}

WS_TEST_ERR(a_child_above_its_limit_is_ended_and_named)
{
	const char *const argv[] = {"/bin/sh", "-c", "while :; do :; done", NULL};
	const struct ws_child_order order = {
		.argv = argv, .limits = {.cpu_s = 1}, .name = "reading 'x.whl'", .kind = WS_ERR_NEGATIVE};
	assert_fails(ws_child_ask(&order, NULL, &err), err, WS_ERR_NEGATIVE);
	assert_string_equal(err.text, "reading 'x.whl' takes more than 1 s of processor time");
	(void)a;
}

/* A stand-in for `wheelsmith internal ...`. */
static bool
ask_ours(const char *script, const char *answer, struct ws_arena *a, struct ws_buf *out,
	struct ws_err *err)
{
	const char *const argv[] = {"/bin/sh", "-c", script, NULL};
	struct ws_buf text = {.data = (char[]){"{}"}, .len = 2};
	const struct ws_child_order order = {.argv = argv,
		.dir = ws_test_dir(a),
		.order = &text,
		.answer = answer,
		.limits = {.answer_bytes = 1000, .memory_bytes = (uint64_t)64 << 20}};
	return ws_child_ask(&order, out, err);
}

WS_TEST_ERR(one_of_ours_reads_its_order_and_leaves_a_file)
{
	WS_AUTO_BUF struct ws_buf out = {0};
	assert_ok(
		ask_ours("echo said; cat order.json > answer; echo >> answer", "answer", a, &out, &err),
		err);
	assert_string_equal(ws_buf_text(&out), "{}\n");
	assert_fails(ask_ours(":", "answer", a, &out, &err), err, WS_ERR_IO);
	assert_contains(err.text, "answer': No such file");
	assert_fails(ask_ours("seq 1000 > answer", "answer", a, &out, &err), err, WS_ERR_IO);
	assert_contains(err.text, "larger than 1000 bytes");
}

WS_TEST_ERR(an_error_of_one_of_ours_is_the_error)
{
	const char *script =
		"echo noise; echo 'error: the wheel is missing' >&2; echo '  cure'; exit 4";
	assert_fails(ask_ours(script, NULL, a, NULL, &err), err, WS_ERR_FETCH);
	assert_string_equal(err.text, "the wheel is missing");
	assert_fails(ask_ours("exit 9", NULL, a, NULL, &err), err, WS_ERR_BUILD);
	assert_string_equal(err.text, "'/bin/sh' exited with 9");
	assert_fails(ask_ours("kill -SEGV $$", NULL, a, NULL, &err), err, WS_ERR_BUILD);
	assert_string_equal(err.text, "'/bin/sh' was ended by signal 11 (Segmentation fault)");
}

WS_TEST_ERR(the_exit_code_tells_that_memory_ran_out)
{
	const char *quotes = "echo 'error: the server is out of memory' >&2; exit 4";
	assert_fails(ask_ours(quotes, NULL, a, NULL, &err), err, WS_ERR_FETCH);
	assert_string_equal(err.text, "the server is out of memory");
	assert_ok(ask_ours("echo 'name: out of memory'", NULL, a, NULL, &err), err);
	assert_fails(ask_ours("exit 71", NULL, a, NULL, &err), err, WS_ERR_BUILD);
	assert_string_equal(err.text, "'/bin/sh' takes more than 64 MiB of memory");
}

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifndef __SANITIZE_ADDRESS__ /* it has memory of its own */
WS_TEST(a_process_without_memory_exits_with_that_code)
{
	pid_t child = fork();
	if (child == 0) {
		ws_limit(0, &(struct ws_limits){.memory_bytes = (uint64_t)64 << 20});
		ws_arena_alloc(a, (size_t)256 << 20);
		_exit(0);
	}
	int status = 0;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 71);
}
#endif

/* ---- signals ---- */

/* Asks for something that takes a minute, in a process that gets @a signal meanwhile; how that
 * ended. */
static int
interrupt(int signal_, bool listens, const char *file)
{
	pid_t asker = fork();
	if (asker == 0) {
		struct ws_stop stop;
		struct ws_err err = {0};
		signal(signal_, SIG_DFL);
		bool ready = !listens || ws_stop_open(&stop, &err);
		bool done = ready && ask("sleep 60", (struct ws_limits){.timeout_ms = 60000}, NULL, &err);
		/* Not reached by one that does not listen. */
		ws_fs_write(file, err.text, strlen(err.text), 0600, NULL);
		_exit(!done && listens && ws_stop_asked(&stop) ? (int)err.kind : 99);
	}
	usleep(300000);
	kill(asker, signal_);
	int status = -1;
	assert_int_equal(waitpid(asker, &status, 0), asker);
	return status;
}

WS_TEST(a_signal_ends_it_at_once_and_stays_for_who_listens)
{
	const char *file = ws_path_join(a, ws_test_dir(a), "said", NULL);
	int64_t begun = ws_clock_ms();
	int status = interrupt(SIGINT, true, file);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), WS_ERR_INTERRUPTED);
	status = interrupt(SIGTERM, true, file);
	assert_int_equal(WEXITSTATUS(status), WS_ERR_STOPPED);
	assert_true(ws_clock_ms() - begun < 3000);
}

WS_TEST(a_signal_without_a_handler_ends_us_after_the_child)
{
	const char *file = ws_path_join(a, ws_test_dir(a), "said", NULL);
	int64_t begun = ws_clock_ms();
	int status = interrupt(SIGINT, false, file);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGINT);
	assert_true(ws_clock_ms() - begun < 3000);
	assert_false(ws_fs_exists(file));
}

WS_TEST_ERR(a_deadline_ends_it)
{
	struct ws_stop stop = {.fd = -1, .deadline_ms = ws_clock_ms() + 200};
	const char *const argv[] = {"/bin/sleep", "60", NULL};
	const struct ws_child_order order = {.argv = argv, .stop = &stop};
	assert_fails(ws_child_ask(&order, NULL, &err), err, WS_ERR_STOPPED);
	(void)a;
}
