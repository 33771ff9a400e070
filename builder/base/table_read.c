/* table_read.c - reading an object by its table. The types of people's values are in
 * config/values.c. */
#include "base/fs.h"
#include "base/table.h"

#include <errno.h>
#include <limits.h>

bool
ws_type_err(struct ws_reader *r, const struct ws_json *value, const char *name)
{
	const char *got = ws_json_kind_words[value->kind];
	if (r->key) {
		ws_json_err(r->doc, value, r->err, "expected %s for '%s', got %s", name, r->key, got);
	} else {
		ws_json_err(r->doc, value, r->err, "expected %s, got %s", name, got);
	}
	return value->kind == WS_JSON_NULL && r->key
		? ws_err_cure(r->err, "leave '%s' out for its default", r->key)
		: false;
}

bool
ws_expect(
	struct ws_reader *r, const struct ws_json *value, enum ws_json_kind kind, const char *name)
{
	if (value->kind == kind) {
		return true;
	}
	ws_type_err(r, value, name);
	if (value->kind == WS_JSON_NUMBER && kind == WS_JSON_STRING) {
		ws_err_cure(r->err, "write \"%s\" in quotes", value->text);
	}
	uint64_t number;
	if (value->kind == WS_JSON_STRING && kind == WS_JSON_NUMBER
		&& ws_str_to_u64(ws_str_of(value->text), &number)) {
		ws_err_cure(r->err, "write %s without quotes", value->text);
	}
	return false;
}

bool
ws_word_read(struct ws_reader *r, const struct ws_json *value, const char *name,
	const char *const *words, unsigned *place)
{
	if (!ws_expect(r, value, WS_JSON_STRING, name)) {
		return false;
	}
	int found = value->text[0] ? ws_word_index(words, value->text) : -1;
	if (found >= 0) {
		*place = (unsigned)found;
		return true;
	}
	size_t count = 0;
	while (words[count]) {
		count++;
	}
	ws_json_err(r->doc, value, r->err, "'%s' is not %s", value->text, name);
	const char *near = ws_suggest(value->text, words, count);
	if (near) {
		ws_err_cure(r->err, "did you mean \"%s\"?", near);
	}
	return ws_err_cure(r->err, "one of: %s", ws_join(words, count, ", ", r->a));
}

static int
cmp_texts(const void *x, const void *y)
{
	const struct ws_json *one = *(const struct ws_json *const *)x;
	const struct ws_json *two = *(const struct ws_json *const *)y;
	int order = strcmp(one->text, two->text);
	return order ? order : (one->offset > two->offset) - (one->offset < two->offset);
}

/* Sorts the texts, because a hostile list may be long. */
static bool
check_unique(struct ws_reader *r, const struct ws_json *list)
{
	const struct ws_json **sorted = WS_NEW_N(r->a, const struct ws_json *, list->count);
	size_t count = 0;
	for (WS_JSON_EACH(value, list)) {
		if (value->text) {
			sorted[count++] = value;
		}
	}
	qsort(sorted, count, sizeof(*sorted), cmp_texts);
	for (size_t i = 1; i < count; i++) {
		if (strcmp(sorted[i]->text, sorted[i - 1]->text) == 0) {
			return ws_json_err(
				r->doc, sorted[i], r->err, "'%s' is listed twice in '%s'", sorted[i]->text, r->key);
		}
	}
	return true;
}

/* Checks that the value is a list; for a string alone the cure shows the brackets. */
static bool
expect_list(struct ws_reader *r, const struct ws_field *field, const struct ws_json *value)
{
	if (value->kind == WS_JSON_ARRAY && (value->count > 0 || r->lenient)) {
		return true;
	}
	if (value->kind == WS_JSON_ARRAY) {
		ws_json_err(r->doc, value, r->err, "'%s' is an empty list", field->key);
		return ws_err_cure(r->err, "name at least one value%s",
			field->flags & WS_FIELD_REQUIRED ? "" : ", or leave the key out");
	}
	ws_type_err(r, value, ws_arena_printf(r->a, "a list of %s", field->type->plural));
	const char *word = field->type->word;
	if (word && value->kind == WS_JSON_STRING && ws_suggest(value->text, &word, 1)) {
		ws_err_cure(r->err, "did you mean \"%s\"?", word);
	} else if (value->kind == WS_JSON_STRING) {
		ws_err_cure(r->err, "write [\"%s\"]", value->text);
	} else if (field->example) {
		ws_err_cure(r->err, "like this: \"%s\": %s", field->key, field->example);
	}
	return false;
}

