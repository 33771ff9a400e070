/* json_write.c - the text grows on one line; the pretty layout is made at the end. Escapes are
 * those of RFC 8259 section 7. */
#include "base/json.h"

#include <assert.h>
#include <inttypes.h>

#define DEEPEST 64
#define WIDEST 96 /* a list of plain values stands on one line up to this column */

struct ws_json_writer {
	struct ws_buf text;
	char closers[DEEPEST]; /* brackets that close the open values, outermost first */
	size_t depth;
	bool any; /* the open value has a member */
};

struct ws_json_writer *
ws_json_begin(void)
{
	struct ws_json_writer *w = calloc(1, sizeof(*w));
	if (!w) {
		ws_out_of_memory();
	}
	return w;
}

/* A byte that belongs to no character becomes U+FFFD. */
static void
put_string(struct ws_buf *b, const char *text)
{
	static const char named[] = "\"\\\b\f\n\r\t", names[] = "\"\\bfnrt";
	size_t left = strlen(text);
	ws_buf_putc(b, '"');
	while (left > 0) {
		size_t len = ws_utf8_len(text, left);
		const char *name = strchr(named, *text);
		if (len == 0) {
			ws_buf_puts(b, "\xef\xbf\xbd");
		} else if (name) {
			ws_buf_putc(b, '\\');
			ws_buf_putc(b, names[name - named]);
		} else if ((unsigned char)*text < 0x20) {
			ws_buf_printf(b, "\\u%04x", (unsigned)*text);
		} else {
			ws_buf_add(b, text, len);
		}
		text += len ? len : 1;
		left -= len ? len : 1;
	}
	ws_buf_putc(b, '"');
}

/* Puts comma and key in front of a value. */
static void
begin_value(struct ws_json_writer *w, const char *key)
{
	assert(w->depth > 0 || (w->text.len == 0 && !key));
	assert(w->depth == 0 || (w->closers[w->depth - 1] == '}') == (key != NULL));
	if (w->any) {
		ws_buf_putc(&w->text, ',');
	}
	if (key) {
		put_string(&w->text, key);
		ws_buf_putc(&w->text, ':');
	}
	w->any = true;
}

static void
add(struct ws_json_writer *w, const char *key, const char *raw)
{
	begin_value(w, key);
	ws_buf_puts(&w->text, raw);
}

static void
open_value(struct ws_json_writer *w, const char *key, char opener, char closer)
{
	begin_value(w, key);
	assert(w->depth < DEEPEST);
	ws_buf_putc(&w->text, opener);
	w->closers[w->depth++] = closer;
	w->any = false;
}

void
ws_json_open_object(struct ws_json_writer *w, const char *key)
{
	open_value(w, key, '{', '}');
}

void
ws_json_open_list(struct ws_json_writer *w, const char *key)
{
	open_value(w, key, '[', ']');
}

struct ws_json_writer *
ws_json_begin_object(void)
{
	struct ws_json_writer *w = ws_json_begin();
	ws_json_open_object(w, NULL);
	return w;
}

void
ws_json_close(struct ws_json_writer *w)
{
	assert(w->depth > 0);
	ws_buf_putc(&w->text, w->closers[--w->depth]);
	w->any = true;
}

void
ws_json_add_text(struct ws_json_writer *w, const char *key, const char *text)
{
	if (!text) {
		ws_json_add_null(w, key);
		return;
	}
	begin_value(w, key);
	put_string(&w->text, text);
}

void
ws_json_add_u64(struct ws_json_writer *w, const char *key, uint64_t value)
{
	begin_value(w, key);
	ws_buf_printf(&w->text, "%" PRIu64, value);
}

void
ws_json_add_i64(struct ws_json_writer *w, const char *key, int64_t value)
{
	begin_value(w, key);
	ws_buf_printf(&w->text, "%" PRId64, value);
}

void
ws_json_add_bool(struct ws_json_writer *w, const char *key, bool value)
{
	add(w, key, value ? "true" : "false");
}

