/**
 * record.h - writing RECORD: every file of a wheel, with its digest and size
 *
 * Recording installed projects (CSV: ',' between fields, '"' around those that need it).
 */
#ifndef WS_WHEEL_RECORD_H
#define WS_WHEEL_RECORD_H

#include "base/buf.h"
#include "base/digest.h"

/** Adds a line. @a digest is NULL for RECORD itself. */
void ws_record_add(
	struct ws_buf *record, const char *path, const struct ws_digest *digest, uint64_t size);

#endif
