/* tree.c - finding trees and reading their listings. A tree whose listing has another digest, or
 * whose files differ from it, does not exist. tree_build.c creates trees. */
#include "store/tree.h"

#include "base/fs.h"
#include "store/cas.h"
#include "store/ledger.h"
#include "store/results.h"

#include <fcntl.h>
#include <inttypes.h>

void
ws_tree_list_write(
	const struct ws_tree_entry *entries, size_t count, bool sized, struct ws_buf *text)
{
	for (size_t i = 0; i < count; i++) {
		const struct ws_tree_entry *entry = &entries[i];
		bool link = entry->kind == WS_TREE_LINK;
		ws_buf_putc(text, "fxl"[entry->kind]);
		ws_buf_putc(text, ' ');
		ws_buf_puts(text, entry->value);
		if (sized && !link) {
			ws_buf_printf(text, "/%" PRIu64, entry->size_bytes);
		}
		ws_buf_putc(text, link ? '\t' : ' ');
		ws_buf_puts(text, entry->path);
		ws_buf_putc(text, '\n');
	}
}

struct ws_digest
ws_tree_digest(struct ws_tree_entry *entries, size_t count)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	if (count > 1) {
		qsort(entries, count, sizeof(*entries), ws_tree_entry_cmp);
	}
	ws_tree_list_write(entries, count, false, &text);
	return ws_digest_bytes(ws_buf_text(&text), text.len);
}

/* Parses one line in place, and adds it without the size to @a plain; false: malformed. */
static bool
read_line(char *line, struct ws_tree_entry *entry, struct ws_buf *plain, bool *sized)
{
	const char *kinds = "fxl";
	const char *kind = line[0] ? strchr(kinds, line[0]) : NULL;
	char *value = line + 2;
	char *end = kind && line[1] == ' ' ? strchr(value, *kind == 'l' ? '\t' : ' ') : NULL;
	if (!end) {
		return false;
	}
	char *size = *kind == 'l' ? NULL : memchr(value, '/', (size_t)(end - value));
	ws_buf_add(plain, line, (size_t)((size ? size : end) - line));
	ws_buf_puts(plain, end);
	ws_buf_putc(plain, '\n');
	*end = '\0';
	*entry = (struct ws_tree_entry){end + 1, (enum ws_tree_kind)(kind - kinds), value, 0};
	*sized = *sized && (size || *kind == 'l');
	if (size) {
		*size++ = '\0';
	}
	return *kind == 'l'
		|| (strlen(value) == 64 && (!size || ws_str_to_u64(ws_str_of(size), &entry->size_bytes)));
}

bool
ws_tree_list_read(struct ws_str text, struct ws_arena *a, struct ws_tree_entry **entries,
	size_t *count, struct ws_digest *digest, bool *sized)
{
	WS_VEC(struct ws_tree_entry) list = {0};
	WS_AUTO_BUF struct ws_buf plain = {0};
	*sized = true;
	for (char *line = ws_str_copy(text, a); *line;) {
		char *end = line + strcspn(line, "\n");
		char *next = *end ? end + 1 : end;
		*end = '\0';
		if (!read_line(line, ws_vec_push(&list, a), &plain, sized)) {
			return false;
		}
		line = next;
	}
	*entries = list.at;
	*count = list.len;
	*digest = ws_digest_bytes(ws_buf_text(&plain), plain.len);
	return true;
}

/* ---- verifying a tree ---- */

/* The properties that show a change of a file or folder. */
static void
add_status(struct ws_hasher *h, const struct stat *status)
{
	const int64_t fields[] = {(int64_t)status->st_mode, (int64_t)status->st_size,
		(int64_t)status->st_mtim.tv_sec, (int64_t)status->st_mtim.tv_nsec,
		(int64_t)status->st_ctim.tv_sec, (int64_t)status->st_ctim.tv_nsec, (int64_t)status->st_ino};
	ws_hasher_add(h, fields, sizeof(fields));
}

/* Adds the folders above @a path that were not above @a before, the previous entry. */
static bool
add_folders(struct ws_hasher *h, int root, const char *path, const char *before, struct ws_err *err)
{
	char folder[4096];
	struct stat status;
	for (const char *slash = path; (slash = strchr(slash, '/')); slash++) {
		size_t len = (size_t)(slash - path);
		if (strncmp(path, before, len + 1) == 0) {
			continue;
		}
		if (len >= sizeof(folder)) {
			return ws_err_set(err, WS_ERR_IO, "'%s' is too long", path);
		}
		memcpy(folder, path, len);
		folder[len] = '\0';
		if (fstatat(root, folder, &status, AT_SYMLINK_NOFOLLOW) < 0) {
			return ws_err_sys(err, WS_ERR_IO, "cannot read '%s'", folder);
		}
		if (!S_ISDIR(status.st_mode)) {
			return ws_err_set(err, WS_ERR_IO, "'%s' is not a folder", folder);
		}
		add_status(h, &status);
	}
	return true;
}

