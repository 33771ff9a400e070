/**
 * json_scan.h - the shape of a JSON text: where each value stands
 *
 * The half of json.c that is ours: finds every syntax error and says what was expected there.
 * Leaves out what strings mean (escapes are checked, not decoded) and keys that stand twice.
 * Grammar: RFC 8259; relaxed: comments of both kinds and trailing commas.
 */
#ifndef WS_BASE_JSON_SCAN_H
#define WS_BASE_JSON_SCAN_H

#include "base/json.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

/* ---- the words of a JSON text: strings, numbers, comments ----
 * Says how long the token at a place is, or what is wrong with it. Knows nothing of the shape
 * around it (json_scan.h). Grammar: RFC 8259. Texts are NUL-terminated UTF-8. */

/** What is wrong, counted from where the token starts. */
struct ws_json_fault {
	size_t offset, len;
	char text[160];
	char cure[120]; /**< "" when there is none */
};

/** All three: the token's bytes, or 0 with @a fault set. */
size_t ws_json_string_len(const char *text, struct ws_json_fault *fault);
size_t ws_json_number_len(const char *text, struct ws_json_fault *fault);
size_t ws_json_comment_len(const char *text, struct ws_json_fault *fault);

/** Bytes of what looks like one word or number at @a text: letters, digits, '_', '+', '-', '.'. */
size_t ws_json_word_len(const char *text);

/**
 * Fills doc->root with kinds, places and links; key and text stay NULL. When the text holds what
 * plain JSON has not, @a plain gets a copy with spaces in its place; else it stays empty.
 */
bool ws_json_scan(struct ws_json_doc *doc, enum ws_json_flags flags, struct ws_arena *a,
	struct ws_buf *plain, struct ws_err *err);

#endif
