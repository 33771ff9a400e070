/**
 * action_key.h - equal keys mean equal outputs
 *
 * Three keys of one action. The base key is over everything that is known before it runs. For an
 * action that reports its reads that is not enough: the full key adds the manifest of what it read.
 * The tree key adds the digests of all trees it may read from instead: exact and instant where
 * nothing else was read, and a short cut to the right manifest elsewhere.
 *
 * A key is SHA-256 over "wheelsmith.action/1" and length-prefixed fields; tests/unit pins ten.
 */
#ifndef WS_ENGINE_ACTION_KEY_H
#define WS_ENGINE_ACTION_KEY_H

#include "base/text.h"
#include "engine/action.h"
#include "engine/action_cache.h"

/**
 * Tool, argv, environment, mount names, inputs with their digests (those of other actions' outputs
 * in @a made, one for each input), outputs, seeds with theirs (@a seeds, one for each). Of an
 * action that reports no reads, which may read anything there, also the digests of the mounted
 * trees.
 */
struct ws_digest ws_key_base(
	const struct ws_action *action, const char *const *made, const char *const *seeds);

/** The base key and a manifest's digest; @a manifest is "" for an action that reports no reads. */
struct ws_digest ws_key_full(const struct ws_digest *base, const char *manifest);

/** The base key and the digest of every mounted tree. */
struct ws_digest ws_key_trees(const struct ws_digest *base, const struct ws_action *action);

/* ---- the texts that the store keeps under keys ---- */

void ws_cache_write_result(
	const struct ws_action *action, const struct ws_result *result, struct ws_buf *text);

/** False for a text that is damaged, or of an action with other outputs. */
bool ws_cache_read_result(const struct ws_str whole, const struct ws_action *action,
	struct ws_arena *a, struct ws_result *result);

/** What follows the header of a list of manifests; empty when @a text is not one. */
struct ws_str ws_cache_manifests(struct ws_str text);

/** Takes the next well-formed digest off @a rest; false: there is none. */
bool ws_cache_next_manifest(struct ws_str *rest, struct ws_digest *digest);

/** A list of @a manifest, then those of @a rest; the oldest falls off. */
void ws_cache_write_manifests(const char *manifest, struct ws_str rest, struct ws_buf *list);

/** As ws_cache_manifests of the store's text under @a key, which is read into @a text. */
struct ws_str ws_cache_manifests_under(
	const struct ws_store *store, const char *key, struct ws_buf *text);

/** Puts @a manifest first in the store's list under @a key. */
bool ws_cache_list_manifest(
	const struct ws_store *store, const char *key, const char *manifest, struct ws_err *err);

/** Puts a manifest, whose digest is @a digest, first in the lists of an action's keys. */
bool ws_cache_list(const struct ws_store *store, const struct ws_action *action,
	const struct ws_digest *base, const struct ws_buf *manifest, const char *digest,
	struct ws_err *err);

#endif
