#include "publish/folder/index_folder.h"

#include "base/fs.h"
#include "publish/catalog.h"
#include "sys/flock.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>

#define WAIT_MS 50
#define NUMBER_DIGITS 9 /* at most, so that the next number fits a long */

static char *
below(const struct ws_index_folder *t, const char *name)
{
	return ws_path_join(t->a, t->path, name, NULL);
}

/* ---- opening ---- */

const char *
ws_index_snapshot_of(const char *name)
{
	static const char form[] = "@0000-00-00.";
	size_t len = sizeof(form) - 1;
	if (strlen(name) <= len) {
		return NULL;
	}
	for (size_t i = 0; i < len; i++) {
		bool digit = ws_is_digit(name[i]);
		if (form[i] == '0' ? !digit : name[i] != form[i]) {
			return NULL;
		}
	}
	size_t digits = strspn(name + len, "0123456789");
	return digits <= NUMBER_DIGITS && !name[len + digits] ? name + 1 : NULL;
}

/* A person may have written "./@2026-11-21.1/". */
static void
read_current(struct ws_index_folder *t)
{
	char text[100];
	const char *path = below(t, "current");
	ssize_t len = readlink(path, text, sizeof(text) - 1);
	while (len > 0 && text[len - 1] == '/') {
		len--;
	}
	text[len > 0 ? len : 0] = '\0';
	const char *start = text;
	while (ws_starts_with(start, "./")) {
		start += 1 + strspn(start + 1, "/");
	}
	const char *name = ws_index_snapshot_of(start);
	t->current = name ? ws_arena_strdup(t->a, name) : NULL;
	t->is_dangling = !name && (ws_fs_exists(path) || ws_fs_is_link(path));
}

/* The folder must be an index or empty, so that a typing mistake does not turn a home folder
 * into an index. The lock is checked after the listing: another publisher may create it, the
 * first file of an index, at this moment. */
static bool
check_folder(const struct ws_index_folder *t, struct ws_err *err)
{
	WS_AUTO_DIR DIR *dir = opendir(t->path);
	if (!dir) {
		return ws_err_sys(err, WS_ERR_PUBLISH, "cannot read the folder '%s'", t->path);
	}
	const struct dirent *entry = readdir(dir);
	while (entry && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)) {
		entry = readdir(dir);
	}
	if (!entry || t->current || ws_fs_exists(below(t, ".lock"))) {
		return true;
	}
	ws_err_set(err, WS_ERR_PUBLISH, "'%s' is not an index, and not empty: it has '%s'", t->path,
		entry->d_name);
	return ws_err_cure(err, "name an index, or a folder that is empty or not there yet");
}

static bool
refuse_none(const char *path, struct ws_err *err)
{
	return ws_err_set(err, WS_ERR_PUBLISH, "'%s' is not an index: it has no snapshot", path);
}

bool
ws_index_folder_open(const char *path, bool make, struct ws_stop *stop,
	void (*wait)(void *self, const char *path), void *self, struct ws_arena *a,
	struct ws_index_folder *t, struct ws_err *err)
{
	*t = (struct ws_index_folder){.path = path, .a = a, .lock_fd = -1};
	enum ws_flock_result result = WS_FLOCK_FAILED;
	size_t count;
	if (make && !ws_fs_mkdirs(path, err)) {
		return ws_index_err(err);
	}
	ws_index_folder_snapshots(t, &count);
	if (!make && count == 0) {
		return refuse_none(path, err);
	}
	read_current(t);
	if (!check_folder(t, err)) {
		return false;
	}
	while ((result = ws_flock_try(below(t, ".lock"), true, &t->lock_fd, err)) == WS_FLOCK_BUSY) {
		if (wait) {
			wait(self, path);
			wait = NULL;
		}
		if (ws_stop_asked(stop)) {
			return ws_stop_err(stop, err);
		}
		nanosleep(&(struct timespec){0, WAIT_MS * 1000000L}, NULL);
	}
	if (result == WS_FLOCK_FAILED) {
		return ws_index_err(err);
	}
	read_current(t); /* another publisher may have changed it */
	WS_AUTO_DIR DIR *dir = opendir(path);
	const struct dirent *entry;
	while (dir && (entry = readdir(dir))) {
		if (ws_starts_with(entry->d_name, WS_INDEX_NEW)) { /* of a publisher that was killed */
			ws_fs_remove(below(t, entry->d_name), NULL);
		}
	}
	return ws_fs_mkdirs(below(t, "files"), err) || ws_index_err(err);
}

bool
ws_index_folder_look(
	const char *path, struct ws_arena *a, struct ws_index_folder *t, struct ws_err *err)
{
	*t = (struct ws_index_folder){.path = path, .a = a, .lock_fd = -1};
	read_current(t);
	return ws_index_folder_check_current(t, err) && (t->current || refuse_none(path, err));
}

void
ws_index_folder_close(struct ws_index_folder *t)
{
	if (t->made) {
		ws_fs_remove(t->made, NULL);
		t->made = NULL;
	}
	if (t->lock_fd >= 0) {
		close(t->lock_fd);
		t->lock_fd = -1;
	}
}

