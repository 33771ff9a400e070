/**
 * zip_format.h - records of a zip archive; for zip.c and zip_read.c alone
 *
 * Numbers in brackets are sections of APPNOTE.TXT 6.3.10.
 */
#ifndef WS_ARCHIVE_ZIP_FORMAT_H
#define WS_ARCHIVE_ZIP_FORMAT_H

#include "archive/zip.h"

/* Fixed parts of records, in bytes. */
#define ZIP_LOCAL_BYTES 30u     /* [4.3.7] */
#define ZIP_DESCRIPTOR_MOST 24u /* [4.3.9], with magic and 64-bit sizes */
#define ZIP_FIELD_MOST 65535u   /* of a comment, of extra fields */

/* General purpose bits [4.4.4]. */
#define ZIP_FLAG_UTF8 (1u << 11)
#define ZIP_FLAGS_ENCRYPTED (1u << 0 | 1u << 6 | 1u << 13)

/** The unsigned number of @a width bytes at @a at, little endian. */
static inline uint64_t
ws_zip_number(const char *at, unsigned width)
{
	uint64_t value = 0;
	while (width-- > 0) {
		value = value << 8 | (unsigned char)at[width];
	}
	return value;
}

/** Sizes and offset, which a zip64 extra field widens where the narrow form is the sentinel. */
struct ws_zip_wide {
	uint64_t size, packed, offset;
};

/** Reads extra fields [4.5]. The reason why they have no single meaning; NULL: they have one. */
const char *ws_zip_read_extra(struct ws_str extra, struct ws_zip_wide *wide);

/** Sets is_malformed and an error; false. @a entry is NULL when the fault is the archive's. */
bool ws_zip_refuse(struct ws_zip *zip, const char *entry, struct ws_err *err, const char *format,
	...) WS_PRINTF(4, 5);

#endif
