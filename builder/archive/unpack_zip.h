/**
 * unpack_zip.h - zipped sources, by the strict reader
 *
 * unpack.h's other half for .zip: libarchive believes local headers where they and the directory
 * disagree, takes sizes and CRCs that are not the contents', and reads entries that no directory
 * lists. Called by unpack.c only.
 */
#ifndef WS_ARCHIVE_UNPACK_ZIP_H
#define WS_ARCHIVE_UNPACK_ZIP_H

#include "archive/unpack.h"

/** As ws_unpack. */
bool ws_unpack_zip(const char *path, const char *name, const struct ws_member_limits *limits,
	struct ws_unpack_sink *sink, struct ws_err *err);

#endif
