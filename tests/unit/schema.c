/* schema.c - a table as a JSON Schema, laid out in short lines. */
#include "schema.h"

#include <assert.h>

#define WIDEST 118 /* a value stands on one line up to this column */

static const struct ws_table *
table_of(const struct ws_field *f)
{
	return f->table ? f->table : f->type->table;
}

struct schema {
	struct ws_json_writer *w;
	struct ws_arena *a;
	bool closed;
	WS_VEC(const struct ws_table *) tables; /* that have a definition, in order of appearance */
};

/* "known_bad_rule" of "a known-bad rule". */
static const char *
definition_name(const struct ws_table *table, struct ws_arena *a)
{
	const char *blank = strchr(table->what, ' ');
	char *name = ws_arena_strdup(a, blank ? blank + 1 : table->what);
	for (char *c = name; *c; c++) {
		*c = ws_is_letter(*c) || ws_is_digit(*c) ? *c : '_';
	}
	return name;
}

/* A table without a name is described in place. */
static void write_object_schema(struct schema *s, const struct ws_table *table);

static void
write_table_schema(struct schema *s, const struct ws_table *table)
{
	if (!table->what) {
		write_object_schema(s, table);
		return;
	}
	size_t i = 0;
	while (i < s->tables.len && s->tables.at[i] != table) {
		i++;
	}
	if (i == s->tables.len) {
		*ws_vec_push(&s->tables, s->a) = table;
	}
	ws_json_add_text(
		s->w, "$ref", ws_arena_printf(s->a, "#/$defs/%s", definition_name(table, s->a)));
}

/* "type": one name, or the name and "null". */
static void
write_type(struct schema *s, const char *name, bool null)
{
	const char *const names[] = {name, "null"};
	if (null) {
		ws_json_add_texts(s->w, "type", names, WS_LEN(names));
	} else {
		ws_json_add_text(s->w, "type", name);
	}
}

static void
write_words(struct schema *s, const char *const *words, bool null)
{
	ws_json_open_list(s->w, "enum");
	for (; *words; words++) {
		if (**words) {
			ws_json_add_text(s->w, NULL, *words);
		}
	}
	if (null) {
		ws_json_add_null(s->w, NULL);
	}
	ws_json_close(s->w);
}

/* The schema that a type brings, member by member. */
static void
copy_schema(struct schema *s, const char *text)
{
	struct ws_json_doc doc;
	bool parsed = ws_json_parse("schema", text, strlen(text), WS_JSON_STRICT, s->a, &doc, NULL);
	assert(parsed);
	for (const struct ws_json *m = parsed ? doc.root->first : NULL; m; m = m->next) {
		ws_json_add_copy(s->w, m->key, m);
	}
}

static void
write_value_schema(struct schema *s, const struct ws_field *f, bool null)
{
	if (f->type->schema) {
		copy_schema(s, f->type->schema);
		return;
	}
	switch (f->type->kind) {
	case WS_KIND_OTHER:
	case WS_KIND_TEXT:
		write_type(s, "string", null);
		break;
	case WS_KIND_DIGEST:
		write_type(s, "string", null);
		ws_json_add_text(s->w, "pattern", "^[0-9a-f]{64}$");
		break;
	case WS_KIND_BOOL:
		write_type(s, "boolean", null);
		break;
	case WS_KIND_UNSIGNED:
	case WS_KIND_SIGNED:
		write_type(s, "integer", null);
		if (f->type->kind == WS_KIND_UNSIGNED) {
			ws_json_add_u64(s->w, "minimum", 0);
		}
		break;
	case WS_KIND_WORD:
		write_words(s, f->words, null);
		break;
	case WS_KIND_FIXED:
		ws_json_add_text(s->w, "const", f->fixed);
		break;
	case WS_KIND_OBJECT:
		write_table_schema(s, table_of(f));
		break;
	case WS_KIND_JSON:
		break;
	}
}

static void
write_field_schema(struct schema *s, const struct ws_field *f)
{
	bool null = f->flags & WS_FIELD_NULL;
	ws_json_open_object(s->w, f->key);
	if (f->meaning) {
		ws_json_add_text(s->w, "description", f->meaning);
	}
	if (f->flags & WS_FIELD_MAP) {
		write_type(s, "object", null);
		ws_json_open_object(s->w, "additionalProperties");
		write_value_schema(s, &table_of(f)->fields[1], false);
		ws_json_close(s->w);
	} else if (f->flags & WS_FIELD_LIST) {
		write_type(s, "array", null);
		if (s->closed) {
			ws_json_add_u64(s->w, "minItems", 1);
		}
		if (f->flags & WS_FIELD_UNIQUE) {
			ws_json_add_bool(s->w, "uniqueItems", true);
		}
		ws_json_open_object(s->w, "items");
		write_value_schema(s, f, false);
		ws_json_close(s->w);
	} else if (null && f->type->kind == WS_KIND_OBJECT) {
		ws_json_open_list(s->w, "anyOf");
		ws_json_open_object(s->w, NULL);
		write_value_schema(s, f, false);
		ws_json_close(s->w);
		ws_json_open_object(s->w, NULL);
		write_type(s, "null", false);
		ws_json_close(s->w);
		ws_json_close(s->w);
	} else {
		write_value_schema(s, f, null);
	}
	ws_json_close(s->w);
}

