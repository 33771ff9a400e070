/**
 * lists.h - index.json and manifest.json of a snapshot: whether they agree, and what to do where
 * they do not hold
 *
 * All of an index is made from these two, so a damaged one is never written over. Reading them is
 * catalog.h's and manifest.h's.
 */
#ifndef WS_PUBLISH_FOLDER_LISTS_H
#define WS_PUBLISH_FOLDER_LISTS_H

#include "publish/manifest.h"

/** ws_index_manifest_read, with ws_index_lists_cure for one that is damaged. */
bool ws_index_lists_read(const struct ws_index_target *t, const struct ws_sign_key *key,
	struct ws_index_manifest *manifest, bool *is_signed, struct ws_err *err);

/** The visible index.json is the one that @a manifest lists. WS_ERR_PUBLISH. */
bool ws_index_lists_agree(
	const struct ws_index_target *t, const struct ws_index_manifest *manifest, struct ws_err *err);

/** For who found that those of the visible snapshot do not hold: adds which one to roll
 * back to, or what else helps; nothing where a cure was given already. Returns false. */
bool ws_index_lists_cure(const struct ws_index_target *t, struct ws_err *err);

#endif
