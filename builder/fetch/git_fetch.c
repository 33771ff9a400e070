/* git_fetch.c - bringing one commit: what to ask for, when to give up, how to tell why. */
#include "fetch/git_line.h"
#include "fetch/watchdog.h"
#include "net/progress.h"

#include <string.h>

#define STALL_MS 60000u

/* One fetch on its way. */
struct flight {
	struct ws_git_repo *repo;
	const struct ws_git_config *config;
	const char *url, *name, *commit;
	struct ws_git_call call;
	struct ws_git_line *line;
	struct ws_git_fault fault;
	struct ws_progress progress;
	struct ws_watchdog watchdog;
	uint64_t bytes;
	bool stopped;
	struct ws_arena *a;
};

unsigned
ws_git_stall_ms(const struct ws_git_config *config)
{
	return config->stall_ms ? config->stall_ms : STALL_MS;
}

static bool
moved(void *self, uint64_t bytes)
{
	struct flight *f = self;
	ws_watchdog_feed(&f->watchdog);
	if (bytes > 0) {
		f->bytes = bytes;
		ws_progress_move(&f->progress, bytes);
	}
	f->stopped = f->stopped || ws_stop_asked(f->config->stop);
	return !f->stopped;
}

static bool
given_up(const struct flight *f)
{
	return f->stopped || f->watchdog.bit;
}

static bool
explain(struct flight *f, struct ws_err *err)
{
	if (ws_stop_asked(f->config->stop)) {
		return ws_stop_err(f->config->stop, err);
	}
	if (f->watchdog.bit) {
		return ws_err_set(err, WS_ERR_FETCH, "'%s' from '%s': no answer for %jd s", f->name, f->url,
			(intmax_t)f->watchdog.patience_ms / 1000);
	}
	ws_err_set(err, WS_ERR_FETCH, "'%s' from '%s': %s", f->name, f->url, f->fault.words);
	if (strstr(f->fault.words, "redirect")) {
		ws_err_cure(
			err, "redirects to another host are not followed; write the URL where it is now");
	} else if (f->fault.kind == WS_GIT_FAULT_LOGIN) {
		ws_err_cure(err, "use a local folder or an archive for sources that need a login");
	} else if (f->fault.kind == WS_GIT_FAULT_CERTIFICATE) {
		ws_err_cure(err, "name the certificates to trust in SSL_CERT_FILE");
	}
	return false;
}

static bool
open_line(struct flight *f)
{
	f->line = ws_git_line_open(f->repo, f->url, &f->call, f->a, &f->fault);
	return f->line;
}

/* By its id, without or with saying so beforehand; else all branches and tags on a new line, as a
 * refusal may have ended this one. */
static bool
download_any(struct flight *f, const char *own)
{
	char *by_id[] = {ws_arena_printf(f->a, "%s:%s", f->commit, own)};
	if (ws_git_line_download(f->line, by_id, 1, false, &f->fault)
		&& ws_git_has(f->repo, f->commit)) {
		return true;
	}
	if (given_up(f)) {
		return false;
	}
	char heads[] = "+refs/heads/*:refs/heads/*", tags[] = "+refs/tags/*:refs/tags/*";
	char *all[] = {heads, tags};
	ws_git_line_close(f->line);
	return open_line(f) && ws_git_line_download(f->line, all, WS_LEN(all), true, &f->fault);
}

static bool
download(struct flight *f)
{
	const char *own = ws_arena_printf(f->a, "refs/wheelsmith/%s", f->commit);
	const char *ref = ws_git_line_ref(f->line, f->commit, f->a);
	if (ref) {
		char *one[] = {ws_arena_printf(f->a, "+%s:%s", ref, own)};
		return ws_git_line_download(f->line, one, 1, false, &f->fault);
	}
	return download_any(f, own);
}

static bool
fly(struct flight *f, struct ws_err *err)
{
	ws_progress_begin(&f->progress, 0);
	if (!open_line(f) || !download(f)) {
		return explain(f, err);
	}
	if (!ws_git_has(f->repo, f->commit)) {
		ws_err_set(err, WS_ERR_FETCH, "'%s' has no commit '%s' in its branches and tags", f->url,
			f->commit);
		ws_err_cure(
			err, "check it; a commit of a pull request or of a deleted branch is not given out");
		return ws_err_cure(err, "or put a tag on it, or use a source archive");
	}
	ws_progress_end(&f->progress, f->bytes);
	return true;
}

bool
ws_git_fetch(struct ws_git_repo *repo, const char *url, const char *name, const char *commit,
	struct ws_err *err)
{
	if (!ws_git_is_id(commit)) {
		return ws_err_set(err, WS_ERR_CONFIG,
			"'%s' is not a commit: 40 hexadecimal digits in lower case", commit);
	}
	const struct ws_git_config *config = ws_git_config(ws_git_repo_git(repo));
	if (config->offline) {
		return ws_err_set(err, WS_ERR_FETCH,
			"'%s' at commit '%.12s' is not in the store, and this run is offline", name, commit);
	}
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct flight f = {
		.repo = repo, .config = config, .url = url, .name = name, .commit = commit, .a = a};
	f.call = (struct ws_git_call){moved, &f};
	f.progress = (struct ws_progress){.events = config->events, .subject = name, .from = url};
	if (!ws_git_has_timeouts()
		&& !ws_watchdog_start(&f.watchdog, config->stop, ws_git_stall_ms(config), err)) {
		return false;
	}
	/* A server that hangs up is an error of the next write, not our end. */
	struct sigaction before, ignore = {.sa_handler = SIG_IGN};
	sigaction(SIGPIPE, &ignore, &before);
	bool fine = fly(&f, err);
	ws_git_line_close(f.line);
	sigaction(SIGPIPE, &before, NULL);
	ws_watchdog_end(&f.watchdog);
	return fine;
}
