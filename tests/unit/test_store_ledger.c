/* test_store_ledger.c - estimates and digests of outside files. */
#include "test.h"

#include "base/fs.h"
#include "store/ledger.h"
#include "sys/clock.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#define GIB ((uint64_t)1 << 30)

static struct ws_store
open_store(struct ws_arena *a)
{
	struct ws_err err;
	struct ws_store store;
	assert_ok(ws_store_open(ws_test_dir(a), a, &store, &err), err);
	return store;
}

static void
add(struct ws_ledger *l, const char *variant, uint64_t wall_ms, uint64_t rss_bytes, bool killed)
{
	struct ws_err err;
	struct ws_ledger_run run = {"p/a.cu", "compile", variant, wall_ms, wall_ms, rss_bytes, killed};
	assert_ok(ws_ledger_add(l, &run, &err), err);
	nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL); /* runs are ordered by millisecond */
}

WS_TEST(estimates_take_the_largest_peak_and_the_latest_time)
{
	WS_AUTO_STORE struct ws_store store = open_store(a);
	struct ws_ledger *l = store.ledger;
	assert_non_null(l);
	assert_int_equal(ws_ledger_estimate(l, "p/a.cu", "compile", "sm80").rss_bytes, 0);
	add(l, "sm80", 900, 3 * GIB, false);
	add(l, "sm80", 700, 2 * GIB, false);
	struct ws_estimate_of e = ws_ledger_estimate(l, "p/a.cu", "compile", "sm80");
	assert_int_equal(e.cpu_ms, 700);
	assert_true(e.rss_bytes == 3 * GIB);
	/* Another variant of the unit is a better guess than none. */
	assert_true(ws_ledger_estimate(l, "p/a.cu", "compile", "sm90").rss_bytes == 3 * GIB);
	assert_int_equal(ws_ledger_estimate(l, "p/a.cu", "link", "sm80").rss_bytes, 0);
}

WS_TEST(a_kill_doubles_what_was_held_until_a_success)
{
	WS_AUTO_STORE struct ws_store store = open_store(a);
	struct ws_ledger *l = store.ledger;
	add(l, "sm80", 500, GIB, false);
	add(l, "sm80", 300, 2 * GIB, true);
	assert_true(ws_ledger_estimate(l, "p/a.cu", "compile", "sm80").rss_bytes == 4 * GIB);
	add(l, "sm80", 600, 3 * GIB, false);
	assert_true(ws_ledger_estimate(l, "p/a.cu", "compile", "sm80").rss_bytes == 3 * GIB);
}

WS_TEST(kills_tell_no_time_and_push_no_success_out)
{
	WS_AUTO_STORE struct ws_store store = open_store(a);
	struct ws_ledger *l = store.ledger;
	add(l, "sm80", 500, GIB, true);
	assert_int_equal(ws_ledger_estimate(l, "p/a.cu", "compile", "sm80").wall_ms, 0);
	assert_true(ws_ledger_estimate(l, "p/a.cu", "compile", "sm80").rss_bytes == 2 * GIB);
	add(l, "sm80", 600, 3 * GIB, false);
	for (int i = 0; i < 6; i++) {
		add(l, "sm80", 1, GIB, true);
	}
	assert_int_equal(ws_ledger_estimate(l, "p/a.cu", "compile", "sm80").cpu_ms, 600);
	for (int i = 0; i < 5; i++) {
		add(l, "sm80", 700, GIB, false);
	}
	assert_true(ws_ledger_estimate(l, "p/a.cu", "compile", "sm80").rss_bytes == GIB);
}

WS_TEST_ERR(a_broken_ledger_is_set_aside)
{
	WS_AUTO_STORE struct ws_store store = open_store(a);
	const char *file = ws_store_path(&store, a, "ledger.db");
	const char *path = store.path;
	ws_store_close(&store);
	char junk[4096];
	memset(junk, 'x', sizeof(junk));
	assert_ok(ws_fs_write(file, junk, sizeof(junk), 0644, &err), err);
	assert_ok(ws_store_open(path, a, &store, &err), err);
	assert_true(ws_fs_exists(ws_arena_printf(a, "%s.broken", file)));
}

/* As a process that was stopped while it wrote: SQLite's lock bytes of a database without WAL. */
static pid_t
hold_lock(const char *path, unsigned seconds)
{
	int held[2];
	char byte;
	assert_int_equal(pipe(held), 0);
	pid_t pid = fork();
	if (pid == 0) {
		struct flock lock = {.l_type = F_WRLCK, .l_start = 0x40000000, .l_len = 512};
		int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
		bool done = fcntl(fd, F_SETLK, &lock) == 0 && write(held[1], "", 1) == 1;
		_exit(done ? (int)sleep(seconds) : 1);
	}
	close(held[1]);
	assert_int_equal(read(held[0], &byte, 1), 1);
	close(held[0]);
	return pid;
}

