#include "publish/bucket/stored.h"

#include "base/fs.h"
#include "publish/bucket/publish_lock.h"
#include "publish/catalog.h"

#define LARGEST_LIST ((size_t)64 << 20)
#define PAGES_FOR_MINUTES "max-age=600"
#define FILES_FOR_EVER "max-age=31536000, immutable"

struct storing {
	const struct ws_bucket *b;
	const struct ws_index_order *order;
	const char *work;     /* folder with the index */
	const char *snapshot; /* in the store; NULL: none */
	struct ws_stored manifest;
	struct ws_map before; /* page -> sha256 */
	bool all;             /* put all pages, because some may differ from the manifest */
	struct ws_publish_lock *lock;
	struct ws_arena *a;
};

/* ---- what the store has ---- */

static bool
fetch(struct storing *s, const char *key, struct ws_stored *object, struct ws_err *err)
{
	return ws_bucket_get(s->b, key, LARGEST_LIST, object, err);
}

/* Writes a file of a snapshot, for publishing in the folder. */
static bool
write_here(struct storing *s, const char *name, const struct ws_buf *text, struct ws_err *err)
{
	const char *folder =
		ws_path_join(s->a, s->work, ws_arena_printf(s->a, "@%s", s->snapshot), NULL);
	return ws_fs_mkdirs(folder, err)
		&& ws_fs_write(
			ws_path_join(s->a, folder, name, NULL), ws_buf_text(text), text->len, 0644, err);
}

static bool
is_same(const struct ws_stored *x, const struct ws_stored *y)
{
	return x->there == y->there && x->text.len == y->text.len
		&& memcmp(ws_buf_text(&x->text), ws_buf_text(&y->text), x->text.len) == 0;
}

/* Reads the lists of the snapshot. Lists at the top may be newer than the manifest, from a
 * publisher that died. */
static bool
fetch_list(struct storing *s, const char *name, bool *there, struct ws_err *err)
{
	struct ws_stored own = {.there = false}, top = {.there = false};
	const char *key = ws_arena_printf(s->a, "@%s/%s", s->snapshot, name);
	bool done = fetch(s, key, &own, err) && fetch(s, name, &top, err)
		&& (!own.there || write_here(s, name, &own.text, err));
	*there = own.there;
	s->all = s->all || !is_same(&own, &top);
	ws_buf_release(&own.text);
	ws_buf_release(&top.text);
	return done;
}

static bool
fetch_index(struct storing *s, struct ws_err *err)
{
	struct ws_stored lock = {.there = false};
	const struct ws_sign_key *trust = s->order->trust ? s->order->trust : s->order->key;
	struct ws_index_folder t;
	struct ws_index_manifest manifest;
	struct ws_json_doc doc;
	bool there;
	bool done = ws_fs_mkdirs(s->work, err) && fetch(s, WS_INDEX_MANIFEST, &s->manifest, err)
		&& fetch(s, WS_INDEX_LOCK, &lock, err)
		&& ws_fs_write(ws_path_join(s->a, s->work, ".lock", NULL), "", 0, 0644, err);
	s->all = lock.there;
	ws_buf_release(&lock.text);
	if (!done || !s->manifest.there) {
		return done;
	}
	if (!ws_json_parse(WS_INDEX_MANIFEST, ws_buf_text(&s->manifest.text), s->manifest.text.len,
			WS_JSON_STRICT, s->a, &doc, err)) {
		return false;
	}
	/* "2026-11-21.1"; becomes the name of a folder. */
	const char *name = s->snapshot = ws_json_text(doc.root, "snapshot");
	if (!name || name[strspn(name, "0123456789-.")] || !ws_path_is_inside(name)) {
		return ws_err_set(err, WS_ERR_PUBLISH, "'%s' names no snapshot", WS_INDEX_MANIFEST);
	}
	if (!write_here(s, WS_INDEX_MANIFEST, &s->manifest.text, err)
		|| !fetch_list(s, WS_INDEX_SIGNATURE, &there, err)
		|| !fetch_list(s, "index.json", &there, err)) {
		return false;
	}
	if (!there) {
		return ws_err_set(err, WS_ERR_PUBLISH,
			"the index is incomplete: '@%s/index.json' is missing", s->snapshot);
	}
	const char *link = ws_path_join(s->a, s->work, "current", NULL);
	if (symlink(ws_arena_printf(s->a, "@%s", s->snapshot), link) != 0) {
		return ws_err_sys(err, WS_ERR_PUBLISH, "cannot write '%s'", link);
	}
	if (!ws_index_folder_look(s->work, s->a, &t, err)
		|| !ws_index_manifest_read(&t, trust, &manifest, err)) {
		return false;
	}
	for (size_t i = 0; i < manifest.count; i++) {
		ws_map_put(&s->before, manifest.files[i].path,
			ws_arena_strdup(s->a, manifest.files[i].sha256.hex), s->a);
	}
	return true;
}

