/* buf.c - a doubling buffer; aborts when the host has no memory, like the arena. */
#include "base/buf.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *
ws_buf_reserve(struct ws_buf *b, size_t more)
{
	if (more >= SIZE_MAX / 4 - b->len) {
		abort();
	}
	size_t wanted = b->len + more + 1;
	if (wanted > b->cap) {
		size_t cap = b->cap ? b->cap * 2 : 256;
		cap = cap < wanted ? wanted : cap;
		char *data = realloc(b->data, cap);
		if (!data) {
			fputs("wheelsmith: out of memory\n", stderr);
			abort();
		}
		b->data = data;
		b->cap = cap;
	}
	b->data[b->len + more] = '\0';
	return b->data + b->len;
}

void
ws_buf_add(struct ws_buf *b, const void *bytes, size_t len)
{
	char *end = ws_buf_reserve(b, len);
	if (len > 0) {
		memcpy(end, bytes, len);
	}
	b->len += len;
}

void
ws_buf_puts(struct ws_buf *b, const char *text)
{
	ws_buf_add(b, text, strlen(text));
}

void
ws_buf_putc(struct ws_buf *b, char c)
{
	ws_buf_add(b, &c, 1);
}

void
ws_buf_printf(struct ws_buf *b, const char *format, ...)
{
	va_list values;
	va_start(values, format);
	va_list again;
	va_copy(again, values);
	int len = vsnprintf(NULL, 0, format, again);
	va_end(again);
	if (len > 0) {
		char *end = ws_buf_reserve(b, (size_t)len);
		vsnprintf(end, (size_t)len + 1, format, values);
		b->len += (size_t)len;
	}
	va_end(values);
}

void
ws_buf_cut(struct ws_buf *b, size_t len)
{
	if (len < b->len) {
		b->len = len;
		b->data[len] = '\0';
	}
}

void
ws_buf_clear(struct ws_buf *b)
{
	b->len = 0;
	if (b->data) {
		b->data[0] = '\0';
	}
}

void
ws_buf_put_quoted(struct ws_buf *b, const char *word)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
	if (word[0] && word[strspn(word, plain)] == '\0') {
		ws_buf_puts(b, word);
		return;
	}
	ws_buf_putc(b, '\'');
	for (; *word; word++) {
		if (*word == '\'') {
			ws_buf_puts(b, "'\\''");
		} else {
			ws_buf_putc(b, *word);
		}
	}
	ws_buf_putc(b, '\'');
}

const char *
ws_buf_text(const struct ws_buf *b)
{
	return b->data ? b->data : "";
}

struct ws_str
ws_buf_str(const struct ws_buf *b)
{
	return (struct ws_str){b->data, b->len};
}

char *
ws_buf_copy(const struct ws_buf *b, struct ws_arena *a)
{
	return ws_arena_copy(a, b->data, b->len);
}

void
ws_buf_release(struct ws_buf *b)
{
	free(b->data);
	*b = (struct ws_buf){0};
}
