/* lock_write.c - the one order in which a lock is written. Declared in lock.h. */
#include "base/fs.h"
#include "base/json_write.h"
#include "config/lock.h"

#include <stdlib.h>
#include <string.h>

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