/* After a mistake: true when reading continues. A mistake inside a value was reported there. */
static bool
goes_on(struct ws_reader *r)
{
	if (r->report && r->err->kind != WS_ERR_NONE) {
		r->report(r->self, r->err);
		*r->err = (struct ws_err){0};
	}
	return r->report != NULL;
}

static bool
read_number(struct ws_reader *r, const struct ws_field *f, const struct ws_json *value, void *into)
{
	bool wide = f->type->size == sizeof(uint64_t), fits;
	uint64_t number;
	if (!ws_expect(r, value, WS_JSON_NUMBER, f->type->name)) {
		return false;
	}
	if (f->type->kind == WS_KIND_UNSIGNED) {
		fits = ws_str_to_u64(ws_str_of(value->text), &number) && (wide || number <= UINT_MAX);
	} else {
		char *end;
		errno = 0;
		long long with_sign = strtoll(value->text, &end, 10);
		fits =
			errno == 0 && *end == '\0' && (wide || (with_sign >= INT_MIN && with_sign <= INT_MAX));
		number = (uint64_t)with_sign;
	}
	if (!fits) {
		return ws_json_err(
			r->doc, value, r->err, "'%s' does not fit into '%s'", value->text, r->key);
	}
	uint32_t narrow = (uint32_t)number;
	memcpy(into, wide ? (const void *)&number : &narrow, f->type->size);
	return true;
}

/* A value whose type has no reader of its own. */
static bool
read_plain(struct ws_reader *r, const struct ws_field *f, const struct ws_json *value, void *into)
{
	enum ws_value_kind kind = f->type->kind;
	if (kind == WS_KIND_JSON) {
		*(const struct ws_json **)into = value;
		return true;
	}
	if (kind == WS_KIND_UNSIGNED || kind == WS_KIND_SIGNED) {
		return read_number(r, f, value, into);
	}
	if (kind == WS_KIND_BOOL) {
		*(bool *)into = value->truth;
		return ws_expect(r, value, WS_JSON_BOOL, f->type->name);
	}
	if (!ws_expect(r, value, WS_JSON_STRING, f->type->name)) {
		return false;
	}
	const char *const *words = f->words ? f->words : f->type->words;
	if (words) {
		const char *name =
			f->type->words ? f->type->name : ws_arena_printf(r->a, "a value of '%s'", r->key);
		unsigned place;
		if (!ws_word_read(r, value, name, words, &place)) {
			return false;
		}
		if (kind == WS_KIND_WORD) {
			*(unsigned *)into = place;
			return true;
		}
	}
	if (kind == WS_KIND_DIGEST) {
		return ws_digest_parse(value->text, into)
			|| ws_json_err(r->doc, value, r->err, "'%s' is not a sha256", value->text);
	}
	if (kind == WS_KIND_FIXED) {
		return ws_same(value->text, f->fixed)
			|| ws_json_err(r->doc, value, r->err, "'%s' is not '%s'", value->text, f->fixed);
	}
	*(const char **)into = value->text;
	return true;
}

static bool
read_value(struct ws_reader *r, const struct ws_field *f, const struct ws_json *value, void *into)
{
	const struct ws_table *table = ws_field_table(f);
	if (value->kind == WS_JSON_NULL && f->flags & WS_FIELD_NULL) {
		return true;
	}
	if (f->flags & WS_FIELD_POINTER) {
		void *object = ws_arena_alloc(r->a, f->size);
		memcpy(into, &object, sizeof(object));
		into = object;
	}
	return f->type->read ? f->type->read(r, value, into)
		: table          ? ws_object_read(r, value, table, into)
						 : read_plain(r, f, value, into);
}

static void
set_list(const struct ws_field *f, char *items, size_t count, void *into)
{
	memcpy((char *)into + f->at, &items, sizeof(items)); /* a pointer to any type */
	memcpy((char *)into + f->count_at, &count, sizeof(count));
}

static bool
read_list(
	struct ws_reader *r, const struct ws_field *field, const struct ws_json *value, void *into)
{
	size_t count = 1;
	const struct ws_json *item = value;
	const char *word = value->kind == WS_JSON_STRING ? field->type->word : NULL;
	bool alone =
		field->type->alone ? field->type->alone(value) : word && strcmp(value->text, word) == 0;
	if (!alone) {
		if (!expect_list(r, field, value)) {
			return false;
		}
		count = value->count;
		item = value->first;
	}
	bool good = true;
	size_t size = ws_field_size(field);
	char *items = ws_arena_alloc(r->a, count * size);
	for (size_t i = 0; i < count; i++, item = item->next) {
		r->key = field->key;
		if (!read_value(r, field, item, items + i * size)) {
			if (!goes_on(r)) {
				return false;
			}
			good = false;
		}
	}
	set_list(field, items, count, into);
	return good && (!(field->flags & WS_FIELD_UNIQUE) || check_unique(r, value));
}

