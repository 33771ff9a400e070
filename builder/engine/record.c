/* record.c - what a job read becomes a manifest, and what it gave a result under its keys. */
#include "engine/record.h"

#include "base/map.h"
#include "store/cas.h"

/* Why a result must not be used again; NULL where it may. */
static const char *
why_not_kept(const struct ws_action *action, const struct ws_done *done, struct ws_arena *a)
{
	if (done->reads.uncacheable) {
		return ws_arena_printf(
			a, "'%s' is built again every time: %s", action->subject, done->reads.uncacheable);
	}
	return done->changed ? ws_arena_printf(a,
			   "'%s' is not kept: '%s', or a folder or link on the way there, changed while it was "
			   "made",
			   action->subject, done->changed)
						 : NULL;
}

bool
ws_record(const struct ws_engine *e, struct ws_cache *cache, struct ws_node *node,
	const struct ws_done *done, struct ws_arena *a, struct ws_err *err)
{
	const struct ws_action *action = node->action;
	WS_AUTO_ARENA struct ws_arena *scratch = ws_arena_make();
	size_t count = action->output_count;
	node->result.outputs = WS_NEW_N(a, struct ws_digest, count);
	node->result.sizes = WS_NEW_N(a, uint64_t, count);
	for (size_t i = 0; i < count; i++) {
		node->result.outputs[i] = done->outputs[i];
		node->result.sizes[i] = done->sizes[i];
	}
	if (action->fresh) {
		return true;
	}
	const char *why = why_not_kept(action, done, scratch);
	if (why) {
		ws_events_warn(e->events, "%s", why);
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
