/**
 * json_write.h - the one writer of JSON
 *
 * Values are added in the order in which they shall stand. The calls nest by open and close;
 * a call out of place is a bug and asserts.
 *
 *   struct ws_json_writer *w = ws_json_begin_object();
 *   ws_json_add_text(w, "schema", "wheelsmith.build/1");
 *   ws_json_finish(w, WS_JSON_PRETTY, &buf);
 */
#ifndef WS_BASE_JSON_WRITE_H
#define WS_BASE_JSON_WRITE_H

#include "base/buf.h"

#include <stdint.h>

struct ws_json;
struct ws_json_writer;

enum ws_json_layout {
	WS_JSON_PRETTY,  /**< two spaces a level, newline at the end; short plain lists on one line */
	WS_JSON_COMPACT, /**< one line, no newline at the end */
};

struct ws_json_writer *ws_json_begin(void);
/** The same, and an object is open. */
struct ws_json_writer *ws_json_begin_object(void);

/** @a key is NULL in a list and at the top. */
void ws_json_open_object(struct ws_json_writer *w, const char *key);
void ws_json_open_list(struct ws_json_writer *w, const char *key);
void ws_json_close(struct ws_json_writer *w);

/** A NULL @a text is written as null. Bytes that are not UTF-8 become U+FFFD. */
void ws_json_add_text(struct ws_json_writer *w, const char *key, const char *text);
/** Exact up to 64 bits. */
void ws_json_add_u64(struct ws_json_writer *w, const char *key, uint64_t value);
void ws_json_add_i64(struct ws_json_writer *w, const char *key, int64_t value);
void ws_json_add_bool(struct ws_json_writer *w, const char *key, bool value);
void ws_json_add_null(struct ws_json_writer *w, const char *key);
/** A list of strings. */
void ws_json_add_texts(
	struct ws_json_writer *w, const char *key, const char *const *texts, size_t count);

/** A value that was read, with everything below it; numbers keep their digits. */
void ws_json_add_copy(struct ws_json_writer *w, const char *key, const struct ws_json *value);

/** Closes what is open, appends the text to @a out and releases @a w. */
void ws_json_finish(struct ws_json_writer *w, enum ws_json_layout layout, struct ws_buf *out);

#endif
