/* results.c - one file a key, at most 4 MiB. */
#include "store/results.h"

#include "base/fs.h"

#define LONGEST ((size_t)4 << 20)

static char *
path_of(const struct ws_store *store, const char *key, struct ws_arena *a)
{
	return ws_arena_printf(a, "%s/ac/%.2s/%s", store->path, key, key);
}

bool
ws_results_get(const struct ws_store *store, const char *key, struct ws_buf *b)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const char *path = path_of(store, key, a);
	return ws_fs_exists(path) && ws_fs_read_at_most(path, LONGEST, b, NULL);
}

bool
ws_results_put(
	const struct ws_store *store, const char *key, const struct ws_buf *text, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const char *path = path_of(store, key, a);
	return ws_fs_mkdirs(ws_path_dir(a, path), err)
		&& ws_fs_write_atomic(path, ws_buf_text(text), text->len, 0644, err);
}