/* A digest over the status of everything in the tree. False: a file is missing or has another
 * size than listed. */
static bool
compute_fingerprint(const struct ws_tree *tree, struct ws_digest *fingerprint, struct ws_err *err)
{
	WS_AUTO_FD int root = open(tree->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat status;
	if (root < 0 || fstat(root, &status) < 0) {
		return ws_err_sys(err, WS_ERR_IO, "cannot read '%s'", tree->path);
	}
	struct ws_hasher *h = ws_hasher_make();
	add_status(h, &status);
	const char *before = "";
	bool there = true;
	for (size_t i = 0; i < tree->count && there; i++) {
		const struct ws_tree_entry *entry = &tree->entries[i];
		const char *path = entry->path;
		there = add_folders(h, root, path, before, err)
			&& (fstatat(root, path, &status, AT_SYMLINK_NOFOLLOW) == 0
				|| ws_err_sys(err, WS_ERR_IO, "cannot read '%s/%s'", tree->path, path))
			&& (entry->kind == WS_TREE_LINK || (uint64_t)status.st_size == entry->size_bytes
				|| ws_err_set(err, WS_ERR_IO, "'%s/%s' has another size than its listing says",
					tree->path, path));
		if (there) {
			add_status(h, &status);
		}
		before = path;
	}
	*fingerprint = ws_hasher_finish(h);
	return there;
}

/* A tree's fingerprint is noted by its path alone. */
static const struct stat of_a_tree;

/* A tree that is read, and the number of its entries found. */
struct reading {
	struct ws_listing listing;
	size_t seen;
};

static bool
read_one(void *self, const struct ws_fs_entry *found, struct ws_err *err)
{
	struct reading *r = self;
	mode_t mode = found->status.st_mode;
	if (S_ISDIR(mode)) {
		return true;
	}
	const struct ws_tree_entry *entry = ws_listing_at(&r->listing, found->name);
	r->seen++;
	if (entry && entry->kind == WS_TREE_LINK) {
		char target[4096] = "";
		return S_ISLNK(mode)
			&& (readlink(found->path, target, sizeof(target) - 1) >= 0
				|| ws_err_sys(err, WS_ERR_IO, "cannot read '%s'", found->path))
			&& strcmp(target, entry->value) == 0;
	}
	struct ws_digest digest;
	return entry && S_ISREG(mode) && ((mode & 0100) != 0) == (entry->kind == WS_TREE_EXECUTABLE)
		&& ws_digest_file(found->path, &digest, NULL, err) && ws_digest_is(&digest, entry->value);
}

/* Once in a run: compares the status of all files with the last time, or else their bytes with
 * the listing. */
static bool
is_whole(const struct ws_store *store, const struct ws_tree *tree, struct ws_err *err)
{
	struct ws_digest fingerprint, noted;
	if (ws_map_get(store->checked, tree->path)) {
		return true;
	}
	if (!compute_fingerprint(tree, &fingerprint, err)) {
		return false;
	}
	if (!ws_ledger_recall(store->ledger, tree->path, &of_a_tree, &noted)
		|| !ws_digest_eq(&fingerprint, &noted)) {
		struct reading r = {.listing = ws_tree_listing(tree)};
		if (!ws_fs_walk(tree->path, read_one, &r, err) || r.seen != tree->count) {
			return false;
		}
		ws_ledger_note(store->ledger, tree->path, &of_a_tree, &fingerprint);
	}
	ws_map_add(store->checked, ws_arena_strdup(store->a, tree->path), store->a);
	return true;
}

void
ws_tree_note(const struct ws_store *store, const struct ws_tree *tree)
{
	struct ws_digest fingerprint;
	if (compute_fingerprint(tree, &fingerprint, NULL)) {
		ws_ledger_note(store->ledger, tree->path, &of_a_tree, &fingerprint);
	}
}

/* ---- finding ---- */

/* Reads the listing of the tree at tree->path; on failure the digest stays empty. An older
 * listing has no sizes: uses those of the files. */
static void
read_listing(
	const char *list, struct ws_arena *a, struct ws_tree *tree, bool *sized, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_tree_entry *entries = NULL;
	*sized = true;
	if (!ws_fs_read(list, &text, err)
		|| !ws_tree_list_read(ws_buf_str(&text), a, &entries, &tree->count, &tree->digest, sized)) {
		return;
	}
	for (size_t i = 0; i < tree->count && !*sized; i++) {
		struct stat status;
		const char *path = ws_path_join(a, tree->path, entries[i].path, NULL);
		bool file = entries[i].kind != WS_TREE_LINK && lstat(path, &status) == 0;
		entries[i].size_bytes = file ? (uint64_t)status.st_size : 0;
	}
	tree->entries = entries;
}

/* Rejects a tree; an unreadable one stays, and then its listing as well. */
static bool
reject_tree(
	const struct ws_store *store, const char *path, const char *list, const struct ws_err *why)
{
	ws_store_reject(store, path, why);
	if (!ws_fs_exists(path)) {
		ws_fs_remove(list, NULL);
	}
	return false;
}

bool
ws_tree_find(const struct ws_store *store, const char *name, const char *digest, struct ws_arena *a,
	struct ws_tree *tree)
{
	const char *path = ws_arena_printf(a, "%s/trees/%s-%.16s", store->path, name, digest);
	const char *list = ws_arena_printf(a, "%s.list", path);
	struct stat status;
	struct ws_err err = {0};
	bool sized;
	if (!ws_store_stat(store, list, &status) || !ws_store_stat(store, path, &status)) {
		return false;
	}
	*tree = (struct ws_tree){.name = ws_arena_strdup(a, name), .path = path};
	read_listing(list, a, tree, &sized, &err);
	if (ws_digest_is(&tree->digest, digest) && is_whole(store, tree, &err)) {
		if (!sized) {
			WS_AUTO_BUF struct ws_buf text = {0};
			ws_tree_list_write(tree->entries, tree->count, true, &text);
			ws_fs_write_atomic(list, ws_buf_text(&text), text.len, 0444, NULL);
		}
		ws_used_entries_add_tree(store, tree);
		return true;
	}
	/* A listing with these 16 digits belongs to the folder: another tree was requested. */
	bool other = strncmp(tree->digest.hex, digest, 16) == 0 && !ws_digest_is(&tree->digest, digest);
	return !other && reject_tree(store, path, list, &err);
}

bool
ws_tree_verify(const struct ws_store *store, const char *folder, struct ws_arena *a)
{
	const char *path = ws_path_join(a, store->path, "trees", folder, NULL);
	const char *list = ws_arena_printf(a, "%s.list", path), *dash = strrchr(folder, '-');
	struct ws_tree listed = {.path = path}, tree;
	struct ws_err err = {0};
	bool sized;
	read_listing(list, a, &listed, &sized, &err);
	if (dash && listed.digest.hex[0] && strncmp(listed.digest.hex, dash + 1, 16) == 0) {
		ws_ledger_note(store->ledger, path, &of_a_tree, &(struct ws_digest){""});
		return ws_tree_find(
			store, ws_arena_copy(a, folder, (size_t)(dash - folder)), listed.digest.hex, a, &tree);
	}
	return reject_tree(store, path, list, &err);
}

const struct ws_tree_entry *
ws_tree_lookup(const struct ws_tree *tree, const char *path)
{
	struct ws_listing listing = ws_tree_listing(tree);
	return ws_listing_find(&listing, path);
}

#define MEMO "wheelsmith.tree/1"

void
ws_tree_memo_write(const struct ws_tree *tree, struct ws_buf *text)
{
	ws_buf_printf(text, MEMO "\n%s %s\n", tree->digest.hex, tree->name);
	if (tree->note) {
		ws_buf_printf(text, "%s\n", tree->note);
	}
}

bool
ws_tree_memo_read(struct ws_str text, struct ws_arena *a, struct ws_tree *tree)
{
	if (!ws_str_is(ws_str_cut(&text, '\n'), MEMO)) {
		return false;
	}
	const char *digest = ws_str_copy(ws_str_cut(&text, ' '), a);
	struct ws_str name = ws_str_cut(&text, '\n');
	struct ws_str note = ws_str_cut(&text, '\n');
	*tree = (struct ws_tree){
		.name = ws_str_copy(name, a), .note = note.n > 0 ? ws_str_copy(note, a) : NULL};
	return ws_digest_parse(digest, &tree->digest) && name.n > 0 && !strchr(tree->name, '/');
}

bool
ws_tree_remember(
	const struct ws_store *store, const char *key, const struct ws_tree *tree, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	ws_tree_memo_write(tree, &b);
	return ws_results_put(store, key, &b, err);
}

bool
ws_tree_recall(
	const struct ws_store *store, const char *key, struct ws_arena *a, struct ws_tree *tree)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	struct ws_tree memo;
	if (!ws_results_get(store, key, &b) || !ws_tree_memo_read(ws_buf_str(&b), a, &memo)
		|| !ws_tree_find(store, memo.name, memo.digest.hex, a, tree)) {
		return false;
	}
	tree->note = memo.note;
	return true;
}
