/* git_child.c - both ends, and how failures are worded. git.c talks to the server. */
#include "fetch/git.h"
#include "net/http.h"
#include "sys/child.h"
#include "sys/clock.h"

#define STALL_MS 60000u
#define PERIOD_MS 100 /* between two lines of the child */

/* ---- the parent ---- */

/* One fetch. */
struct fetch {
	struct ws_progress progress;
	uint64_t bytes;
	struct ws_git_outcome outcome; /* FAILED until the child has ended well */
};

static void
on_line(void *self, const char *line)
{
	static const char moved[] = "moved ", end[] = "end ";
	struct fetch *f = self;
	char *words;
	if (ws_starts_with(line, moved)) {
		uint64_t bytes = strtoull(line + strlen(moved), NULL, 10);
		f->bytes = bytes > f->bytes ? bytes : f->bytes;
		ws_progress_move(&f->progress, f->bytes);
	} else if (ws_starts_with(line, end)) {
		unsigned long result = strtoul(line + strlen(end), &words, 10);
		f->outcome.result = result <= WS_GIT_FAILED ? (enum ws_git_result)result : WS_GIT_FAILED;
		snprintf(f->outcome.words, sizeof(f->outcome.words), "%s", words + strspn(words, " "));
	}
}

static bool
explain(const struct ws_git_outcome *outcome, const char *name, const char *url, const char *commit,
	struct ws_err *err)
{
	if (outcome->result == WS_GIT_ABSENT) {
		ws_err_set(
			err, WS_ERR_FETCH, "'%s' has no commit '%s' in its branches and tags", url, commit);
		ws_err_cure(
			err, "check it; a commit of a pull request or of a deleted branch is not given out");
		return ws_err_cure(err, "or put a tag on it, or use a source archive");
	}
	ws_err_set(err, WS_ERR_FETCH, "'%s' from '%s': %s", name, url, outcome->words);
	if (strstr(outcome->words, "redirect")) {
		return ws_err_cure(
			err, "redirects to another host are not followed; write the URL where it is now");
	}
	if (outcome->result == WS_GIT_NEEDS_LOGIN) {
		return ws_err_cure(err, "use a local folder or an archive for sources that need a login");
	}
	return outcome->result == WS_GIT_BAD_CERTIFICATE
		&& ws_err_cure(err, "name the certificates to trust in SSL_CERT_FILE");
}

bool
ws_git_fetch(const struct ws_git *git, const char *path, const char *url, const char *name,
	const char *commit, struct ws_err *err)
{
	const struct ws_git_config *config = &git->config;
	if (config->offline) {
		return ws_err_set(err, WS_ERR_FETCH,
			"'%s' at commit '%.12s' is not in the store, and this run is offline", name, commit);
	}
	/* The variables for proxies and certificates; the child gets no others. */
	static const char *const names[] = {"http_proxy=", "https_proxy=", "HTTPS_PROXY=", "all_proxy=",
		"ALL_PROXY=", "no_proxy=", "NO_PROXY=", "SSL_CERT_FILE=", "SSL_CERT_DIR="};
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	WS_VEC(const char *) env = {0};
	*ws_vec_push(&env, a) = "LANG=C.UTF-8";
	for (const char *const *var = config->vars; var && *var; var++) {
		for (size_t i = 0; i < WS_LEN(names); i++) {
			if (ws_starts_with(*var, names[i])) {
				*ws_vec_push(&env, a) = *var;
			}
		}
	}
	*ws_vec_push(&env, a) = NULL;
	struct fetch f = {
		.progress = {.events = config->events, .subject = name, .from = url},
		.outcome = {.result = WS_GIT_FAILED},
	};
	const char *const argv[] = {config->program, "internal", "git", path, url, commit,
		config->ca_path ? config->ca_path : "", NULL};
	const struct ws_child_order child = {
		.argv = argv,
		.env = env.at,
		.dir = ".", /* a path may be relative */
		.limits = {.silence_ms = config->stall_ms ? config->stall_ms : STALL_MS},
		.name = ws_arena_printf(a, "fetching '%s' from '%s'", name, url),
		.kind = WS_ERR_FETCH,
		.stop = config->stop,
		.on_line = on_line,
		.self = &f,
	};
	ws_progress_begin(&f.progress, 0);
	if (!ws_child_ask(&child, NULL, err)) {
		return false;
	}
	if (f.outcome.result != WS_GIT_CAME) {
		return explain(&f.outcome, name, url, commit, err);
	}
	ws_progress_end(&f.progress, f.bytes);
	return true;
}

/* ---- the child ---- */

/* False once the reader is gone. */
static bool
fail_moved(void *self, uint64_t bytes)
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
	/* A server that hangs up is an error of the next write, not our end. */
	signal(SIGPIPE, SIG_IGN);
	struct ws_git_config config = {.ca_path = ca_path[0] ? ca_path : NULL};
	struct ws_git *git = ws_git_open(&config, a, err);
	struct ws_git_repo *repo = git ? ws_git_repo_open(git, path, a, err) : NULL;
	struct ws_git_outcome outcome = {.result = WS_GIT_FAILED};
	int64_t said_ms = 0;
	if (repo) {
		ws_git_download(repo, url, commit, fail_moved, &said_ms, &outcome);
	} else if (err) {
		snprintf(outcome.words, sizeof(outcome.words), "%s", err->text);
	}
	for (char *c = outcome.words; *c; c++) {
		*c = *c == '\n' ? ' ' : *c;
	}
	dprintf(STDOUT_FILENO, "end %d %s\n", (int)outcome.result, outcome.words);
	ws_git_repo_close(repo);
	ws_git_close(git);
	return true;
}
