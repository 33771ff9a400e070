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

#include "engine/action.h"

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

#endif
