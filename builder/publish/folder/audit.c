#include "publish/folder/audit.h"

#include "base/fs.h"
#include "publish/variant_wheel.h"
#include "wheelfile/dist_info.h"

#include <errno.h>

/* Looks for what an index has and publishing did not make. */
struct search {
	const struct ws_index_folder *t;
	struct ws_map files; /* names of files/ that the visible snapshot lists, then those of all */
	bool has_all;
	struct ws_map pages;         /* of the visible snapshot */
	bool damaged;                /* one of them is missing, or has another size */
	WS_VEC(const char *) strays; /* relative to the folder: "all", "files/x.whl" */
	struct ws_arena *a;
};

static const char *
below(const struct ws_index_folder *t, const char *name)
{
	return ws_path_join(t->a, t->path, name, NULL);
}

static void
add_stray(struct search *s, const char *path)
{
	*ws_vec_push(&s->strays, s->a) = ws_arena_strdup(s->a, path);
}

/* ---- files/ ---- */

static void
add_file(struct search *s, const char *file)
{
	ws_map_add(&s->files, file, s->a);
	ws_map_add(&s->files, ws_arena_printf(s->a, "%s.metadata", file), s->a);
}

static void
add_files(struct search *s, const struct ws_index_catalog *catalog)
{
	for (size_t i = 0; i < catalog->entries.len; i++) {
		const struct ws_index_entry *entry = &catalog->entries.at[i];
		add_file(s, entry->file);
		if (entry->variant) {
			add_file(s, entry->variant->file);
		}
	}
}

/* Whether a snapshot lists this file of files/. Older snapshots are read once, and only if the
 * visible one does not list a file: after a rollback. */
static bool
is_listed(struct search *s, const char *name, bool *listed, struct ws_err *err)
{
	size_t count;
	*listed = ws_map_get(&s->files, name);
	if (*listed || s->has_all) {
		return true;
	}
	s->has_all = true;
	const char *const *all = ws_index_folder_snapshots(s->t, &count);
	for (size_t i = 0; i < count; i++) {
		struct ws_index_catalog older;
		const char *folder = below(s->t, ws_arena_printf(s->a, "@%s", all[i]));
		if (!ws_index_catalog_read(
				ws_path_join(s->a, folder, "index.json", NULL), s->a, &older, err)) {
			/* A cure beside a place is for people who write such a file. */
			bool advised =
				(ws_err_has_cure(err) && !err->place[0]) || (err->os != 0 && err->os != ENOENT);
			return !advised
				&& ws_err_cure(err, "remove '%s', a snapshot that is not shown", folder);
		}
		add_files(s, &older);
	}
	/* Wheels of unfinished snapshots, also of publishers that died. */
	WS_AUTO_DIR DIR *dir = opendir(s->t->path);
	const struct dirent *entry;
	while (dir && (entry = readdir(dir))) {
		struct ws_index_catalog begun;
		const char *path = ws_path_join(s->a, s->t->path, entry->d_name, "tree/index.json", NULL);
		if (ws_starts_with(entry->d_name, WS_INDEX_NEW)
			&& ws_index_catalog_read(path, s->a, &begun, NULL)) {
			add_files(s, &begun);
		}
	}
	*listed = ws_map_get(&s->files, name);
	return true;
}

static bool
search_files(struct search *s, struct ws_err *err)
{
	WS_AUTO_DIR DIR *dir = opendir(below(s->t, "files"));
	const struct dirent *entry;
	bool listed;
	while (dir && (entry = readdir(dir))) {
		const char *name = ws_path_join(s->a, "files", entry->d_name, NULL);
		const char *path = below(s->t, name);
		if (entry->d_name[0] == '.') {
			continue;
		}
		if (!is_listed(s, entry->d_name, &listed, err)) {
			return false;
		}
		if (!listed || ws_fs_is_link(path) || ws_fs_is_dir(path)) {
			add_stray(s, name);
		}
	}
	return dir || ws_err_sys(err, WS_ERR_PUBLISH, "cannot read '%s'", below(s->t, "files"));
}

