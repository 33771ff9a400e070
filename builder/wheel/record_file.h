/**
 * record_file.h - RECORD: every file of a wheel, with its digest and size
 *
 * Reads and writes the text (Recording installed projects; CSV: ',' between fields, '"' around
 * fields that need it). Reading is strict and copies nothing, because torch's RECORD is over a
 * megabyte (2.11.0: 11,843 lines, 12 ms). Comparing it with a wheel: wheelfile/record_check.h.
 */
#ifndef WS_WHEEL_RECORD_FILE_H
#define WS_WHEEL_RECORD_FILE_H

#include "base/crypto.h"
#include "base/text.h"

/* ---- writing ---- */

/** Adds a line. @a digest is NULL for RECORD itself. */
void ws_record_add(
	struct ws_buf *record, const char *path, const struct ws_digest *digest, uint64_t size);

/* ---- reading ---- */

/** One line. */
struct ws_record_entry {
	struct ws_str path;      /**< '/' between parts; stays inside the wheel */
	struct ws_digest digest; /**< "" for RECORD itself and the signatures beside it */
	uint64_t size;           /**< bytes; 0 without a digest */
};

/** True for RECORD and its signatures ("NAME.dist-info/RECORD.jws"), which cannot contain their
 * own digests. */
bool ws_record_is_own(struct ws_str path);

/** Takes one line; false (with @a err set) ends the reading. */
typedef bool (*ws_record_take)(void *self, const struct ws_record_entry *entry, struct ws_err *err);

/**
 * Calls @a take for every line of @a text, in order. Paths are views of @a text; quoted ones are
 * copies in @a a. WS_ERR_FETCH with the line's number unless it is a path that stays inside, a
 * SHA-256 and a size (RECORD and its signatures have neither). Paths of an @a installed
 * project may be absolute or leave site-packages ("../../../bin/x"), and any of its files may lack
 * digest and size (".pyc"). Repeated paths are not detected: wheelfile/record_check.h.
 */
bool ws_record_read(struct ws_str text, bool installed, struct ws_arena *a, ws_record_take take,
	void *self, struct ws_err *err);

#endif
