/**
 * fs.h - files, folders and paths
 *
 * Paths are C strings. A file that another process may read appears atomically: written under a
 * hidden name beside its own, synced, renamed. Failures are WS_ERR_IO with the path in quotes.
 */
#ifndef WS_BASE_FS_H
#define WS_BASE_FS_H

#include "base/err.h"
#include "base/text.h"

#include <sys/stat.h>

/** Joins with single slashes; the last argument must be NULL. An absolute part restarts. */
char *ws_path_join(struct ws_arena *a, ...) __attribute__((sentinel));

/** The part after the last slash. Borrowed from @a path. */
const char *ws_path_base(const char *path);

/** The part before the last slash; "." when there is none, "/" at the root. */
char *ws_path_dir(struct ws_arena *a, const char *path);

/**
 * Without "." and "..", by text alone: "a/b/../c" becomes "a/c". "" becomes ".".
 * Dependency files name "cuda/bin/../include/x.h"; nothing in a kit is a linked folder there.
 */
char *ws_path_normal(struct ws_arena *a, const char *path);

/** Relative, not empty, no "..", no "." parts, no control characters: safe below a folder. */
bool ws_path_is_inside(const char *path);

/** A link at @a path, which is inside, to @a target stays inside: relative, ".." only in front. */
bool ws_path_link_is_inside(const char *path, const char *target);

bool ws_fs_exists(const char *path);
bool ws_fs_is_dir(const char *path);
bool ws_fs_is_link(const char *path);

/** Makes the folder and those above it, mode 0777 less umask. */
bool ws_fs_mkdirs(const char *path, struct ws_err *err);

/**
 * Opens a regular file for reading, without waiting for the writer of a pipe. @a flags are added
 * to O_RDONLY | O_CLOEXEC; @a status may be NULL. -1 on failure.
 */
int ws_fs_open_regular(const char *path, int flags, struct stat *status, struct ws_err *err);

/** Appends the file's contents to @a b. */
bool ws_fs_read(const char *path, struct ws_buf *b, struct ws_err *err);

/** As ws_fs_read, but refuses files over @a limit bytes. */
bool ws_fs_read_at_most(const char *path, size_t limit, struct ws_buf *b, struct ws_err *err);

/** Appends the last @a most bytes, or the whole file. Adds nothing when the file cannot be read. */
void ws_fs_read_end(const char *path, size_t most, struct ws_buf *b);

/** As ws_fs_read_at_most, for a file that a person names and that may be a pipe: blocked signals
 * end the program here. */
bool ws_fs_read_stream(const char *path, size_t limit, struct ws_buf *b, struct ws_err *err);

/** Writes all bytes at the current position of @a fd; false with errno set. */
bool ws_fs_write_all(int fd, const void *bytes, size_t len);

/** Creates or truncates a file that no other process reads yet: not atomic, not synced. */
bool ws_fs_write(const char *path, const void *bytes, size_t len, mode_t mode, struct ws_err *err);

/** Writes `path` in one step: hidden file beside it, fsync, rename. A device, pipe or folder is not
 * replaced. */
bool ws_fs_write_atomic(
	const char *path, const void *bytes, size_t len, mode_t mode, struct ws_err *err);

/**
 * Copies in one step, over an existing file. With @a sha256 (may be NULL) the bytes are hashed on
 * the way; other bytes are WS_ERR_IO, and the file does not appear.
 */
bool ws_fs_copy_atomic(
	const char *from, const char *to, mode_t mode, const char *sha256, struct ws_err *err);

/**
 * Opens a hidden file beside @a path, named @a part, to be written piece by piece; -1 on failure,
 * or where @a path is not a regular file. To cancel, unlink @a part.
 */
int ws_fs_part_open(const char *path, char **part, struct ws_arena *a, struct ws_err *err);

/** With @a written true, renames the hidden file to @a path. With false, or on failure, removes
 * it. */
bool ws_fs_part_land(
	int fd, const char *part, const char *path, mode_t mode, bool written, struct ws_err *err);

/** Removes hidden files that dead processes left in @a folder. */
void ws_fs_remove_parts(const char *folder);

/** Copies the contents (reflink where the file system can); @a to must not exist. */
bool ws_fs_copy(const char *from, const char *to, mode_t mode, struct ws_err *err);

/** Hard link, else a copy with the mode of @a from. @a to must not exist. */
bool ws_fs_link(const char *from, const char *to, struct ws_err *err);

/** Removes a file or a whole folder; an absent one is success. Does not follow links. */
bool ws_fs_remove(const char *path, struct ws_err *err);

/** Free bytes for an unprivileged user on the file system of @a path. */
bool ws_fs_free_bytes(const char *path, uint64_t *bytes);

/** A new folder "<prefix>XXXXXX" in @a dir, mode 0700. NULL on failure. */
char *ws_fs_temp_dir(const char *dir, const char *prefix, struct ws_arena *a, struct ws_err *err);

/** Flushes the entries of a folder, after a rename into it. */
bool ws_fs_sync_dir(const char *path, struct ws_err *err);

/** One file or folder of a walk. */
struct ws_fs_entry {
	const char *name;   /**< relative to the root of the walk, '/' between parts */
	const char *path;   /**< root and name */
	struct stat status; /**< lstat: links are not followed */
};

/**
 * Visits everything below @a root in byte order of names, folders before their contents; stops
 * with false when @a visit returns false (having set err).
 */
typedef bool (*ws_fs_visit)(void *self, const struct ws_fs_entry *entry, struct ws_err *err);
bool ws_fs_walk(const char *root, ws_fs_visit visit, void *self, struct ws_err *err);

#endif
