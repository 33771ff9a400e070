/**
 * lock.h - <matrix stem>.lock.json into model/lock.h, and back
 *
 * Written by the program, read by people and by version control: sorted, one pin a line group, the
 * same bytes for the same pins. Read strictly, because a pin that is half understood pins nothing.
 */
#ifndef WS_CONFIG_LOCK_H
#define WS_CONFIG_LOCK_H

#include "base/json.h"
#include "model/lock.h"

#define WS_LOCK_SCHEMA "wheelsmith.lock/1"

/** "matrix/fleet.lock.json" for "matrix/fleet.json". */
const char *ws_lock_path(const char *matrix, struct ws_arena *a);

/** From a document, whose texts it borrows. On a mistake @a err is WS_ERR_CONFIG with its place. */
bool ws_lock_parse(
	const struct ws_json_doc *doc, struct ws_arena *a, struct ws_lock *lock, struct ws_err *err);

/** From a file; one that is not there is an empty lock. */
bool ws_lock_read(const char *path, struct ws_arena *a, struct ws_lock *lock, struct ws_err *err);

/** Appends the text of the file. */
void ws_lock_write(const struct ws_lock *lock, struct ws_buf *out);

/**
 * Writes the file in one step. WS_ERR_IO where that cannot be done: in a read-only folder the
 * caller keeps the lock elsewhere.
 */
bool ws_lock_save(const char *path, const struct ws_lock *lock, struct ws_err *err);

#endif
