/* child.c - one child, one pipe, its limits, and the signals that end it. */
#include "sys/child.h"

#include "base/fs.h"
#include "sys/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>

#define DEFAULT_TIMEOUT_MS 20000
#define DEFAULT_ANSWER ((size_t)4 << 20)
#define TICK_MS 100 /* a signal, or the end of a time, is noticed this late */

struct asking {
	const struct ws_child_order *order;
	const char *name;
	enum ws_err_kind kind;
	struct ws_limits limits;
	sigset_t signals; /* blocked: they stay pending for the next reader */
	int out;          /* -1: its end was read */
	struct ws_buf *output;
	int64_t last_output_ms;
};

/* False when the output exceeds its limit. */
static bool
read_some(struct asking *k, struct ws_err *err)
{
	char chunk[4096];
	ssize_t got = read(k->out, chunk, sizeof(chunk));
	if (got < 0 && errno == EINTR) {
		return true;
	}
	if (got <= 0) {
		k->out = -1;
		return true;
	}
	k->last_output_ms = ws_clock_ms();
	ws_buf_add(k->output, chunk, (size_t)got);
	if (k->order->on_line) {
		/* Pass on whole lines; the rest stays in the buffer. */
		char *line = k->output->data, *end;
		while ((end = memchr(line, '\n', k->output->len))) {
			*end = '\0';
			k->order->on_line(k->order->self, line);
			k->output->len -= (size_t)(end + 1 - line);
			line = end + 1;
		}
		memmove(k->output->data, line, k->output->len);
	}
	return k->output->len <= k->limits.answer_bytes
		|| ws_err_set(
			err, k->kind, "%s printed more than %zu KiB", k->name, k->limits.answer_bytes / 1024);
}

/* Runs until the program has ended and its pipe is empty. Its own children may hold the pipe open
 * for ever. False: kill it. */
static bool
watch(struct asking *k, int pidfd, struct ws_err *err)
{
	unsigned silence_ms = k->limits.silence_ms;
	uint64_t timeout_ms = k->limits.timeout_ms;
	int64_t begun_ms = ws_clock_ms();
	k->last_output_ms = begun_ms;
	for (;;) {
		struct pollfd wait[] = {{.fd = k->out, .events = POLLIN}, {.fd = pidfd, .events = POLLIN}};
		if (poll(wait, WS_LEN(wait), TICK_MS) < 0) {
			continue;
		}
		if (ws_stop_asked(k->order->stop)) {
			return ws_stop_err(k->order->stop, err);
		}
		sigset_t pending;
		sigpending(&pending);
		sigandset(&pending, &pending, &k->signals);
		if (!sigisemptyset(&pending)) {
			int which = sigismember(&pending, SIGINT) ? SIGINT : SIGTERM;
			return ws_stop_err(&(struct ws_stop){.signal = which}, err);
		}
		int64_t now_ms = ws_clock_ms();
		if (timeout_ms && (uint64_t)(now_ms - begun_ms) >= timeout_ms) {
			return ws_err_set(err, k->kind, "%s gave no answer in %ju s", k->name,
				(uintmax_t)((timeout_ms + 999) / 1000));
		}
		if (silence_ms && now_ms - k->last_output_ms >= silence_ms) {
			return ws_err_set(
				err, k->kind, "%s: no answer for %u s", k->name, (silence_ms + 999) / 1000);
		}
		if (wait[0].revents && !read_some(k, err)) {
			return false;
		}
		if (!wait[0].revents && wait[1].revents) {
			return true;
		}
	}
}

static bool
conclude(const struct asking *k, const struct ws_exit *end, struct ws_err *err)
{
	if (end->signal == SIGXCPU) {
		return ws_err_set(
			err, k->kind, "%s takes more than %u s of processor time", k->name, k->limits.cpu_s);
	}
	if (end->signal) {
		return ws_err_set(err, k->kind, "%s was ended by signal %d (%s)", k->name, end->signal,
			strsignal(end->signal));
	}
	if (k->order->order && end->code == WS_EXIT_NO_MEMORY) {
		return ws_err_set(err, k->kind, "%s takes more than %ju MiB of memory", k->name,
			(uintmax_t)(k->limits.memory_bytes >> 20));
	}
	if (end->code == 0) {
		return true;
	}
	/* Take over "error: ..." of our own program, with the kind of its exit code. */
	static const char sign[] = "error: ";
	const char *line = strstr(ws_buf_text(k->output), sign);
	if (!k->order->order || !line) {
		return ws_err_set(err, k->kind, "%s exited with %d", k->name, end->code);
	}
	line += strlen(sign);
	return ws_err_set(err, ws_err_kind_of(end->code), "%.*s", (int)strcspn(line, "\n"), line);
}

static bool
run(struct asking *k, struct ws_err *err)
{
	static const char *const plain[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C", NULL};
	const struct ws_child_order *order = k->order;
	struct ws_child child;
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) < 0) {
		return ws_err_sys(err, WS_ERR_INTERNAL, "cannot make a pipe");
	}
	WS_AUTO_FD int reader = ends[0];
	const struct ws_spawn spawn = {
		.program = order->argv[0],
		.argv = order->argv,
		.env = order->env ? order->env : plain,
		.dir = order->dir ? order->dir : "/",
		.limits = k->limits,
		.in = -1,
		.out = ends[1],
		.err = order->with_stderr || order->order ? ends[1] : -1,
	};
	bool started = ws_spawn_start(&spawn, &child, err);
	close(ends[1]);
	if (!started) {
		return false;
	}
	k->out = reader;
	bool watched = watch(k, child.pidfd, err);
	if (!watched) {
		ws_spawn_signal(&child, SIGKILL);
	}
	struct ws_exit end = ws_spawn_reap(&child);
	return watched && conclude(k, &end, err);
}

bool
ws_child_ask(const struct ws_child_order *order, struct ws_buf *answer, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	WS_AUTO_BUF struct ws_buf line = {0}; /* output of a child whose answer is a file */
	const char *file = order->answer ? ws_path_join(a, order->dir, order->answer, NULL) : NULL;
	struct asking k = {
		.order = order,
		.name = order->name ? order->name : ws_arena_printf(a, "'%s'", order->argv[0]),
		.kind = order->kind ? order->kind : WS_ERR_BUILD,
		.limits = order->limits,
		.signals = ws_stop_signals(),
		.output = file || !answer ? &line : answer,
	};
	if (!k.limits.timeout_ms && !k.limits.silence_ms) {
		k.limits.timeout_ms = DEFAULT_TIMEOUT_MS;
	}
	k.limits.answer_bytes = k.limits.answer_bytes ? k.limits.answer_bytes : DEFAULT_ANSWER;
	if (order->order
		&& !ws_fs_write(ws_path_join(a, order->dir, WS_CHILD_ORDER, NULL), order->order->data,
			order->order->len, 0600, err)) {
		return false;
	}
	sigset_t before;
	sigprocmask(SIG_BLOCK, &k.signals, &before);
	bool done = run(&k, err);
	sigprocmask(SIG_SETMASK, &before, NULL); /* a signal without a listener ends us here */
	return done && (!file || ws_fs_read_at_most(file, k.limits.answer_bytes, answer, err));
}