/* ---- what it gets ---- */

static const char *
type_of(const char *key)
{
	static const char *const types[][2] = {
		{".html", "text/html; charset=utf-8"},
		{"/", "text/html; charset=utf-8"},
		{"simple/index.json", "application/vnd.pypi.simple.v1+json"},
		{".json", "application/json"},
	};
	if (strstr(key, "/simple/") && ws_ends_with(key, ".json")) {
		return types[2][1];
	}
	for (size_t i = 0; i < WS_LEN(types); i++) {
		if (ws_ends_with(key, types[i][0])) {
			return types[i][1];
		}
	}
	return "application/octet-stream";
}

/* Puts a page or a list, under a renewal of the lock of its own. */
static bool
put(struct storing *s, const char *key, const char *path, struct ws_err *err)
{
	const struct ws_object object = {
		key, path, type_of(key), key[0] == '@' ? FILES_FOR_EVER : PAGES_FOR_MINUTES, NULL};
	struct stat status;
	uint64_t bytes = stat(path, &status) == 0 ? (uint64_t)status.st_size : 0;
	return ws_publish_lock_renew(s->lock, bytes, err) && ws_bucket_put(s->b, &object, err);
}

/* A store answers "simple/demo/" with the object of that key. NULL: the page is not that of a
 * folder. */
static const char *
folder_key(struct storing *s, const char *name)
{
	return ws_ends_with(name, "/index.html") ? ws_arena_printf(s->a, "%s/", ws_path_dir(s->a, name))
											 : NULL;
}

static bool
put_files(struct storing *s, struct ws_err *err)
{
	const char *folder = ws_path_join(s->a, s->work, "files", NULL);
	WS_AUTO_DIR DIR *dir = opendir(folder);
	const struct dirent *entry;
	while (dir && (entry = readdir(dir))) {
		const char *key = ws_arena_printf(s->a, "files/%s", entry->d_name);
		/* The bytes of a name never change, because readers cache them forever. */
		const struct ws_object object = {key, ws_path_join(s->a, folder, entry->d_name, NULL),
			type_of(key), FILES_FOR_EVER, NULL};
		enum ws_put put =
			entry->d_name[0] == '.' ? WS_PUT_DONE : ws_bucket_create(s->b, &object, NULL, err);
		if (put == WS_PUT_FAILED) {
			return false;
		}
		if (put != WS_PUT_DONE) {
			ws_err_set(err, WS_ERR_PUBLISH, "'%s' is in the store with other bytes", key);
			ws_err_cure(err, "another publisher has put it, and may be at work: publish again");
			return ws_err_cure(err, "if index.json does not name it then, remove that object");
		}
	}
	return dir || ws_err_sys(err, WS_ERR_PUBLISH, "cannot read '%s'", folder);
}

static bool
is_list(const char *name)
{
	return strcmp(name, "index.json") == 0 || ws_starts_with(name, WS_INDEX_MANIFEST);
}