/* ---- the top ---- */

static bool
is_fine(const struct search *s, const char *name)
{
	const char *path = below(s->t, name);
	bool is_shown = s->t->current && ws_fs_exists(ws_index_folder_path(s->t, name));
	if (!ws_fs_is_link(path)) {
		return !is_shown && !ws_fs_is_dir(path);
	}
	bool is_ours = ws_index_leads_to(path, ws_arena_printf(s->a, "current/%s", name));
	if (is_ours || is_shown) {
		return is_ours;
	}
	/* A link made by the owner, to a path of the index. */
	WS_AUTO_FREE char *top = realpath(s->t->path, NULL);
	WS_AUTO_FREE char *end = realpath(path, NULL);
	return top && end && ws_starts_with(end, top) && ws_starts_with(end + strlen(top), "/@");
}

static bool
search_top(struct search *s, struct ws_err *err)
{
	WS_AUTO_DIR DIR *dir = opendir(s->t->path);
	const struct dirent *entry;
	while (dir && (entry = readdir(dir))) {
		const char *name = entry->d_name;
		const char *files = ws_path_join(s->a, name, "files", NULL);
		if (name[0] == '.' || strcmp(name, "files") == 0 || strcmp(name, "current") == 0) {
			continue;
		}
		bool is_snapshot = ws_index_snapshot_of(name);
		if (is_snapshot ? ws_fs_is_link(below(s->t, name)) : !is_fine(s, name)) {
			add_stray(s, name);
		} else if (is_snapshot && !ws_index_leads_to(below(s->t, files), "../files")) {
			add_stray(s, files);
		}
	}
	return dir || ws_err_sys(err, WS_ERR_PUBLISH, "cannot read '%s'", s->t->path);
}

/* ---- the pages of the visible snapshot ---- */

/* search_top checks the link "files" itself; the files below it are not the snapshot's own. */
static bool
check_page(void *self, const struct ws_fs_entry *entry, struct ws_err *err WS_UNUSED)
{
	struct search *s = self;
	if (!S_ISDIR(entry->status.st_mode) && strcmp(entry->name, "files") != 0
		&& !ws_starts_with(entry->name, "files/") && !ws_map_get(&s->pages, entry->name)) {
		add_stray(s, entry->path + strlen(s->t->path) + 1);
	}
	return true;
}

/* An unreadable older snapshot is an error. */
static bool
search_all(struct search *s, const struct ws_index_catalog *catalog, struct ws_err *err)
{
	struct ws_index_manifest manifest;
	add_files(s, catalog);
	if (ws_fs_is_link(below(s->t, "files"))) {
		return ws_err_set(
			err, WS_ERR_PUBLISH, "'%s' is a link: the wheels are elsewhere", below(s->t, "files"));
	}
	if (!search_top(s, err) || !ws_index_manifest_read(s->t, NULL, &manifest, err)) {
		return false;
	}
	ws_map_add(&s->pages, WS_INDEX_MANIFEST, s->a);
	ws_map_add(&s->pages, WS_INDEX_SIGNATURE, s->a);
	for (size_t i = 0; i < manifest.count; i++) {
		const struct ws_index_page_file *file = &manifest.files[i];
		struct stat status;
		ws_map_add(&s->pages, file->path, s->a);
		s->damaged = s->damaged || lstat(ws_index_folder_path(s->t, file->path), &status) != 0
			|| (uint64_t)status.st_size != file->size_bytes;
	}
	return ws_fs_walk(ws_index_folder_path(s->t, ""), check_page, s, err) && search_files(s, err);
}

bool
ws_index_is_stray_file(
	const struct ws_index_folder *t, const struct ws_index_catalog *catalog, const char *name)
{
	struct search s = {.t = t, .a = t->a};
	struct ws_err ignored = {0};
	bool listed;
	add_files(&s, catalog);
	return is_listed(&s, name, &listed, &ignored) && !listed;
}

