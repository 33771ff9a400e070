/**
 * buf.h - bytes that grow
 *
 * The one place where memory is not an arena's: file contents, texts under construction,
 * response bodies. `WS_AUTO_BUF struct ws_buf b = {0};` releases it at the end of the scope.
 * Always NUL-terminated once anything was added, so b.data is a C string where that makes sense.
 */
#ifndef WS_BASE_BUF_H
#define WS_BASE_BUF_H

#include "base/arena.h"
#include "base/str.h"

struct ws_buf {
	char *data; /**< NULL until the first add */
	size_t len; /**< bytes, without the terminator */
	size_t cap;
};

void ws_buf_add(struct ws_buf *b, const void *bytes, size_t len);
void ws_buf_puts(struct ws_buf *b, const char *text);
void ws_buf_putc(struct ws_buf *b, char c);
void ws_buf_printf(struct ws_buf *b, const char *format, ...) WS_PRINTF(2, 3);

/** @a word as a POSIX shell reads it: in quotes where it needs them. For people who paste it. */
void ws_buf_put_quoted(struct ws_buf *b, const char *word);

/** Room for @a more bytes; returns where they go. The caller adds to len what it wrote. */
char *ws_buf_reserve(struct ws_buf *b, size_t more);

/** Forgets what comes after the first @a len bytes. */
void ws_buf_cut(struct ws_buf *b, size_t len);

/** Empty again; keeps its memory. */
void ws_buf_clear(struct ws_buf *b);

/** The contents as a C string; "" when nothing was added. Borrowed. */
const char *ws_buf_text(const struct ws_buf *b);

/** The contents as a view. Borrowed. */
struct ws_str ws_buf_str(const struct ws_buf *b);

/** A NUL-terminated copy in @a a. */
char *ws_buf_copy(const struct ws_buf *b, struct ws_arena *a);

void ws_buf_release(struct ws_buf *b);

#define WS_AUTO_BUF __attribute__((cleanup(ws_buf_release)))

#endif
