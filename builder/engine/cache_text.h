/**
 * cache_text.h - the texts that the store keeps by key: results, and lists of manifests
 *
 * Their form is known here alone; which keys they lie under is action_cache.h's.
 */
#ifndef WS_ENGINE_CACHE_TEXT_H
#define WS_ENGINE_CACHE_TEXT_H

#include "base/buf.h"
#include "engine/action_cache.h"

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
