/**
 * unpack.h - reading tar archives, Debian packages and zipped sources
 *
 * Streams members to a sink in the order of the archive; the sink decides where they go. The
 * rules of members.h hold for every member, those about links for extracted members. Zips go
 * through zip.h: libarchive trusts local headers that differ from the directory, wrong sizes and
 * CRCs, and entries without a directory record. Wheels are not read here: their members can be
 * read without the whole.
 */
#ifndef WS_ARCHIVE_UNPACK_H
#define WS_ARCHIVE_UNPACK_H

#include "archive/members.h"

enum ws_unpack_format {
	WS_UNPACK_TAR, /**< plain, gzip, bzip2, xz, lzma or zstd */
	WS_UNPACK_DEB, /**< the data.tar inside, deb(5) */
	WS_UNPACK_ZIP,
};

/** By the end of a file name: ".tar.gz", ".tgz", ".deb", ".zip", ...; false for any other. */
bool ws_unpack_format_of(const char *file, enum ws_unpack_format *format);

/** Takes the members. The first member of the caller's own struct. */
struct ws_unpack_sink {
	/** Whether to extract it; NULL: all. A hard link is extracted only with its original. */
	bool (*wants)(struct ws_unpack_sink *self, const struct ws_member *member);
	/** Files get `bytes` and `end` afterwards; links, hard links and folders only this. */
	bool (*begin)(struct ws_unpack_sink *self, const struct ws_member *member, struct ws_err *err);
	bool (*bytes)(struct ws_unpack_sink *self, const void *bytes, size_t len, struct ws_err *err);
	bool (*end)(struct ws_unpack_sink *self, struct ws_err *err);
};

/** Reads the archive at @a path, named @a name in messages. @a limits may be NULL. */
bool ws_unpack(const char *path, const char *name, enum ws_unpack_format format,
	const struct ws_member_limits *limits, struct ws_unpack_sink *sink, struct ws_err *err);

#endif