static bool
put_pages(struct storing *s, const struct ws_index_folder *t,
	const struct ws_index_manifest *manifest, size_t *written, struct ws_err *err)
{
	struct ws_map now = {0};
	for (size_t i = 0; i < manifest->count; i++) {
		const char *name = manifest->files[i].path;
		const char *before = ws_map_get(&s->before, name);
		const char *path = ws_index_folder_path(t, name);
		const char *folder = folder_key(s, name);
		ws_map_add(&now, name, s->a);
		if (is_list(name)
			|| (!s->all && before && ws_digest_is(&manifest->files[i].sha256, before))) {
			continue;
		}
		if (!put(s, name, path, err) || (folder && !put(s, folder, path, err))) {
			return false;
		}
		++*written;
	}
	for (size_t i = 0; i < s->before.count; i++) {
		const char *name = s->before.slots[i].key;
		const char *folder = folder_key(s, name);
		/* A foreign manifest may list anything; wheels, snapshots and marks are not pages. */
		bool is_page =
			!ws_starts_with(name, "files/") && name[0] != '@' && name[0] != '.' && !is_list(name);
		if (!ws_map_get(&now, name) && is_page
			&& (!ws_bucket_remove(s->b, name, err)
				|| (folder && !ws_bucket_remove(s->b, folder, err)))) {
			return false;
		}
	}
	return true;
}

static bool
put_lists(struct storing *s, const struct ws_index_folder *t, bool is_signed, struct ws_err *err)
{
	const char *const names[] = {WS_INDEX_MANIFEST, "index.json", WS_INDEX_SIGNATURE};
	for (size_t i = 0; i < WS_LEN(names) - !is_signed; i++) {
		const char *path = ws_index_folder_path(t, names[i]);
		const char *own = ws_arena_printf(s->a, "@%s/%s", t->current, names[i]);
		if (!put(s, own, path, err) || (i > 0 && !put(s, names[i], path, err))) {
			return false;
		}
	}
	/* The manifest is put last, when everything that it lists is there. It replaces the manifest
	 * of the index that was read. */
	const struct ws_object object = {WS_INDEX_MANIFEST, ws_index_folder_path(t, WS_INDEX_MANIFEST),
		type_of(WS_INDEX_MANIFEST), PAGES_FOR_MINUTES, NULL};
	if (!ws_publish_lock_renew(s->lock, 0, err)) {
		return false;
	}
	enum ws_put put = s->manifest.there ? ws_bucket_replace(s->b, &object, s->manifest.etag, err)
										: ws_bucket_create(s->b, &object, NULL, err);
	return put == WS_PUT_DONE || (put != WS_PUT_FAILED && ws_publish_lock_lose(s->lock, err));
}

/* Called with the lock. @a again: the index has changed since it was read. */
static bool
put_index(struct storing *s, size_t *written, bool *again, struct ws_err *err)
{
	struct ws_stored now = {.there = false};
	struct ws_index_folder t;
	struct ws_index_manifest manifest;
	if (!ws_index_folder_look(s->work, s->a, &t, err)
		|| !ws_index_manifest_read(&t, NULL, &manifest, err)
		|| !ws_publish_lock_acquire(s->lock, err)) {
		return false;
	}
	bool done = fetch(s, WS_INDEX_MANIFEST, &now, err);
	*again = done && !is_same(&now, &s->manifest);
	ws_buf_release(&now.text);
	if (!done || *again) {
		ws_publish_lock_release(s->lock, !s->lock->interrupted);
		return done;
	}
	s->all = s->all || s->lock->interrupted;
	done = put_pages(s, &t, &manifest, written, err) && put_lists(s, &t, manifest.is_signed, err);
	ws_publish_lock_release(s->lock, done);
	return done;
}

bool
ws_index_publish_stored(const struct ws_bucket *b, const struct ws_index_order *order,
	const char *work, struct ws_arena *a, struct ws_index_outcome *outcome, struct ws_err *err)
{
	bool again = true, done = true;
	for (unsigned round = 1; done && again; round++) {
		struct ws_publish_lock lock = {.b = b, .order = order, .a = a};
		struct storing s = {.b = b, .order = order, .lock = &lock, .a = a};
		struct ws_index_order here = *order;
		s.work = ws_path_join(a, work, ws_arena_printf(a, "%u", round), NULL);
		here.target = s.work;
		here.wait = NULL;
		here.only_visible = true;
		again = false;
		done = fetch_index(&s, err);
		here.rewrite = s.all;
		done = done && ws_index_publish(&here, a, outcome, err);
		outcome->new_pages = 0;
		if (done && outcome->changed) {
			done = ws_publish_lock_try_store(&lock, err) && put_files(&s, err)
				&& put_index(&s, &outcome->new_pages, &again, err);
		}
		ws_buf_release(&s.manifest.text);
	}
	return done || ws_index_err(err);
}
