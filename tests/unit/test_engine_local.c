/* test_engine_local.c - real children: logs, groups, deadlines, memory, the sweeper. */
#include "test.h"

#include "base/fs.h"
#include "engine/runner.h"
#include "engine/work.h"
#include "store/cas.h"
#include "sys/clock.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

static const char *const env[] = {"PATH=/usr/bin:/bin", "LANG=C", NULL};

/* A store, a host, and a run's folder in which jobs run. */
struct world {
	struct ws_store store;
	struct ws_host host;
	struct ws_work work;
	struct ws_runner *runner;
	struct ws_action action;
	struct ws_job job; /* the last one */
	const char *argv[4];
	struct ws_arena *a;
};

static struct world *
open_world(struct ws_arena *a)
{
	struct ws_err err;
	struct world *w = WS_NEW(a, struct world);
	w->a = a;
	assert_ok(ws_store_open(ws_test_dir(a), a, &w->store, &err), err);
	assert_ok(ws_work_open(&w->store, NULL, a, &w->work, &err), err);
	w->host = ws_host_read("", a);
	w->runner = ws_local_runner(&w->work, &w->host, NULL, a);
	w->action = (struct ws_action){
		.subject = "a.cu", .tool = {"sh", "/bin/sh", "f00d"}, .argv = w->argv, .env = env};
	w->argv[0] = "sh";
	w->argv[1] = "-c";
	return w;
}

static void
close_world(struct world **w)
{
	ws_work_close(&(*w)->work, false);
	ws_store_close(&(*w)->store);
}

#define WS_AUTO_WORLD __attribute__((cleanup(close_world)))

static struct ws_done
run_shell(struct world *w, const char *script, uint64_t deadline_ms)
{
	struct ws_err err;
	struct ws_done done;
	w->argv[2] = script;
	w->job = (struct ws_job){.id = 1,
		.attempt = w->job.attempt + 1,
		.action = &w->action,
		.deadline_ms = deadline_ms,
		.a = w->a};
	assert_ok(w->runner->start(w->runner, &w->job, &err), err);
	int64_t until = ws_clock_ms() + 20000;
	while (w->runner->wait(w->runner, 1000, &done) != WS_WAIT_DONE) {
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
	WS_AUTO_WORLD struct world *w = open_world(a);
	setenv("WS_LEAK", "1", 1);
	struct ws_done done = run_shell(w, "pwd; env | sort >&2; exit 3", 0);
	assert_int_equal(done.code, 3);
	assert_int_equal(done.signal, 0);
	WS_AUTO_BUF struct ws_buf log = {0};
	assert_true(ws_cas_read(&w->store, done.log.hex, &log, NULL));
	assert_contains(ws_buf_text(&log), w->job.dir);
	assert_null(strstr(log.data, "WS_LEAK"));
	w->runner->forget(w->runner, &w->job, false);
	assert_false(ws_fs_exists(w->job.dir));
}

/* It read what the log says, as a stand-in for a dependency file. */
static bool
read_log(const struct ws_action *action WS_UNUSED, const char *work, const char *log,
	struct ws_arena *a, struct ws_reads *reads, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	if (!ws_fs_exists(work) || !ws_fs_read(log, &text, err)) {
		return false;
	}
	*ws_vec_push(&reads->files, a) = ws_arena_strdup(a, ws_buf_text(&text));
	return true;
}

WS_TEST(outputs_and_reads_of_a_job_arrive_with_its_end)
{
	static const char *const outputs[] = {"obj/a.o", "obj/b.o"};
	WS_AUTO_WORLD struct world *w = open_world(a);
	w->action.outputs = outputs;
	w->action.output_count = 2;
	w->action.find_reads = read_log;
	const struct ws_done done =
		run_shell(w, "printf src/a.h; printf 1 > obj/a.o; printf 22 > obj/b.o", 0);
	assert_int_equal(done.code, 0);
	assert_null(done.failure);
	assert_int_equal(done.sizes[1], 2);
	assert_true(ws_cas_has(&w->store, done.outputs[0].hex));
	assert_string_equal(done.outputs[1].hex, ws_digest_bytes("22", 2).hex);
	assert_string_equal(done.reads.files.at[0], "src/a.h");
}

WS_TEST(a_job_that_did_not_write_its_output_has_a_failure_and_a_folder)
{
	static const char *const outputs[] = {"obj/a.o"};
	WS_AUTO_WORLD struct world *w = open_world(a);
	w->action.outputs = outputs;
	w->action.output_count = 1;
	struct ws_done done = run_shell(w, "echo nothing to do", 0);
	assert_int_equal(done.code, 0);
	assert_string_equal(done.failure->text, "'a.cu' failed: sh succeeded but wrote no 'obj/a.o'");
	assert_int_equal(done.failure->kind, WS_ERR_BUILD);
	assert_true(done.log.hex[0]);
	w->runner->forget(w->runner, &w->job, true);
	assert_true(ws_fs_exists(w->job.dir));
}

WS_TEST(a_program_that_is_not_there_is_an_error_not_an_exit_status)
{
	struct ws_err err;
	WS_AUTO_WORLD struct world *w = open_world(a);
	w->action.tool.program = "/nowhere/cc";
	w->argv[1] = NULL;
	struct ws_job job = {.id = 1, .attempt = 1, .action = &w->action, .a = a};
	assert_fails(w->runner->start(w->runner, &job, &err), err, WS_ERR_BUILD);
	assert_string_equal(err.text, "cannot start '/nowhere/cc': No such file or directory");
}

WS_TEST(a_deadline_ends_the_whole_group)
{
	WS_AUTO_WORLD struct world *w = open_world(a);
	int64_t begun = ws_clock_ms();
	struct ws_done done = run_shell(w, "sleep 60 & echo $! > child; wait", 300);
	assert_true(done.timed_out);
	assert_true(ws_clock_ms() - begun < 4000);
	assert_true(ends_soon(ws_path_join(a, w->job.dir, "child", NULL), a));
}

WS_TEST(a_job_that_ignores_term_is_killed)
{
	WS_AUTO_WORLD struct world *w = open_world(a);
	int64_t begun = ws_clock_ms();
	struct ws_done done =
		run_shell(w, "trap '' TERM; echo $$ > child; while :; do sleep 1; done", 300);
	assert_true(done.timed_out);
	assert_int_equal(done.signal, SIGKILL);
	assert_true(ws_clock_ms() - begun < 9000);
}

WS_TEST(leftovers_of_a_job_are_removed_with_it)
{
	WS_AUTO_WORLD struct world *w = open_world(a);
	struct ws_done done = run_shell(w, "sleep 60 & echo $! > child; exit 0", 0);
	assert_int_equal(done.code, 0);
	assert_true(ends_soon(ws_path_join(a, w->job.dir, "child", NULL), a));
}

WS_TEST(memory_is_summed_over_the_job)
{
	/* Two children of 40 MiB each: no single process is as large as what is reported. */
	static const char script[] = "for i in 1 2; do head -c 40000000 /dev/zero | tail -c 39999999 | "
								 "(sleep 0.7; wc -c) & done;"
								 " wait";
	WS_AUTO_WORLD struct world *w = open_world(a);
	struct ws_done done = run_shell(w, script, 0);
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

/* Starts the sweeper's child on @a dir as its own process, ends it well or not, and tells whether a
 * guest who came after that still works there. */
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
