/**
 * sharing.h - results to and from other hosts
 *
 * What the store knows of an action (action_cache.h: its result, the manifests of its command) is
 * brought from a shared place into the store, where the lookup then finds it as if it had been made
 * here; and told there when it was made. Many actions are asked for at once, so that a slow line
 * costs a few round trips a step of the graph.
 */
#ifndef WS_ENGINE_SHARING_H
#define WS_ENGINE_SHARING_H

#include "base/text.h"
#include "engine/graph.h"

/** For nodes that the store has no result for, whose base keys are known. cache->shared is not
 * NULL. */
void ws_sharing_get(struct ws_cache *cache, const ws_node_list *nodes);

/** What action_cache.c recorded: @a text under the full key, of a run with this manifest (NULL:
 * without one), which takes @a manifest_bytes in the store. */
void ws_sharing_put(const struct ws_cache *cache, const struct ws_action *action,
	const struct ws_digest *base, const struct ws_buf *manifest, uint64_t manifest_bytes,
	const struct ws_result *result, const struct ws_buf *text);

#endif