const char *
ws_index_folder_path(const struct ws_index_folder *t, const char *name)
{
	const char *folder = t->current ? ws_arena_printf(t->a, "@%s", t->current) : NULL;
	return folder ? ws_path_join(t->a, t->path, folder, name, NULL) : NULL;
}

/* ---- snapshots ---- */

/* By day, then by number. */
static int
cmp_snapshots(const void *x, const void *y)
{
	const char *left = *(const char *const *)x;
	const char *right = *(const char *const *)y;
	size_t day = strlen("2026-11-21.");
	int order = strncmp(left, right, day);
	unsigned long l = strtoul(left + day, NULL, 10), r = strtoul(right + day, NULL, 10);
	return order ? order : l < r ? -1 : l > r;
}

const char *const *
ws_index_folder_snapshots(const struct ws_index_folder *t, size_t *count)
{
	WS_VEC(const char *) all = {0};
	WS_AUTO_DIR DIR *dir = opendir(t->path);
	const struct dirent *entry;
	while (dir && (entry = readdir(dir))) {
		const char *name = ws_index_snapshot_of(entry->d_name);
		if (name) {
			*ws_vec_push(&all, t->a) = ws_arena_strdup(t->a, name);
		}
	}
	if (all.len > 0) {
		qsort(all.at, all.len, sizeof(*all.at), cmp_snapshots);
	}
	*count = all.len;
	return all.at;
}

bool
ws_index_folder_check_current(const struct ws_index_folder *t, struct ws_err *err)
{
	size_t count;
	const char *const *all = ws_index_folder_snapshots(t, &count);
	if (t->current || (!t->is_dangling && count < 2)) {
		return true;
	}
	ws_err_set(err, WS_ERR_PUBLISH,
		t->is_dangling ? "'%s' has a 'current' that is not a link to a snapshot"
					   : "'%s' has snapshots, and no link 'current' to one",
		t->path);
	if (count > 0) {
		ws_err_cure(
			err, "roll back to the one that is meant; the last one is '@%s'", all[count - 1]);
	}
	return false;
}

const char *
ws_index_folder_next(const struct ws_index_folder *t, int64_t now_us)
{
	size_t count;
	const char *const *all = ws_index_folder_snapshots(t, &count);
	time_t seconds = (time_t)(now_us / 1000000);
	struct tm at;
	char day[16];
	unsigned long last = 0;
	gmtime_r(&seconds, &at);
	strftime(day, sizeof(day), "%Y-%m-%d.", &at);
	if (count > 0
		&& strncmp(all[count - 1], day, strlen(day))
			> 0) { /* the clock is behind the last snapshot */
		memcpy(day, all[count - 1], strlen(day));
	}
	for (size_t i = 0; i < count; i++) {
		if (ws_starts_with(all[i], day)) {
			last = strtoul(all[i] + strlen(day), NULL, 10);
		}
	}
	return ws_arena_printf(t->a, "%s%lu", day, last + 1);
}

/* ---- a new one ---- */

bool
ws_index_folder_begin(struct ws_index_folder *t, struct ws_err *err)
{
	if (t->made) {
		return true;
	}
	t->made = ws_fs_temp_dir(t->path, WS_INDEX_NEW, t->a, err);
	const char *tree = t->made ? ws_path_join(t->a, t->made, "tree", NULL) : NULL;
	if (!t->made || !ws_fs_mkdirs(tree, err)
		|| !ws_fs_mkdirs(ws_path_join(t->a, t->made, "files", NULL), err)) {
		return ws_index_err(err);
	}
	return symlink("../files", ws_path_join(t->a, tree, "files", NULL)) == 0
		|| ws_err_sys(err, WS_ERR_PUBLISH, "cannot make a link in '%s'", tree);
}

const char *
ws_index_folder_new_file(const struct ws_index_folder *t, const char *name)
{
	return ws_path_join(t->a, t->made, "files", name, NULL);
}

bool
ws_index_folder_put(
	struct ws_index_folder *t, const char *path, const void *bytes, size_t len, struct ws_err *err)
{
	const char *to = ws_path_join(t->a, t->made, "tree", path, NULL);
	const char *before = ws_index_folder_path(t, path);
	WS_AUTO_BUF struct ws_buf old = {0};
	struct stat status;
	bool same = before && stat(before, &status) == 0 && (size_t)status.st_size == len
		&& ws_fs_read(before, &old, NULL) && memcmp(ws_buf_text(&old), bytes, len) == 0;
	if (!ws_fs_mkdirs(ws_path_dir(t->a, to), err)) {
		return ws_index_err(err);
	}
	if (!(same && ws_fs_link(before, to, err)) && !ws_fs_write(to, bytes, len, 0444, err)) {
		return ws_index_err(err);
	}
	t->new_pages += !same;
	*ws_vec_push(&t->pages, t->a) =
		(struct ws_index_page_file){path, ws_digest_bytes(bytes, len), len};
	return true;
}

/* ---- becoming visible ---- */

