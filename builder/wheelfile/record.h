/**
 * record.h - reading RECORD: every file of a wheel, with its digest and size
 *
 * Recording installed projects (CSV: ',' between fields, '"' around those that need it). Read
 * strictly and without a copy, because torch's is over a megabyte (2.11.0: 11,843 lines, 12 ms).
 * Whether the files are as it says is the caller's to find out. Writing ours is wheel/'s.
 */
#ifndef WS_WHEELFILE_RECORD_H
#define WS_WHEELFILE_RECORD_H

#include "base/arena.h"
#include "base/digest.h"
#include "base/err.h"
#include "base/str.h"

/** One line. */
struct ws_record_entry {
	struct ws_str path;      /**< '/' between parts; stays inside the wheel */
	struct ws_digest digest; /**< "" for RECORD itself and the signatures beside it */
	uint64_t size;           /**< bytes; 0 where there is no digest */
};

/** Is it RECORD or a signature of it, "NAME.dist-info/RECORD.jws"? They cannot hold their own
 * digests. */
bool ws_record_is_own(struct ws_str path);

/** Takes one line; false (with @a err set) ends the reading. */
typedef bool (*ws_record_take)(void *self, const struct ws_record_entry *entry, struct ws_err *err);

/**
 * Calls @a take for every line of @a text, in its order. Paths are views of @a text, but for the
 * few that were quoted: those lie in @a a. A line that is not a path that stays inside, a SHA-256
 * and a size (or, for RECORD and its signatures, nothing) is an error of kind WS_ERR_FETCH that
 * names the line. That a path is repeated is not noticed: record_held.h.
 */
bool ws_record_read(
	struct ws_str text, struct ws_arena *a, ws_record_take take, void *self, struct ws_err *err);

/**
 * As ws_record_read, of an installed project: paths may be absolute or lead out of site-packages
 * ("../../../bin/x"), and any file may lack digest and size (".pyc").
 */
bool ws_record_read_installed(
	struct ws_str text, struct ws_arena *a, ws_record_take take, void *self, struct ws_err *err);

#endif
