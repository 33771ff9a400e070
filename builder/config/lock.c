/* lock.c - the lock file: the tables of its keys, and the one order in which it is written. Looking pins
 * up and replacing them is model/lock.c's. */
#include "config/lock.h"

#include "base/fs.h"
#include "base/json_write.h"
#include "config/condition.h"
#include "config/values.h"

#include <stdlib.h>
#include <string.h>

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
	static const char *const words[] = {"sdist", "git", "archive", "folder"};
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

/* It becomes the name of a file in the output folder. */
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

#define WORD(reader) \
	{ \
		.name = "a string", .plural = "strings", .size = sizeof(char *), .read = (reader) \
	}

static const struct ws_type type_schema = WORD(read_schema);
static const struct ws_type type_source_how = WORD(read_source_how);
static const struct ws_type type_cuda_how = WORD(read_cuda_how);
static const struct ws_type type_debian = WORD(read_debian);
static const struct ws_type type_wheel = WORD(read_wheel);

#define NEEDED .flags = WS_FIELD_REQUIRED

static const struct ws_field source_fields[] = {
	{WS_ONE(struct ws_pin_source, package, "package", ws_type_package), NEEDED},
	{WS_ONE(struct ws_pin_source, version, "version", ws_type_line), NEEDED},
	{WS_ONE(struct ws_pin_source, how, "how", type_source_how), NEEDED},
	{WS_ONE(struct ws_pin_source, from, "from", ws_type_line), NEEDED},
	{WS_ONE(struct ws_pin_source, sha256, "sha256", ws_type_sha256)},
	{WS_ONE(struct ws_pin_source, commit, "commit", ws_type_commit)},
	{WS_ONE(struct ws_pin_source, tree, "tree", ws_type_sha256), NEEDED},
	{WS_ONE(struct ws_pin_source, definition, "definition", ws_type_sha256)},
};
static const struct ws_table source_table = {
	"the pin of a source", source_fields, WS_LEN(source_fields)};

static bool
read_source(struct ws_reader *r, const struct ws_json *value, void *into)
{
	return ws_object_read(r, value, &source_table, into);
}

static const struct ws_field cuda_fields[] = {
	{WS_ONE(struct ws_pin_cuda, cuda, "cuda", ws_type_line), NEEDED},
	{WS_ONE(struct ws_pin_cuda, how, "how", type_cuda_how), NEEDED},
	{WS_ONE(struct ws_pin_cuda, name, "name", ws_type_line), NEEDED},
	{WS_ONE(struct ws_pin_cuda, digest, "digest", ws_type_sha256), NEEDED},
	{WS_ONE(struct ws_pin_cuda, definition, "definition", ws_type_sha256)},
	{WS_ONE(struct ws_pin_cuda, debian, "debian", type_debian)},
};
static const struct ws_table cuda_table = {
	"the pin of a CUDA kit", cuda_fields, WS_LEN(cuda_fields)};

static bool
read_cuda(struct ws_reader *r, const struct ws_json *value, void *into)
{
	return ws_object_read(r, value, &cuda_table, into);
}

static const struct ws_field torch_fields[] = {
	{WS_ONE(struct ws_pin_torch, version, "torch", ws_type_line), NEEDED},
	{WS_ONE(struct ws_pin_torch, wheel, "wheel", ws_type_line), NEEDED},
	{WS_ONE(struct ws_pin_torch, sha256, "sha256", ws_type_sha256)},
	{WS_ONE(struct ws_pin_torch, record, "record", ws_type_sha256), NEEDED},
	{WS_ONE(struct ws_pin_torch, tree, "tree", ws_type_sha256), NEEDED},
	{WS_ONE(struct ws_pin_torch, cuda, "cuda", ws_type_line)},
	{WS_ONE(struct ws_pin_torch, cxx11abi, "cxx11abi", ws_type_abi), NEEDED},
};
static const struct ws_table torch_table = {
	"the pin of a torch release", torch_fields, WS_LEN(torch_fields)};

