/* git_child.c - both ends of the pipe, and how failures are worded. What is asked of the server is
 * git.c's. */
#include "fetch/git_child.h"

#include "base/vec.h"
#include "net/progress.h"
#include "sys/clock.h"
#include "sys/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define STALL_MS 60000u
#define TICK_MS 250   /* --timeout is noticed this late */
#define PERIOD_MS 100 /* between two lines of the child */

/* ---- the parent ---- */

/* One fetch. */
struct fetch {
	const struct ws_git_config *config;
	const char *url, *name;
	struct ws_child child;
	int from;           /* its stdout */
	struct ws_buf said; /* what came of a line that is not whole */
	struct ws_progress progress;
	uint64_t bytes;
	int64_t moved_ms;
	bool ended;
	struct ws_git_outcome outcome; /* once it has ended */
};

static unsigned
stall_ms(const struct ws_git_config *config)
{
	return config->stall_ms ? config->stall_ms : STALL_MS;
}

/* What tells a program its proxies and certificates; nothing else of our environment. */
static const char *const *
environment(const struct ws_git_config *config, struct ws_arena *a)
{
	static const char *const names[] = {"http_proxy=", "https_proxy=", "HTTPS_PROXY=", "all_proxy=",
		"ALL_PROXY=", "no_proxy=", "NO_PROXY=", "SSL_CERT_FILE=", "SSL_CERT_DIR="};
	WS_VEC(const char *) list = {0};
	*ws_vec_push(&list, a) = "LANG=C.UTF-8";
	for (const char *const *var = config->vars; var && *var; var++) {
		for (size_t i = 0; i < WS_LEN(names); i++) {
			if (ws_starts_with(*var, names[i])) {
				*ws_vec_push(&list, a) = *var;
			}
		}
	}
	*ws_vec_push(&list, a) = NULL;
	return list.at;
}

static bool
start(struct fetch *f, const char *path, const char *commit, struct ws_arena *a, struct ws_err *err)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) < 0) {
		return ws_err_sys(err, WS_ERR_INTERNAL, "cannot make a pipe");
	}
	const char *ca_path = f->config->ca_path ? f->config->ca_path : "";
	const char *const argv[] = {
		"wheelsmith", "internal", "git", path, f->url, commit, ca_path, NULL};
	struct ws_spawn spawn = {
		.program = f->config->program,
		.argv = argv,
		.env = environment(f->config, a),
		.in = -1,
		.out = ends[1],
		.err = -1,
	};
	bool started = ws_spawn_start(&spawn, &f->child, err);
	close(ends[1]);
	f->from = ends[0];
	if (!started) {
		close(f->from);
	}
	return started;
}

static void
hear(struct fetch *f, const char *line)
{
	static const char moved[] = "moved ", end[] = "end ";
	f->moved_ms = ws_clock_ms();
	if (ws_starts_with(line, moved)) {
		uint64_t bytes = strtoull(line + strlen(moved), NULL, 10);
		f->bytes = bytes > f->bytes ? bytes : f->bytes;
		ws_progress_move(&f->progress, f->bytes);
	} else if (ws_starts_with(line, end)) {
		char *words;
		unsigned long result = strtoul(line + strlen(end), &words, 10);
		f->ended = true;
		f->outcome.result = result <= WS_GIT_FAILED ? (enum ws_git_result)result : WS_GIT_FAILED;
		snprintf(f->outcome.words, sizeof(f->outcome.words), "%s", words + strspn(words, " "));
	}
}

/* False at the end of the pipe. */
static bool
read_some(struct fetch *f)
{
	char chunk[4096];
	ssize_t got = read(f->from, chunk, sizeof(chunk));
	if (got <= 0) {
		return got < 0 && errno == EINTR;
	}
	for (ssize_t i = 0; i < got; i++) {
		if (chunk[i] == '\n') {
			hear(f, ws_buf_text(&f->said));
			ws_buf_clear(&f->said);
		} else if (f->said.len < sizeof(chunk)) {
			ws_buf_putc(&f->said, chunk[i]);
		}
	}
	return true;
}

/* Until the child has said all; false when it is to be killed. */
static bool
watch(struct fetch *f, struct ws_err *err)
{
	struct ws_stop *stop = f->config->stop;
	f->moved_ms = ws_clock_ms();
	for (;;) {
		struct pollfd wait[] = {
			{.fd = f->from, .events = POLLIN}, {.fd = stop ? stop->fd : -1, .events = POLLIN}};
		poll(wait, WS_LEN(wait), TICK_MS);
		if (ws_stop_asked(stop)) {
			return ws_stop_err(stop, err);
		}
		if (wait[0].revents && !read_some(f)) {
			return true;
		}
		if (ws_clock_ms() - f->moved_ms > stall_ms(f->config)) {
			return ws_err_set(err, WS_ERR_FETCH, "'%s' from '%s': no answer for %u s", f->name,
				f->url, (stall_ms(f->config) + 999) / 1000);
		}
	}
}

