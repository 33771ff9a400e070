/**
 * zip_writer.h - writing a zip whose bytes depend on its contents alone
 *
 * The door to libzip. Equal names, bytes, modes and epoch give equal files on every host, at any
 * time and under any umask or time zone: fixed times, no extra fields, no data descriptors, no
 * entries for folders, deflate at level 6 (empty files are stored). This holds for one version of
 * zlib; others compress to other bytes.
 */
#ifndef WS_WHEEL_ZIP_WRITER_H
#define WS_WHEEL_ZIP_WRITER_H

#include "base/err.h"

#include <stdint.h>

/* ---- names and their order ---- */

/** One file. Its bytes come from a file on this host, from memory, or packed from another
 * archive. */
struct ws_wheel_entry {
	const char *name;  /**< path in the wheel, '/' between parts */
	const char *file;  /**< path on this host; NULL: the bytes below */
	const void *bytes; /**< with file NULL */
	size_t len;        /**< of bytes */
	const char *again; /**< with neither: its name in the other archive */
	bool executable;   /**< mode 0755, else 0644 */
};

/**
 * Sorts by the bytes of the names, everything below @a dist_info last. Refuses (WS_ERR_CONFIG)
 * names that leave the wheel or hold anything but printable ASCII without spaces, and names that
 * differ by letter case only or of which one would be the other's folder.
 */
bool ws_wheel_entries_order(
	struct ws_wheel_entry *entries, size_t count, const char *dist_info, struct ws_err *err);

/**
 * Packs the entries in the order given. @a epoch is SOURCE_DATE_EPOCH, seconds since 1970; zip
 * has no time before 1980 and no odd seconds. Files are streamed. @a path is replaced; a failure
 * removes it. Errors are WS_ERR_IO.
 *
 * Entries with neither a file nor bytes are those of the archive @a from, which archive/zip.h
 * accepts, packed bytes and mode (0644 where Unix did not write it) as they are there, under their
 * new names. NULL: there are none.
 */
bool ws_pack_write(const char *path, const char *from, const struct ws_wheel_entry *entries,
	size_t count, int64_t epoch, struct ws_err *err);

#endif
