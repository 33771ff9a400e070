/* job_outcome.c - maps a runner's report to one of six ends, and records results. Messages about
 * the contents of logs are report/'s. */
#include "base/fs.h"
#include "engine/graph_run.h"
#include "store/cas.h"

#include <signal.h>

/* With less free space than this, a tool may have failed for lack of it and its log may be cut. */
#define SCARCE_BYTES ((uint64_t)64 << 20)

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
failed(const struct ws_node *node, const struct ws_done *done, struct ws_err *err)
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
	if (node->dir && ws_fs_free_bytes(node->dir, &free_bytes) && free_bytes < SCARCE_BYTES) {
		ws_err_cure(err, "only %.1f MiB are free where it ran, '%s'; if that was too little:",
			(double)free_bytes / (1 << 20), node->dir);
		ws_err_cure_code(err, WS_CURE_FREE_SPACE, NULL);
	}
	bool crashed = done->signal == SIGSEGV || done->signal == SIGABRT || done->signal == SIGILL
		|| done->signal == SIGBUS || done->says == WS_LOG_SAYS_CRASHED;
	if (crashed && !done->timed_out) {
		ws_err_cure(
			err, "the compiler itself crashed; run it again, and if it crashes in the same");
		ws_err_cure(err, "place, another version of %s is the cure", tool);
	}
	return WS_END_FAILED;
}

enum ws_end
ws_outcome_of(const struct ws_node *node, const struct ws_done *done, struct ws_err *err)
{
	if (done->stopped) {
		return WS_END_STOPPED;
	}
	if (done->lacks_input) {
		return WS_END_ANEW;
	}
	if (done->failure) {
		*err = *done->failure;
		return WS_END_FAILED;
	}
	if (done->code == 0 && done->signal == 0) {
		return WS_END_OK;
	}
	bool killed = done->signal == SIGKILL || done->says == WS_LOG_SAYS_KILLED;
	if (!killed || done->timed_out) {
		return failed(node, done, err);
	}
	char after[32];
	describe_seconds(done->wall_ms, after);
	ws_err_set(err, WS_ERR_BUILD, "'%s' was killed (out of memory) after %s", node->action->subject,
		after);
	ws_err_cure(err, "it held %.1f GiB%s", (double)done->rss_bytes / (1 << 30),
		node->alone ? "; it was run again alone and was killed again" : "");
	ws_err_cure(err, "free memory, or build on a host with more");
	return node->alone ? WS_END_OUT_OF_MEMORY : WS_END_AGAIN;
}

/* ---- recording ---- */

bool
ws_record(const struct ws_engine *e, struct ws_cache *cache, struct ws_node *node,
	const struct ws_done *done, struct ws_arena *a, struct ws_err *err)
{
	const struct ws_action *action = node->action;
	size_t count = action->output_count;
	node->result.outputs = WS_NEW_N(a, struct ws_digest, count);
	node->result.sizes = WS_NEW_N(a, uint64_t, count);
	for (size_t i = 0; i < count; i++) {
		node->result.outputs[i] = done->outputs[i];
		node->result.sizes[i] = done->sizes[i];
	}
	if (done->reads.uncacheable) {
		ws_events_warn(e->events, "'%s' is built again every time: %s", action->subject,
			done->reads.uncacheable);
		return true;
	}
	if (done->changed) {
		ws_events_warn(e->events,
			"'%s' is not kept: '%s', or a folder or link on the way there, changed while it was "
			"made",
			action->subject, done->changed);
		return true;
	}
	return ws_cache_add(
		cache, action, &node->base, action->find_reads ? &done->reads : NULL, &node->result, err);
}

void
ws_record_logs(const struct ws_store *store, struct ws_node *node)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	WS_AUTO_BUF struct ws_buf all = {0};
	struct ws_map seen = {0};
	for (size_t i = 0; i < node->parts.len; i++) {
		const char *log = node->parts.at[i]->result.log.hex;
		if (log[0] && ws_map_add(&seen, log, a)) {
			ws_cas_read(store, log, &all, NULL);
		}
	}
	struct ws_digest digest;
	if (all.len > 0 && ws_cas_put(store, all.data, all.len, &digest, NULL)) {
		node->result.log = digest;
	}
}

bool
ws_record_whole(struct ws_cache *cache, struct ws_node *node, struct ws_err *err)
{
	const struct ws_node *last = node->parts.at[node->parts.len - 1];
	node->result.outputs = last->result.outputs;
	node->result.sizes = last->result.sizes;
	ws_record_logs(cache->store, node);
	for (size_t i = 0; i < node->parts.len; i++) {
		if (!node->parts.at[i]->result.kept) {
			return true;
		}
	}
	return ws_cache_add_whole(cache, node->action, &node->base, &node->parts, &node->result, err);
}

void
ws_record_cost(const struct ws_engine *e, const struct ws_node *node, bool killed)
{
	const struct ws_action *action = node->action;
	struct ws_ledger_run run = {
		.unit = action->unit,
		.stage = action->stage,
		.variant = action->variant,
		.wall_ms = node->result.wall_ms,
		.cpu_ms = node->result.cpu_ms,
		.rss_bytes = node->result.rss_bytes,
		.killed = killed,
	};
	struct ws_err err;
	if (!ws_ledger_add(e->ledger, &run, &err)) {
		ws_events_warn(e->events, "%s", err.text);
	}
}
