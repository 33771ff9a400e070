/**
 * tar.h - writing a tar archive
 *
 * The counterpart of unpack.h for our own archives: members in the order of the calls, plain
 * files and links, without times and owners, packed with zstd. Equal members give equal bytes
 * with the same libarchive and libzstd. Wheels are zips: wheel/zip_writer.h.
 */
#ifndef WS_ARCHIVE_TAR_H
#define WS_ARCHIVE_TAR_H

#include "base/arena.h"
#include "base/err.h"

struct ws_tar;

/** Writes to @a fd, which is borrowed; @a name is for messages. Drop it after use. NULL on
 * failure. */
struct ws_tar *ws_tar_begin(int fd, const char *name, struct ws_arena *a, struct ws_err *err);

bool ws_tar_add(
	struct ws_tar *tar, const char *name, const void *bytes, size_t len, struct ws_err *err);

/** The file at @a path; WS_ERR_IO where its SHA-256 is not @a sha256. */
bool ws_tar_add_file(struct ws_tar *tar, const char *name, const char *path, bool executable,
	const char *sha256, struct ws_err *err);

bool ws_tar_add_link(struct ws_tar *tar, const char *name, const char *target, struct ws_err *err);

/** Writes the end; false when anything was not written. */
bool ws_tar_finish(struct ws_tar *tar, struct ws_err *err);

/** Releases the archive, finished or not. NULL is allowed. */
void ws_tar_drop(struct ws_tar *tar);

#endif
