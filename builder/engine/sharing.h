/**
 * sharing.h - exchanges results with other hosts
 *
 * Before a build: brings manifests and results of an action from a shared place into the store,
 * where the normal lookup finds them. After it: sends new ones. Requests of many actions are
 * joined, so that a slow connection costs a few round trips per step of the graph.
 */
#ifndef WS_ENGINE_SHARING_H
#define WS_ENGINE_SHARING_H

#include "base/text.h"
#include "engine/graph.h"

/** Fetches results of nodes that were missed, whose base keys are known. cache->shared is not
 * NULL. */
void ws_sharing_get(struct ws_cache *cache, const ws_node_list *nodes);

/** Sends a recorded result: @a text under the full key, with its manifest (NULL: none), which has
 * @a manifest_bytes in the store. */
void ws_sharing_put(const struct ws_cache *cache, const struct ws_action *action,
	const struct ws_digest *base, const struct ws_buf *manifest, uint64_t manifest_bytes,
	const struct ws_result *result, const struct ws_buf *text);

#endif