/* ---- mending ---- */

bool
ws_index_stray_move(const struct ws_index_folder *t, const char *path, struct ws_err *err)
{
	const char *folder = ws_path_join(t->a, t->path, ".stray", NULL);
	const char *from = below(t, path);
	const char *to = ws_path_join(t->a, folder, ws_path_base(path), NULL);
	const char *free = to;
	for (unsigned i = 2; ws_fs_exists(free) || ws_fs_is_link(free); i++) {
		free = ws_arena_printf(t->a, "%s.%u", to, i);
	}
	return ws_fs_mkdirs(folder, err)
		&& (rename(from, free) == 0
			|| ws_err_sys(err, WS_ERR_PUBLISH, "cannot move '%s' to '%s'", from, free));
}

bool
ws_index_strays_mend(struct ws_index_folder *t, const struct ws_index_catalog *catalog,
	size_t *count, bool *damaged, struct ws_err *err)
{
	struct search s = {.t = t, .a = t->a};
	bool done = search_all(&s, catalog, err);
	*count = s.strays.len;
	*damaged = s.damaged;
	for (size_t i = 0; i < s.strays.len && done; i++) {
		const char *name = s.strays.at[i];
		const char *path = below(t, name);
		done = !(ws_fs_exists(path) || ws_fs_is_link(path)) || ws_index_stray_move(t, name, err);
		if (done && name[0] == '@' && ws_ends_with(name, "/files")
			&& symlink("../files", path) != 0) {
			return ws_err_sys(err, WS_ERR_PUBLISH, "cannot make the link '%s'", path);
		}
	}
	return done && ws_index_folder_show(t, t->current, err);
}

/* ---- the audit ---- */

#define LARGEST_METADATA ((size_t)16 << 20)

struct auditing {
	struct ws_index_folder t;
	struct ws_stop *stop;
};

static bool
check_file(struct auditing *au, const char *path, const char *sha256, uint64_t size_bytes,
	struct ws_err *err)
{
	struct ws_digest digest;
	uint64_t size;
	if (ws_stop_asked(au->stop)) {
		return ws_stop_err(au->stop, err);
	}
	if (!ws_digest_file(path, &digest, &size, err)) {
		return false;
	}
	return (ws_digest_is(&digest, sha256) && size == size_bytes)
		|| ws_err_set(err, WS_ERR_PUBLISH,
			"'%s' is not what was published: sha256 %.16s, not %.16s", path, digest.hex, sha256);
}

static bool
check_pages(struct auditing *au, const struct ws_index_manifest *manifest, struct ws_err *err)
{
	bool has_catalog = false;
	for (size_t i = 0; i < manifest->count; i++) {
		const struct ws_index_page_file *file = &manifest->files[i];
		const char *path = ws_index_folder_path(&au->t, file->path);
		bool is_catalog = strcmp(file->path, "index.json") == 0;
		has_catalog = has_catalog || is_catalog;
		if (!check_file(au, path, file->sha256.hex, file->size_bytes, err)) {
			return is_catalog ? ws_index_lists_cure(&au->t, err)
							  : !ws_err_is_stop(err)
					&& ws_err_cure(err, "remove it and publish again: it is made anew");
		}
	}
	return has_catalog
		|| ws_err_set(
			err, WS_ERR_PUBLISH, "the manifest of '%s' does not list index.json", au->t.path);
}

