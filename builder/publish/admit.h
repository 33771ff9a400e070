/**
 * admit.h - reads and checks the wheels that are to be published
 *
 * Uses the strict readers of archive/ and wheelfile/; runs no code of a wheel. Does not judge where
 * a wheel loads: wheelsmith.json in the wheel has what was measured at build time, and a build.json
 * beside the wheel has the cells for which a wheel of others was judged. Errors are WS_ERR_PUBLISH
 * and name the wheel.
 */
#ifndef WS_PUBLISH_ADMIT_H
#define WS_PUBLISH_ADMIT_H

#include "publish/catalog.h"

/** The wheels of one argument: a folder or a file. */
struct ws_index_source {
	const char *folder;        /**< absolute: may contain a build.json */
	const char *const *wheels; /**< absolute, sorted, at least one */
	size_t count;
};

/** A missing file, or a folder without wheels, is WS_ERR_PUBLISH. */
bool ws_index_source_find(
	const char *named, struct ws_arena *a, struct ws_index_source *source, struct ws_err *err);

/**
 * Adds the result of a GPU check (schemas/kernels-check-1.json) in the file @a path to @a checks,
 * which maps the sha256 of a wheel to the reason of its failure ("" for a pass). A failure
 * outweighs other results of the same wheel. Any other file is an error.
 */
bool ws_gpu_check_read(
	const char *path, struct ws_arena *a, struct ws_map *checks, struct ws_err *err);

/** An entry of build.json: a wheel in the same folder. */
struct ws_index_trusted {
	const char *sha256;          /**< of the wheel */
	WS_VEC(const char *) labels; /**< labels of its cells */
};

/**
 * Reads FOLDER/build.json into @a trusted: file name to struct ws_index_trusted. A missing file is
 * not an error, a malformed one is.
 */
bool ws_index_trusted_read(
	const char *folder, struct ws_arena *a, struct ws_map *trusted, struct ws_err *err);

/**
 * Reads the wheel at @a path, which must not change meanwhile, and completes @a entry, which has
 * its file name, digest and size; `uploaded` and `yanked` stay empty. Appends METADATA to
 * @a metadata. @a trusted: what build.json has of this file; NULL: nothing. A file that is not a
 * wheel is an error. @a wrong gets the first contradiction of a readable wheel (name, RECORD), one
 * line; else NULL.
 */
bool ws_index_admit(const char *path, const struct ws_index_trusted *trusted, struct ws_arena *a,
	struct ws_index_entry *entry, struct ws_buf *metadata, const char **wrong, struct ws_err *err);

#endif
