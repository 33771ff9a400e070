/* cas.c - cas/aa/<sha256>. A file is synced before the rename that makes it visible. Later
 * changes are found when it is used: by its digest, or by the ledger's note of its size and
 * times. */
#include "store/cas.h"

#include "base/fs.h"
#include "store/ledger.h"

#include <errno.h>
#include <fcntl.h>

void
ws_used_entries_add_tree(const struct ws_store *store, const struct ws_tree *tree)
{
	struct ws_used_entries *used = store->used;
	if (!used || ws_map_get(&used->trees, tree->path)) {
		return;
	}
	struct ws_tree *kept = WS_NEW(used->a, struct ws_tree);
	struct ws_tree_entry *entries = WS_NEW_N(used->a, struct ws_tree_entry, tree->count + 1);
	for (size_t i = 0; i < tree->count; i++) {
		const struct ws_tree_entry *entry = &tree->entries[i];
		entries[i] = (struct ws_tree_entry){ws_arena_strdup(used->a, entry->path), entry->kind,
			ws_arena_strdup(used->a, entry->value), entry->size_bytes};
	}
	*kept = (struct ws_tree){ws_arena_strdup(used->a, tree->name),
		ws_arena_strdup(used->a, tree->path), tree->digest, entries, tree->count, NULL};
	ws_map_put(&used->trees, kept->path, kept, used->a);
}

static void
note_used(const struct ws_store *store, const char *digest)
{
	struct ws_used_entries *used = store->used;
	if (used && !ws_map_get(&used->files, digest)) {
		const char *kept = ws_arena_strdup(used->a, digest);
		ws_map_put(&used->files, kept, kept, used->a);
	}
}

/* ---- files ---- */

static char *
path_of(const struct ws_store *store, const char *digest, struct ws_arena *a)
{
	return ws_arena_printf(a, "%s/cas/%.2s/%s", store->path, digest, digest);
}

static void
note_digest(const struct ws_store *store, const char *path, const char *digest)
{
	struct stat status;
	struct ws_digest known;
	if (lstat(path, &status) == 0 && ws_digest_parse(digest, &known)) {
		ws_ledger_note(store->ledger, path, &status, &known);
	}
}

/* After a link was added or removed: notes the new ctime of a file that was whole @a before. */
static void
note_link(
	const struct ws_store *store, const char *path, const char *digest, const struct stat *before)
{
	struct stat now;
	if (lstat(path, &now) == 0 && now.st_size == before->st_size && now.st_ino == before->st_ino
		&& now.st_mtim.tv_sec == before->st_mtim.tv_sec
		&& now.st_mtim.tv_nsec == before->st_mtim.tv_nsec) {
		note_digest(store, path, digest);
	}
}

/* Verifies a file; hashes it with @a anew, or if it changed since it was last hashed. A damaged
 * file is rejected. */
static bool
check_file(const struct ws_store *store, const char *path, const char *digest, bool anew)
{
	struct stat status;
	struct ws_digest found = {""};
	struct ws_err err = {0};
	if (!ws_store_stat(store, path, &status)) {
		return false;
	}
	if (S_ISREG(status.st_mode)) {
		if (!anew && ws_ledger_recall(store->ledger, path, &status, &found)
			&& ws_digest_is(&found, digest)) {
			return true;
		}
		if (ws_digest_file(path, &found, NULL, &err) && ws_digest_is(&found, digest)) {
			ws_ledger_note(store->ledger, path, &status, &found);
			return true;
		}
	}
	ws_store_reject(store, path, &err);
	return false;
}

bool
ws_cas_verify(const struct ws_store *store, const char *digest)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	return check_file(store, path_of(store, digest, a), digest, true);
}

bool
ws_cas_has(const struct ws_store *store, const char *digest)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	if (!check_file(store, path_of(store, digest, a), digest, false)) {
		return false;
	}
	note_used(store, digest);
	return true;
}

/* Moves @a path, whose digest is known, to its place. */
static bool
move_in(const struct ws_store *store, const char *path, const char *digest, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const char *place = path_of(store, digest, a);
	if (check_file(store, place, digest, false)) {
		return ws_fs_remove(path, err);
	}
	if (!ws_store_may_make(store, err)) {
		return false;
	}
	if (chmod(path, 0444) < 0) {
		return ws_err_sys(err, WS_ERR_IO, "cannot protect '%s'", path);
	}
	if (!ws_fs_mkdirs(ws_path_dir(a, place), err)) {
		return false;
	}
	WS_AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fsync(fd) < 0) {
		return ws_err_sys(err, WS_ERR_IO, "cannot sync '%s'", path);
	}
	if (rename(path, place) == 0) {
		note_digest(store, place, digest);
		return true;
	}
	if (errno != EXDEV) {
		return ws_err_sys(err, WS_ERR_IO, "cannot store '%s'", path);
	}
	return ws_fs_copy_atomic(path, place, 0444, digest, err) && ws_fs_remove(path, err);
}

