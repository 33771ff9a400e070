/**
 * reads_manifest.h - what an action read, and what it did not find
 *
 * Made from the reads after the action succeeded: each file with its digest, the names that must
 * not exist, the names that must, the folders that must not be links. It is true for a later action
 * with the same base key when all of that still holds; then the result is the same. It is sorted
 * lines: "f <sha256> <name>", "a <name>", "p <name>", "d <name>"; "o <name>" says that this file
 * may have asked for more than could be listed, so that the manifest counts only where the trees
 * are the same. The cas has the lines, or a zstd frame of them where that takes fewer blocks:
 * those of torch's headers are 0.4 to 1.2 MB, and about a sixth of it packed.
 */
#ifndef WS_ENGINE_READS_MANIFEST_H
#define WS_ENGINE_READS_MANIFEST_H

#include "base/text.h"
#include "engine/action.h"
#include "engine/names.h"

/** Writes the manifest of @a reads. A file that has gone meanwhile is WS_ERR_BUILD. */
bool ws_manifest_write(const struct ws_reads *reads, const struct ws_action *action,
	struct ws_names *names, struct ws_buf *text, struct ws_err *err);

/** Puts the manifest @a text into the cas; @a size is what it takes there. */
bool ws_manifest_put(const struct ws_store *store, struct ws_str text, struct ws_digest *digest,
	uint64_t *size, struct ws_err *err);

/** Appends the lines of a manifest that the cas has, packed or not, to @a text. */
bool ws_manifest_get(
	const struct ws_store *store, const char *digest, struct ws_buf *text, struct ws_err *err);

/** Whether it has a line of kind "o". */
bool ws_manifest_is_opaque(struct ws_str text);

/** The lines of several manifests, each once, as one. */
void ws_manifest_merge(struct ws_str all, struct ws_buf *text);

/**
 * True when everything @a text says still holds. With @a outside_only the files in trees are taken
 * for granted: the caller knows that the trees are the same. @a why (may be NULL) gets one line on
 * the first difference, in @a a. What only names decide that nobody told of (worker_files.h) does
 * not hold; they are wanted then.
 */
bool ws_manifest_holds(struct ws_str text, bool outside_only, const struct ws_action *action,
	struct ws_names *names, struct ws_arena *a, const char **why);

#endif
