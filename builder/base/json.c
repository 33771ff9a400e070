/* json.c - the scanner finds places and mistakes (json_scan.h), cJSON decodes; both trees are
 * walked together. What a key means is left to config/. */
#include "base/json.h"

#include "base/fs.h"
#include "base/json_scan.h"

#include <cjson/cJSON.h>

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST_FILE ((size_t)64 << 20)

static bool
same_kind(const struct ws_json *value, const cJSON *other)
{
	switch (value->kind) {
	case WS_JSON_NULL:
		return cJSON_IsNull(other);
	case WS_JSON_BOOL:
		return cJSON_IsBool(other) && cJSON_IsTrue(other) == value->truth;
	case WS_JSON_NUMBER:
		return cJSON_IsNumber(other);
	case WS_JSON_STRING:
		return cJSON_IsString(other);
	case WS_JSON_ARRAY:
		return cJSON_IsArray(other);
	case WS_JSON_OBJECT:
		return cJSON_IsObject(other);
	}
	return false;
}

/* Copies decoded texts and keys over from cJSON's tree; false when it has another shape. */
static bool
adopt(const struct ws_json_doc *doc, struct ws_json *value, const cJSON *other, struct ws_arena *a)
{
	if (!same_kind(value, other)) {
		return false;
	}
	if (value->kind == WS_JSON_STRING) {
		value->text = ws_arena_strdup(a, other->valuestring);
	} else if (value->kind == WS_JSON_NUMBER) {
		value->text = ws_arena_copy(a, doc->text + value->offset, value->len);
	}
	const cJSON *from = other->child;
	for (struct ws_json *child = value->first; child; child = child->next, from = from->next) {
		if (!from || !adopt(doc, child, from, a)) {
			return false;
		}
		child->key = value->kind == WS_JSON_OBJECT ? ws_arena_strdup(a, from->string) : NULL;
	}
	return !from;
}

static int
cmp_keys(const void *x, const void *y)
{
	const struct ws_json *one = *(const struct ws_json *const *)x;
	const struct ws_json *two = *(const struct ws_json *const *)y;
	int order = strcmp(one->key, two->key);
	return order ? order
				 : (one->key_offset > two->key_offset) - (one->key_offset < two->key_offset);
}

/* The first member whose key stands before it already; @a earlier is that one. */
static const struct ws_json *
find_twice(const struct ws_json *object, const struct ws_json **earlier)
{
	WS_AUTO_FREE const struct ws_json **sorted = calloc(object->count, sizeof(*sorted));
	const struct ws_json *twice = NULL;
	size_t count = 0;
	if (!sorted) {
		abort();
	}
	for (WS_JSON_EACH(member, object)) {
		sorted[count++] = member;
	}
	qsort(sorted, count, sizeof(*sorted), cmp_keys);
	for (size_t i = 1; i < count; i++) {
		bool same = strcmp(sorted[i]->key, sorted[i - 1]->key) == 0;
		if (same && (!twice || sorted[i]->key_offset < twice->key_offset)) {
			twice = sorted[i];
			*earlier = sorted[i - 1];
		}
	}
	return twice;
}

static bool
check_keys(const struct ws_json_doc *doc, const struct ws_json *value, struct ws_err *err)
{
	const struct ws_json *earlier, *twice = NULL;
	if (value->kind == WS_JSON_OBJECT && value->count > 1) {
		twice = find_twice(value, &earlier);
	}
	if (twice) {
		struct ws_err first = {0};
		ws_err_at(&first, doc->name, doc->text, earlier->key_offset, 1);
		ws_json_err_key(doc, twice, err, "key '%s' is repeated", twice->key);
		return ws_err_cure(err, "the first is at %s", first.place);
	}
	for (WS_JSON_EACH(child, value)) {
		if (child->first && !check_keys(doc, child, err)) {
			return false;
		}
	}
	return true;
}

/* Parses doc->text; the arena has it already. */
static bool
parse(struct ws_json_doc *doc, enum ws_json_flags flags, struct ws_arena *a, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf plain = {0};
	if (!ws_json_scan(doc, flags, a, &plain, err)) {
		return false;
	}
	const char *text = plain.len > 0 ? plain.data : doc->text;
	cJSON *tree = cJSON_ParseWithLength(text, doc->len);
	bool agreed = tree && adopt(doc, doc->root, tree, a);
	cJSON_Delete(tree);
	if (!agreed) {
		return ws_err_set(err, WS_ERR_INTERNAL,
			"internal error: two JSON parsers disagree about '%s'", doc->name);
	}
	return check_keys(doc, doc->root, err);
}

/* Copies the text, less a byte order mark. */
static void
keep_text(
	const char *name, const char *text, size_t len, struct ws_arena *a, struct ws_json_doc *doc)
{
	bool marked = len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0;
	text += marked ? 3 : 0;
	len -= marked ? 3 : 0;
	*doc = (struct ws_json_doc){
		.name = ws_arena_strdup(a, name), .text = ws_arena_copy(a, text, len), .len = len};
}