static bool
explain(const struct fetch *f, const char *commit, struct ws_err *err)
{
	if (f->outcome.result == WS_GIT_ABSENT) {
		ws_err_set(
			err, WS_ERR_FETCH, "'%s' has no commit '%s' in its branches and tags", f->url, commit);
		ws_err_cure(
			err, "check it; a commit of a pull request or of a deleted branch is not given out");
		return ws_err_cure(err, "or put a tag on it, or use a source archive");
	}
	ws_err_set(err, WS_ERR_FETCH, "'%s' from '%s': %s", f->name, f->url, f->outcome.words);
	if (strstr(f->outcome.words, "redirect")) {
		return ws_err_cure(
			err, "redirects to another host are not followed; write the URL where it is now");
	}
	if (f->outcome.result == WS_GIT_NEEDS_LOGIN) {
		return ws_err_cure(err, "use a local folder or an archive for sources that need a login");
	}
	return f->outcome.result == WS_GIT_BAD_CERTIFICATE
		&& ws_err_cure(err, "name the certificates to trust in SSL_CERT_FILE");
}

static bool
conclude(struct fetch *f, const char *commit, struct ws_err *err)
{
	bool heard = watch(f, err);
	if (!heard || !f->ended) {
		ws_spawn_signal(&f->child, SIGKILL);
	}
	struct ws_exit exit = ws_spawn_reap(&f->child);
	if (heard && !f->ended) {
		return ws_err_set(err, WS_ERR_FETCH,
			"'%s' from '%s': the fetching process ended with %s %d", f->name, f->url,
			exit.signal ? "signal" : "code", exit.signal ? exit.signal : exit.code);
	}
	if (!heard || f->outcome.result != WS_GIT_CAME) {
		return heard && explain(f, commit, err);
	}
	ws_progress_end(&f->progress, f->bytes);
	return true;
}

bool
ws_git_fetch(const struct ws_git *git, const char *path, const char *url, const char *name,
	const char *commit, struct ws_err *err)
{
	const struct ws_git_config *config = ws_git_config(git);
	if (config->offline) {
		return ws_err_set(err, WS_ERR_FETCH,
			"'%s' at commit '%.12s' is not in the store, and this run is offline", name, commit);
	}
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct fetch f = {.config = config, .url = url, .name = name};
	f.progress = (struct ws_progress){.events = config->events, .subject = name, .from = url};
	ws_progress_begin(&f.progress, 0);
	if (!start(&f, path, commit, a, err)) {
		return false;
	}
	bool came = conclude(&f, commit, err);
	close(f.from);
	ws_buf_release(&f.said);
	return came;
}

/* ---- the child ---- */

/* False once nobody reads. */
static bool
say_moved(void *self, uint64_t bytes)
{
	int64_t *said_ms = self;
	int64_t now_ms = ws_clock_ms();
	if (now_ms - *said_ms < PERIOD_MS) {
		return true;
	}
	*said_ms = now_ms;
	return dprintf(STDOUT_FILENO, "moved %ju\n", (uintmax_t)bytes) > 0;
}

bool
ws_git_child_run(
	const char *path, const char *url, const char *commit, const char *ca_path, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	/* A server that hangs up is an error of the next write, not our end; our parent's end is. */
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	struct ws_git_config config = {.ca_path = ca_path[0] ? ca_path : NULL};
	struct ws_git *git = ws_git_open(&config, a, err);
	struct ws_git_repo *repo = git ? ws_git_repo_open(git, path, a, err) : NULL;
	struct ws_git_outcome outcome = {.result = WS_GIT_FAILED};
	int64_t said_ms = 0;
	if (repo) {
		ws_git_download(repo, url, commit, say_moved, &said_ms, &outcome);
	} else if (err) {
		snprintf(outcome.words, sizeof(outcome.words), "%s", err->text);
	}
	for (char *c = outcome.words; *c; c++) {
		*c = *c == '\n' ? ' ' : *c;
	}
	dprintf(STDOUT_FILENO, "end %d %s\n", (int)outcome.result, outcome.words);
	ws_git_repo_close(repo);
	ws_git_close(git);
	return repo != NULL;
}
