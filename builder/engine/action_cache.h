/**
 * action_cache.h - has this action been done before?
 *
 * Looks an action up by its keys and records it afterwards. A hit yields digests of outputs and
 * touches no output file.
 *
 *   ac/<tree key>  manifests that held under exactly these trees: only outside files are checked
 *   ac/<base key>  all manifests of this command, newest first
 *   ac/<full key>  the result: digests of outputs and log, and what it cost
 */
#ifndef WS_ENGINE_ACTION_CACHE_H
#define WS_ENGINE_ACTION_CACHE_H

#include "base/text.h"
#include "engine/names.h"

/** What an action gave. */
struct ws_result {
	struct ws_digest *outputs; /**< one for each output, in order */
	uint64_t *sizes;           /**< bytes of each */
	struct ws_digest log;      /**< stdout and stderr; "" when there was none */
	uint64_t wall_ms, cpu_ms, rss_bytes;
	int exit_code; /**< of a command that ended by itself; 0 where a signal ended it */
	bool kept;     /**< the store has it: the next run finds it */
	struct ws_digest
		manifest; /**< of what it read, where it was kept and the action reports reads */
};

struct ws_events;
struct ws_shared;

struct ws_cache {
	const struct ws_store *store;
	struct ws_shared *shared; /**< NULL: nobody is told what is recorded, nor asked (sharing.h) */
	struct ws_names names;
	const struct ws_events *events; /**< is warned of hosts that do not answer; may be NULL */
};

/**
 * The base key; needs every output digest this action takes from others (@a made, see
 * action_key.h). A seed that does not exist is WS_ERR_BUILD.
 */
bool ws_cache_base(struct ws_cache *cache, const struct ws_action *action, const char *const *made,
	struct ws_digest *base, struct ws_err *err);

/**
 * True when the store has the result, with every output that is not transient. Else @a why says in
 * one line, in @a a, what is new or changed.
 */
bool ws_cache_find(struct ws_cache *cache, const struct ws_action *action,
	const struct ws_digest *base, struct ws_arena *a, struct ws_result *result, const char **why);

/** Records a result whose outputs are in the cas. @a reads is NULL for an action without one. */
bool ws_cache_add(struct ws_cache *cache, const struct ws_action *action,
	const struct ws_digest *base, const struct ws_reads *reads, struct ws_result *result,
	struct ws_err *err);

/** Records the result of an action that @a parts made, all of them kept: it read what they read. */
bool ws_cache_add_whole(struct ws_cache *cache, const struct ws_action *action,
	const struct ws_digest *base, const ws_node_list *parts, struct ws_result *result,
	struct ws_err *err);

/**
 * Takes a text of another store's under @a key; one that is here stays, and gets the manifests that
 * the other has besides. What it names has come before.
 */
bool ws_cache_import(
	const struct ws_store *store, const char *key, const struct ws_buf *text, struct ws_err *err);

#endif
