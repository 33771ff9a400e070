/* lock.c - reads and writes the lock file by the types of pins in model/lock.c. */
#include "config/lock.h"

#include "base/fs.h"
#include "config/values.h"

static bool
read_schema(struct ws_reader *r, const struct ws_json *value, void *into WS_UNUSED)
{
	const char *text = ws_text_of(r, value, "\"" WS_LOCK_SCHEMA "\"");
	if (!text || strcmp(text, WS_LOCK_SCHEMA) == 0) {
		return text;
	}
	ws_json_err(r->doc, value, r->err, "'%s' is not a lock that this program reads", text);
	return ws_err_cure(r->err,
		ws_starts_with(text, "wheelsmith.lock/")
			? "a newer version wrote it: use that one, or delete the file and lock again"
			: "it reads \"" WS_LOCK_SCHEMA "\"; delete the file and lock again");
}

static bool
read_word(struct ws_reader *r, const struct ws_json *value, const char *what,
	const char *const *words, size_t count, void *into)
{
	const char *text = ws_text_of(r, value, "a string");
	for (size_t i = 0; text && i < count; i++) {
		if (strcmp(text, words[i]) == 0) {
			return (*(const char **)into = words[i]);
		}
	}
	return text && ws_word_err(r, value, what, words, count);
}

static bool
read_source_how(struct ws_reader *r, const struct ws_json *value, void *into)
{
	static const char *const words[] = {"sdist", "git", "folder"};
	return read_word(r, value, "kind of source", words, WS_LEN(words), into);
}

static bool
read_cuda_how(struct ws_reader *r, const struct ws_json *value, void *into)
{
	static const char *const words[] = {"host", "archive", "redist"};
	return read_word(r, value, "kind of kit", words, WS_LEN(words), into);
}

static bool
read_debian(struct ws_reader *r, const struct ws_json *value, void *into)
{
	static const char *const words[] = {"mirror", "redist"};
	return read_word(r, value, "origin of Debian archives", words, WS_LEN(words), into);
}

/* It will be a file name in the output folder. */
static bool
read_wheel(struct ws_reader *r, const struct ws_json *value, void *into)
{
	const char *text = ws_text_of(r, value, "a wheel's file name");
	if (text && (strchr(text, '/') || !ws_ends_with(text, ".whl"))) {
		return ws_json_err(r->doc, value, r->err, "'%s' is not a wheel's file name", text);
	}
	*(const char **)into = text;
	return text;
}

#define WORD(reader) WS_VALUES(char *, "a string", "strings", reader)

static const struct ws_type type_schema = WORD(read_schema);
static const struct ws_type type_source_how = WORD(read_source_how);
static const struct ws_type type_cuda_how = WORD(read_cuda_how);
static const struct ws_type type_debian = WORD(read_debian);
static const struct ws_type type_wheel = WORD(read_wheel);

static const struct ws_type *const value_types[] = {
	[WS_PIN_LINE] = &ws_type_line,
	[WS_PIN_PACKAGE] = &ws_type_package,
	[WS_PIN_SHA256] = &ws_type_sha256,
	[WS_PIN_COMMIT] = &ws_type_commit,
	[WS_PIN_WHEEL] = &type_wheel,
	[WS_PIN_SOURCE_HOW] = &type_source_how,
	[WS_PIN_CUDA_HOW] = &type_cuda_how,
	[WS_PIN_DEBIAN] = &type_debian,
	[WS_PIN_ABI] = &ws_type_abi,
};

/* Builds the type for reading pins of a kind from its fields. */
static struct ws_type *
type_of(const struct ws_pin_type *pin, struct ws_arena *a)
{
	struct ws_field *fields = WS_NEW_N(a, struct ws_field, pin->field_count);
	struct ws_table *table = WS_NEW(a, struct ws_table);
	struct ws_type *type = WS_NEW(a, struct ws_type);
	for (size_t i = 0; i < pin->field_count; i++) {
		fields[i] = (struct ws_field){.key = pin->fields[i].key,
			.type = value_types[pin->fields[i].value],
			.flags = pin->fields[i].flags & WS_PIN_NEEDED ? WS_FIELD_REQUIRED : 0,
			.at = pin->fields[i].at};
	}
	*table = (struct ws_table){pin->what, fields, pin->field_count};
	*type = (struct ws_type){
		.name = "an object", .plural = "objects", .size = pin->size, .table = table};
	return type;
}

static struct ws_table
table_of_lock(struct ws_arena *a)
{
	struct ws_field *fields = WS_NEW_N(a, struct ws_field, WS_PIN_KINDS + 1);
	fields[0] =
		(struct ws_field){.key = "schema", .type = &type_schema, .flags = WS_FIELD_REQUIRED};
	for (size_t i = 0; i < WS_PIN_KINDS; i++) {
		const struct ws_pin_type *pin = &ws_pin_types[i];
		fields[i + 1] = (struct ws_field){.key = pin->key,
			.type = type_of(pin, a),
			.flags = WS_FIELD_LIST,
			.at = pin->list_at,
			.count_at = pin->count_at};
	}
	return (struct ws_table){"a lock", fields, WS_PIN_KINDS + 1};
}

