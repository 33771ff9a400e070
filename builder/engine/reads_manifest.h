/**
 * reads_manifest.h - the dependencies that a command turned out to have
 *
 * Made from the reads of an action that succeeded: each file with its digest, names that must be
 * absent, names that must exist, folders that must not become links. While all of this holds, a
 * later action with the same base key has the same result. Sorted lines: "f <sha256> <name>", "a
 * <name>", "p <name>", "d <name>". "o <name>": this file may have dependencies that could not be
 * listed, so the manifest is valid only under the same trees. The cas stores the lines, or a
 * zstd frame of them if that saves a disk block: manifests with torch's headers have 0.4 to 1.2
 * MB, a sixth of it packed.
 */
#ifndef WS_ENGINE_READS_MANIFEST_H
#define WS_ENGINE_READS_MANIFEST_H

#include "engine/names.h"

/** Writes the manifest of @a reads. A missing file is WS_ERR_BUILD. */
bool ws_manifest_write(const struct ws_reads *reads, const struct ws_action *action,
	struct ws_names *names, struct ws_buf *text, struct ws_err *err);

/** Stores the manifest @a text; @a size is its size in the cas. */
bool ws_manifest_put(const struct ws_store *store, struct ws_str text, struct ws_digest *digest,
	uint64_t *size, struct ws_err *err);

/** Appends the lines of a stored manifest to @a text. */
bool ws_manifest_get(
	const struct ws_store *store, const char *digest, struct ws_buf *text, struct ws_err *err);

/** True if it has a line of kind "o". */
bool ws_manifest_is_opaque(struct ws_str text);

/** Merges the lines of several manifests, each line once. */
void ws_manifest_merge(struct ws_str all, struct ws_buf *text);

/**
 * True if all lines of @a text still hold. With @a outside_only, files in trees are not checked:
 * the caller knows that the trees are the same. @a why (may be NULL) gets one line about the
 * first difference, in @a a. If only names that no worker reported are open, the result is
 * false, and these names are requested (worker_files.h).
 */
bool ws_manifest_holds(struct ws_str text, bool outside_only, const struct ws_action *action,
	struct ws_names *names, struct ws_arena *a, const char **why);

#endif
