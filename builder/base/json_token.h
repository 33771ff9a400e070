/**
 * json_token.h - the words of a JSON text: strings, numbers, comments
 *
 * Says how long the token at a place is, or what is wrong with it. Knows nothing of the shape
 * around it (json_scan.h). Grammar: RFC 8259. Texts are NUL-terminated UTF-8.
 */
#ifndef WS_BASE_JSON_TOKEN_H
#define WS_BASE_JSON_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

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

#endif
