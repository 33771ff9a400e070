/**
 * fields.h - texts of fields "KIND VALUE", each ended by a NUL
 *
 * What hosts tell each other about commands: values are words of command lines, so they may hold
 * anything but a NUL. A kind has no blank.
 */
#ifndef WS_BASE_FIELDS_H
#define WS_BASE_FIELDS_H

#include "base/arena.h"
#include "base/buf.h"

/** Appends one; a @a value of NULL is left out. */
void ws_fields_add(struct ws_buf *text, const char *kind, const char *value);

/** One whose value is "FIRST SECOND"; @a first has no blank. */
void ws_fields_add_pair(
	struct ws_buf *text, const char *kind, const char *first, const char *second);

void ws_fields_add_all(
	struct ws_buf *text, const char *kind, const char *const *values, size_t count);

void ws_fields_add_number(struct ws_buf *text, const char *kind, uint64_t number);

/** Takes the next one off @a text, in @a a. False: that was all, or what follows is none; then
 * something is left of @a text. */
bool ws_fields_take(struct ws_str *text, struct ws_arena *a, const char **kind, const char **value);

/** The parts of a pair, in @a a; false: it is none. */
bool ws_fields_cut(const char *pair, struct ws_arena *a, const char **first, const char **second);

#endif