/* Each key and its value become an item with two fields. */
static bool
read_map(struct ws_reader *r, const struct ws_field *field, const struct ws_json *value, void *into)
{
	const struct ws_field *pair = ws_field_table(field)->fields;
	size_t count = 0, size = ws_field_size(field);
	if (!ws_expect(r, value, WS_JSON_OBJECT,
			field->example ? ws_arena_printf(r->a, "an object like %s", field->example)
						   : "an object")) {
		return false;
	}
	char *items = ws_arena_alloc(r->a, value->count * size);
	for (WS_JSON_EACH(member, value)) {
		char *item = items + count++ * size;
		memcpy(item + pair[0].at, &member->key, sizeof(member->key));
		r->key = member->key;
		if (!read_value(r, &pair[1], member, item + pair[1].at)) {
			return false;
		}
	}
	set_list(field, items, count, into);
	return true;
}

static bool
read_member(
	struct ws_reader *r, const struct ws_table *table, const struct ws_json *member, void *into)
{
	const char **words = WS_NEW_N(r->a, const char *, r->lenient ? 0 : table->count);
	size_t count = 0;
	for (size_t i = 0; i < table->count; i++) {
		const struct ws_field *field = &table->fields[i];
		if (strcmp(field->key, member->key) == 0) {
			r->key = field->key;
			return field->flags & WS_FIELD_MAP ? read_map(r, field, member, into)
				: field->flags & WS_FIELD_LIST
				? read_list(r, field, member, into)
				: read_value(r, field, member, (char *)into + field->at);
		}
		if (!r->lenient && field->key[0] != '$') {
			words[count++] = field->key;
		}
	}
	if (r->lenient) {
		return true;
	}
	ws_json_err_key(r->doc, member, r->err, "unknown key '%s' in %s", member->key, table->what);
	const char *near = ws_suggest(member->key, words, count);
	if (near) {
		ws_err_cure(r->err, "did you mean \"%s\"?", near);
	}
	return ws_err_cure(r->err, "keys here: %s", ws_join(words, count, ", ", r->a));
}

bool
ws_object_read(
	struct ws_reader *r, const struct ws_json *value, const struct ws_table *table, void *into)
{
	const char *outer = r->key;
	if (!ws_expect(r, value, WS_JSON_OBJECT, "an object")) {
		return false;
	}
	bool good = true;
	for (WS_JSON_EACH(member, value)) {
		if (!read_member(r, table, member, into)) {
			if (!goes_on(r)) {
				return false;
			}
			good = false;
		}
	}
	r->key = outer;
	for (size_t i = 0; i < table->count; i++) {
		const struct ws_field *field = &table->fields[i];
		if (!(field->flags & WS_FIELD_REQUIRED) || ws_json_find(value, field->key)) {
			continue;
		}
		ws_json_err(r->doc, value, r->err, "%s needs '%s'",
			table->what ? table->what : "the object", field->key);
		if (field->example) {
			ws_err_cure(r->err, "like this: \"%s\": %s", field->key, field->example);
		}
		if (!goes_on(r)) {
			return false;
		}
		good = false;
	}
	return good;
}

bool
ws_table_read(const struct ws_json_doc *doc, const struct ws_json *value,
	const struct ws_table *table, struct ws_arena *a, void *into, struct ws_err *err)
{
	struct ws_err ignored = {0};
	struct ws_reader r = {.doc = doc, .a = a, .err = err ? err : &ignored, .lenient = true};
	if (ws_object_read(&r, value, table, into)) {
		return true;
	}
	r.err->kind = WS_ERR_IO;
	return ws_err_wrap(r.err, "'%s' is damaged", doc->name);
}

bool
ws_table_parse(const char *name, struct ws_str text, const struct ws_table *table,
	struct ws_arena *a, void *into, struct ws_err *err)
{
	struct ws_json_doc doc;
	if (ws_json_parse(name, text.s, text.n, WS_JSON_STRICT, a, &doc, err)) {
		return ws_table_read(&doc, doc.root, table, a, into, err);
	}
	if (err) {
		err->kind = WS_ERR_IO;
	}
	return ws_err_wrap(err, "'%s' is damaged", name);
}

bool
ws_table_read_file(const char *path, const struct ws_table *table, struct ws_arena *a, void *into,
	struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	return ws_fs_read(path, &text, err)
		&& ws_table_parse(path, ws_buf_str(&text), table, a, into, err);
}
