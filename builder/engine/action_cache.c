/* action_cache.c - lookup and recording. The texts in the store are action_key.c's. */
#include "engine/action_cache.h"

#include "engine/action_key.h"
#include "engine/graph.h"
#include "engine/reads_manifest.h"
#include "store/cas.h"
#include "store/results.h"
#include "store/shared_entries.h"

/* The result under a full key, if all outputs are in the store. */
static bool
find_result(struct ws_cache *cache, const struct ws_action *action, const struct ws_digest *base,
	const char *manifest, struct ws_arena *a, struct ws_result *result)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_digest full = ws_key_full(base, manifest);
	*result = (struct ws_result){0};
	if (!ws_results_get(cache->store, full.hex, &text)
		|| !ws_cache_read_result(ws_buf_str(&text), action, a, result)) {
		return false;
	}
	for (size_t i = 0; i < action->output_count; i++) {
		if (!action->transient && !ws_cas_has(cache->store, result->outputs[i].hex)) {
			return false;
		}
	}
	result->kept = true;
	ws_digest_parse(manifest, &result->manifest);
	return true;
}

/* Checks the manifests under @a key; true with the first that is valid and has a result. */
static bool
find_under(struct ws_cache *cache, const struct ws_action *action, const struct ws_digest *base,
	const char *key, bool outside_only, struct ws_arena *a, struct ws_result *result,
	char manifest[65], const char **why)
{
	WS_AUTO_BUF struct ws_buf list = {0};
	struct ws_str rest = ws_cache_manifests_under(cache->store, key, &list);
	struct ws_digest digest;
	while (ws_cache_next_manifest(&rest, &digest)) {
		WS_AUTO_BUF struct ws_buf text = {0};
		if (!ws_manifest_get(cache->store, digest.hex, &text, NULL)) {
			continue;
		}
		const char *reason = NULL;
		if (ws_manifest_holds(ws_buf_str(&text), outside_only, action, &cache->names, a, &reason)) {
			if (find_result(cache, action, base, digest.hex, a, result)) {
				memcpy(manifest, digest.hex, 65);
				return true;
			}
			reason = "its result is missing in the store";
		}
		*why = *why ? *why : reason; /* of the newest manifest, the most similar run */
	}
	return false;
}

bool
ws_cache_base(struct ws_cache *cache, const struct ws_action *action, const char *const *made,
	struct ws_digest *base, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const char **seeds = WS_NEW_N(a, const char *, action->seed_count);
	for (size_t i = 0; i < action->seed_count; i++) {
		seeds[i] = ws_names_digest(&cache->names, action, action->seeds[i]);
		if (!seeds[i]) {
			return ws_err_set(err, WS_ERR_BUILD, "'%s' needs '%s', which does not exist",
				action->subject, action->seeds[i]);
		}
	}
	*base = ws_key_base(action, made, seeds);
	return true;
}

bool
ws_cache_find(struct ws_cache *cache, const struct ws_action *action, const struct ws_digest *base,
	struct ws_arena *a, struct ws_result *result, const char **why)
{
	static const char never[] = "no run of this command on these inputs is known";
	char manifest[65] = "";
	*why = NULL;
	if (!action->find_reads) {
		*why = never;
		return find_result(cache, action, base, "", a, result);
	}
	struct ws_digest trees = ws_key_trees(base, action);
	if (find_under(cache, action, base, trees.hex, true, a, result, manifest, why)) {
		return true;
	}
	*why = NULL;
	if (find_under(cache, action, base, base->hex, false, a, result, manifest, why)) {
		ws_cache_list_manifest(cache->store, trees.hex, manifest, NULL);
		return true;
	}
	*why = *why ? *why : never;
	return false;
}

/* Records the result under its full key, and its manifest under the other keys. */
static bool
record_result(struct ws_cache *cache, const struct ws_action *action, const struct ws_digest *base,
	const struct ws_buf *manifest, struct ws_result *result, struct ws_err *err)
{
	uint64_t manifest_bytes = 0;
	result->manifest = (struct ws_digest){""};
	if (manifest
		&& !ws_manifest_put(
			cache->store, ws_buf_str(manifest), &result->manifest, &manifest_bytes, err)) {
		return false;
	}
	WS_AUTO_BUF struct ws_buf text = {0};
	ws_cache_write_result(action, result, &text);
	struct ws_digest full = ws_key_full(base, result->manifest.hex);
	if (!ws_results_put(cache->store, full.hex, &text, err)) {
		return false;
	}
	result->kept = true;
	if (manifest
		&& !ws_cache_list(cache->store, action, base, manifest, result->manifest.hex, err)) {
		return false;
	}
	if (cache->shared && cache->shared->writes) {
		ws_sharing_put(cache, action, base, manifest, manifest_bytes, result, &text);
	}
	return true;
}

bool
ws_cache_add(struct ws_cache *cache, const struct ws_action *action, const struct ws_digest *base,
	const struct ws_reads *reads, struct ws_result *result, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf manifest = {0};
	return (!reads || ws_manifest_write(reads, action, &cache->names, &manifest, err))
		&& record_result(cache, action, base, reads ? &manifest : NULL, result, err);
}

bool
ws_cache_add_whole(struct ws_cache *cache, const struct ws_action *action,
	const struct ws_digest *base, const ws_node_list *parts, struct ws_result *result,
	struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf all = {0};
	WS_AUTO_BUF struct ws_buf manifest = {0};
	for (size_t i = 0; i < parts->len; i++) {
		const struct ws_digest *read = &parts->at[i]->result.manifest;
		if (read->hex[0] && !ws_manifest_get(cache->store, read->hex, &all, err)) {
			return false;
		}
	}
	ws_manifest_merge(ws_buf_str(&all), &manifest);
	return record_result(cache, action, base, action->find_reads ? &manifest : NULL, result, err);
}

bool
ws_cache_import(
	const struct ws_store *store, const char *key, const struct ws_buf *text, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf ours = {0};
	if (!ws_results_get(store, key, &ours)) {
		return ws_results_put(store, key, text, err);
	}
	/* Add their manifests in their order, then ours in front. */
	struct ws_str lists[] = {
		ws_cache_manifests(ws_buf_str(text)), ws_cache_manifests(ws_buf_str(&ours))};
	bool both = lists[0].s && lists[1].s;
	for (size_t i = 0; i < WS_LEN(lists) && both; i++) {
		WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
		WS_VEC(struct ws_digest) digests = {0};
		struct ws_digest digest;
		while (ws_cache_next_manifest(&lists[i], &digest)) {
			*ws_vec_push(&digests, a) = digest;
		}
		for (size_t k = digests.len; k-- > 0;) {
			if (!ws_cache_list_manifest(store, key, digests.at[k].hex, err)) {
				return false;
			}
		}
	}
	return true;
}