static bool
read_torch(struct ws_reader *r, const struct ws_json *value, void *into)
{
	struct ws_pin_torch *pin = into;
	pin->sha256 = "";
	return ws_object_read(r, value, &torch_table, pin);
}

static const struct ws_field exports_fields[] = {
	{WS_ONE(struct ws_pin_exports, torch, "torch", ws_type_line), NEEDED},
	{WS_ONE(struct ws_pin_exports, definition, "definition", ws_type_sha256), NEEDED},
	{WS_ONE(struct ws_pin_exports, tree, "tree", ws_type_sha256), NEEDED},
};
static const struct ws_table exports_table = {
	"the pin of an export list", exports_fields, WS_LEN(exports_fields)};

static bool
read_exports(struct ws_reader *r, const struct ws_json *value, void *into)
{
	return ws_object_read(r, value, &exports_table, into);
}

static const struct ws_field prebuilt_fields[] = {
	{WS_ONE(struct ws_pin_prebuilt, package, "package", ws_type_package), NEEDED},
	{WS_ONE(struct ws_pin_prebuilt, version, "version", ws_type_line), NEEDED},
	{WS_ONE(struct ws_pin_prebuilt, wheel, "wheel", type_wheel), NEEDED},
	{WS_ONE(struct ws_pin_prebuilt, from, "from", ws_type_line), NEEDED},
	{WS_ONE(struct ws_pin_prebuilt, sha256, "sha256", ws_type_sha256), NEEDED},
};
static const struct ws_table prebuilt_table = {
	"the pin of a prebuilt wheel", prebuilt_fields, WS_LEN(prebuilt_fields)};

static bool
read_prebuilt(struct ws_reader *r, const struct ws_json *value, void *into)
{
	return ws_object_read(r, value, &prebuilt_table, into);
}

#define PIN(c_type, reader) \
	{ \
		.name = "an object", .plural = "objects", .size = sizeof(c_type), .read = (reader) \
	}

static const struct ws_type type_source = PIN(struct ws_pin_source, read_source);
static const struct ws_type type_cuda = PIN(struct ws_pin_cuda, read_cuda);
static const struct ws_type type_torch = PIN(struct ws_pin_torch, read_torch);
static const struct ws_type type_exports = PIN(struct ws_pin_exports, read_exports);
static const struct ws_type type_prebuilt = PIN(struct ws_pin_prebuilt, read_prebuilt);

static const struct ws_field fields[] = {
	{.key = "schema", .type = &type_schema, NEEDED},
	{WS_MANY(struct ws_lock, sources.at, sources.len, "sources", type_source),
		.flags = WS_FIELD_LIST},
	{WS_MANY(struct ws_lock, cuda.at, cuda.len, "cuda", type_cuda), .flags = WS_FIELD_LIST},
	{WS_MANY(struct ws_lock, torch.at, torch.len, "torch", type_torch), .flags = WS_FIELD_LIST},
	{WS_MANY(struct ws_lock, exports.at, exports.len, "exports", type_exports),
		.flags = WS_FIELD_LIST},
	{WS_MANY(struct ws_lock, prebuilt.at, prebuilt.len, "prebuilt", type_prebuilt),
		.flags = WS_FIELD_LIST},
};
static const struct ws_table table = {"a lock", fields, WS_LEN(fields)};

/* Of two pins of one thing a look-up would hide the second: the one at @a index of the list @a key. */
static bool
fail_second(struct ws_reader *r, const char *key, size_t index)
{
	const struct ws_json *item = ws_json_find(r->doc->root, key)->first;
	while (index-- > 0) {
		item = item->next;
	}
	return ws_json_err(r->doc, item, r->err, "a second pin of the same thing");
}

