/**
 * pack.h - a zip whose bytes depend on its contents alone
 *
 * The door to libzip. Same names, bytes, modes and epoch give the same file, whoever packs it,
 * where, when and under which umask or time zone: fixed times, no extra fields, no data
 * descriptors, no entries for folders, deflate at level 6 (empty files are stored). One zlib is
 * assumed; others compress to other bytes.
 */
#ifndef WS_WHEEL_PACK_H
#define WS_WHEEL_PACK_H

#include "wheel/entry.h"

#include <stdint.h>

/**
 * Packs the entries in the order given. @a epoch is SOURCE_DATE_EPOCH, seconds since 1970; zip knows
 * no time before 1980, nor odd seconds. Files are streamed. @a path is replaced when it is there;
 * nothing is left behind on failure. Errors are WS_ERR_IO.
 */
bool ws_pack_write(const char *path, const struct ws_wheel_entry *entries, size_t count,
	int64_t epoch, struct ws_err *err);

/**
 * The same, where entries with neither a file nor bytes are those of the archive @a from, packed bytes
 * and mode (0644 where Unix did not write it) as they are there, under their new names. @a from is one
 * that archive/zip.h accepts.
 */
bool ws_pack_again(const char *path, const char *from, const struct ws_wheel_entry *entries,
	size_t count, int64_t epoch, struct ws_err *err);

#endif
