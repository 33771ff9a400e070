/* test_sys_flock.c - locks whose file is removed, and ignored signals. */
#include "test.h"

#include "base/fs.h"
#include "sys/flock.h"
#include "sys/stop.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>

WS_TEST_ERR(a_lock_on_a_removed_file_does_not_count)
{
	const char *path = ws_path_join(a, ws_test_dir(a), "lock", NULL);
	int first = -1, second = -1;
	assert_int_equal(ws_flock_try(path, true, &first, &err), WS_FLOCK_HELD);
	assert_int_equal(ws_flock_try(path, true, &second, &err), WS_FLOCK_BUSY);
	/* Another waits with the file open while the holder removes it and lets go. */
	int waiting = open(path, O_RDWR | O_CLOEXEC);
	unlink(path);
	close(first);
	assert_int_equal(flock(waiting, LOCK_EX | LOCK_NB), 0);
	assert_int_equal(ws_flock_try(path, true, &second, &err), WS_FLOCK_HELD);
	close(waiting);
	close(second);
}

WS_TEST_ERR(a_number_is_locked_once_and_goes_with_its_file)
{
	const char *path = ws_path_join(a, ws_test_dir(a), "numbers", NULL);
	int ours = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	int theirs = open(path, O_RDWR | O_CLOEXEC);
	assert_int_equal(ws_flock_number(ours, UINT64_MAX, &err), WS_FLOCK_HELD);
	assert_int_equal(ws_flock_number(theirs, UINT64_MAX, &err), WS_FLOCK_BUSY);
	assert_int_equal(ws_flock_number(theirs, 2, &err), WS_FLOCK_HELD);
	ws_flock_release_number(ours, UINT64_MAX);
	assert_int_equal(ws_flock_number(theirs, UINT64_MAX, &err), WS_FLOCK_HELD);
	assert_int_equal(ws_flock_number(ours, 2, &err), WS_FLOCK_BUSY);
	close(theirs);
	assert_int_equal(ws_flock_number(ours, 2, &err), WS_FLOCK_HELD);
	close(ours);
	assert_int_equal(ws_flock_number(ours, 2, &err), WS_FLOCK_FAILED);
}

/* A process that has the lock for @ms, or until it is killed. */
static pid_t
hold(const char *path, unsigned ms)
{
	int ready[2];
	char byte;
	assert_int_equal(pipe(ready), 0);
	pid_t pid = fork();
	if (pid == 0) {
		int fd = -1;
		struct ws_err err;
		if (ws_flock_try(path, true, &fd, &err) == WS_FLOCK_HELD && write(ready[1], "x", 1) == 1) {
			usleep(ms * 1000);
		}
		_exit(0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

WS_TEST_ERR(a_lock_is_waited_for_until_somebody_asks_to_stop)
{
	const char *path = ws_path_join(a, ws_test_dir(a), "lock", NULL);
	struct ws_stop stop = {.fd = -1};
	int fd = -1;
	pid_t pid = hold(path, 300);
	assert_ok(ws_flock_wait(path, &stop, 60000, &fd, &err), err);
	assert_true(fd >= 0);
	close(fd);
	waitpid(pid, NULL, 0);
	pid = hold(path, 60000);
	fd = -1;
	assert_fails(ws_flock_wait(path, &stop, 20, &fd, &err), err, WS_ERR_IO);
	assert_contains(err.text, "is locked by another process");
	assert_contains(err.cure, "fuser ");
	stop.signal = SIGINT;
	assert_fails(ws_flock_wait(path, &stop, 60000, &fd, &err), err, WS_ERR_INTERRUPTED);
	assert_int_equal(fd, -1);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* The signals that reach a child that was started with signal ignored, or not. */
static bool
hears(int signal_number, bool ignored)
{
	pid_t pid = fork();
	if (pid == 0) {
		struct ws_stop stop;
		signal(signal_number, ignored ? SIG_IGN : SIG_DFL);
		if (!ws_stop_open(&stop, NULL)) {
			_exit(2);
		}
		raise(signal_number);
		_exit(ws_stop_asked(&stop) ? 1 : 0);
	}
	int status;
	waitpid(pid, &status, 0);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
	return WEXITSTATUS(status) == 1;
}

WS_TEST(a_signal_that_nohup_ignores_does_not_stop_us)
{
	assert_true(hears(SIGHUP, false));
	assert_false(hears(SIGHUP, true));
	assert_true(hears(SIGINT, false));
	assert_false(hears(SIGINT, true));
	(void)a;
}

WS_TEST(a_pipe_without_a_reader_is_an_error_of_the_write)
{
	int ends[2], status;
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	pid_t pid = fork();
	if (pid == 0) {
		struct ws_stop stop;
		signal(SIGPIPE, SIG_DFL);
		_exit(ws_stop_open(&stop, NULL) && write(ends[1], "x", 1) < 0 ? 0 : 1);
	}
	close(ends[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
