/* zip_extra.c - extra fields [4.5]: a list of (id, length, bytes). Two matter: the zip64 field,
 * which widens sizes and offset, and the Unicode path, which gives an entry a second name. */
#include "archive/zip_format.h"

#include <string.h>

/* The zip64 field holds exactly what its header lacks, in this order [4.5.3]. */
static bool
widen(struct ws_zip *zip, const char *entry, const unsigned char *at, size_t len,
	struct ws_zip_wide *wide, struct ws_err *err)
{
	size_t wanted = 8u * (size_t)(wide->wants_size + wide->wants_packed + wide->wants_offset);
	if (len != wanted || len == 0) {
		return ws_zip_break(zip, WS_ZIP_ZIP64, entry, err,
			"its zip64 field has %zu bytes, its header asks for %zu", len, wanted);
	}
	uint64_t *const fields[] = {&wide->size_bytes, &wide->packed_bytes, &wide->offset};
	bool *const wants[] = {&wide->wants_size, &wide->wants_packed, &wide->wants_offset};
	for (size_t i = 0; i < WS_LEN(fields); i++) {
		if (*wants[i]) {
			*fields[i] = ws_zip_u64(at);
			*wants[i] = false;
			at += 8;
		}
	}
	return true;
}

bool
ws_zip_read_extra(struct ws_zip *zip, const char *entry, struct ws_str extra,
	struct ws_zip_wide *wide, struct ws_err *err)
{
	const unsigned char *at = (const unsigned char *)extra.s;
	bool widened = false;
	for (size_t left = extra.n; left > 0;) {
		if (left < 4 || ws_zip_u16(at + 2) > left - 4) {
			return ws_zip_break(
				zip, WS_ZIP_EXTRA, entry, err, "a field is longer than the room it has");
		}
		unsigned id = ws_zip_u16(at);
		size_t len = ws_zip_u16(at + 2);
		if (id == ZIP_EXTRA_UNICODE_PATH) {
			return ws_zip_break(zip, WS_ZIP_EXTRA, entry, err, "a Unicode path gives another name");
		}
		if (id == ZIP_EXTRA_ZIP64 && widened) {
			return ws_zip_break(zip, WS_ZIP_ZIP64, entry, err, "its zip64 field stands twice");
		}
		if (id == ZIP_EXTRA_ZIP64) {
			widened = true;
			if (!widen(zip, entry, at + 4, len, wide, err)) {
				return false;
			}
		}
		at += 4 + len;
		left -= 4 + len;
	}
	if (wide->wants_size || wide->wants_packed || wide->wants_offset) {
		return ws_zip_break(
			zip, WS_ZIP_ZIP64, entry, err, "its header asks for a zip64 field and has none");
	}
	return true;
}