static bool
check_once(struct ws_reader *r, const struct ws_lock *lock)
{
	for (size_t i = 0; i < lock->sources.len; i++) {
		const struct ws_pin_source *pin = &lock->sources.at[i];
		if (ws_lock_source(lock, pin->package, pin->version) != pin) {
			return fail_second(r, "sources", i);
		}
	}
	for (size_t i = 0; i < lock->cuda.len; i++) {
		if (ws_lock_cuda(lock, lock->cuda.at[i].cuda) != &lock->cuda.at[i]) {
			return fail_second(r, "cuda", i);
		}
	}
	for (size_t i = 0; i < lock->torch.len; i++) {
		if (ws_lock_torch(lock, lock->torch.at[i].version) != &lock->torch.at[i]) {
			return fail_second(r, "torch", i);
		}
	}
	for (size_t i = 0; i < lock->exports.len; i++) {
		if (ws_lock_exports(lock, lock->exports.at[i].torch) != &lock->exports.at[i]) {
			return fail_second(r, "exports", i);
		}
	}
	for (size_t i = 0; i < lock->prebuilt.len; i++) {
		const struct ws_pin_prebuilt *pin = &lock->prebuilt.at[i];
		if (ws_lock_prebuilt(lock, pin->package, pin->wheel) != pin) {
			return fail_second(r, "prebuilt", i);
		}
	}
	return true;
}

