/* record.c - outputs and log of a job enter the store, and what it read becomes a manifest. */
#include "engine/record.h"

#include "base/fs.h"
#include "base/map.h"
#include "store/cas.h"

#include <sys/stat.h>

/* First: an error about a file that is missing must name the tool that did not write it. */
static bool
check_outputs(const struct ws_node *node, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const struct ws_action *action = node->action;
	for (size_t i = 0; i < action->output_count; i++) {
		const char *path = ws_path_join(a, node->dir, action->outputs[i], NULL);
		struct stat status;
		if (lstat(path, &status) < 0 || !S_ISREG(status.st_mode)) {
			return ws_err_set(err, WS_ERR_BUILD, "'%s' failed: %s succeeded but wrote no '%s'",
				action->subject, action->tool.name, action->outputs[i]);
		}
	}
	return true;
}

static bool
store_outputs(
	const struct ws_work *work, struct ws_node *node, struct ws_arena *a, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *scratch = ws_arena_make();
	const struct ws_action *action = node->action;
	struct ws_result *result = &node->result;
	result->outputs = WS_NEW_N(a, struct ws_digest, action->output_count);
	result->sizes = WS_NEW_N(a, uint64_t, action->output_count);
	for (size_t i = 0; i < action->output_count; i++) {
		const char *path = ws_path_join(scratch, node->dir, action->outputs[i], NULL);
		struct ws_digest *digest = &result->outputs[i];
		if (!(action->transient ? ws_work_keep(work, path, digest, &result->sizes[i], err)
								: ws_cas_take(work->store, path, digest, &result->sizes[i], err))) {
			return false;
		}
	}
	return true;
}

void
ws_record_log(const struct ws_store *store, struct ws_node *node, const char *log)
{
	struct stat status;
	struct ws_digest digest;
	if (stat(log, &status) == 0 && status.st_size > 0
		&& ws_cas_take(store, log, &digest, NULL, NULL)) {
		node->result.log = digest;
	}
}

/* Why a result must not be used again; NULL where it may. */
static const char *
why_not_kept(const struct ws_action *action, const struct ws_reads *reads,
	const struct ws_since *since, struct ws_arena *a)
{
	if (reads->uncacheable) {
		return ws_arena_printf(
			a, "'%s' is built again every time: %s", action->subject, reads->uncacheable);
	}
	const char *touched = ws_changed_since(action, reads, since, a);
	return touched ? ws_arena_printf(a,
			   "'%s' is not kept: '%s', or a folder or link on the way there, changed while it was "
			   "made",
			   action->subject, touched)
				   : NULL;
}

bool
ws_record(const struct ws_engine *e, struct ws_cache *cache, struct ws_node *node,
	const struct ws_since *since, const char *log, struct ws_arena *a, struct ws_err *err)
{
	const struct ws_action *action = node->action;
	struct ws_reads reads = {0};
	WS_AUTO_ARENA struct ws_arena *scratch = ws_arena_make();
	if (!check_outputs(node, err)) {
		return false;
	}
	/* What was read is found in work files and the log, so it comes before those leave. */
	if (action->find_reads && !action->find_reads(action, node->dir, log, scratch, &reads, err)) {
		return false;
	}
	ws_record_log(cache->store, node, log);
	if (!store_outputs(e->work, node, a, err)) {
		return false;
	}
	const char *why = why_not_kept(action, &reads, since, scratch);
	if (why) {
		ws_events_warn(e->events, "%s", why);
		return true;
	}
	return ws_cache_add(
		cache, action, &node->base, action->find_reads ? &reads : NULL, &node->result, err);
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
