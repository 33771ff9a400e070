/* outcome.c - exit statuses and the end of a log become one of five ends. What a log says beyond kills and crashes is report/'s. */
#include "engine/outcome.h"

#include "base/buf.h"
#include "base/fs.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#define TAIL_BYTES 16384
/* With less than this left, a tool that failed may have found no room, for its log neither. */
#define SCARCE_BYTES ((uint64_t)64 << 20)

/* The end of a log; drivers speak last. */
static void
read_tail(const char *path, struct ws_buf *tail)
{
	WS_AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	if (fd < 0 || fstat(fd, &status) < 0) {
		return;
	}
	off_t from = status.st_size > TAIL_BYTES ? status.st_size - TAIL_BYTES : 0;
	char *end = ws_buf_reserve(tail, TAIL_BYTES);
	ssize_t got = pread(fd, end, TAIL_BYTES, from);
	tail->len = got > 0 ? (size_t)got : 0;
	end[tail->len] = '\0';
}

static void
describe_seconds(uint64_t ms, char text[32])
{
	uint64_t s = ms / 1000;
	if (s >= 60) {
		snprintf(
			text, 32, "%llu m %llu s", (unsigned long long)(s / 60), (unsigned long long)(s % 60));
	} else {
		snprintf(
			text, 32, "%llu.%llu s", (unsigned long long)s, (unsigned long long)(ms % 1000 / 100));
	}
}

static enum ws_end
out_of_memory(const struct ws_node *node, const struct ws_done *done, struct ws_err *err)
{
	char after[32];
	describe_seconds(done->wall_ms, after);
	ws_err_set(err, WS_ERR_BUILD, "'%s' was killed (out of memory) after %s", node->action->subject,
		after);
	ws_err_cure(err, "it held %.1f GiB%s", (double)done->rss_bytes / (1 << 30),
		node->alone ? "; it was run again alone and was killed again" : "");
	ws_err_cure(err, "free memory, or build on a host with more");
	return node->alone ? WS_END_OUT_OF_MEMORY : WS_END_AGAIN;
}

void
ws_outcome_run_alone(struct ws_node *node)
{
	node->alone = true;
	if (node->need.rss_bytes < node->result.rss_bytes * 2) {
		node->need.rss_bytes = node->result.rss_bytes * 2;
	}
}

static enum ws_end
failed(const struct ws_node *node, const struct ws_done *done, enum ws_log_says says,
	struct ws_err *err)
{
	const char *subject = node->action->subject;
	const char *tool = node->action->tool.name;
	if (done->timed_out) {
		char after[32];
		describe_seconds(done->wall_ms, after);
		ws_err_set(err, WS_ERR_BUILD, "'%s' timed out after %s (%s)", subject, after, tool);
		ws_err_cure_code(err, WS_CURE_ACTION_TIMEOUT, NULL);
	} else if (done->signal) {
		ws_err_set(err, WS_ERR_BUILD, "'%s' failed: %s was ended by signal %d (%s)", subject, tool,
			done->signal, strsignal(done->signal));
	} else {
		ws_err_set(err, WS_ERR_BUILD, "'%s' failed: %s exited with %d", subject, tool, done->code);
	}
	uint64_t free_bytes;
	if (ws_fs_free_bytes(node->dir, &free_bytes) && free_bytes < SCARCE_BYTES) {
		ws_err_cure(err, "only %.1f MiB are free where it ran, '%s'; if that was too little:",
			(double)free_bytes / (1 << 20), node->dir);
		ws_err_cure_code(err, WS_CURE_FREE_SPACE, NULL);
	}
	bool crashed = done->signal == SIGSEGV || done->signal == SIGABRT || done->signal == SIGILL
		|| done->signal == SIGBUS || says == WS_LOG_SAYS_CRASHED;
	if (crashed && !done->timed_out) {
		ws_err_cure(
			err, "the compiler itself crashed; run it again, and if it crashes in the same");
		ws_err_cure(err, "place, another version of %s is the cure", tool);
	}
	return WS_END_FAILED;
}

enum ws_end
ws_outcome_of(
	const struct ws_node *node, const struct ws_done *done, const char *log, struct ws_err *err)
{
	if (done->stopped) {
		return WS_END_STOPPED;
	}
	if (done->code == 0 && done->signal == 0) {
		return WS_END_OK;
	}
	WS_AUTO_BUF struct ws_buf tail = {0};
	read_tail(log, &tail);
	enum ws_log_says says =
		node->action->log_says ? node->action->log_says(ws_buf_text(&tail)) : WS_LOG_SAYS_NOTHING;
	bool killed = done->signal == SIGKILL || says == WS_LOG_SAYS_KILLED;
	return killed && !done->timed_out ? out_of_memory(node, done, err)
									  : failed(node, done, says, err);
}