bool
ws_json_parse(const char *name, const char *text, size_t len, enum ws_json_flags flags,
	struct ws_arena *a, struct ws_json_doc *doc, struct ws_err *err)
{
	keep_text(name, text, len, a, doc);
	return parse(doc, flags, a, err);
}

bool
ws_json_read(const char *path, enum ws_json_flags flags, struct ws_arena *a,
	struct ws_json_doc *doc, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	if (!ws_fs_read_at_most(path, LARGEST_FILE, &b, err)) {
		return false;
	}
	keep_text(path, ws_buf_text(&b), b.len, a, doc);
	ws_buf_release(&b);
	return parse(doc, flags, a, err);
}

const struct ws_json *
ws_json_find(const struct ws_json *object, const char *key)
{
	if (!object || object->kind != WS_JSON_OBJECT) {
		return NULL;
	}
	for (WS_JSON_EACH(member, object)) {
		if (strcmp(member->key, key) == 0) {
			return member;
		}
	}
	return NULL;
}

static const struct ws_json *
find_child(const struct ws_json *value, struct ws_str name)
{
	uint64_t left;
	bool list = value->kind == WS_JSON_ARRAY && ws_str_to_u64(name, &left);
	if (!list && value->kind != WS_JSON_OBJECT) {
		return NULL;
	}
	for (WS_JSON_EACH(child, value)) {
		if (list ? left-- == 0 : ws_str_is(name, child->key)) {
			return child;
		}
	}
	return NULL;
}

const struct ws_json *
ws_json_at(const struct ws_json *value, const char *path)
{
	struct ws_str rest = ws_str_of(path);
	while (value && rest.s) {
		const struct ws_json *child = find_child(value, ws_str_cut(&rest, '/'));
		if (!child) {
			break;
		}
		value = child;
	}
	return value;
}

const char *
ws_json_text(const struct ws_json *object, const char *key)
{
	const struct ws_json *member = ws_json_find(object, key);
	return member && member->kind == WS_JSON_STRING ? member->text : NULL;
}

bool
ws_json_is_true(const struct ws_json *object, const char *key)
{
	const struct ws_json *value = ws_json_find(object, key);
	return value && value->kind == WS_JSON_BOOL && value->truth;
}

const char *const *
ws_json_texts(const struct ws_json *list, struct ws_arena *a, size_t *count)
{
	const char **texts = WS_NEW_N(a, const char *, list ? list->count : 0);
	*count = 0;
	for (const struct ws_json *item = list ? list->first : NULL; item; item = item->next) {
		texts[(*count)++] = item->text;
	}
	return texts;
}

bool
ws_json_u64(const struct ws_json *object, const char *key, uint64_t *value)
{
	const struct ws_json *member = ws_json_find(object, key);
	return member && member->kind == WS_JSON_NUMBER
		&& ws_str_to_u64(ws_str_of(member->text), value);
}

const char *
ws_json_kind_name(enum ws_json_kind kind)
{
	static const char *const names[] = {
		[WS_JSON_NULL] = "null",
		[WS_JSON_BOOL] = "a boolean",
		[WS_JSON_NUMBER] = "a number",
		[WS_JSON_STRING] = "a string",
		[WS_JSON_ARRAY] = "a list",
		[WS_JSON_OBJECT] = "an object",
	};
	return names[kind];
}

WS_PRINTF(5, 0)
static bool
fail_at(const struct ws_json_doc *doc, size_t offset, size_t len, struct ws_err *err,
	const char *format, va_list values)
{
	char text[sizeof(err->text)];
	vsnprintf(text, sizeof(text), format, values);
	ws_err_set(err, WS_ERR_CONFIG, "%s", text);
	return ws_err_at(err, doc->name, doc->text, offset, len);
}

bool
ws_json_err(const struct ws_json_doc *doc, const struct ws_json *value, struct ws_err *err,
	const char *format, ...)
{
	/* Of a list or an object that holds something only the bracket is marked. */
	va_list values;
	va_start(values, format);
	fail_at(doc, value->offset, value->first ? 1 : value->len, err, format, values);
	va_end(values);
	return false;
}

bool
ws_json_err_key(const struct ws_json_doc *doc, const struct ws_json *value, struct ws_err *err,
	const char *format, ...)
{
	const char *key = doc->text + value->key_offset;
	size_t len = 1;
	while (value->key && key[len] != '"' && key[len] != '\0') {
		len += key[len] == '\\' ? 2 : 1;
	}
	va_list values;
	va_start(values, format);
	fail_at(doc, value->key_offset, value->key ? len + 1 : 1, err, format, values);
	va_end(values);
	return false;
}
