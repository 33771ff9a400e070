/* stored.c - see stored.h. */
#include "publish/bucket/stored.h"

#include "base/fs.h"
#include "base/json.h"
#include "base/map.h"
#include "publish/bucket/alone.h"
#include "publish/manifest.h"

#include <dirent.h>
#include <string.h>
#include <unistd.h>

#define LARGEST_LIST ((size_t)64 << 20)
#define PAGES_FOR_MINUTES "max-age=600"
#define FILES_FOR_EVER "max-age=31536000, immutable"

struct storing {
	const struct ws_bucket *b;
	const char *work;       /* the index as a folder */
	const char *snapshot;   /* that the store has; NULL: none */
	struct ws_buf manifest; /* its text */
	struct ws_map before;   /* page -> sha256 */
	bool all;               /* put all pages: an earlier publisher died among them, or still is */
	bool unconditional;     /* the store knows no conditional requests */
	struct ws_arena *a;
};

/* ---- what the store has ---- */

static bool
copy_here(struct storing *s, const char *name, struct ws_buf *text, bool *there, struct ws_err *err)
{
	return ws_bucket_get(s->b, name, LARGEST_LIST, text, there, err);
}

/* A snapshot of the folder, as far as publishing reads it. */
static bool
write_here(struct storing *s, const char *name, const struct ws_buf *text, struct ws_err *err)
{
	const char *folder =
		ws_path_join(s->a, s->work, ws_arena_printf(s->a, "@%s", s->snapshot), NULL);
	return ws_fs_mkdirs(folder, err)
		&& ws_fs_write(
			ws_path_join(s->a, folder, name, NULL), ws_buf_text(text), text->len, 0644, err);
}

/* "2026-11-21.1", which becomes a folder's name. */
static bool
read_snapshot(struct storing *s, struct ws_err *err)
{
	struct ws_json_doc doc;
	if (!ws_json_parse(WS_INDEX_MANIFEST, ws_buf_text(&s->manifest), s->manifest.len,
			WS_JSON_STRICT, s->a, &doc, err)) {
		return false;
	}
	s->snapshot = ws_json_text(doc.root, "snapshot");
	return (s->snapshot && s->snapshot[strspn(s->snapshot, "0123456789-.")] == '\0'
			   && ws_path_is_inside(s->snapshot))
		|| ws_err_set(err, WS_ERR_PUBLISH, "'%s' names no snapshot", WS_INDEX_MANIFEST);
}

static bool
note_pages(struct storing *s, const struct ws_sign_key *key, struct ws_err *err)
{
	struct ws_index_target t;
	struct ws_index_manifest manifest;
	bool is_signed;
	if (!ws_index_target_look(s->work, s->a, &t, err)
		|| !ws_index_manifest_read(&t, key, s->a, &manifest, &is_signed, err)) {
		return false;
	}
	for (size_t i = 0; i < manifest.count; i++) {
		ws_map_put(&s->before, manifest.files[i].path,
			ws_arena_strdup(s->a, manifest.files[i].sha256.hex), s->a);
	}
	return true;
}

/* Those of the snapshot: at the top a publisher that died may have left newer ones than the manifest. */
static bool
copy_lists(struct storing *s, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	const char *folder = ws_arena_printf(s->a, "@%s", s->snapshot);
	const char *catalog = ws_path_join(s->a, folder, "index.json", NULL);
	const char *signature = ws_path_join(s->a, folder, WS_INDEX_SIGNATURE, NULL);
	bool there;
	if (!write_here(s, WS_INDEX_MANIFEST, &s->manifest, err)
		|| !copy_here(s, signature, &text, &there, err)
		|| (there && !write_here(s, WS_INDEX_SIGNATURE, &text, err))
		|| !copy_here(s, catalog, &text, &there, err)) {
		return false;
	}
	return there ? write_here(s, "index.json", &text, err)
				 : ws_err_set(err, WS_ERR_PUBLISH, "the index has a manifest and no '%s'", catalog);
}

