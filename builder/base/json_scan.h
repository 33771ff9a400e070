/**
 * json_scan.h - the shape of a JSON text: where each value stands
 *
 * The half of json.c that is ours: finds every syntax error and says what was expected there.
 * Leaves out what strings mean (escapes are checked, not decoded) and keys that stand twice.
 * Grammar: RFC 8259; relaxed: comments of both kinds and trailing commas.
 */
#ifndef WS_BASE_JSON_SCAN_H
#define WS_BASE_JSON_SCAN_H

#include "base/buf.h"
#include "base/json.h"

/**
 * Fills doc->root with kinds, places and links; key and text stay NULL. When the text holds what
 * plain JSON has not, @a plain gets a copy with spaces in its place; else it stays empty.
 */
bool ws_json_scan(struct ws_json_doc *doc, enum ws_json_flags flags, struct ws_arena *a,
	struct ws_buf *plain, struct ws_err *err);

#endif
