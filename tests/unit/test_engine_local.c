/* test_engine_local.c - real children: logs, groups, deadlines, memory, the sweeper. */
#include "test.h"

#include "base/buf.h"
#include "base/fs.h"
#include "engine/local.h"
#include "sys/clock.h"
#include "sys/spawn.h"
#include "sys/sweep.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const env[] = {"PATH=/usr/bin:/bin", "LANG=C", NULL};

static struct ws_done
run_shell(struct ws_runner *runner, const char *dir, const char *script, uint64_t deadline_ms,
	struct ws_arena *a)
{
	struct ws_err err;
	const char *argv[] = {"sh", "-c", script, NULL};
	struct ws_job job = {
		.id = 1,
		.program = "/bin/sh",
		.argv = argv,
		.env = env,
		.dir = dir,
		.log = ws_path_join(a, dir, "log", NULL),
		.limits.timeout_ms = deadline_ms,
	};
	assert_ok(runner->start(runner, &job, &err), err);
	struct ws_done done;
	int64_t until = ws_clock_ms() + 20000;
	while (runner->wait(runner, 1000, &done) != WS_WAIT_DONE) {
		assert_true(ws_clock_ms() < until);
	}
	return done;
}

static bool
is_running(const char *pid_file, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	WS_AUTO_BUF struct ws_buf stat = {0};
	if (!ws_fs_read(pid_file, &b, NULL)) {
		return false;
	}
	const char *path = ws_arena_printf(a, "/proc/%d/stat", atoi(ws_buf_text(&b)));
	return ws_fs_read(path, &stat, NULL) && !strstr(stat.data, ") Z ");
}

static bool
ends_soon(const char *pid_file, struct ws_arena *a)
{
	for (int i = 0; i < 100; i++) {
		if (!is_running(pid_file, a)) {
			return true;
		}
		poll(NULL, 0, 50);
	}
	return false;
}

WS_TEST(a_job_has_its_log_its_folder_and_only_its_environment)
{
	const char *dir = ws_test_dir(a);
	struct ws_runner *runner = ws_local_runner(NULL, a);
	setenv("WS_LEAK", "1", 1);
	struct ws_done done = run_shell(runner, dir, "pwd; env | sort >&2; exit 3", 0, a);
	assert_int_equal(done.code, 3);
	assert_int_equal(done.signal, 0);
	WS_AUTO_BUF struct ws_buf log = {0};
	ws_fs_read(ws_path_join(a, dir, "log", NULL), &log, NULL);
	assert_contains(ws_buf_text(&log), dir);
	assert_null(strstr(log.data, "WS_LEAK"));
}

WS_TEST(a_program_that_is_not_there_is_an_error_not_an_exit_status)
{
	struct ws_err err;
	struct ws_runner *runner = ws_local_runner(NULL, a);
	const char *const argv[] = {"x", NULL};
	struct ws_job job = {.id = 1,
		.program = "/nowhere/cc",
		.argv = argv,
		.env = env,
		.dir = "/",
		.log = ws_path_join(a, ws_test_dir(a), "log", NULL)};
	assert_fails(runner->start(runner, &job, &err), err, WS_ERR_BUILD);
	assert_string_equal(err.text, "cannot start '/nowhere/cc': No such file or directory");
}

WS_TEST(a_deadline_ends_the_whole_group)
{
	const char *dir = ws_test_dir(a);
	struct ws_runner *runner = ws_local_runner(NULL, a);
	int64_t begun = ws_clock_ms();
	struct ws_done done = run_shell(runner, dir, "sleep 60 & echo $! > child; wait", 300, a);
	assert_true(done.timed_out);
	assert_true(ws_clock_ms() - begun < 4000);
	assert_true(ends_soon(ws_path_join(a, dir, "child", NULL), a));
}

WS_TEST(what_ignores_term_is_killed)
{
	const char *dir = ws_test_dir(a);
	struct ws_runner *runner = ws_local_runner(NULL, a);
	int64_t begun = ws_clock_ms();
	struct ws_done done =
		run_shell(runner, dir, "trap '' TERM; echo $$ > child; while :; do sleep 1; done", 300, a);
	assert_true(done.timed_out);
	assert_int_equal(done.signal, SIGKILL);
	assert_true(ws_clock_ms() - begun < 9000);
}

