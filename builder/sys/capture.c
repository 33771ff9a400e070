/* capture.c - one child, one pipe, one deadline. */
#include "sys/capture.h"

#include "sys/clock.h"
#include "sys/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>

#define LONGEST_ANSWER ((size_t)4 << 20)
#define DEFAULT_TIMEOUT_MS 20000

/* Until the program has ended and its pipe is empty; what it left behind may hold the pipe open for ever.
 * False when the deadline passed before that. */
static bool
read_answer(int fd, int pidfd, unsigned timeout_ms, struct ws_buf *out)
{
	struct pollfd wait[] = {{.fd = fd, .events = POLLIN}, {.fd = pidfd, .events = POLLIN}};
	int64_t until = ws_clock_ms() + timeout_ms;
	for (;;) {
		int64_t left = until - ws_clock_ms();
		int ready = poll(wait, 2, left > 0 ? (int)left : 0);
		if (ready < 0 && errno == EINTR) {
			continue;
		}
		if (ready <= 0) {
			return false;
		}
		if (!wait[0].revents) {
			return true;
		}
		char chunk[4096];
		ssize_t got = read(fd, chunk, sizeof(chunk));
		if (got <= 0) {
			wait[0].fd = -1;
		} else if (out->len < LONGEST_ANSWER) {
			ws_buf_add(out, chunk, (size_t)got);
		}
	}
}

bool
ws_capture_run(const struct ws_capture *command, struct ws_buf *out, struct ws_err *err)
{
	static const char *const plain[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C", NULL};
	const char *program = command->argv[0];
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) < 0) {
		return ws_err_sys(err, WS_ERR_INTERNAL, "cannot make a pipe");
	}
	WS_AUTO_FD int reader = ends[0];
	WS_AUTO_FD int writer = ends[1];
	struct ws_spawn spawn = {
		.program = program,
		.argv = command->argv,
		.env = command->env ? command->env : plain,
		.dir = command->dir ? command->dir : "/",
		.in = -1,
		.out = writer,
		.err = command->with_stderr ? writer : -1,
	};
	struct ws_child child;
	if (!ws_spawn_start(&spawn, &child, err)) {
		return false;
	}
	close(ws_take_fd(&writer));
	unsigned timeout_ms = command->timeout_ms ? command->timeout_ms : DEFAULT_TIMEOUT_MS;
	bool answered = read_answer(reader, child.pidfd, timeout_ms, out);
	if (!answered) {
		ws_spawn_signal(&child, SIGKILL);
	}
	struct ws_exit end = ws_spawn_reap(&child);
	if (!answered) {
		return ws_err_set(
			err, WS_ERR_BUILD, "'%s' gave no answer in %u s", program, timeout_ms / 1000);
	}
	if (end.signal) {
		return ws_err_set(err, WS_ERR_BUILD, "'%s' was ended by signal %d (%s)", program,
			end.signal, strsignal(end.signal));
	}
	if (end.code != 0) {
		return ws_err_set(err, WS_ERR_BUILD, "'%s' exited with %d", program, end.code);
	}
	return true;
}
