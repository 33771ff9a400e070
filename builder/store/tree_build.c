/* tree_build.c - creates a tree: files, links, listing, rename. tree.c finds it. */
#include "base/fs.h"
#include "store/tree.h"

#include <errno.h>
#include <fcntl.h>

struct ws_tree_builder {
	const struct ws_store *store;
	struct ws_arena *a; /* its own */
	const char *name;
	struct ws_scratch scratch;
	WS_VEC(struct ws_tree_entry) entries;
	struct ws_map places;  /* path -> index + 1 into entries */
	struct ws_map folders; /* that were made */
	int open_fd;
	struct ws_hasher *open_hasher;
	const char *open_path;
	uint64_t open_bytes; /* written so far */
	bool open_executable;
};

struct ws_tree_builder *
ws_tree_begin(
	const struct ws_store *store, const char *name, struct ws_arena *a, struct ws_err *err)
{
	if (!ws_store_may_make(store, err)) {
		return NULL;
	}
	struct ws_tree_builder *b = WS_NEW(a, struct ws_tree_builder);
	b->store = store;
	b->a = ws_arena_make();
	b->name = ws_arena_strdup(b->a, name);
	b->open_fd = -1;
	if (!ws_scratch_make(ws_store_path(store, b->a, "partial"), ws_arena_printf(b->a, "%s-", name),
			b->a, &b->scratch, err)) {
		ws_arena_drop(b->a);
		return NULL;
	}
	chmod(b->scratch.path, 0755); /* like every tree; a failure shows when it is used */
	return b;
}

const char *
ws_tree_folder(const struct ws_tree_builder *b)
{
	return b->scratch.path;
}

static struct ws_tree_entry *
entry_at(const struct ws_tree_builder *b, const char *path)
{
	size_t place = (size_t)(uintptr_t)ws_map_get(&b->places, path);
	return place ? &b->entries.at[place - 1] : NULL;
}

const struct ws_tree_entry *
ws_tree_added(const struct ws_tree_builder *b, const char *path)
{
	return entry_at(b, path);
}

/* Paths must fit in one line of the listing and stay inside. */
static bool
check_path(const struct ws_tree_builder *b, const char *path, struct ws_err *err)
{
	if (!ws_path_is_inside(path)) {
		return ws_err_set(
			err, WS_ERR_FETCH, "'%s' holds '%s', a path that is not allowed", b->name, path);
	}
	if (entry_at(b, path)) {
		return ws_err_set(err, WS_ERR_FETCH, "'%s' holds '%s' twice", b->name, path);
	}
	for (const char *slash = path; (slash = strchr(slash, '/')); slash++) {
		WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
		const char *above = ws_arena_copy(a, path, (size_t)(slash - path));
		if (entry_at(b, above)) {
			return ws_err_set(err, WS_ERR_FETCH,
				"'%s' holds '%s' below '%s', which is not a folder", b->name, path, above);
		}
	}
	return true;
}

static void
add_entry(struct ws_tree_builder *b, const char *path, enum ws_tree_kind kind, const char *value,
	uint64_t size_bytes)
{
	struct ws_tree_entry *entry = ws_vec_push(&b->entries, b->a);
	entry->path = ws_arena_strdup(b->a, path);
	entry->kind = kind;
	entry->value = ws_arena_strdup(b->a, value);
	entry->size_bytes = size_bytes;
	ws_map_put(&b->places, entry->path, (void *)(uintptr_t)b->entries.len, b->a);
}

/* Creates the folder of @a place, each once: torch has 300 folders of headers. */
static bool
make_folder(struct ws_tree_builder *b, const char *place, struct ws_err *err)
{
	const char *folder = ws_path_dir(b->a, place);
	return !ws_map_add(&b->folders, folder, b->a) || ws_fs_mkdirs(folder, err);
}

const char *
ws_tree_place(struct ws_tree_builder *b, const char *path, struct ws_err *err)
{
	const char *place = ws_path_join(b->a, b->scratch.path, path, NULL);
	return check_path(b, path, err) && make_folder(b, place, err) ? place : NULL;
}

