/**
 * record_held.h - is everything in a wheel as its RECORD says?
 *
 * Every file has a line, every line a file, and the bytes are those of the lines. Tells the first thing
 * that is not so; who wants all of them asks inspect/.
 */
#ifndef WS_WHEELFILE_RECORD_HELD_H
#define WS_WHEELFILE_RECORD_HELD_H

#include "archive/zip.h"

/**
 * Holds @a record against the members of @a zip. @a wrong is one line, in @a a, or NULL where nothing
 * is. The bytes of members for which @a passes is true were held before; NULL: of none. False when RECORD
 * or a member cannot be read.
 */
bool ws_record_held(struct ws_zip *zip, struct ws_str record, bool (*passes)(const char *name),
	struct ws_arena *a, const char **wrong, struct ws_err *err);

#endif