WS_TEST_ERR(a_ledger_that_stays_locked_is_given_up)
{
	const char *path = ws_path_join(a, ws_test_dir(a), "held.db", NULL);
	pid_t pid = hold_lock(path, 30);
	int64_t start_ms = ws_clock_ms();
	assert_null(ws_ledger_open(path, &err));
	int64_t waited_ms = ws_clock_ms() - start_ms;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_contains(err.text, "locked");
	assert_true(waited_ms < 25000);
}

static void
set_age(const char *path, int64_t age_s)
{
	struct timespec now, times[2];
	clock_gettime(CLOCK_REALTIME, &now);
	now.tv_sec -= age_s;
	times[0] = times[1] = now;
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

WS_TEST_ERR(outside_files_are_hashed_again_when_they_change)
{
	WS_AUTO_STORE struct ws_store store = open_store(a);
	struct ws_ledger *l = store.ledger;
	const char *file = ws_path_join(a, ws_test_dir(a), "x.h", NULL);
	struct ws_digest one, two;
	assert_false(ws_ledger_file_digest(l, file, &one));
	assert_ok(ws_fs_write(file, "1", 1, 0644, &err), err);
	set_age(file, 100);
	assert_true(ws_ledger_file_digest(l, file, &one));
	/* Same size, same mtime: the ctime still tells, and a fresh file is never trusted. */
	assert_ok(ws_fs_write(file, "2", 1, 0644, &err), err);
	set_age(file, 100);
	assert_true(ws_ledger_file_digest(l, file, &two));
	assert_false(ws_digest_eq(&one, &two));
	assert_false(ws_ledger_file_digest(l, ws_path_dir(a, file), &one));
}

WS_TEST_ERR(an_estimate_leaves_the_ledger_free_for_others)
{
	struct ws_store store = open_store(a), other;
	assert_ok(ws_store_open(store.path, a, &other, &err), err);
	for (int i = 0; i < 6; i++) {
		add(store.ledger, "sm80", 100, GIB, false);
	}
	assert_int_equal(ws_ledger_estimate(store.ledger, "p/a.cu", "compile", "sm80").cpu_ms, 100);
	add(other.ledger, "sm80", 200, GIB, false);
	add(store.ledger, "sm80", 300, GIB, false); /* was: database is locked */
	assert_int_equal(ws_ledger_estimate(other.ledger, "p/a.cu", "compile", "sm80").cpu_ms, 300);
	ws_store_close(&other);
	ws_store_close(&store);
}

static bool
open_new_ledger(const char *path)
{
	return ws_ledger_open(path, NULL) != NULL;
}

static bool
open_new_store(const char *path)
{
	struct ws_store store;
	return ws_store_open(path, ws_arena_make(), &store, NULL);
}

/* Eight processes that wait for one another and then open the same new one. */
static unsigned
open_at_once(const char *path, bool (*open_one)(const char *path))
{
	enum { PROCESSES = 8 };
	int gate[2];
	pid_t pids[PROCESSES];
	unsigned failures = 0;
	assert_int_equal(pipe(gate), 0);
	for (size_t i = 0; i < PROCESSES; i++) {
		if ((pids[i] = fork()) == 0) {
			char byte;
			close(gate[1]);
			bool done = read(gate[0], &byte, 1) == 0 && open_one(path);
			_exit(done ? 0 : 1);
		}
	}
	close(gate[0]);
	close(gate[1]);
	for (size_t i = 0; i < PROCESSES; i++) {
		int status;
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		failures += status != 0;
	}
	return failures;
}

WS_TEST(processes_that_make_a_ledger_at_once_all_get_it)
{
	const char *folder = ws_test_dir(a);
	for (unsigned i = 0; i < 150; i++) {
		const char *name = ws_arena_printf(a, "ledger-%u.db", i);
		assert_int_equal(open_at_once(ws_path_join(a, folder, name, NULL), open_new_ledger), 0);
	}
}

WS_TEST(processes_that_make_a_store_at_once_all_get_it)
{
	const char *folder = ws_test_dir(a);
	for (unsigned i = 0; i < 60; i++) {
		const char *name = ws_arena_printf(a, "store-%u", i);
		assert_int_equal(open_at_once(ws_path_join(a, folder, name, NULL), open_new_store), 0);
	}
}