WS_TEST(what_a_job_leaves_behind_goes_with_it)
{
	const char *dir = ws_test_dir(a);
	struct ws_runner *runner = ws_local_runner(NULL, a);
	struct ws_done done = run_shell(runner, dir, "sleep 60 & echo $! > child; exit 0", 0, a);
	assert_int_equal(done.code, 0);
	assert_true(ends_soon(ws_path_join(a, dir, "child", NULL), a));
}

WS_TEST(memory_is_summed_over_the_job)
{
	/* Two children of 40 MiB each: no single process is as large as what is reported. */
	static const char script[] = "for i in 1 2; do head -c 40000000 /dev/zero | tail -c 39999999 | "
								 "(sleep 0.7; wc -c) & done;"
								 " wait";
	struct ws_runner *runner = ws_local_runner(NULL, a);
	struct ws_done done = run_shell(runner, ws_test_dir(a), script, 0, a);
	assert_int_equal(done.code, 0);
	assert_true(done.rss_bytes > (uint64_t)60 << 20);
}

WS_TEST(the_sweeper_ends_what_works_below_a_folder)
{
	const char *dir = ws_test_dir(a);
	struct ws_err err;
	/* In a session of its own, as something that escaped its group would be. */
	const char *script =
		"setsid sh -c 'echo $$ > child; exec sleep 60' & until [ -s child ]; do :; done";
	const char *const argv[] = {"sh", "-c", script, NULL};
	struct ws_spawn spawn = {"/bin/sh", argv, env, dir, {0}, false, -1, -1, -1};
	struct ws_child child;
	assert_ok(ws_spawn_start(&spawn, &child, &err), err);
	ws_spawn_reap(&child);
	const char *pid_file = ws_path_join(a, dir, "child", NULL);
	assert_true(is_running(pid_file, a));
	assert_int_equal(ws_sweep_now(ws_path_join(a, dir, "other", NULL)), 0);
	assert_true(is_running(pid_file, a));
	assert_true(ws_sweep_now(dir) >= 1);
	assert_true(ends_soon(pid_file, a));
}

WS_TEST(the_sweeper_leaves_the_group_of_a_guest_alone)
{
	const char *dir = ws_test_dir(a);
	const char *inside = ws_path_join(a, dir, "run", NULL);
	struct ws_err err;
	assert_ok(ws_fs_mkdirs(inside, &err), err);
	/* A script of a group, and one of its members in the folder: a person looking into it. */
	const char *script =
		"(cd run && exec sleep 60) & echo $! > guest; echo $$ > script; wait; sleep 60";
	const char *const argv[] = {"sh", "-c", script, NULL};
	struct ws_spawn spawn = {"/bin/sh", argv, env, dir, {0}, false, -1, -1, -1};
	struct ws_child child;
	assert_ok(ws_spawn_start(&spawn, &child, &err), err);
	for (int i = 0; i < 100 && !is_running(ws_path_join(a, dir, "script", NULL), a); i++) {
		poll(NULL, 0, 50);
	}
	assert_true(ws_sweep_now(inside) >= 1);
	assert_true(ends_soon(ws_path_join(a, dir, "guest", NULL), a));
	assert_true(is_running(ws_path_join(a, dir, "script", NULL), a));
	ws_spawn_signal(&child, SIGKILL);
	ws_spawn_reap(&child);
}

/* Starts the sweeper's child on @a dir as its own process, ends it well or not, and tells whether a guest
 * who came after that still works there. */
static bool
guest_stays(bool ended_well, struct ws_arena *a)
{
	const char *dir = ws_test_dir(a);
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	pid_t sweeper = fork();
	if (sweeper == 0) {
		close(ends[1]);
		ws_sweep_wait(ends[0], dir);
		_exit(0);
	}
	close(ends[0]);
	if (ended_well) {
		ws_sweep_end(ends[1], dir);
	}
	struct ws_err err;
	const char *const argv[] = {"sleep", "60", NULL};
	struct ws_spawn spawn = {"/bin/sleep", argv, env, dir, {0}, false, -1, -1, -1};
	struct ws_child guest;
	assert_ok(ws_spawn_start(&spawn, &guest, &err), err);
	if (!ended_well) {
		close(ends[1]);
	}
	waitpid(sweeper, NULL, 0);
	struct pollfd fd = {.fd = guest.pidfd, .events = POLLIN};
	bool stays = poll(&fd, 1, 200) == 0;
	ws_spawn_signal(&guest, SIGKILL);
	ws_spawn_reap(&guest);
	return stays;
}

WS_TEST(a_run_that_ended_well_does_not_sweep_out_its_guests)
{
	assert_true(guest_stays(true, a));
	assert_false(guest_stays(false, a));
}
