/* table.c - writing records. Reading is in table_read.c. */
#include "base/table.h"

#define TYPE(stem, c_type, its_kind, one, many) \
	const struct ws_type ws_value_##stem = { \
		.name = (one), .plural = (many), .size = sizeof(c_type), .kind = (its_kind)}

TYPE(text, const char *, WS_KIND_TEXT, "a string", "strings");
TYPE(digest, struct ws_digest, WS_KIND_DIGEST, "a sha256", "sha256s");
TYPE(bool, bool, WS_KIND_BOOL, "true or false", "booleans");
TYPE(unsigned, unsigned, WS_KIND_UNSIGNED, "a number", "numbers");
TYPE(u64, uint64_t, WS_KIND_UNSIGNED, "a number", "numbers");
TYPE(int, int, WS_KIND_SIGNED, "a number", "numbers");
TYPE(i64, int64_t, WS_KIND_SIGNED, "a number", "numbers");
TYPE(word, unsigned, WS_KIND_WORD, "a word", "words");
TYPE(fixed, char, WS_KIND_FIXED, "a string", "strings");
TYPE(object, char, WS_KIND_OBJECT, "an object", "objects");
TYPE(json, const struct ws_json *, WS_KIND_JSON, "a value", "values");

/* ---- values in memory ---- */

static size_t
count_items(const struct ws_field *f, const void *record)
{
	return *(const size_t *)(const void *)((const char *)record + f->count_at);
}

/* The member, or the object that it points to; NULL: it points to none, or @a record is NULL. */
static const void *
value_at(const struct ws_field *f, const void *record)
{
	if (!record) {
		return NULL;
	}
	const void *member = (const char *)record + f->at;
	return f->flags & WS_FIELD_POINTER ? *(const void *const *)member : member;
}

static const void *
item_at(const struct ws_field *f, const void *record, size_t i)
{
	const char *items = *(const char *const *)(const void *)((const char *)record + f->at);
	return items + i * ws_field_size(f);
}

/* The text of a value that is a string in JSON; NULL: it is empty. */
static const char *
string_at(const struct ws_field *f, const void *value, struct ws_arena *a)
{
	const char *text = f->type->kind == WS_KIND_OTHER ? f->type->text(value, a)
		: f->type->kind == WS_KIND_TEXT               ? *(const char *const *)value
		: f->type->kind == WS_KIND_DIGEST             ? value
		: f->type->kind == WS_KIND_WORD
		? (f->words ? f->words : f->type->words)[*(const unsigned *)value]
		: f->fixed;
	bool empty = !text || (text[0] == '\0' && f->type->kind != WS_KIND_TEXT);
	return empty ? NULL : text;
}

/* A pointer to an object is empty when it is NULL, an object when all its members are. */
static bool
is_empty(const struct ws_field *f, const void *record)
{
	static const uint64_t zero;
	enum ws_value_kind kind = f->type->kind;
	if (f->flags & WS_FIELD_LIST) {
		return count_items(f, record) == 0;
	}
	const void *value = value_at(f, record);
	if (f->flags & WS_FIELD_POINTER || !value) {
		return !value;
	}
	if (kind == WS_KIND_OBJECT) {
		const struct ws_table *table = ws_field_table(f);
		size_t i = 0;
		while (i < table->count && is_empty(&table->fields[i], value)) {
			i++;
		}
		return i == table->count;
	}
	if (kind == WS_KIND_BOOL || kind == WS_KIND_UNSIGNED || kind == WS_KIND_SIGNED
		|| kind == WS_KIND_JSON) {
		return memcmp(value, &zero, f->type->size) == 0;
	}
	WS_AUTO_ARENA struct ws_arena *a = kind == WS_KIND_OTHER ? ws_arena_make() : NULL;
	return !string_at(f, value, a);
}

/* ---- JSON ---- */

static void
write_value(struct ws_json_writer *w, const char *key, const struct ws_field *f, const void *value)
{
	bool wide = f->type->size == sizeof(uint64_t);
	enum ws_value_kind kind = f->type->kind;
	if (kind == WS_KIND_BOOL) {
		ws_json_add_bool(w, key, *(const bool *)value);
	} else if (kind == WS_KIND_UNSIGNED) {
		ws_json_add_u64(w, key, wide ? *(const uint64_t *)value : *(const unsigned *)value);
	} else if (kind == WS_KIND_SIGNED) {
		ws_json_add_i64(w, key, wide ? *(const int64_t *)value : *(const int *)value);
	} else if (kind == WS_KIND_JSON) {
		ws_json_add_copy(w, key, *(const struct ws_json *const *)value);
	} else if (kind == WS_KIND_OBJECT) {
		ws_table_write(w, key, ws_field_table(f), value);
	} else {
		WS_AUTO_ARENA struct ws_arena *a = kind == WS_KIND_OTHER ? ws_arena_make() : NULL;
		ws_json_add_text(w, key, string_at(f, value, a));
	}
}

static void
write_field(struct ws_json_writer *w, const struct ws_field *f, const void *record)
{
	bool empty =
		!(f->flags & WS_FIELD_REQUIRED && !(f->flags & WS_FIELD_NULL)) && is_empty(f, record);
	if (empty && f->flags & WS_FIELD_NULL) {
		ws_json_add_null(w, f->key);
	} else if (!empty && f->flags & WS_FIELD_MAP) {
		/* An object with a key for each item. */
		const struct ws_field *pair = ws_field_table(f)->fields;
		ws_json_open_object(w, f->key);
		for (size_t i = 0; i < count_items(f, record); i++) {
			const void *item = item_at(f, record, i);
			const char *key = *(const char *const *)value_at(&pair[0], item);
			write_value(w, key, &pair[1], value_at(&pair[1], item));
		}
		ws_json_close(w);
	} else if (!empty && f->flags & WS_FIELD_LIST) {
		ws_json_open_list(w, f->key);
		for (size_t i = 0; i < count_items(f, record); i++) {
			write_value(w, NULL, f, item_at(f, record, i));
		}
		ws_json_close(w);
	} else if (!empty) {
		write_value(w, f->key, f, value_at(f, record));
	}
}

void
ws_table_write_members(struct ws_json_writer *w, const struct ws_table *table, const void *record)
{
	for (size_t i = 0; i < table->count; i++) {
		write_field(w, &table->fields[i], record);
	}
}

void
ws_table_write(
	struct ws_json_writer *w, const char *key, const struct ws_table *table, const void *record)
{
	ws_json_open_object(w, key);
	ws_table_write_members(w, table, record);
	ws_json_close(w);
}

void
ws_table_text(const struct ws_table *table, const void *record, enum ws_json_layout layout,
	struct ws_buf *out)
{
	struct ws_json_writer *w = ws_json_begin_object();
	ws_table_write_members(w, table, record);
	ws_json_finish(w, layout, out);
}
