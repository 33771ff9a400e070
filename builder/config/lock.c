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

static const char *const source_hows[] = {"sdist", "git", "folder", NULL};
static const char *const cuda_hows[] = {"host", "archive", "redist", NULL};
static const char *const debian_origins[] = {"mirror", "redist", NULL};

static const struct ws_type type_schema = {.read = read_schema, .kind = WS_KIND_FIXED};
static const struct ws_type type_source_how = {
	.name = "a kind of source", .kind = WS_KIND_TEXT, .words = source_hows};
static const struct ws_type type_cuda_how = {
	.name = "a kind of kit", .kind = WS_KIND_TEXT, .words = cuda_hows};
static const struct ws_type type_debian = {
	.name = "an origin of Debian archives", .kind = WS_KIND_TEXT, .words = debian_origins};
static const struct ws_type type_pin = {
	.name = "an object", .plural = "objects", .kind = WS_KIND_OBJECT};
static const struct ws_type type_wheel = {.read = read_wheel, .kind = WS_KIND_TEXT};

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

/* Made of ws_pin_types, for reading and writing. */
static struct ws_table
make_table(struct ws_arena *a)
{
	struct ws_field *lists = WS_NEW_N(a, struct ws_field, WS_PIN_KINDS + 1);
	lists[0] = (struct ws_field){
		.key = "schema", .type = &type_schema, .flags = WS_ALWAYS, .fixed = WS_LOCK_SCHEMA};
	for (size_t i = 0; i < WS_PIN_KINDS; i++) {
		const struct ws_pin_type *pin = &ws_pin_types[i];
		struct ws_field *fields = WS_NEW_N(a, struct ws_field, pin->field_count);
		struct ws_table *table = WS_NEW(a, struct ws_table);
		for (size_t k = 0; k < pin->field_count; k++) {
			fields[k] = (struct ws_field){.key = pin->fields[k].key,
				.type = value_types[pin->fields[k].value],
				.flags = pin->fields[k].flags & WS_PIN_NEEDED ? WS_ALWAYS : WS_IF_ANY,
				.at = pin->fields[k].at};
		}
		*table = (struct ws_table){pin->what, fields, pin->field_count};
		lists[i + 1] = (struct ws_field){.key = pin->key,
			.type = &type_pin,
			.table = table,
			.size = pin->size,
			.flags = WS_FIELD_LIST,
			.at = pin->list_at,
			.count_at = pin->count_at};
	}
	return (struct ws_table){"a lock", lists, WS_PIN_KINDS + 1};
}

bool
ws_lock_parse(
	const struct ws_json_doc *doc, struct ws_arena *a, struct ws_lock *lock, struct ws_err *err)
{
	struct ws_reader r = {.doc = doc, .folder = "/", .a = a, .err = err};
	const struct ws_table table = make_table(a);
	*lock = (struct ws_lock){0};
	if (!ws_object_read(&r, doc->root, &table, lock)) {
		return false;
	}
	for (size_t i = 0; i < lock->torch.len; i++) {
		struct ws_pin_torch *pin = &lock->torch.at[i];
		pin->sha256 = pin->sha256 ? pin->sha256 : "";
	}
	/* A second pin with the same id would never be found. */
	for (enum ws_pin_kind kind = 0; kind < WS_PIN_KINDS; kind++) {
		size_t i = 0;
		for (WS_JSON_EACH(item, ws_json_find(doc->root, ws_pin_types[kind].key))) {
			const void *pin = ws_lock_at(lock, kind, i++);
			if (ws_lock_find(lock, kind, pin) != pin) {
				return ws_json_err(doc, item, err, "a second pin of the same thing");
			}
		}
	}
	return true;
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

void
ws_lock_write(const struct ws_lock *lock, struct ws_buf *out)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const struct ws_table table = make_table(a);
	struct ws_lock sorted = *lock;
	for (enum ws_pin_kind kind = 0; kind < WS_PIN_KINDS; kind++) {
		const struct ws_pin_type *type = &ws_pin_types[kind];
		size_t count = ws_lock_count(lock, kind);
		char *pins = ws_arena_alloc(a, count * type->size);
		if (count > 0) {
			memcpy(pins, ws_lock_at(lock, kind, 0), count * type->size);
			qsort_r(pins, count, type->size, cmp_pins, &kind);
		}
		memcpy((char *)&sorted + type->list_at, &pins, sizeof(pins));
	}
	/* An empty text is left out; the list is a copy. */
	for (size_t i = 0; i < sorted.torch.len; i++) {
		struct ws_pin_torch *pin = &sorted.torch.at[i];
		pin->sha256 = pin->sha256 && pin->sha256[0] ? pin->sha256 : NULL;
		pin->cuda = pin->cuda && pin->cuda[0] ? pin->cuda : NULL;
	}
	ws_table_text(&table, &sorted, WS_JSON_PRETTY, out);
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
