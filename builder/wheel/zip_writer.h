/**
 * zip_writer.h - a zip whose bytes depend on its contents alone
 *
 * The door to libzip. Same names, bytes, modes and epoch give the same file, whoever packs it,
 * where, when and under which umask or time zone: fixed times, no extra fields, no data
 * descriptors, no entries for folders, deflate at level 6 (empty files are stored). One zlib is
 * assumed; others compress to other bytes.
 */
#ifndef WS_WHEEL_ZIP_WRITER_H
#define WS_WHEEL_ZIP_WRITER_H

#include "base/err.h"

#include <stdint.h>

/* ---- the files that go into a wheel, their names and their order ----
 * What is true of every list of files we pack: names that every reader takes for the same file, no
 * two of them one file, and one order for one content. */

/** One file. Its bytes come from a file on this host, from memory, or from an archive that is
 * packed again. */
struct ws_wheel_entry {
	const char *name;  /**< path in the wheel, '/' between parts */
	const char *file;  /**< path on this host; NULL: the bytes below */
	const void *bytes; /**< with file NULL */
	size_t len;        /**< of bytes */
	const char *again; /**< with neither: its name in that archive (ws_pack_again) */
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
 * knows no time before 1980, nor odd seconds. Files are streamed. @a path is replaced when it is
 * there; nothing is left behind on failure. Errors are WS_ERR_IO.
 */
bool ws_pack_write(const char *path, const struct ws_wheel_entry *entries, size_t count,
	int64_t epoch, struct ws_err *err);

/**
 * The same, where entries with neither a file nor bytes are those of the archive @a from, packed
 * bytes and mode (0644 where Unix did not write it) as they are there, under their new names. @a
 * from is one that archive/zip.h accepts.
 */
bool ws_pack_again(const char *path, const char *from, const struct ws_wheel_entry *entries,
	size_t count, int64_t epoch, struct ws_err *err);

#endif
