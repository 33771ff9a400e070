/**
 * admit.h - what a wheel file has to be like to be published, and what it says
 *
 * By the strict readers of archive/ and wheelfile/; none of its code runs. Where it loads is not
 * judged again: its wheelsmith.json says what was measured when it was made, a build.json beside it
 * for which cells a stranger's wheel was judged. Errors are WS_ERR_PUBLISH and name the wheel.
 */
#ifndef WS_PUBLISH_ADMIT_H
#define WS_PUBLISH_ADMIT_H

#include "base/arena.h"
#include "base/err.h"
#include "publish/catalog.h"

/** What one word stands for. */
struct ws_index_source {
	const char *folder;        /**< absolute: where a build.json may lie */
	const char *const *wheels; /**< absolute, sorted, at least one */
	size_t count;
};

/** A folder without wheels, and what is not there, are WS_ERR_PUBLISH. */
bool ws_index_source_find(
	const char *named, struct ws_arena *a, struct ws_index_source *source, struct ws_err *err);

/**
 * Adds the result in the file @a path to @a checks: the sha256 of its wheel to why it failed (one
 * line; "" when it passed). Of several for one wheel, one that failed decides. A file that is not
 * such a result is an error.
 */
bool ws_gpu_check_read(
	const char *path, struct ws_arena *a, struct ws_map *checks, struct ws_err *err);

/** Why the wheel is not to be published: no result, or a failed one. NULL: it passed. */
const char *ws_gpu_check_refusal(const struct ws_map *checks, const char *sha256);

/** What a build.json says of a wheel that lies beside it. */
struct ws_index_trusted {
	const char *sha256;          /**< of the wheel that it means */
	WS_VEC(const char *) labels; /**< of its cells: "cu.12.4.torch.2.5.sm.86" */
};

/**
 * Reads FOLDER/build.json into @a trusted, file name to struct ws_index_trusted. One that is not
 * there is fine; one that cannot be understood is an error.
 */
bool ws_index_trusted_read(
	const char *folder, struct ws_arena *a, struct ws_map *trusted, struct ws_err *err);

/** One wheel file on its way into an index. */
struct ws_index_arrival {
	const char *path; /**< the file, which does not change meanwhile */
	const char *file; /**< its name */
	const char *sha256;
	uint64_t size_bytes;
	const struct ws_index_trusted *trusted; /**< NULL: no build.json has this very file */
};

/**
 * Fills @a entry (without `uploaded` and `yanked`) and appends METADATA to @a metadata. A file that
 * is not a wheel is an error. What is wrong in one that can be read, a name or a RECORD that lies,
 * is @a wrong, one line; else that is NULL.
 */
bool ws_index_admit(const struct ws_index_arrival *wheel, struct ws_arena *a,
	struct ws_index_entry *entry, struct ws_buf *metadata, const char **wrong, struct ws_err *err);

#endif
