/**
 * action_key.h - the three keys of an action, and the texts that the store keeps under them
 *
 * Equal keys mean equal outputs. The base key covers everything that is known before the run.
 * For an action that reports its reads, the full key adds the digest of the manifest of these
 * reads. The tree key adds the digests of all mounted trees instead: exact and fast while no
 * other file was read, and else a short cut to the right manifest.
 *
 * A key is SHA-256 over "wheelsmith.action/1" and length-prefixed fields; a unit test pins ten
 * of them.
 */
#ifndef WS_ENGINE_ACTION_KEY_H
#define WS_ENGINE_ACTION_KEY_H

#include "engine/action_cache.h"

/**
 * Covers tool, argv, environment, mount names, inputs with digests (@a made: one for each input,
 * for those of other actions), outputs, seeds with digests (@a seeds). An action that reports no
 * reads may read anything in its mounts: then also the digests of the mounted trees.
 */
struct ws_digest ws_key_base(
	const struct ws_action *action, const char *const *made, const char *const *seeds);

/** The base key and the digest of a manifest, "" for an action that reports no reads. */
struct ws_digest ws_key_full(const struct ws_digest *base, const char *manifest);

/** The base key and the digest of every mounted tree. */
struct ws_digest ws_key_trees(const struct ws_digest *base, const struct ws_action *action);

/* ---- the texts under keys: results, and lists of manifests ---- */

void ws_cache_write_result(
	const struct ws_action *action, const struct ws_result *result, struct ws_buf *text);

/** False for a damaged text, or for an action with other outputs. */
bool ws_cache_read_result(const struct ws_str whole, const struct ws_action *action,
	struct ws_arena *a, struct ws_result *result);

/** The text after the header of a list of manifests; empty if @a text is not such a list. */
struct ws_str ws_cache_manifests(struct ws_str text);

/** Cuts the next well-formed digest off @a rest; false: no more. */
bool ws_cache_next_manifest(struct ws_str *rest, struct ws_digest *digest);

/** A list of @a manifest, then those of @a rest, without the oldest if there are too many. */
void ws_cache_write_manifests(const char *manifest, struct ws_str rest, struct ws_buf *list);

/** The same of the store's text under @a key, which is read into @a text. */
struct ws_str ws_cache_manifests_under(
	const struct ws_store *store, const char *key, struct ws_buf *text);

/** Inserts @a manifest at the front of the store's list under @a key. */
bool ws_cache_list_manifest(
	const struct ws_store *store, const char *key, const char *manifest, struct ws_err *err);

/** Inserts a manifest with the digest @a digest at the front of the lists of an action's keys. */
bool ws_cache_list(const struct ws_store *store, const struct ws_action *action,
	const struct ws_digest *base, const struct ws_buf *manifest, const char *digest,
	struct ws_err *err);

#endif
