/* git_served.c - see git_served.h. */
#include "git_served.h"

#include "test.h"

#include "base/fs.h"

#include <fcntl.h>

struct ws_git_served
ws_git_served_start(struct ws_arena *a)
{
	static const char *const proxies[] = {"http_proxy", "https_proxy", "all_proxy", "ALL_PROXY"};
	for (size_t i = 0; i < WS_LEN(proxies); i++) {
		unsetenv(proxies[i]);
	}
	static char dir[200]; /* the repositories are made once for the program */
	if (!dir[0]) {
		snprintf(dir, sizeof(dir), "%s", ws_test_dir(a));
	}
	struct ws_git_served s = {.a = a, .dir = dir};
	struct ws_err err = {0};
	int in[2], out[2];
	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	const char *const argv[] = {
		"env", "python3", WS_TESTS_DIR "/support/git_server.py", s.dir, NULL};
	const char *const env[] = {ws_arena_printf(a, "PATH=%s", getenv("PATH")), NULL};
	struct ws_spawn spawn = {
		.program = "/usr/bin/env",
		.argv = argv,
		.env = env,
		.dir = "/",
		.in = in[0],
		.out = out[1],
		.err = STDERR_FILENO,
	};
	assert_ok(ws_spawn_start(&spawn, &s.child, &err), err);
	close(in[0]);
	close(out[1]);
	s.hold = in[1];
	WS_AUTO_FILE FILE *from = fdopen(out[0], "r");
	if (!from || fscanf(from, "ready %u %u", &s.port, &s.tls) != 2) {
		fail_msg("%s", "the git server does not start; are python3, git and openssl there?");
	}
	assert_ok(ws_fs_read(ws_path_join(a, s.dir, "ids.txt", NULL), &s.ids, &err), err);
	return s;
}

void
ws_git_served_stop(struct ws_git_served *s)
{
	close(s->hold);
	ws_spawn_reap(&s->child);
	ws_buf_release(&s->ids);
}

const char *
ws_git_served_url(const struct ws_git_served *s, const char *path)
{
	return ws_arena_printf(s->a, "http://127.0.0.1:%u/%s.git", s->port, path);
}

const char *
ws_git_served_id(const struct ws_git_served *s, const char *name)
{
	for (struct ws_str rest = ws_buf_str(&s->ids); rest.s;) {
		struct ws_str line = ws_str_cut(&rest, '\n');
		if (ws_str_is(ws_str_cut(&line, ' '), name)) {
			return ws_str_copy(line, s->a);
		}
	}
	fail_msg("git_server.py makes no '%s'", name);
	return NULL;
}

unsigned
ws_git_served_count(const struct ws_git_served *s, const char *text)
{
	WS_AUTO_BUF struct ws_buf log = {0};
	unsigned count = 0;
	if (!ws_fs_read(ws_path_join(s->a, s->dir, "log", NULL), &log, NULL)) {
		return 0;
	}
	for (struct ws_str rest = ws_buf_str(&log); rest.s;) {
		const char *line = ws_str_copy(ws_str_cut(&rest, '\n'), s->a);
		count += strstr(line, text) != NULL;
	}
	return count;
}
