/**
 * action_cache.h - results of earlier runs, found by an action's keys
 *
 * Looks an action up before it runs and records its result afterwards. A hit returns digests of
 * outputs and reads no output file.
 *
 *   ac/<tree key>  manifests that were valid under exactly these trees: only outside files are checked
 *   ac/<base key>  all manifests of this command, newest first
 *   ac/<full key>  the result: digests of outputs and log, and the cost
 */
#ifndef WS_ENGINE_ACTION_CACHE_H
#define WS_ENGINE_ACTION_CACHE_H

#include "engine/names.h"

/** The result of an action. */
struct ws_result {
	struct ws_digest *outputs; /**< one for each output, in order */
	uint64_t *sizes;           /**< bytes of each */
	struct ws_digest log;      /**< stdout and stderr; "" if both were empty */
	uint64_t wall_ms, cpu_ms, rss_bytes;
	int exit_code; /**< exit status; 0 after a signal */
	bool kept;     /**< true if the store has it for later runs */
	struct ws_digest
		manifest; /**< of the manifest, if the result was recorded and the action reports reads */
};

struct ws_events;
struct ws_shared;

struct ws_cache {
	const struct ws_store *store;
	struct ws_shared *shared; /**< results of other hosts (action_cache.h); NULL: none */
	struct ws_names names;
	const struct ws_events *events; /**< for warnings; may be NULL */
};

/**
 * The base key. @a made: digest of each input that another action creates (action_key.h). A
 * missing seed is WS_ERR_BUILD.
 */
bool ws_cache_base(struct ws_cache *cache, const struct ws_action *action, const char *const *made,
	struct ws_digest *base, struct ws_err *err);

/**
 * True if the store has the result with all outputs that are not transient. Else @a why, in @a
 * a, is one line about what is new or changed.
 */
bool ws_cache_find(struct ws_cache *cache, const struct ws_action *action,
	const struct ws_digest *base, struct ws_arena *a, struct ws_result *result, const char **why);

/** Records a result whose outputs are in the cas. @a reads: NULL if the action reports none. */
bool ws_cache_add(struct ws_cache *cache, const struct ws_action *action,
	const struct ws_digest *base, const struct ws_reads *reads, struct ws_result *result,
	struct ws_err *err);

/** Records the result of an action that @a parts built, all recorded: the reads are theirs
 * together. */
bool ws_cache_add_whole(struct ws_cache *cache, const struct ws_action *action,
	const struct ws_digest *base, const ws_node_list *parts, struct ws_result *result,
	struct ws_err *err);

/**
 * Imports a text of a foreign store under @a key. An existing text stays and gets the additional
 * manifests. Import the files that the text names first.
 */
bool ws_cache_import(
	const struct ws_store *store, const char *key, const struct ws_buf *text, struct ws_err *err);

/* ---- results of other hosts ----
 * Before a build: brings manifests and results from a shared place into the store, where the normal
 * lookup finds them. After it: sends new ones. Requests of many actions are joined, so that a slow
 * connection costs a few round trips per step of the graph. */

/** Fetches results of nodes that were missed, whose base keys are known. cache->shared is not
 * NULL. */
void ws_sharing_get(struct ws_cache *cache, const ws_node_list *nodes);

/** Sends a recorded result: @a text under the full key, with its manifest (NULL: none), which has
 * @a manifest_bytes in the store. */
void ws_sharing_put(const struct ws_cache *cache, const struct ws_action *action,
	const struct ws_digest *base, const struct ws_buf *manifest, uint64_t manifest_bytes,
	const struct ws_result *result, const struct ws_buf *text);

#endif