static void
write_object_schema(struct schema *s, const struct ws_table *table)
{
	write_type(s, "object", false);
	if (s->closed) {
		ws_json_add_bool(s->w, "additionalProperties", false);
	}
	bool any = false;
	for (size_t i = 0; i < table->count; i++) {
		if (table->fields[i].flags & WS_FIELD_REQUIRED) {
			if (!any) {
				ws_json_open_list(s->w, "required");
			}
			any = true;
			ws_json_add_text(s->w, NULL, table->fields[i].key);
		}
	}
	if (any) {
		ws_json_close(s->w);
	}
	ws_json_open_object(s->w, "properties");
	for (size_t i = 0; i < table->count; i++) {
		write_field_schema(s, &table->fields[i]);
	}
	ws_json_close(s->w);
}

/* ---- layout ---- */

/* The length of the JSON value at @a at, which is compact. */
static size_t
value_len(const char *at)
{
	size_t depth = 0, i = 0;
	do {
		if (at[i] == '"') {
			for (i++; at[i] != '"'; i++) {
				i += at[i] == '\\';
			}
		}
		depth += at[i] == '{' || at[i] == '[';
		depth -= at[i] == '}' || at[i] == ']';
		i++;
	} while (depth > 0 || (at[i] && !strchr(",:}]", at[i])));
	return i;
}

/* One value on one line, with a blank behind ',' and ':'. */
static void
put_line(const char *at, size_t len, struct ws_buf *out)
{
	for (size_t i = 0; i < len;) {
		size_t part = at[i] == '"' ? value_len(at + i) : 1;
		ws_buf_add(out, at + i, part);
		if (at[i] == ',' || at[i] == ':') {
			ws_buf_putc(out, ' ');
		}
		i += part;
	}
}

/* The value at @a at, on one line if it fits, else with a line for each member. */
static void
put_value(const char *at, size_t len, unsigned indent, size_t column, struct ws_buf *out)
{
	WS_AUTO_BUF struct ws_buf line = {0};
	put_line(at, len, &line);
	if ((at[0] != '{' && at[0] != '[') || (indent > 0 && column + line.len <= WIDEST)) {
		ws_buf_add(out, line.data, line.len);
		return;
	}
	ws_buf_putc(out, at[0]);
	for (size_t i = 1; i + 1 < len; i++) {
		size_t key = at[0] == '{' ? value_len(at + i) : 0;
		ws_buf_printf(out, "%s\n%*s", i > 1 ? "," : "", (int)indent + 2, "");
		if (key) {
			ws_buf_printf(out, "%.*s: ", (int)key, at + i);
			i += key + 1;
		}
		size_t value = value_len(at + i);
		put_value(at + i, value, indent + 2, indent + 2 + key + 2, out);
		i += value;
	}
	ws_buf_printf(out, "\n%*s%c", (int)indent, "", at[0] == '{' ? '}' : ']');
}

void
ws_schema_write(const struct ws_schema *schema, struct ws_arena *a, struct ws_buf *out)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct schema s = {.w = ws_json_begin_object(), .a = a, .closed = schema->closed};
	ws_json_add_text(s.w, "$schema", "https://json-schema.org/draft/2020-12/schema");
	ws_json_add_text(s.w, "$id", ws_arena_printf(a, "%s.json", schema->name));
	ws_json_add_text(s.w, "title", schema->title);
	if (schema->description) {
		ws_json_add_text(s.w, "description", schema->description);
	}
	write_object_schema(&s, schema->table);
	/* A definition may refer to tables that have none yet. */
	for (size_t i = 0; i < s.tables.len; i++) {
		if (i == 0) {
			ws_json_open_object(s.w, "$defs");
		}
		ws_json_open_object(s.w, definition_name(s.tables.at[i], a));
		write_object_schema(&s, s.tables.at[i]);
		ws_json_close(s.w);
	}
	ws_json_finish(s.w, WS_JSON_COMPACT, &text);
	put_value(ws_buf_text(&text), text.len, 0, 0, out);
	ws_buf_putc(out, '\n');
}
