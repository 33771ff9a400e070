/* zip_end.c - the end of central directory record, and its zip64 form [4.3.14 to 4.3.16]. What
 * lies before them is zip.c's. */
#include "archive/zip_format.h"

#include <string.h>

/* Offset in the tail of the end record that closes the archive; the tail's length when none does. */
static size_t
find_end(struct ws_str tail, bool *trailing)
{
	const unsigned char *bytes = (const unsigned char *)tail.s;
	size_t most = ZIP_END_BYTES + ZIP_COMMENT_MOST;
	most = most < tail.n ? most : tail.n;
	*trailing = false;
	for (size_t back = ZIP_END_BYTES; back <= most; back++) {
		const unsigned char *at = bytes + tail.n - back;
		if (ws_zip_u32(at) != ZIP_END_MAGIC) {
			continue;
		}
		if (ws_zip_u16(at + 20) == back - ZIP_END_BYTES) {
			return tail.n - back;
		}
		*trailing = true;
	}
	return tail.n;
}

static bool
is_or_stands_for(uint64_t narrow, uint64_t sentinel, uint64_t wide)
{
	return narrow == sentinel || narrow == wide;
}

/*
 * Writers add these records when a value does not fit, and some (CPython) from 2 GiB on, when it
 * still does; so each narrow field has to be the sentinel or tell the same.
 */
static bool
read_zip64_end(struct ws_zip *zip, struct ws_str tail, size_t locator_at, struct ws_zip_end *end,
	struct ws_err *err)
{
	if (locator_at < ZIP64_END_BYTES) {
		return ws_zip_break(zip, WS_ZIP_ZIP64, NULL, err, "no room for its end record");
	}
	const unsigned char *locator = (const unsigned char *)tail.s + locator_at;
	const unsigned char *record = locator - ZIP64_END_BYTES;
	uint64_t tail_offset = zip->source->size - tail.n;
	uint64_t offset = tail_offset + locator_at - ZIP64_END_BYTES;
	if (ws_zip_u64(locator + 8) != offset || ws_zip_u32(record) != ZIP64_END_MAGIC) {
		return ws_zip_break(
			zip, WS_ZIP_ZIP64, NULL, err, "its end record is not right before its locator");
	}
	if (ws_zip_u32(locator + 4) != 0 || ws_zip_u32(locator + 16) > 1 || ws_zip_u32(record + 16) != 0
		|| ws_zip_u32(record + 20) != 0) {
		return ws_zip_break(zip, WS_ZIP_ONE_DISK, NULL, err, "its zip64 records name several");
	}
	/* 44 is the record without "extensible data", where a second archive can hide [4.3.14.1]. */
	if (ws_zip_u64(record + 4) != ZIP64_END_BYTES - 12) {
		return ws_zip_break(zip, WS_ZIP_ZIP64, NULL, err, "its end record carries extra data");
	}
	uint64_t count = ws_zip_u64(record + 32);
	uint64_t bytes = ws_zip_u64(record + 40);
	uint64_t start = ws_zip_u64(record + 48);
	if (ws_zip_u64(record + 24) != count) {
		return ws_zip_break(zip, WS_ZIP_ONE_DISK, NULL, err, "its counts differ by disk");
	}
	if (!is_or_stands_for(end->count, ZIP_SENTINEL16, count)
		|| !is_or_stands_for(end->directory_bytes, ZIP_SENTINEL32, bytes)
		|| !is_or_stands_for(end->directory_offset, ZIP_SENTINEL32, start)) {
		return ws_zip_break(zip, WS_ZIP_ZIP64, NULL, err, "the two end records differ");
	}
	*end = (struct ws_zip_end){offset, count, start, bytes};
	return true;
}

static bool
check_place(struct ws_zip *zip, const struct ws_zip_end *end, struct ws_err *err)
{
	if (end->directory_bytes > end->offset
		|| end->directory_offset != end->offset - end->directory_bytes) {
		return ws_zip_break(zip, WS_ZIP_DIRECTORY, NULL, err,
			"%ju bytes at %ju do not end at %ju, where the end record begins",
			(uintmax_t)end->directory_bytes, (uintmax_t)end->directory_offset,
			(uintmax_t)end->offset);
	}
	if (end->directory_bytes > zip->limits.directory_bytes) {
		return ws_zip_break(zip, WS_ZIP_LIMIT, NULL, err, "a directory of %ju bytes",
			(uintmax_t)end->directory_bytes);
	}
	if (end->count > zip->limits.entries) {
		return ws_zip_break(zip, WS_ZIP_LIMIT, NULL, err, "%ju entries", (uintmax_t)end->count);
	}
	if (end->count > end->directory_bytes / ZIP_CENTRAL_BYTES) {
		return ws_zip_break(zip, WS_ZIP_COUNT, NULL, err, "%ju entries do not fit in %ju bytes",
			(uintmax_t)end->count, (uintmax_t)end->directory_bytes);
	}
	return true;
}

bool
ws_zip_read_end(struct ws_zip *zip, struct ws_str tail, struct ws_zip_end *end, struct ws_err *err)
{
	bool trailing;
	size_t at = find_end(tail, &trailing);
	if (at == tail.n && trailing) {
		return ws_zip_break(
			zip, WS_ZIP_TRAILING_DATA, NULL, err, "its end record does not end with the file");
	}
	if (at == tail.n) {
		return ws_zip_break(
			zip, WS_ZIP_END_RECORD, NULL, err, "it has none; is this a zip archive?");
	}
	const unsigned char *record = (const unsigned char *)tail.s + at;
	if (ws_zip_u16(record + 20) != 0) {
		return ws_zip_break(zip, WS_ZIP_COMMENT, NULL, err, "the archive has one of %u bytes",
			ws_zip_u16(record + 20));
	}
	if (ws_zip_u16(record + 4) != 0 || ws_zip_u16(record + 6) != 0
		|| ws_zip_u16(record + 8) != ws_zip_u16(record + 10)) {
		return ws_zip_break(zip, WS_ZIP_ONE_DISK, NULL, err, "its end record names several");
	}
	*end = (struct ws_zip_end){
		.offset = zip->source->size - tail.n + at,
		.count = ws_zip_u16(record + 10),
		.directory_bytes = ws_zip_u32(record + 12),
		.directory_offset = ws_zip_u32(record + 16),
	};
	bool wide = at >= ZIP64_LOCATOR_BYTES
		&& ws_zip_u32(record - ZIP64_LOCATOR_BYTES) == ZIP64_LOCATOR_MAGIC;
	if (wide && !read_zip64_end(zip, tail, at - ZIP64_LOCATOR_BYTES, end, err)) {
		return false;
	}
	return check_place(zip, end, err);
}