/* A second pin with the same id would never be found. */
static bool
check_once(struct ws_reader *r, const struct ws_lock *lock)
{
	for (enum ws_pin_kind kind = 0; kind < WS_PIN_KINDS; kind++) {
		const struct ws_json *list = ws_json_find(r->doc->root, ws_pin_types[kind].key);
		const struct ws_json *item = list ? list->first : NULL;
		for (size_t i = 0; i < ws_lock_count(lock, kind); i++, item = item->next) {
			const void *pin = ws_lock_at(lock, kind, i);
			if (ws_lock_find(lock, kind, pin) != pin) {
				return ws_json_err(r->doc, item, r->err, "a second pin of the same thing");
			}
		}
	}
	return true;
}

bool
ws_lock_parse(
	const struct ws_json_doc *doc, struct ws_arena *a, struct ws_lock *lock, struct ws_err *err)
{
	struct ws_reader r = {.doc = doc, .folder = "/", .a = a, .err = err};
	const struct ws_table table = table_of_lock(a);
	*lock = (struct ws_lock){0};
	if (!ws_object_read(&r, doc->root, &table, lock)) {
		return false;
	}
	for (size_t i = 0; i < lock->torch.len; i++) {
		struct ws_pin_torch *pin = &lock->torch.at[i];
		pin->sha256 = pin->sha256 ? pin->sha256 : "";
	}
	return check_once(&r, lock);
}

bool
ws_lock_read(const char *path, struct ws_arena *a, struct ws_lock *lock, struct ws_err *err)
{
	*lock = (struct ws_lock){0};
	if (!ws_fs_exists(path)) {
		return true;
	}
	struct ws_json_doc *doc = WS_NEW(a, struct ws_json_doc);
	return ws_json_read(path, WS_JSON_STRICT, a, doc, err) && ws_lock_parse(doc, a, lock, err);
}

const char *
ws_lock_path(const char *matrix, struct ws_arena *a)
{
	static const char ending[] = ".json";
	size_t stem = strlen(matrix) - (ws_ends_with(matrix, ending) ? strlen(ending) : 0);
	return ws_arena_printf(a, "%.*s.lock.json", (int)stem, matrix);
}

/* ---- writing ---- */

static int
cmp_pins(const void *x, const void *y, void *kind)
{
	return ws_pin_cmp(*(const enum ws_pin_kind *)kind, x, y);
}

/* Members that are NULL are left out. */
static void
write_pin(struct ws_json_writer *w, const struct ws_pin_type *type, const void *pin)
{
	ws_json_open_object(w, NULL);
	for (size_t i = 0; i < type->field_count; i++) {
		const struct ws_pin_field *field = &type->fields[i];
		if (field->value == WS_PIN_ABI) {
			int number;
			memcpy(&number, (const char *)pin + field->at, sizeof(number));
			ws_json_add_i64(w, field->key, number);
			continue;
		}
		const char *text = ws_pin_text(field, pin);
		if (text && text[0]) {
			ws_json_add_text(w, field->key, text);
		}
	}
	ws_json_close(w);
}

/* In order; a list without pins is left out: the reader accepts no empty ones. */
static void
write_pins(struct ws_json_writer *w, const struct ws_lock *lock, enum ws_pin_kind kind)
{
	const struct ws_pin_type *type = &ws_pin_types[kind];
	size_t count = ws_lock_count(lock, kind);
	if (count == 0) {
		return;
	}
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	char *pins = ws_arena_alloc(a, count * type->size);
	memcpy(pins, ws_lock_at(lock, kind, 0), count * type->size);
	qsort_r(pins, count, type->size, cmp_pins, &kind);
	ws_json_open_list(w, type->key);
	for (size_t i = 0; i < count; i++) {
		write_pin(w, type, pins + i * type->size);
	}
	ws_json_close(w);
}

void
ws_lock_write(const struct ws_lock *lock, struct ws_buf *out)
{
	struct ws_json_writer *w = ws_json_begin_object();
	ws_json_add_text(w, "schema", WS_LOCK_SCHEMA);
	for (enum ws_pin_kind kind = 0; kind < WS_PIN_KINDS; kind++) {
		write_pins(w, lock, kind);
	}
	ws_json_finish(w, WS_JSON_PRETTY, out);
}

bool
ws_lock_save(const char *path, const struct ws_lock *lock, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	ws_lock_write(lock, &text);
	ws_fs_remove_parts(ws_path_dir(a, path));
	return ws_fs_write_atomic(path, text.data, text.len, 0644, err);
}
