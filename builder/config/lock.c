/* lock.c - the tables of the lock file's keys. Looking pins up and replacing them is model/lock.c's,
 * writing the file lock_write.c's. */
#include "config/lock.h"

#include "base/fs.h"
#include "config/condition.h"
#include "config/values.h"

#include <string.h>

static bool
read_schema(struct ws_reader *r, const struct ws_json *value, void *into WS_UNUSED)
{
	const char *text = ws_text_of(r, value, "\"" WS_LOCK_SCHEMA "\"");
	if (!text || strcmp(text, WS_LOCK_SCHEMA) == 0) {
		return text;
	}
	ws_json_err(r->doc, value, r->err, "'%s' is no lock that this program reads", text);
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

#define WORD(reader) \
	{ \
		.name = "a string", .plural = "strings", .size = sizeof(char *), .read = (reader) \
	}

static const struct ws_type type_schema = WORD(read_schema);
static const struct ws_type type_source_how = WORD(read_source_how);
static const struct ws_type type_cuda_how = WORD(read_cuda_how);
static const struct ws_type type_debian = WORD(read_debian);

#define NEEDED .flags = WS_FIELD_REQUIRED

static const struct ws_field source_fields[] = {
	{WS_ONE(struct ws_pin_source, package, "package", ws_type_package), NEEDED},
	{WS_ONE(struct ws_pin_source, version, "version", ws_type_line), NEEDED},
	{WS_ONE(struct ws_pin_source, how, "how", type_source_how), NEEDED},
	{WS_ONE(struct ws_pin_source, from, "from", ws_type_line), NEEDED},
	{WS_ONE(struct ws_pin_source, sha256, "sha256", ws_type_sha256)},
	{WS_ONE(struct ws_pin_source, commit, "commit", ws_type_commit)},
	{WS_ONE(struct ws_pin_source, tree, "tree", ws_type_sha256), NEEDED},
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

#define PIN(c_type, reader) \
	{ \
		.name = "an object", .plural = "objects", .size = sizeof(c_type), .read = (reader) \
	}

static const struct ws_type type_source = PIN(struct ws_pin_source, read_source);
static const struct ws_type type_cuda = PIN(struct ws_pin_cuda, read_cuda);
static const struct ws_type type_torch = PIN(struct ws_pin_torch, read_torch);

static const struct ws_field fields[] = {
	{.key = "schema", .type = &type_schema, NEEDED},
	{WS_MANY(struct ws_lock, sources.at, sources.len, "sources", type_source),
		.flags = WS_FIELD_LIST},
	{WS_MANY(struct ws_lock, cuda.at, cuda.len, "cuda", type_cuda), .flags = WS_FIELD_LIST},
	{WS_MANY(struct ws_lock, torch.at, torch.len, "torch", type_torch), .flags = WS_FIELD_LIST},
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