bool
ws_index_leads_to(const char *path, const char *where)
{
	char there[300];
	ssize_t len = readlink(path, there, sizeof(there));
	return len == (ssize_t)strlen(where) && memcmp(there, where, (size_t)len) == 0;
}

/* Replaces a file or link atomically; a folder is not replaced. */
static bool
set_link(
	const struct ws_index_folder *t, const char *name, const char *leads_to, struct ws_err *err)
{
	const char *path = below(t, name);
	if (ws_index_leads_to(path, leads_to)) {
		return true;
	}
	if (!ws_fs_is_link(path) && ws_fs_exists(path)) {
		return ws_err_set(
			err, WS_ERR_PUBLISH, "'%s' exists and is not a link made by wheelsmith", path);
	}
	const char *beside = ws_arena_printf(t->a, "%s/" WS_INDEX_NEW "link-%s", t->path, name);
	unlink(beside);
	if (symlink(leads_to, beside) != 0 || rename(beside, path) != 0) {
		return ws_err_sys(err, WS_ERR_PUBLISH, "cannot make the link '%s'", path);
	}
	return true;
}

bool
ws_index_folder_show(struct ws_index_folder *t, const char *name, struct ws_err *err)
{
	const char *folder = ws_arena_printf(t->a, "@%s", name);
	if (!ws_index_snapshot_of(folder) || !ws_fs_is_dir(below(t, folder))) {
		return ws_err_set(err, WS_ERR_PUBLISH, "'%s' has no snapshot '%s'", t->path, folder);
	}
	WS_AUTO_DIR DIR *made = opendir(below(t, folder));
	WS_AUTO_DIR DIR *top = opendir(t->path);
	const struct dirent *entry;
	if (!made) {
		return ws_err_sys(err, WS_ERR_PUBLISH, "cannot read '%s'", below(t, folder));
	}
	while ((entry = readdir(made))) {
		const char *own = entry->d_name;
		if (own[0] != '.' && strcmp(own, "files") != 0
			&& !set_link(t, own, ws_arena_printf(t->a, "current/%s", own), err)) {
			return false;
		}
	}
	if (!set_link(t, "current", folder, err)) {
		return false;
	}
	t->current = ws_arena_strdup(t->a, name);
	while (top && (entry = readdir(top))) { /* links to paths that this snapshot does not have */
		const char *path = below(t, entry->d_name);
		if (ws_index_leads_to(path, ws_arena_printf(t->a, "current/%s", entry->d_name))
			&& !ws_fs_exists(ws_index_folder_path(t, entry->d_name))) {
			unlink(path);
		}
	}
	return ws_fs_sync_dir(t->path, err) || ws_index_err(err);
}

bool
ws_index_folder_commit(struct ws_index_folder *t, const char *name, struct ws_err *err)
{
	const char *folder = ws_arena_printf(t->a, "@%s", name);
	const char *tree = ws_path_join(t->a, t->made, "tree", NULL);
	if (!ws_index_snapshot_of(folder)) {
		return ws_err_set(
			err, WS_ERR_PUBLISH, "'%s' has no number left for a snapshot of this day", t->path);
	}
	/* Everything is on the disk before any of it becomes visible. */
	WS_AUTO_FD int fd = open(t->made, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || syncfs(fd) != 0) {
		return ws_err_sys(err, WS_ERR_PUBLISH, "cannot write '%s'", t->made);
	}
	const char *files = ws_path_join(t->a, t->made, "files", NULL);
	WS_AUTO_DIR DIR *dir = opendir(files);
	const struct dirent *entry;
	if (!dir) {
		return ws_err_sys(err, WS_ERR_PUBLISH, "cannot read '%s'", files);
	}
	while ((entry = readdir(dir))) {
		const char *from = ws_path_join(t->a, files, entry->d_name, NULL);
		const char *to = ws_path_join(t->a, t->path, "files", entry->d_name, NULL);
		/* An existing name stays: it has the same contents, or a person changed it. */
		if (entry->d_name[0] != '.'
			&& renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) != 0 && errno != EEXIST) {
			return ws_err_sys(err, WS_ERR_PUBLISH, "cannot make '%s'", to);
		}
	}
	if (rename(tree, below(t, folder)) != 0) {
		return ws_err_sys(err, WS_ERR_PUBLISH, "cannot make '%s'", below(t, folder));
	}
	if (!ws_fs_sync_dir(below(t, "files"), err) || !ws_fs_sync_dir(t->path, err)) {
		return ws_index_err(err);
	}
	return ws_index_folder_show(t, name, err);
}

size_t
ws_index_folder_retain(struct ws_index_folder *t, size_t keep)
{
	size_t count, gone = 0;
	const char *const *all = ws_index_folder_snapshots(t, &count);
	for (size_t i = 0; i < count && count - gone > keep; i++) {
		const char *folder = below(t, ws_arena_printf(t->a, "@%s", all[i]));
		const char *away = below(t, ws_arena_printf(t->a, WS_INDEX_NEW "old-%s", all[i]));
		/* A snapshot name is never that of a part. */
		if (!ws_same(all[i], t->current) && rename(folder, away) == 0) {
			ws_fs_remove(away, NULL);
			gone++;
		}
	}
	return gone;
}