void
ws_json_add_null(struct ws_json_writer *w, const char *key)
{
	add(w, key, "null");
}

void
ws_json_add_texts(struct ws_json_writer *w, const char *key, const char *const *texts, size_t count)
{
	ws_json_open_list(w, key);
	for (size_t i = 0; i < count; i++) {
		ws_json_add_text(w, NULL, texts[i]);
	}
	ws_json_close(w);
}

void
ws_json_add_copy(struct ws_json_writer *w, const char *key, const struct ws_json *value)
{
	switch (value->kind) {
	case WS_JSON_NULL:
		ws_json_add_null(w, key);
		return;
	case WS_JSON_BOOL:
		ws_json_add_bool(w, key, value->truth);
		return;
	case WS_JSON_NUMBER:
		add(w, key, value->text);
		return;
	case WS_JSON_STRING:
		ws_json_add_text(w, key, value->text);
		return;
	case WS_JSON_ARRAY:
		ws_json_open_list(w, key);
		break;
	case WS_JSON_OBJECT:
		ws_json_open_object(w, key);
		break;
	}
	for (WS_JSON_EACH(child, value)) {
		ws_json_add_copy(w, child->key, child);
	}
	ws_json_close(w);
}

/* The end of the string or plain value that starts here. */
static const char *
end_of_plain(const char *at)
{
	if (*at != '"') {
		return at + strcspn(at, ",]}");
	}
	for (at++; *at != '"'; at++) {
		at += *at == '\\';
	}
	return at + 1;
}

/* Puts "[1, 2]" for a list of plain values that fits on the line; else false, and adds nothing. */
static bool
put_short_list(const char **at, struct ws_buf *out)
{
	WS_AUTO_BUF struct ws_buf line = {0};
	const char *next = *at + 1;
	size_t column = out->len;
	while (column > 0 && out->data[column - 1] != '\n') {
		column--;
	}
	for (; *next != ']'; next += *next == ',') {
		const char *end = end_of_plain(next);
		if (*next == '[' || *next == '{' || out->len - column + line.len > WIDEST) {
			return false;
		}
		ws_buf_puts(&line, line.len > 0 ? ", " : "");
		ws_buf_add(&line, next, (size_t)(end - next));
		next = end;
	}
	if (out->len - column + line.len > WIDEST) {
		return false;
	}
	ws_buf_printf(out, "[%s]", ws_buf_text(&line));
	*at = next + 1;
	return true;
}

/* Lays out the value at @a at, which moves behind it. */
static void
put_pretty(const char **at, unsigned indent, struct ws_buf *out)
{
	bool object = **at == '{';
	if ((!object && **at != '[') || (*at)[1] == '}' || (*at)[1] == ']') {
		const char *end = object || **at == '[' ? *at + 2 : end_of_plain(*at);
		ws_buf_add(out, *at, (size_t)(end - *at));
		*at = end;
		return;
	}
	if (!object && put_short_list(at, out)) {
		return;
	}
	ws_buf_putc(out, *(*at)++);
	for (bool first = true; first || **at == ','; first = false) {
		*at += !first;
		ws_buf_printf(out, "%s\n%*s", first ? "" : ",", (int)indent + 2, "");
		if (object) {
			const char *end = end_of_plain(*at);
			ws_buf_add(out, *at, (size_t)(end - *at));
			ws_buf_puts(out, ": ");
			*at = end + 1;
		}
		put_pretty(at, indent + 2, out);
	}
	ws_buf_printf(out, "\n%*s%c", (int)indent, "", *(*at)++);
}

void
ws_json_finish(struct ws_json_writer *w, enum ws_json_layout layout, struct ws_buf *out)
{
	while (w->depth > 0) {
		ws_json_close(w);
	}
	assert(w->text.len > 0);
	if (layout == WS_JSON_COMPACT) {
		ws_buf_add(out, w->text.data, w->text.len);
	} else {
		const char *at = w->text.data;
		put_pretty(&at, 0, out);
		ws_buf_putc(out, '\n');
	}
	ws_buf_release(&w->text);
	free(w);
}