static bool
bring(struct storing *s, const struct ws_sign_key *trust, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	bool there;
	if (!copy_here(s, WS_INDEX_MANIFEST, &s->manifest, &there, err)
		|| !copy_here(s, WS_INDEX_MARK, &text, &s->all, err)
		|| !ws_fs_write(ws_path_join(s->a, s->work, ".lock", NULL), "", 0, 0644, err)) {
		return false;
	}
	if (!there) {
		return true;
	}
	if (!read_snapshot(s, err) || !copy_lists(s, err)) {
		return false;
	}
	const char *link = ws_path_join(s->a, s->work, "current", NULL);
	if (symlink(ws_arena_printf(s->a, "@%s", s->snapshot), link) != 0) {
		return ws_err_sys(err, WS_ERR_PUBLISH, "cannot write '%s'", link);
	}
	return note_pages(s, trust, err);
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

static bool
put(struct storing *s, const char *key, const char *path, struct ws_err *err)
{
	const struct ws_object object = {
		key, path, type_of(key), key[0] == '@' ? FILES_FOR_EVER : PAGES_FOR_MINUTES};
	return ws_bucket_put(s->b, &object, err);
}

static bool
put_page(struct storing *s, const struct ws_index_target *t, const char *name, struct ws_err *err)
{
	const char *path = ws_index_target_path(t, name);
	const char *folder = ws_arena_printf(s->a, "%s/", ws_path_dir(s->a, name));
	/* A store answers a request for "simple/demo/" with the object of exactly that key. */
	bool is_page = strcmp(ws_path_base(name), "index.html") == 0 && strchr(name, '/');
	return put(s, name, path, err) && (!is_page || put(s, folder, path, err));
}

static bool
fail_other(const char *key, struct ws_err *err)
{
	ws_err_set(err, WS_ERR_PUBLISH, "'%s' is in the store with other bytes", key);
	ws_err_cure(err, "another publisher has put it, and may be at work: publish again");
	return ws_err_cure(err, "if index.json does not name it then, remove that object");
}

/* A name never stands for other bytes: readers keep them for ever. */
static bool
put_file(struct storing *s, const char *key, const char *path, struct ws_err *err)
{
	const struct ws_object object = {key, path, type_of(key), FILES_FOR_EVER};
	enum ws_created created =
		s->unconditional ? WS_CREATED_UNKNOWN : ws_bucket_create(s->b, &object, err);
	if (created != WS_CREATED_UNKNOWN) {
		return created == WS_CREATED || (created == WS_CREATED_BY_ANOTHER && fail_other(key, err));
	}
	s->unconditional = true;
	switch (ws_bucket_compare(s->b, &object, err)) {
	case WS_OBJECT_SAME:
		return true;
	case WS_OBJECT_OTHER:
		return fail_other(key, err);
	case WS_OBJECT_UNKNOWN:
		return false;
	case WS_OBJECT_NONE:
		break;
	}
	return ws_bucket_put(s->b, &object, err);
}

static bool
put_files(struct storing *s, struct ws_err *err)
{
	const char *folder = ws_path_join(s->a, s->work, "files", NULL);
	WS_AUTO_DIR DIR *dir = opendir(folder);
	const struct dirent *entry;
	while (dir && (entry = readdir(dir))) {
		const char *path = ws_path_join(s->a, folder, entry->d_name, NULL);
		if (entry->d_name[0] != '.'
			&& !put_file(s, ws_arena_printf(s->a, "files/%s", entry->d_name), path, err)) {
			return false;
		}
	}
	return dir || ws_err_sys(err, WS_ERR_PUBLISH, "cannot read '%s'", folder);
}

static bool
is_list(const char *name)
{
	return strcmp(name, "index.json") == 0 || ws_starts_with(name, WS_INDEX_MANIFEST);
}

/* A manifest that somebody else wrote may list anything: wheels, snapshots and marks are not pages. */
static bool
is_page_key(const char *name)
{
	return !ws_starts_with(name, "files/") && name[0] != '@' && name[0] != '.' && !is_list(name);
}

static bool
put_pages(struct storing *s, struct ws_index_alone *alone, const struct ws_index_target *t,
	const struct ws_index_manifest *manifest, size_t *written, struct ws_err *err)
{
	struct ws_map now = {0};
	for (size_t i = 0; i < manifest->count; i++) {
		const struct ws_index_page_file *file = &manifest->files[i];
		const char *before = ws_map_get(&s->before, file->path);
		ws_map_add(&now, file->path, s->a);
		if (is_list(file->path) || (!s->all && before && ws_digest_is(&file->sha256, before))) {
			continue;
		}
		if (!put_page(s, t, file->path, err) || !ws_index_alone_beat(alone, err)) {
			return false;
		}
		++*written;
	}
	for (size_t i = 0; i < s->before.count; i++) {
		const char *name = s->before.slots[i].key;
		const char *folder = ws_arena_printf(s->a, "%s/", ws_path_dir(s->a, name));
		bool is_page = strcmp(ws_path_base(name), "index.html") == 0;
		if (!ws_map_get(&now, name) && is_page_key(name)
			&& (!ws_bucket_remove(s->b, name, err)
				|| (is_page && !ws_bucket_remove(s->b, folder, err)))) {
			return false;
		}
	}
	return true;
}

/* The manifest comes last: all that it lists is there by then. */
static bool
put_lists(struct storing *s, const struct ws_index_target *t, bool is_signed, struct ws_err *err)
{
	const char *const names[] = {"index.json", WS_INDEX_SIGNATURE, WS_INDEX_MANIFEST};
	for (size_t round = 0; round < 2; round++) {
		for (size_t i = 0; i < WS_LEN(names); i++) {
			const char *key =
				round == 0 ? ws_arena_printf(s->a, "@%s/%s", t->current, names[i]) : names[i];
			if ((is_signed || i != 1) && !put(s, key, ws_index_target_path(t, names[i]), err)) {
				return false;
			}
		}
	}
	return true;
}

/* What stands at the top at last. */
static bool
check_lists(struct ws_index_alone *alone, const struct ws_index_target *t, struct ws_err *err)
{
	const char *const lists[][2] = {
		{"index.json", ws_index_target_path(t, "index.json")},
		{WS_INDEX_MANIFEST, ws_index_target_path(t, WS_INDEX_MANIFEST)},
	};
	return ws_index_alone_check_written(alone, lists, WS_LEN(lists), err);
}

/* Who gives up, because another was faster, leaves the mark: some pages may be this one's. */
static bool
put_all(struct storing *s, struct ws_index_alone *alone, const struct ws_index_target *t,
	const struct ws_index_manifest *manifest, bool is_signed, size_t *written, struct ws_err *err)
{
	struct ws_err ignored = {0};
	if (put_pages(s, alone, t, manifest, written, err) && ws_index_alone_check_turn(alone, err)
		&& put_lists(s, t, is_signed, err) && check_lists(alone, t, err)) {
		return ws_index_alone_leave(alone, err) && ws_bucket_remove(s->b, WS_INDEX_MARK, err);
	}
	if (alone->lost && ws_index_alone_mark(alone, &ignored)) {
		ws_index_alone_leave(alone, &ignored);
	}
	return false;
}

static bool
send_all(struct storing *s, const struct ws_index_order *order, size_t *written, struct ws_err *err)
{
	struct ws_index_target t;
	struct ws_index_manifest manifest;
	bool is_signed;
	struct ws_index_alone alone = {.b = s->b,
		.order = order,
		.work = s->work,
		.manifest = &s->manifest,
		.was_begun = s->all,
		.a = s->a};
	if (!ws_index_target_look(s->work, s->a, &t, err)
		|| !ws_index_manifest_read(&t, NULL, s->a, &manifest, &is_signed, err)) {
		return false;
	}
	/* The lists of a snapshot are its own for ever. What a publisher that died had claimed is taken over. */
	const char *key = ws_arena_printf(s->a, "@%s/%s", t.current, WS_INDEX_MANIFEST);
	const struct ws_object claimed = {
		key, ws_index_target_path(&t, WS_INDEX_MANIFEST), type_of(key), FILES_FOR_EVER};
	if (!put_files(s, err) || !ws_index_alone_check(&alone, err)) {
		return false;
	}
	alone.unconditional = s->unconditional;
	if (!ws_index_alone_claim(&alone, &claimed, err)) {
		ws_index_alone_withdraw(&alone);
		return false;
	}
	return put_all(s, &alone, &t, &manifest, is_signed, written, err);
}

bool
ws_index_publish_stored(const struct ws_bucket *b, const struct ws_index_order *order,
	const char *work, struct ws_arena *a, struct ws_index_outcome *outcome, struct ws_err *err)
{
	struct storing s = {.b = b, .work = work, .a = a};
	struct ws_index_order here = *order;
	here.target = work;
	here.wait = NULL;
	bool done = bring(&s, order->trust ? order->trust : order->key, err);
	here.rewrite = s.all;
	done = done && ws_index_publish(&here, a, outcome, err);
	if (done && outcome->changed) {
		outcome->new_pages = 0;
		done = send_all(&s, order, &outcome->new_pages, err);
	}
	ws_buf_release(&s.manifest);
	if (!done && !ws_err_is_stop(err) && err->kind != WS_ERR_INTERNAL) {
		err->kind = WS_ERR_PUBLISH;
	}
	return done;
}