/* The wheel, and the METADATA file beside it, which equals that in the wheel. */
static bool
check_wheel(struct auditing *au, const struct ws_index_entry *entry, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	WS_AUTO_FILE_SOURCE struct ws_file_source file = {.fd = -1};
	WS_AUTO_BUF struct ws_buf inside = {0};
	WS_AUTO_BUF struct ws_buf outside = {0};
	struct ws_zip zip;
	const char *wheel = ws_path_join(a, au->t.path, "files", entry->file, NULL);
	const char *beside = ws_arena_printf(a, "%s.metadata", wheel);
	if (!check_file(au, wheel, entry->sha256, entry->size_bytes, err)
		|| !ws_fs_read_at_most(beside, LARGEST_METADATA, &outside, err)
		|| !ws_file_source_open(wheel, &file, err)
		|| !ws_zip_open(&file.source, NULL, a, &zip, err)) {
		return false;
	}
	const char *folder = ws_dist_info_folder(&zip, a, err);
	if (!folder || !ws_dist_info_load(&zip, folder, "METADATA", &inside, err)) {
		return ws_err_wrap(err, "'%s'", entry->file);
	}
	struct ws_digest digest = ws_digest_bytes(ws_buf_text(&outside), outside.len);
	bool same = ws_str_eq(ws_buf_str(&inside), ws_buf_str(&outside));
	return (same && ws_digest_is(&digest, entry->metadata_sha256))
		|| ws_err_set(err, WS_ERR_PUBLISH, "'%s' is not METADATA of '%s'", beside, entry->file);
}

static bool
check_wheels(struct auditing *au, const struct ws_index_catalog *catalog, struct ws_err *err)
{
	for (size_t i = 0; i < catalog->entries.len; i++) {
		const struct ws_index_entry *entry = &catalog->entries.at[i];
		if (!check_wheel(au, entry, err)) {
			return !ws_err_is_stop(err)
				&& ws_err_cure(err, "remove it and publish its wheel again");
		}
		if (entry->variant) {
			const struct ws_index_entry variant = ws_variant_entry(entry, au->t.a);
			if (!check_wheel(au, &variant, err)) {
				return false;
			}
		}
	}
	return true;
}

static bool
audit_all(struct auditing *au, const struct ws_sign_key *key, int64_t now_us,
	struct ws_index_audit *audit, struct ws_err *err)
{
	struct ws_index_manifest manifest;
	struct ws_index_catalog catalog;
	const struct ws_index_folder *t = &au->t;
	struct search search = {.t = t, .a = t->a};
	if (!ws_index_lists_read(t, key, &manifest, err)) {
		return false;
	}
	if (key && !manifest.is_signed) {
		return ws_err_set(err, WS_ERR_PUBLISH, "'%s' is not signed", t->path);
	}
	if (manifest.expires && strcmp(manifest.expires, ws_index_time_text(now_us, t->a)) < 0) {
		ws_err_set(
			err, WS_ERR_PUBLISH, "the signature of '%s' expired at %s", t->path, manifest.expires);
		return ws_err_cure(err, "publish again to renew the signature");
	}
	if (!ws_same(manifest.snapshot, t->current)) {
		return ws_err_set(err, WS_ERR_PUBLISH, "the manifest of '@%s' is of '@%s'", t->current,
			manifest.snapshot);
	}
	if (!check_pages(au, &manifest, err)
		|| !ws_index_catalog_read(ws_index_folder_path(t, "index.json"), t->a, &catalog, err)) {
		return false;
	}
	bool searched = search_all(&search, &catalog, err);
	if (search.strays.len > 0) {
		ws_err_set(err, WS_ERR_PUBLISH,
			"'%s' was not put there by publishing, and may be installed from",
			below(t, search.strays.at[0]));
		return ws_err_cure(err, "publish again: it is moved to '%s/.stray'", t->path);
	}
	if (!searched || !check_wheels(au, &catalog, err)) {
		return false;
	}
	*audit = (struct ws_index_audit){
		t->current, manifest.count, catalog.entries.len, manifest.is_signed};
	return true;
}

bool
ws_index_audit(const char *target, const struct ws_sign_key *key, int64_t now_us,
	struct ws_stop *stop, struct ws_arena *a, struct ws_index_audit *audit, struct ws_err *err)
{
	struct auditing au = {.stop = stop};
	*audit = (struct ws_index_audit){0};
	return ws_index_folder_look(target, a, &au.t, err)
		&& (audit_all(&au, key, now_us, audit, err) || ws_index_err(err));
}