bool
ws_cas_take(const struct ws_store *store, const char *path, struct ws_digest *digest,
	uint64_t *size, struct ws_err *err)
{
	return ws_digest_file(path, digest, size, err) && move_in(store, path, digest->hex, err);
}

bool
ws_cas_put(const struct ws_store *store, const void *bytes, size_t len, struct ws_digest *digest,
	struct ws_err *err)
{
	*digest = ws_digest_bytes(bytes, len);
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const char *place = path_of(store, digest->hex, a);
	return check_file(store, place, digest->hex, false)
		|| (ws_store_may_make(store, err) && ws_fs_mkdirs(ws_path_dir(a, place), err)
			&& ws_fs_write_atomic(place, bytes, len, 0444, err));
}

bool
ws_cas_begin(const struct ws_store *store, const char *digest, struct ws_arena *a,
	struct ws_cas_incoming *incoming, struct ws_err *err)
{
	*incoming = (struct ws_cas_incoming){
		.digest = ws_arena_strdup(a, digest),
		.partial = ws_arena_printf(a, "%s/partial/%s.part", store->path, digest),
		.path = path_of(store, digest, a),
	};
	return ws_store_may_make(store, err) && ws_fs_mkdirs(ws_path_dir(a, incoming->path), err);
}

bool
ws_cas_commit(
	const struct ws_store *store, const struct ws_cas_incoming *incoming, struct ws_err *err)
{
	if (chmod(incoming->path, 0444) < 0) {
		return ws_err_sys(err, WS_ERR_IO, "cannot protect '%s'", incoming->path);
	}
	note_digest(store, incoming->path, incoming->digest);
	return true;
}

static bool
report_missing(const struct ws_store *store, const char *path, struct ws_err *err)
{
	if (!ws_store_may_make(store, err)) {
		return false;
	}
	ws_err_set(err, WS_ERR_IO, "'%s' is missing", path);
	return ws_err_cure(err, "run it again: what is missing in the store is made again");
}

const char *
ws_cas_open(
	const struct ws_store *store, const char *digest, struct ws_arena *a, struct ws_err *err)
{
	const char *path = path_of(store, digest, a);
	if (!check_file(store, path, digest, false)) {
		report_missing(store, path, err);
		return NULL;
	}
	note_used(store, digest);
	return path;
}

bool
ws_cas_read(const struct ws_store *store, const char *digest, struct ws_buf *b, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const char *path = path_of(store, digest, a);
	size_t start = b->len;
	struct stat status;
	struct ws_err why = {0};
	if (!ws_store_stat(store, path, &status)) {
		return report_missing(store, path, err);
	}
	/* The bytes are in memory: hashing them is cheaper than a query of the ledger. */
	if (S_ISREG(status.st_mode) && ws_fs_read(path, b, &why)) {
		struct ws_digest found = ws_digest_bytes(ws_buf_text(b) + start, b->len - start);
		if (ws_digest_is(&found, digest)) {
			note_used(store, digest);
			return true;
		}
	}
	ws_buf_cut(b, start);
	ws_store_reject(store, path, &why);
	return report_missing(store, path, err);
}

bool
ws_cas_copy_to(const struct ws_store *store, const char *digest, const char *to, mode_t mode,
	struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const char *path = ws_cas_open(store, digest, a, err);
	if (!path || ws_fs_copy_atomic(path, to, mode, digest, err)) {
		return path != NULL;
	}
	/* Bytes may be damaged without a change of size and times. */
	struct ws_digest found;
	if (ws_digest_file(path, &found, NULL, NULL) && !ws_digest_is(&found, digest)) {
		ws_store_reject(store, path, &(struct ws_err){0});
	}
	return false;
}

bool
ws_cas_link_into(const struct ws_store *store, const char *digest, const char *to, bool executable,
	struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const char *path = ws_cas_open(store, digest, a, err);
	if (!path || executable) {
		return path && ws_fs_copy(path, to, 0755, err);
	}
	struct stat before;
	bool seen = lstat(path, &before) == 0, linked = ws_fs_link(path, to, err);
	if (seen && linked) {
		note_link(store, path, digest, &before);
	}
	return linked;
}

void
ws_cas_unlink(const struct ws_store *store, const char *digest, const char *to)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const char *path = path_of(store, digest, a);
	struct stat before;
	struct ws_digest known;
	bool whole = lstat(path, &before) == 0 && ws_ledger_recall(store->ledger, path, &before, &known)
		&& ws_digest_is(&known, digest);
	if (unlink(to) == 0 && whole) {
		note_link(store, path, digest, &before);
	}
}
