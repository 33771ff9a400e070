/**
 * zip_format.h - the records of a zip archive, and the error of a broken rule
 *
 * Private to archive/zip*.c. Numbers in brackets are sections of APPNOTE.TXT 6.3.10.
 */
#ifndef WS_ARCHIVE_ZIP_FORMAT_H
#define WS_ARCHIVE_ZIP_FORMAT_H

#include "archive/zip.h"

#define ZIP_LOCAL_MAGIC 0x04034b50u      /* [4.3.7] */
#define ZIP_CENTRAL_MAGIC 0x02014b50u    /* [4.3.12] */
#define ZIP_END_MAGIC 0x06054b50u        /* [4.3.16] */
#define ZIP64_END_MAGIC 0x06064b50u      /* [4.3.14] */
#define ZIP64_LOCATOR_MAGIC 0x07064b50u  /* [4.3.15] */
#define ZIP_DESCRIPTOR_MAGIC 0x08074b50u /* [4.3.9.3] */

/* Fixed parts, in bytes. */
#define ZIP_LOCAL_BYTES 30u
#define ZIP_CENTRAL_BYTES 46u
#define ZIP_END_BYTES 22u
#define ZIP64_END_BYTES 56u
#define ZIP64_LOCATOR_BYTES 20u
#define ZIP_DESCRIPTOR_MOST 24u /* with magic and 64-bit sizes */

#define ZIP_COMMENT_MOST 65535u
#define ZIP_EXTRA_MOST 65535u

/* "Look at the zip64 field": 32-bit and 16-bit forms [4.4.1.4]. */
#define ZIP_SENTINEL32 0xffffffffu
#define ZIP_SENTINEL16 0xffffu

/* General purpose bits [4.4.4]. */
#define ZIP_FLAG_ENCRYPTED (1u << 0)
#define ZIP_FLAG_DESCRIPTOR WS_ZIP_FLAG_DESCRIPTOR
#define ZIP_FLAG_STRONG (1u << 6)
#define ZIP_FLAG_UTF8 (1u << 11)
#define ZIP_FLAG_MASKED (1u << 13)
#define ZIP_FLAGS_KNOWN (0x6u | ZIP_FLAG_DESCRIPTOR | ZIP_FLAG_UTF8) /* 1, 2: deflate's level */

/* Extra fields [4.5.3, 4.6.9]. */
#define ZIP_EXTRA_ZIP64 0x0001u
#define ZIP_EXTRA_UNICODE_PATH 0x7075u

static inline uint16_t
ws_zip_u16(const unsigned char *at)
{
	return (uint16_t)((unsigned)at[0] | (unsigned)at[1] << 8);
}

static inline uint32_t
ws_zip_u32(const unsigned char *at)
{
	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static inline uint64_t
ws_zip_u64(const unsigned char *at)
{
	return ws_zip_u32(at) | (uint64_t)ws_zip_u32(at + 4) << 32;
}

/** Fields of an entry that a zip64 extra field may widen. */
struct ws_zip_wide {
	uint64_t size_bytes, packed_bytes, offset;
	bool wants_size, wants_packed, wants_offset; /**< its 32-bit form is the sentinel */
};

/**
 * Walks the extra fields at @a extra and takes what @a wide wants. @a entry is for messages. Two
 * matter: the zip64 field, which widens sizes and offset, and the Unicode path, which gives an
 * entry a second name. zip.c.
 */
bool ws_zip_read_extra(struct ws_zip *zip, const char *entry, struct ws_str extra,
	struct ws_zip_wide *wide, struct ws_err *err);

/**
 * Notes the broken rule and says so: "'x.whl' breaks the zip rule 'overlap' at 'a/b.h': ...".
 * @a entry is NULL when the archive itself is at fault. Returns false. zip_rules.c.
 */
bool ws_zip_break(struct ws_zip *zip, enum ws_zip_rule rule, const char *entry, struct ws_err *err,
	const char *format, ...) WS_PRINTF(5, 6);

#endif