bool
ws_tree_open_file(struct ws_tree_builder *b, const char *path, bool executable, struct ws_err *err)
{
	b->open_path = ws_tree_place(b, path, err);
	if (!b->open_path) {
		return false;
	}
	b->open_fd = open(b->open_path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (b->open_fd < 0) {
		return ws_err_sys(err, WS_ERR_IO, "cannot create '%s'", b->open_path);
	}
	b->open_hasher = ws_hasher_make();
	b->open_bytes = 0;
	b->open_executable = executable;
	return true;
}

bool
ws_tree_write(struct ws_tree_builder *b, const void *bytes, size_t len, struct ws_err *err)
{
	ws_hasher_add(b->open_hasher, bytes, len);
	b->open_bytes += len;
	return ws_fs_write_all(b->open_fd, bytes, len)
		|| ws_err_sys(err, WS_ERR_IO, "cannot write '%s'", b->open_path);
}

bool
ws_tree_close_file(struct ws_tree_builder *b, struct ws_digest *digest, struct ws_err *err)
{
	struct ws_digest sum = ws_hasher_finish(b->open_hasher);
	b->open_hasher = NULL;
	bool closed = fchmod(b->open_fd, b->open_executable ? 0555 : 0444) == 0;
	closed = close(ws_take_fd(&b->open_fd)) == 0 && closed;
	if (!closed) {
		return ws_err_sys(err, WS_ERR_IO, "cannot write '%s'", b->open_path);
	}
	add_entry(b, b->open_path + strlen(b->scratch.path) + 1,
		b->open_executable ? WS_TREE_EXECUTABLE : WS_TREE_FILE, sum.hex, b->open_bytes);
	if (digest) {
		*digest = sum;
	}
	return true;
}

bool
ws_tree_add_file(struct ws_tree_builder *b, const char *path, const void *bytes, size_t len,
	bool executable, struct ws_err *err)
{
	return ws_tree_open_file(b, path, executable, err) && ws_tree_write(b, bytes, len, err)
		&& ws_tree_close_file(b, NULL, err);
}

bool
ws_tree_add_link(
	struct ws_tree_builder *b, const char *path, const char *target, struct ws_err *err)
{
	if (!check_path(b, path, err)) {
		return false;
	}
	if (!ws_path_link_is_inside(path, target)) {
		return ws_err_set(err, WS_ERR_FETCH, "'%s' holds the link '%s' to '%s', which leaves it",
			b->name, path, target);
	}
	const char *place = ws_path_join(b->a, b->scratch.path, path, NULL);
	if (!make_folder(b, place, err)) {
		return false;
	}
	if (symlink(target, place) < 0) {
		return ws_err_sys(err, WS_ERR_IO, "cannot link '%s'", place);
	}
	add_entry(b, path, WS_TREE_LINK, target, 0);
	return true;
}

bool
ws_tree_set_executable(struct ws_tree_builder *b, const char *path, struct ws_err *err)
{
	struct ws_tree_entry *entry = entry_at(b, path);
	if (!entry || entry->kind == WS_TREE_LINK) {
		return ws_err_set(
			err, WS_ERR_FETCH, "'%s' holds no file '%s' to make executable", b->name, path);
	}
	const char *place = ws_path_join(b->a, b->scratch.path, path, NULL);
	if (chmod(place, 0555) < 0) {
		return ws_err_sys(err, WS_ERR_IO, "cannot make '%s' executable", place);
	}
	entry->kind = WS_TREE_EXECUTABLE;
	return true;
}

static bool
adopt_one(void *self, const struct ws_fs_entry *found, struct ws_err *err)
{
	struct ws_tree_builder *b = self;
	if (S_ISDIR(found->status.st_mode) || entry_at(b, found->name)) {
		return true;
	}
	if (!check_path(b, found->name, err)) {
		return false;
	}
	if (S_ISREG(found->status.st_mode)) {
		struct ws_digest digest;
		uint64_t size_bytes;
		bool executable = found->status.st_mode & 0100;
		if (!ws_digest_file(found->path, &digest, &size_bytes, err)) {
			return false;
		}
		chmod(found->path, executable ? 0555 : 0444);
		add_entry(
			b, found->name, executable ? WS_TREE_EXECUTABLE : WS_TREE_FILE, digest.hex, size_bytes);
		return true;
	}
	char target[4096] = "";
	if (S_ISLNK(found->status.st_mode) && readlink(found->path, target, sizeof(target) - 1) > 0
		&& ws_path_link_is_inside(found->name, target)) {
		add_entry(b, found->name, WS_TREE_LINK, target, 0);
		return true;
	}
	return ws_err_set(err, WS_ERR_FETCH,
		"'%s' holds '%s', which is not a file, a folder or a link inside it", b->name, found->name);
}

bool
ws_tree_adopt(struct ws_tree_builder *b, struct ws_err *err)
{
	return ws_fs_walk(b->scratch.path, adopt_one, b, err);
}

/* Replaces @a place, which has no listing: debris, or an equal tree of a concurrent run. In one
 * step where the file system can. */
static bool
replace_folder(const char *folder, const char *place, struct ws_arena *a, struct ws_err *err)
{
	const char *old = folder;
	if (rename(folder, place) == 0) {
		return true;
	}
	bool there = errno == ENOTEMPTY || errno == EEXIST;
	bool put = there && renameat2(AT_FDCWD, folder, AT_FDCWD, place, RENAME_EXCHANGE) == 0;
	if (there && !put && errno == EINVAL) {
		old = ws_arena_printf(a, "%s.old", folder);
		put = rename(place, old) == 0 && rename(folder, place) == 0;
	}
	if (!put) {
		return ws_err_sys(err, WS_ERR_IO, "cannot put '%s' in place", place);
	}
	ws_fs_remove(old, NULL); /* else the next run removes it */
	return true;
}

/* Moves the finished folder into place. The listing comes last: without it, a tree does not
 * exist. */
static bool
put_in_place(const struct ws_tree_builder *b, const struct ws_digest *digest, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf listing = {0};
	struct ws_tree tree = {.name = b->name, .entries = b->entries.at, .count = b->entries.len};
	tree.path = ws_arena_printf(b->a, "%s/trees/%s-%.16s", b->store->path, b->name, digest->hex);
	/* A power cut must not leave a listing of empty files. One call for thousands of files. */
	const char *folder = b->scratch.path;
	WS_AUTO_FD int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || syncfs(fd) < 0) {
		return ws_err_sys(err, WS_ERR_IO, "cannot sync '%s'", folder);
	}
	if (!replace_folder(folder, tree.path, b->a, err)) {
		return false;
	}
	ws_tree_note(b->store, &tree);
	ws_tree_list_write(tree.entries, tree.count, true, &listing);
	return ws_fs_write_atomic(
		ws_arena_printf(b->a, "%s.list", tree.path), ws_buf_text(&listing), listing.len, 0444, err);
}

bool
ws_tree_commit(
	struct ws_tree_builder *b, struct ws_arena *a, struct ws_tree *tree, struct ws_err *err)
{
	struct ws_digest digest = ws_tree_digest(b->entries.at, b->entries.len);
	/* Another run's tree is used if it is whole. */
	bool done = ws_tree_find(b->store, b->name, digest.hex, a, tree);
	if (!done && put_in_place(b, &digest, err)) {
		done = ws_tree_find(b->store, b->name, digest.hex, a, tree)
			|| ws_err_set(err, WS_ERR_IO, "the tree '%s' disappeared when it was made", b->name);
	}
	ws_tree_abandon(b);
	return done;
}

void
ws_tree_abandon(struct ws_tree_builder *b)
{
	if (!b) {
		return;
	}
	if (b->open_fd >= 0) {
		close(b->open_fd);
	}
	ws_hasher_drop(b->open_hasher);
	ws_scratch_drop(&b->scratch);
	ws_arena_drop(b->a);
}