bool
ws_lock_parse(
	const struct ws_json_doc *doc, struct ws_arena *a, struct ws_lock *lock, struct ws_err *err)
{
	struct ws_reader r = {.doc = doc, .folder = "/", .a = a, .err = err};
	*lock = (struct ws_lock){0};
	if (!ws_object_read(&r, doc->root, &table, lock)) {
		return false;
	}
	lock->sources.cap = lock->sources.len;
	lock->cuda.cap = lock->cuda.len;
	lock->torch.cap = lock->torch.len;
	lock->exports.cap = lock->exports.len;
	lock->prebuilt.cap = lock->prebuilt.len;
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
cmp_sources(const void *x, const void *y)
{
	const struct ws_pin_source *one = x;
	const struct ws_pin_source *two = y;
	int order = strcmp(one->package, two->package);
	return order ? order : strcmp(one->version, two->version);
}

static int
cmp_cudas(const void *x, const void *y)
{
	return strcmp(((const struct ws_pin_cuda *)x)->cuda, ((const struct ws_pin_cuda *)y)->cuda);
}

static int
cmp_torches(const void *x, const void *y)
{
	return strcmp(
		((const struct ws_pin_torch *)x)->version, ((const struct ws_pin_torch *)y)->version);
}

static int
cmp_exports(const void *x, const void *y)
{
	return strcmp(
		((const struct ws_pin_exports *)x)->torch, ((const struct ws_pin_exports *)y)->torch);
}

static int
cmp_prebuilts(const void *x, const void *y)
{
	const struct ws_pin_prebuilt *one = x;
	const struct ws_pin_prebuilt *two = y;
	int order = strcmp(one->package, two->package);
	return order ? order : strcmp(one->wheel, two->wheel);
}

/* What a pin does not say is left out. */
static void
add(struct ws_json_writer *w, const char *key, const char *text)
{
	if (text && text[0]) {
		ws_json_add_text(w, key, text);
	}
}

static void
write_source(struct ws_json_writer *w, const struct ws_pin_source *pin)
{
	ws_json_open_object(w, NULL);
	add(w, "package", pin->package);
	add(w, "version", pin->version);
	add(w, "how", pin->how);
	add(w, "from", pin->from);
	add(w, "sha256", pin->sha256);
	add(w, "commit", pin->commit);
	add(w, "tree", pin->tree);
	add(w, "definition", pin->definition);
	ws_json_close(w);
}

static void
write_cuda(struct ws_json_writer *w, const struct ws_pin_cuda *pin)
{
	ws_json_open_object(w, NULL);
	add(w, "cuda", pin->cuda);
	add(w, "how", pin->how);
	add(w, "name", pin->name);
	add(w, "digest", pin->digest);
	add(w, "definition", pin->definition);
	add(w, "debian", pin->debian);
	ws_json_close(w);
}

static void
write_torch(struct ws_json_writer *w, const struct ws_pin_torch *pin)
{
	ws_json_open_object(w, NULL);
	add(w, "torch", pin->version);
	add(w, "wheel", pin->wheel);
	add(w, "sha256", pin->sha256);
	add(w, "record", pin->record);
	add(w, "tree", pin->tree);
	add(w, "cuda", pin->cuda);
	ws_json_add_u64(w, "cxx11abi", (uint64_t)pin->cxx11abi);
	ws_json_close(w);
}

static void
write_prebuilt(struct ws_json_writer *w, const struct ws_pin_prebuilt *pin)
{
	ws_json_open_object(w, NULL);
	add(w, "package", pin->package);
	add(w, "version", pin->version);
	add(w, "wheel", pin->wheel);
	add(w, "from", pin->from);
	add(w, "sha256", pin->sha256);
	ws_json_close(w);
}

/* A copy of a list of pins, in order. */
static const void *
sorted(const void *pins, size_t count, size_t size, int (*cmp)(const void *, const void *),
	struct ws_arena *a)
{
	void *copy = ws_arena_alloc(a, count * size);
	if (count > 0) {
		memcpy(copy, pins, count * size);
		qsort(copy, count, size, cmp);
	}
	return copy;
}

#define SORTED(list, cmp, a) sorted((list).at, (list).len, sizeof(*(list).at), cmp, a)

static void
write_sources(struct ws_json_writer *w, const struct ws_lock *lock, struct ws_arena *a)
{
	const struct ws_pin_source *pins = SORTED(lock->sources, cmp_sources, a);
	ws_json_open_list(w, "sources");
	for (size_t i = 0; i < lock->sources.len; i++) {
		write_source(w, &pins[i]);
	}
	ws_json_close(w);
}

static void
write_cudas(struct ws_json_writer *w, const struct ws_lock *lock, struct ws_arena *a)
{
	const struct ws_pin_cuda *pins = SORTED(lock->cuda, cmp_cudas, a);
	ws_json_open_list(w, "cuda");
	for (size_t i = 0; i < lock->cuda.len; i++) {
		write_cuda(w, &pins[i]);
	}
	ws_json_close(w);
}

static void
write_torches(struct ws_json_writer *w, const struct ws_lock *lock, struct ws_arena *a)
{
	const struct ws_pin_torch *pins = SORTED(lock->torch, cmp_torches, a);
	ws_json_open_list(w, "torch");
	for (size_t i = 0; i < lock->torch.len; i++) {
		write_torch(w, &pins[i]);
	}
	ws_json_close(w);
}

static void
write_exports(struct ws_json_writer *w, const struct ws_lock *lock, struct ws_arena *a)
{
	const struct ws_pin_exports *pins = SORTED(lock->exports, cmp_exports, a);
	ws_json_open_list(w, "exports");
	for (size_t i = 0; i < lock->exports.len; i++) {
		ws_json_open_object(w, NULL);
		add(w, "torch", pins[i].torch);
		add(w, "definition", pins[i].definition);
		add(w, "tree", pins[i].tree);
		ws_json_close(w);
	}
	ws_json_close(w);
}

static void
write_prebuilts(struct ws_json_writer *w, const struct ws_lock *lock, struct ws_arena *a)
{
	const struct ws_pin_prebuilt *pins = SORTED(lock->prebuilt, cmp_prebuilts, a);
	ws_json_open_list(w, "prebuilt");
	for (size_t i = 0; i < lock->prebuilt.len; i++) {
		write_prebuilt(w, &pins[i]);
	}
	ws_json_close(w);
}

/* A list without pins is left out: the reader takes no empty ones. */
void
ws_lock_write(const struct ws_lock *lock, struct ws_buf *out)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_json_writer *w = ws_json_begin();
	ws_json_open_object(w, NULL);
	ws_json_add_text(w, "schema", WS_LOCK_SCHEMA);
	if (lock->sources.len > 0) {
		write_sources(w, lock, a);
	}
	if (lock->cuda.len > 0) {
		write_cudas(w, lock, a);
	}
	if (lock->torch.len > 0) {
		write_torches(w, lock, a);
	}
	if (lock->exports.len > 0) {
		write_exports(w, lock, a);
	}
	if (lock->prebuilt.len > 0) {
		write_prebuilts(w, lock, a);
	}
	ws_json_close(w);
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
