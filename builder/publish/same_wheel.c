#include "publish/same_wheel.h"

#include "archive/zip.h"
#include "base/arena.h"
#include "base/crypto.h"
#include "base/source.h"

#include <string.h>

/* The files of an archive, and the contents of each. */
struct listing {
	struct ws_zip zip;
	struct ws_map digests; /* name -> SHA-256 */
	struct ws_arena *a;
};

static void
note(void *self, const struct ws_zip_entry *entry, const struct ws_digest *sha256)
{
	struct listing *l = self;
	ws_map_put(&l->digests, entry->name, ws_arena_strdup(l->a, sha256->hex), l->a);
}

static bool
read_listing(struct listing *l, const char *path, struct ws_arena *a)
{
	WS_AUTO_FILE_SOURCE struct ws_file_source file = {.fd = -1};
	struct ws_err ignored = {0};
	*l = (struct listing){.a = a};
	if (!ws_file_source_open(path, &file, &ignored)
		|| !ws_zip_open(&file.source, NULL, a, &l->zip, &ignored)) {
		return false;
	}
	const struct ws_zip_entry **all = WS_NEW_N(a, const struct ws_zip_entry *, l->zip.count + 1);
	for (size_t i = 0; i < l->zip.count; i++) {
		all[i] = &l->zip.entries[i];
	}
	return ws_zip_hash(&l->zip, all, l->zip.count, note, l, &ignored);
}

bool
ws_index_same_wheel(const char *path, const char *other)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct listing left, right;
	if (!read_listing(&left, path, a) || !read_listing(&right, other, a)
		|| left.zip.count != right.zip.count) {
		return false;
	}
	for (size_t i = 0; i < left.zip.count; i++) {
		const struct ws_zip_entry *x = left.zip.by_name[i];
		const struct ws_zip_entry *y = right.zip.by_name[i];
		if (strcmp(x->name, y->name) != 0 || x->mode != y->mode
			|| !ws_same(ws_map_get(&left.digests, x->name), ws_map_get(&right.digests, y->name))) {
			return false;
		}
	}
	return true;
}
