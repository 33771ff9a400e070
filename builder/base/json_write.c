/* json_write.c - builds a cJSON tree; cJSON escapes, the pretty layout is ours (its own has tabs). */
#include "base/json_write.h"

#include "base/json.h"
#include "base/utf8.h"

#include <cjson/cJSON.h>

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DEEPEST 64
#define WIDEST 96 /* a list of plain values stands on one line up to this column */

struct ws_json_writer {
	cJSON *root;
	cJSON *open[DEEPEST]; /* what is being filled, outermost first */
	size_t depth;
};

static void *
must(void *memory)
{
	if (!memory) {
		abort();
	}
	return memory;
}

struct ws_json_writer *
ws_json_begin(void)
{
	return must(calloc(1, sizeof(struct ws_json_writer)));
}

static void
add(struct ws_json_writer *w, const char *key, cJSON *value)
{
	must(value);
	if (w->depth == 0) {
		assert(!w->root && !key);
		w->root = value;
		return;
	}
	cJSON *into = w->open[w->depth - 1];
	assert(cJSON_IsObject(into) == (key != NULL));
	bool added = key ? cJSON_AddItemToObject(into, key, value) : cJSON_AddItemToArray(into, value);
	must(added ? value : NULL);
}

static void
open_value(struct ws_json_writer *w, const char *key, cJSON *value)
{
	add(w, key, value);
	assert(w->depth < DEEPEST);
	w->open[w->depth++] = value;
}

void
ws_json_open_object(struct ws_json_writer *w, const char *key)
{
	open_value(w, key, cJSON_CreateObject());
}

void
ws_json_open_list(struct ws_json_writer *w, const char *key)
{
	open_value(w, key, cJSON_CreateArray());
}

void
ws_json_close(struct ws_json_writer *w)
{
	assert(w->depth > 0);
	w->depth--;
}

/* With U+FFFD for every byte that belongs to no character. */
static void
add_sound(struct ws_buf *b, const char *text)
{
	size_t left = strlen(text);
	while (left > 0) {
		size_t len = ws_utf8_len(text, left);
		if (len > 0) {
			ws_buf_add(b, text, len);
		} else {
			ws_buf_puts(b, "\xef\xbf\xbd");
		}
		text += len ? len : 1;
		left -= len ? len : 1;
	}
}

void
ws_json_add_text(struct ws_json_writer *w, const char *key, const char *text)
{
	WS_AUTO_BUF struct ws_buf sound = {0};
	if (!text) {
		ws_json_add_null(w, key);
		return;
	}
	add_sound(&sound, text);
	add(w, key, cJSON_CreateString(ws_buf_text(&sound)));
}

void
ws_json_add_u64(struct ws_json_writer *w, const char *key, uint64_t value)
{
	/* Raw: cJSON's own numbers are doubles. */
	char digits[24];
	snprintf(digits, sizeof(digits), "%" PRIu64, value);
	add(w, key, cJSON_CreateRaw(digits));
}

void
ws_json_add_i64(struct ws_json_writer *w, const char *key, int64_t value)
{
	char digits[24];
	snprintf(digits, sizeof(digits), "%" PRId64, value);
	add(w, key, cJSON_CreateRaw(digits));
}

void
ws_json_add_bool(struct ws_json_writer *w, const char *key, bool value)
{
	add(w, key, cJSON_CreateBool(value));
}

void
ws_json_add_null(struct ws_json_writer *w, const char *key)
{
	add(w, key, cJSON_CreateNull());
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
		add(w, key, cJSON_CreateRaw(value->text));
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

static void
print_compact(const cJSON *value, struct ws_buf *out)
{
	WS_AUTO_FREE char *text = must(cJSON_PrintUnformatted(value));
	ws_buf_puts(out, text);
}

static void
print_text(const char *text, struct ws_buf *out)
{
	cJSON *value = must(cJSON_CreateStringReference(text));
	print_compact(value, out);
	cJSON_Delete(value);
}

/* A list that holds no list and no object, "[1, 2]", when it fits; else nothing is added. */
static bool
print_short_list(const cJSON *list, struct ws_buf *out)
{
	WS_AUTO_BUF struct ws_buf line = {0};
	const cJSON *item;
	cJSON_ArrayForEach(item, list)
	{
		if (item->child || line.len > WIDEST) {
			return false;
		}
		ws_buf_puts(&line, line.len > 0 ? ", " : "");
		print_compact(item, &line);
	}
	size_t column = out->len;
	while (column > 0 && out->data[column - 1] != '\n') {
		column--;
	}
	if (out->len - column + line.len > WIDEST) {
		return false;
	}
	ws_buf_printf(out, "[%s]", ws_buf_text(&line));
	return true;
}

static void
print_pretty(const cJSON *value, unsigned indent, struct ws_buf *out)
{
	bool object = cJSON_IsObject(value);
	if (!value->child) {
		print_compact(value, out);
		return;
	}
	if (!object && print_short_list(value, out)) {
		return;
	}
	ws_buf_puts(out, object ? "{" : "[");
	const cJSON *child;
	cJSON_ArrayForEach(child, value)
	{
		ws_buf_printf(out, "%s\n%*s", child == value->child ? "" : ",", (int)indent + 2, "");
		if (object) {
			print_text(child->string, out);
			ws_buf_puts(out, ": ");
		}
		print_pretty(child, indent + 2, out);
	}
	ws_buf_printf(out, "\n%*s%s", (int)indent, "", object ? "}" : "]");
}

void
ws_json_finish(struct ws_json_writer *w, enum ws_json_layout layout, struct ws_buf *out)
{
	assert(w->root && w->depth == 0);
	if (layout == WS_JSON_COMPACT) {
		print_compact(w->root, out);
	} else {
		print_pretty(w->root, 0, out);
		ws_buf_putc(out, '\n');
	}
	cJSON_Delete(w->root);
	free(w);
}
