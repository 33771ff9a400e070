/* zip_local.c - what stands around an entry's data: the local header [4.3.7] before it and the
 * data descriptor [4.3.9] after it, checked against the central directory. */
#include "archive/zip_format.h"

/*
 * With bit 3 sizes and CRC follow the data and the header may hold zeros; else it has to agree.
 * A header may be wide where the directory need not be: writers that do not know the size yet.
 */
static bool
check_fields(struct ws_zip *zip, const struct ws_zip_entry *entry, const unsigned char *at,
	struct ws_str extra, struct ws_err *err)
{
	const unsigned meaningful = ZIP_FLAG_DESCRIPTOR | ZIP_FLAG_UTF8 | ZIP_FLAG_ENCRYPTED
		| ZIP_FLAG_STRONG | ZIP_FLAG_MASKED;
	if ((ws_zip_u16(at + 6) ^ entry->flags) & meaningful) {
		return ws_zip_break(zip, WS_ZIP_LOCAL_FIELDS, entry->name, err,
			"flags 0x%04x here, 0x%04x in the directory", ws_zip_u16(at + 6), entry->flags);
	}
	if (ws_zip_u16(at + 8) != entry->method) {
		return ws_zip_break(zip, WS_ZIP_LOCAL_FIELDS, entry->name, err,
			"method %u here, %u in the directory", ws_zip_u16(at + 8), entry->method);
	}
	uint32_t crc = ws_zip_u32(at + 14);
	struct ws_zip_wide wide = {
		.packed_bytes = ws_zip_u32(at + 18), .size_bytes = ws_zip_u32(at + 22)};
	wide.wants_packed = wide.packed_bytes == ZIP_SENTINEL32;
	wide.wants_size = wide.size_bytes == ZIP_SENTINEL32;
	if (!ws_zip_read_extra(zip, entry->name, extra, &wide, err)) {
		return false;
	}
	bool later = entry->flags & ZIP_FLAG_DESCRIPTOR;
	if (!(later && crc == 0) && crc != entry->crc) {
		return ws_zip_break(zip, WS_ZIP_LOCAL_FIELDS, entry->name, err,
			"CRC %08x here, %08x in the directory", crc, entry->crc);
	}
	if ((!(later && wide.packed_bytes == 0) && wide.packed_bytes != entry->packed_bytes)
		|| (!(later && wide.size_bytes == 0) && wide.size_bytes != entry->size_bytes)) {
		return ws_zip_break(zip, WS_ZIP_LOCAL_FIELDS, entry->name, err,
			"%ju bytes packed into %ju here, %ju into %ju in the directory",
			(uintmax_t)wide.size_bytes, (uintmax_t)wide.packed_bytes, (uintmax_t)entry->size_bytes,
			(uintmax_t)entry->packed_bytes);
	}
	return true;
}

bool
ws_zip_check_local(
	struct ws_zip *zip, const struct ws_zip_entry *entry, struct ws_str header, struct ws_err *err)
{
	const unsigned char *at = (const unsigned char *)header.s;
	struct ws_str name = {header.s + ZIP_LOCAL_BYTES, ws_zip_u16(at + 26)};
	if (!ws_str_is(name, entry->name)) {
		return ws_zip_break(
			zip, WS_ZIP_LOCAL_NAME, entry->name, err, "'%.*s' here", WS_STR_ARGS(name));
	}
	struct ws_str extra = {name.s + name.n, ws_zip_u16(at + 28)};
	if (!check_fields(zip, entry, at, extra, err)) {
		return false;
	}
	/* What is left up to the next entry can only be a descriptor. */
	uint64_t rest = entry->end - entry->offset - header.n - entry->packed_bytes;
	bool announced = entry->flags & ZIP_FLAG_DESCRIPTOR;
	if (rest > (announced ? ZIP_DESCRIPTOR_MOST : 0)) {
		return ws_zip_break(zip, WS_ZIP_GAP, entry->name, err,
			"%ju bytes after its data belong to no entry", (uintmax_t)rest);
	}
	if (announced && rest != 12 && rest != 16 && rest != 20 && rest != 24) {
		return ws_zip_break(zip, WS_ZIP_DESCRIPTOR, entry->name, err,
			"it is announced, and %ju bytes follow the data", (uintmax_t)rest);
	}
	return true;
}

/* A descriptor comes with or without magic, with sizes of 32 or 64 bits [4.3.9]. */
static bool
is_descriptor(const struct ws_zip_entry *entry, const unsigned char *at, size_t len)
{
	if (len == 16 || len == 24) {
		if (ws_zip_u32(at) != ZIP_DESCRIPTOR_MAGIC) {
			return false;
		}
		at += 4;
		len -= 4;
	}
	if (ws_zip_u32(at) != entry->crc) {
		return false;
	}
	if (len == 12) {
		return ws_zip_u32(at + 4) == entry->packed_bytes && ws_zip_u32(at + 8) == entry->size_bytes;
	}
	return ws_zip_u64(at + 4) == entry->packed_bytes && ws_zip_u64(at + 12) == entry->size_bytes;
}

bool
ws_zip_check_descriptor(struct ws_zip *zip, const struct ws_zip_entry *entry,
	struct ws_str descriptor, struct ws_err *err)
{
	if (descriptor.n > 0
		&& !is_descriptor(entry, (const unsigned char *)descriptor.s, descriptor.n)) {
		return ws_zip_break(
			zip, WS_ZIP_DESCRIPTOR, entry->name, err, "it does not agree with the directory");
	}
	return true;
}
