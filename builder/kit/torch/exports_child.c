/* exports_child.c - both ends of the socket. What is read and written is elf/exports_make.c's. */
#include "kit/torch/exports_child.h"

#include "base/buf.h"
#include "base/fs.h"
#include "elf/exports_make.h"
#include "sys/clock.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PATIENCE_MS 600000 /* for one library; libtorch_cuda of 1 GB takes 2 s */
#define LONGEST_ANSWER 2048

/* ---- the parent ---- */

bool
ws_exports_child_start(struct ws_exports_child *child, const char *program, const char *release,
	const char *path, struct ws_err *err)
{
	*child = (struct ws_exports_child){.socket = -1};
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) {
		return ws_err_sys(err, WS_ERR_INTERNAL, "cannot make a socket");
	}
	const char *const argv[] = {"wheelsmith", "internal", "names", release, path, NULL};
	const char *const env[] = {"LANG=C", NULL};
	struct ws_spawn spawn = {
		.program = program, .argv = argv, .env = env, .in = ends[1], .out = ends[1], .err = -1};
	bool started = ws_spawn_start(&spawn, &child->process, err);
	close(ends[1]);
	child->socket = ends[0];
	if (!started) {
		close(ws_take_fd(&child->socket));
	}
	return started;
}

void
ws_exports_child_end(struct ws_exports_child *child)
{
	if (child->socket >= 0) {
		close(ws_take_fd(&child->socket));
		ws_spawn_signal(&child->process, SIGKILL);
		ws_spawn_reap(&child->process);
	}
}

static bool
say_gone(struct ws_exports_child *child, struct ws_err *err)
{
	close(ws_take_fd(&child->socket));
	struct ws_exit end = ws_spawn_reap(&child->process);
	return end.signal
		? ws_err_set(err, WS_ERR_FETCH, "the reading process was killed by signal %d (%s)",
			end.signal, strsignal(end.signal))
		: ws_err_set(err, WS_ERR_INTERNAL, "the reading process exited with %d", end.code);
}

/* Receives one line. False when the child is gone; one that says nothing for long is ended. */
static bool
receive(struct ws_exports_child *child, struct ws_buf *line)
{
	int64_t until = ws_clock_ms() + PATIENCE_MS;
	while (line->len < LONGEST_ANSWER) {
		int64_t left = until - ws_clock_ms();
		struct pollfd wait = {.fd = child->socket, .events = POLLIN};
		int ready = left > 0 ? poll(&wait, 1, (int)left) : 0;
		if (ready < 0 && errno == EINTR) {
			continue;
		}
		char c;
		if (ready <= 0 || recv(child->socket, &c, 1, 0) != 1) {
			break;
		}
		if (c == '\n') {
			return true;
		}
		ws_buf_putc(line, c);
	}
	ws_spawn_signal(&child->process, SIGKILL);
	return false;
}

static bool
ask(struct ws_exports_child *child, const struct ws_buf *line, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf answer = {0};
	if (memchr(line->data, '\n', line->len - 1)) {
		return ws_err_set(err, WS_ERR_FETCH, "a file name has more than one line");
	}
	for (size_t sent = 0; sent < line->len;) {
		ssize_t n = send(child->socket, line->data + sent, line->len - sent, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n < 0) {
			return say_gone(child, err);
		}
		sent += (size_t)n;
	}
	if (!receive(child, &answer)) {
		return say_gone(child, err);
	}
	char *text;
	unsigned long kind = strtoul(ws_buf_text(&answer), &text, 10);
	return kind == WS_ERR_NONE
		|| ws_err_set(err, kind <= WS_ERR_INTERNAL ? (enum ws_err_kind)kind : WS_ERR_INTERNAL, "%s",
			text + strspn(text, " "));
}

bool
ws_exports_child_add_wheel(struct ws_exports_child *child, const char *filename, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf line = {0};
	ws_buf_printf(&line, "wheel %s\n", filename);
	return ask(child, &line, err);
}

bool
ws_exports_child_add(
	struct ws_exports_child *child, const char *path, const char *python, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf line = {0};
	ws_buf_printf(&line, "library %s%s%s\n", python ? python : "", python ? " " : "", path);
	return ask(child, &line, err);
}

bool
ws_exports_child_add_beside(
	struct ws_exports_child *child, const char *path, bool only_c, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf mode = {0};
	WS_AUTO_BUF struct ws_buf line = {0};
	ws_buf_puts(&mode, "only-c\n");
	ws_buf_printf(&line, "beside %s\n", path);
	return (!only_c || ask(child, &mode, err)) && ask(child, &line, err);
}

bool
ws_exports_child_write(struct ws_exports_child *child, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf line = {0};
	ws_buf_puts(&line, "write\n");
	return ask(child, &line, err);
}

/* ---- the child ---- */

static bool
add(struct ws_exports_maker *maker, const char *words, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const char *path = strchr(words, '/');
	if (!path) {
		return ws_err_set(err, WS_ERR_INTERNAL, "'%s' names no library", words);
	}
	const char *python = path > words ? ws_arena_copy(a, words, (size_t)(path - words) - 1) : NULL;
	WS_AUTO_ELF struct ws_elf *elf = ws_elf_open(path, a, err);
	return elf && ws_exports_add(maker, elf, python, err);
}

/* One of many that may matter; what is wrong with it is found when something needs it. */
static void
add_beside(struct ws_exports_maker *maker, const char *path)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_err err = {0};
	WS_AUTO_ELF struct ws_elf *elf = ws_elf_open(path, a, &err);
	if (elf && ws_exports_add(maker, elf, NULL, &err)) {
		ws_exports_add_name(maker, ws_path_base(path));
	}
}

static bool
obey(struct ws_exports_maker *maker, const char *line, const char *path, struct ws_err *err)
{
	static const char wheel[] = "wheel ", library[] = "library ", name[] = "name ",
					  beside[] = "beside ";
	if (ws_starts_with(line, wheel)) {
		ws_exports_add_wheel(maker, line + strlen(wheel));
		return true;
	}
	if (ws_starts_with(line, library)) {
		return add(maker, line + strlen(library), err);
	}
	if (ws_starts_with(line, beside)) {
		add_beside(maker, line + strlen(beside));
		return true;
	}
	if (ws_starts_with(line, name)) {
		ws_exports_add_name(maker, line + strlen(name));
		return true;
	}
	if (ws_same(line, "only-c")) {
		ws_exports_only_c(maker);
		return true;
	}
	return ws_same(line, "write") ? ws_exports_write(maker, path, err)
								  : ws_err_set(err, WS_ERR_INTERNAL, "'%s' is not an order", line);
}

bool
ws_exports_child_serve(const char *release, const char *path, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	WS_AUTO_FREE char *line = NULL;
	size_t size = 0;
	ssize_t len;
	struct ws_exports_maker *maker = ws_exports_begin(ws_same(release, "-") ? NULL : release, a);
	while ((len = getline(&line, &size, stdin)) > 0) {
		line[len - 1] = '\0';
		struct ws_err fault = {0};
		bool done = obey(maker, line, path, &fault);
		WS_AUTO_BUF struct ws_buf answer = {0};
		ws_buf_printf(&answer, "%d %s\n", done ? (int)WS_ERR_NONE : (int)fault.kind, fault.text);
		if (write(STDOUT_FILENO, answer.data, answer.len) != (ssize_t)answer.len || !done) {
			return done || ws_err_set(err, fault.kind, "%s", fault.text);
		}
	}
	return true;
}
