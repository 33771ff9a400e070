/**
 * json.h - reading and writing JSON
 *
 * The reader keeps the byte offset of every value, may allow comments and trailing commas, and
 * refuses repeated keys. It reads files of people (relaxed) and of servers (strict). Records with
 * a table are read and written by table.h.
 */
#ifndef WS_BASE_JSON_H
#define WS_BASE_JSON_H

#include "base/err.h"
#include "base/text.h"

enum ws_json_kind {
	WS_JSON_NULL,
	WS_JSON_BOOL,
	WS_JSON_NUMBER,
	WS_JSON_STRING,
	WS_JSON_ARRAY,
	WS_JSON_OBJECT,
};

/** One value. Children of an array or object are a list in the order of the text. */
struct ws_json {
	enum ws_json_kind kind;
	const char *key;       /**< its name in the object above; NULL elsewhere */
	const char *text;      /**< STRING: the value; NUMBER: the digits as written; else NULL */
	bool truth;            /**< BOOL */
	size_t offset, len;    /**< bytes of the value in the text, quotes included */
	size_t key_offset;     /**< byte of its key in the text */
	size_t count;          /**< ARRAY, OBJECT: number of children */
	struct ws_json *first; /**< ARRAY, OBJECT: first child */
	struct ws_json *next;  /**< the next child of the value above */
};

/** A parsed text. Its values are in the arena of the parse. */
struct ws_json_doc {
	const char *name; /**< the file, for messages */
	const char *text; /**< a copy of the text, NUL-terminated */
	size_t len;
	struct ws_json *root;
};

enum ws_json_flags {
	WS_JSON_STRICT = 0,
	WS_JSON_RELAXED = 1, /**< comments (both kinds) and trailing commas */
};

/** `for (WS_JSON_EACH(child, value))`; none for NULL. */
static inline const struct ws_json *
ws_json_first(const struct ws_json *value)
{
	return value ? value->first : NULL;
}
#define WS_JSON_EACH(child, value) \
	const struct ws_json *child = ws_json_first(value); \
	child; \
	child = child->next

/**
 * Parses @a len bytes. A mistake is WS_ERR_CONFIG with place, excerpt and caret: also nesting
 * deeper than 100, more than 1,000,000 values, and NUL bytes. A byte order mark is skipped and is
 * not part of doc->text. The result takes about three times the size of the text.
 */
bool ws_json_parse(const char *name, const char *text, size_t len, enum ws_json_flags flags,
	struct ws_arena *a, struct ws_json_doc *doc, struct ws_err *err);

/** Reads and parses a file (at most 64 MiB). */
bool ws_json_read(const char *path, enum ws_json_flags flags, struct ws_arena *a,
	struct ws_json_doc *doc, struct ws_err *err);

/** The member @a key of an object; NULL when absent or when @a object is NULL or no object. */
const struct ws_json *ws_json_find(const struct ws_json *object, const char *key);

/**
 * The value at @a path below @a value: "extensions/0/sources" is the member "sources" of item 0
 * of the member "extensions". Where the text has no such value, the last one on the way. NULL
 * gives NULL.
 */
const struct ws_json *ws_json_at(const struct ws_json *value, const char *path);

/** The text of the STRING member @a key, else NULL. For files whose shape was checked before, and
 * for files of others. */
const char *ws_json_text(const struct ws_json *object, const char *key);

/** The BOOL member @a key is true. */
bool ws_json_is_true(const struct ws_json *object, const char *key);

/** The NUMBER member @a key as an unsigned integer; false for any other value. */
bool ws_json_u64(const struct ws_json *object, const char *key, uint64_t *value);

/** "null", "a boolean", "a number", "a string", "a list", "an object". */
extern const char *const ws_json_kind_words[];

/** Sets a WS_ERR_CONFIG error at @a value (or at its key): place, excerpt, caret. Returns false. */
bool ws_json_err(const struct ws_json_doc *doc, const struct ws_json *value, struct ws_err *err,
	const char *format, ...) WS_PRINTF(4, 5);
bool ws_json_err_key(const struct ws_json_doc *doc, const struct ws_json *value, struct ws_err *err,
	const char *format, ...) WS_PRINTF(4, 5);

/* ---- writing ---- */

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
