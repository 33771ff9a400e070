/* store.c - path, version and lock of the folder, and scratch folders, which are locked by
 * flock(2) on the folder itself. */
#include "store/store.h"

#include "base/event.h"
#include "base/fs.h"
#include "store/ledger.h"
#include "sys/flock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/file.h>
#include <time.h>

#define WEEK_S ((time_t)7 * 24 * 3600)

enum hold {
	HELD,
	BUSY,
	CANNOT, /* missing, or cannot be locked */
};

static enum hold
try_lock(const char *path, int *fd)
{
	WS_AUTO_FD int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder < 0 || flock(folder, LOCK_EX | LOCK_NB) < 0) {
		return folder >= 0 && errno == EWOULDBLOCK ? BUSY : CANNOT;
	}
	*fd = ws_take_fd(&folder);
	return HELD;
}

bool
ws_scratch_make(const char *partial, const char *prefix, struct ws_arena *a, struct ws_scratch *s,
	struct ws_err *err)
{
	for (;;) {
		*s = (struct ws_scratch){.fd = -1};
		const char *path = ws_fs_temp_dir(partial, prefix, a, err);
		if (!path) {
			return false;
		}
		/* Another run may have removed the folder before it was locked. */
		if (try_lock(path, &s->fd) != BUSY && ws_fs_is_dir(path)) {
			s->path = path;
			return true;
		}
		if (s->fd >= 0) {
			close(s->fd);
		}
	}
}

void
ws_scratch_drop(struct ws_scratch *s)
{
	if (s->path) {
		ws_fs_remove(s->path, NULL);
	}
	if (s->path && s->fd >= 0) {
		close(s->fd);
	}
	*s = (struct ws_scratch){.fd = -1};
}

/* ---- the store ---- */

#define VERSION_TEXT "wheelsmith.store/1\n"
#define LONGEST_PATH 480 /* SQLite cannot open paths of 512 bytes */
#define DAY_S ((time_t)24 * 3600)

char *
ws_store_default_path(const struct ws_user_env *env, const char *option, struct ws_arena *a)
{
	const char *set = ws_user_env_get(env, "WHEELSMITH_STORE");
	if (option || set) {
		return ws_arena_strdup(a, option ? option : set);
	}
	const char *cache = ws_user_env_get(env, "XDG_CACHE_HOME");
	if (cache && cache[0] == '/') {
		return ws_path_join(a, cache, "wheelsmith", NULL);
	}
	const char *home = ws_user_env_get(env, "HOME");
	return home ? ws_path_join(a, home, ".cache/wheelsmith", NULL) : NULL;
}

char *
ws_store_path(const struct ws_store *store, struct ws_arena *a, const char *below)
{
	return ws_path_join(a, store->path, below, NULL);
}

bool
ws_store_check(const char *path, struct ws_err *err)
{
	if (!path) {
		ws_err_set(err, WS_ERR_CONFIG, "no folder is known for the store: HOME is not set");
		return ws_err_cure_code(err, WS_CURE_STORE, NULL);
	}
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	WS_AUTO_BUF struct ws_buf b = {0};
	const char *file = ws_path_join(a, path, "VERSION", NULL);
	if (!ws_fs_exists(file)) {
		return true;
	}
	if (!ws_fs_read_at_most(file, 4096, &b, err)) {
		return false;
	}
	if (strcmp(ws_buf_text(&b), VERSION_TEXT) == 0) {
		return true;
	}
	struct ws_str found = ws_str_trim(ws_buf_str(&b));
	ws_err_set(err, WS_ERR_CONFIG, "the store '%s' was made by another wheelsmith ('%.*s')", path,
		WS_STR_ARGS(found));
	ws_err_cure(err, "use that version, or delete the folder: everything in it can be made again");
	return ws_err_cure_code(err, WS_CURE_STORE, NULL);
}

/* A store without its VERSION, as after a copy, still has its folders. */
static bool
has_files(const char *path, struct ws_arena *a)
{
	return ws_fs_exists(ws_path_join(a, path, "VERSION", NULL))
		|| ws_fs_is_dir(ws_path_join(a, path, "cas", NULL));
}

/* A store removes files, so a folder with other files than hidden ones and lost+found must not
 * become one. */
static bool
may_become(const char *path, struct ws_arena *a, struct ws_err *err)
{
	WS_AUTO_DIR DIR *dir = opendir(path);
	const struct dirent *entry;
	bool vacant = true;
	while (dir && vacant && (entry = readdir(dir))) {
		vacant = entry->d_name[0] == '.' || strcmp(entry->d_name, "lost+found") == 0;
	}
	/* In this order: another process that creates the store writes VERSION first. */
	if (vacant || has_files(path, a)) {
		return true;
	}
	ws_err_set(err, WS_ERR_CONFIG, "'%s' is not a store, and it is not empty", path);
	return ws_err_cure_code(err, WS_CURE_STORE, NULL);
}

/* In /tmp another user may have created the folder, or a link to one; its contents would be
 * trusted. */
static bool
check_owner(const char *path, struct ws_arena *a, struct ws_err *err)
{
	const char *parent = ws_path_dir(a, path);
	for (const char *at = path; !ws_same(at, parent); at = parent, parent = ws_path_dir(a, at)) {
		struct stat own, above;
		if (lstat(at, &own) == 0 && stat(parent, &above) == 0 && (above.st_mode & S_IWOTH)
			&& own.st_uid != geteuid() && own.st_uid != 0) {
			ws_err_set(err, WS_ERR_CONFIG,
				"the store '%s' belongs to another user, in a folder where everybody can make one",
				path);
			return ws_err_cure_code(err, WS_CURE_STORE, NULL);
		}
	}
	return true;
}

static bool
lock_store(struct ws_store *store, struct ws_arena *a, struct ws_err *err)
{
	switch (ws_flock_try(ws_store_path(store, a, "LOCK"), false, &store->lock_fd, err)) {
	case WS_FLOCK_HELD:
		return true;
	case WS_FLOCK_BUSY:
		ws_err_set(
			err, WS_ERR_IO, "the store '%s' is being cleaned by another wheelsmith", store->path);
		return ws_err_cure(err, "wait for it to end, then run this again");
	case WS_FLOCK_FAILED:
		break;
	}
	return false;
}

/* Removes leftovers of crashed processes from @folder of the store: what is older than @age_s and,
 * with @locked, folders that no process has locked. A shell's folder is kept for a week. Does not
 * follow links: the target may be another store. */
static void
remove_stale(
	const struct ws_store *store, const char *folder, const char *prefix, bool locked, time_t age_s)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const char *path = ws_store_path(store, a, folder);
	if (ws_fs_is_link(path)) {
		return;
	}
	WS_AUTO_DIR DIR *dir = opendir(path);
	const struct dirent *entry;
	while (dir && (entry = readdir(dir))) {
		const char *place = ws_path_join(a, path, entry->d_name, NULL);
		WS_AUTO_FD int fd = -1;
		struct stat status;
		if (entry->d_name[0] == '.' || !ws_starts_with(entry->d_name, prefix)
			|| lstat(place, &status) < 0) {
			continue;
		}
		enum hold hold = locked && S_ISDIR(status.st_mode) ? try_lock(place, &fd) : CANNOT;
		if (hold == HELD || (hold == CANNOT && status.st_mtime + age_s < time(NULL))) {
			ws_fs_remove(place, NULL);
		}
	}
}

static struct ws_store
empty_store(struct ws_arena *a)
{
	return (struct ws_store){.lock_fd = -1,
		.a = a,
		.unread = WS_NEW(a, struct ws_err),
		.checked = WS_NEW(a, struct ws_map)};
}

bool
ws_store_open(const char *path, struct ws_arena *a, struct ws_store *store, struct ws_err *err)
{
	static const char *const folders[] = {"cas", "ac", "trees", "git", "partial", "work"};
	*store = empty_store(a);
	if (!path) {
		return ws_store_check(path, err);
	}
	if (!ws_fs_mkdirs(path, err)) {
		return ws_err_wrap(err, "opening the store");
	}
	char absolute[PATH_MAX];
	if (!realpath(path, absolute)) {
		return ws_err_sys(err, WS_ERR_IO, "cannot open the store '%s'", path);
	}
	store->path = ws_arena_strdup(a, absolute);
	if (strlen(absolute) > LONGEST_PATH) {
		ws_err_set(err, WS_ERR_CONFIG,
			"the path of the store is too long: %zu bytes; the limit is %d", strlen(absolute),
			LONGEST_PATH);
		return ws_err_cure_code(err, WS_CURE_STORE, NULL);
	}
	const char *version = ws_store_path(store, a, "VERSION");
	if (!check_owner(ws_path_normal(a, path), a, err) || !check_owner(store->path, a, err)) {
		return false;
	}
	bool fits = ws_fs_exists(version) ? ws_store_check(store->path, err)
									  : may_become(store->path, a, err)
			&& ws_fs_write_atomic(version, VERSION_TEXT, strlen(VERSION_TEXT), 0644, err);
	if (!fits) {
		return false;
	}
	for (size_t i = 0; i < WS_LEN(folders); i++) {
		if (!ws_fs_mkdirs(ws_store_path(store, a, folders[i]), err)) {
			return ws_err_wrap(err, "opening the store");
		}
	}
	if (!lock_store(store, a, err)) {
		return false;
	}
	remove_stale(store, "partial", "", true, WEEK_S);
	remove_stale(store, "work", "new-", false, DAY_S);
	remove_stale(store, "work", "shell-", false, WEEK_S);
	store->ledger = ws_ledger_open(ws_store_path(store, a, "ledger.db"), err);
	return store->ledger != NULL;
}

bool
ws_store_hold(struct ws_store *store, bool alone, struct ws_err *err)
{
	if (ws_flock_convert(store->lock_fd, alone)) {
		return true;
	}
	ws_flock_convert(store->lock_fd, false);
	ws_err_set(err, WS_ERR_IO, "the store '%s' is in use by another wheelsmith", store->path);
	return ws_err_cure(err, "wait for it to end, then run this again");
}

bool
ws_store_look(const char *path, struct ws_arena *a, struct ws_store *store, struct ws_err *err)
{
	char here[PATH_MAX];
	if (has_files(path, a)) {
		return ws_store_open(path, a, store, err);
	}
	*store = empty_store(a);
	if (!may_become(path, a, err)) {
		return false;
	}
	store->path = ws_path_join(a, getcwd(here, sizeof(here)) ? here : "/", path, NULL);
	store->ledger = ws_ledger_open(":memory:", err);
	return store->ledger != NULL;
}

static bool
is_absent(int code)
{
	return code == ENOENT || code == ENOTDIR;
}

bool
ws_store_stat(const struct ws_store *store, const char *path, struct stat *status)
{
	if (lstat(path, status) == 0) {
		return true;
	}
	if (!is_absent(errno) && store->unread && !store->unread->kind) {
		ws_err_sys(store->unread, WS_ERR_IO, "cannot read '%s'", path);
	}
	return false;
}

void
ws_store_reject(const struct ws_store *store, const char *path, const struct ws_err *why)
{
	if (why->os == 0 || is_absent(why->os)) {
		ws_events_warn(store->events, "'%s' was damaged in the store and is made again", path);
		ws_fs_remove(path, NULL);
	} else if (store->unread && !store->unread->kind) {
		*store->unread = *why;
	}
}

bool
ws_store_may_make(const struct ws_store *store, struct ws_err *err)
{
	if (!store->unread || !store->unread->kind) {
		return true;
	}
	if (err) {
		*err = *store->unread;
	}
	return ws_err_cure(err,
		"the store is unchanged; an unreadable file may be deleted at any time: it is created "
		"again");
}

void
ws_store_close(struct ws_store *store)
{
	ws_ledger_close(store->ledger);
	store->ledger = NULL;
	if (store->lock_fd >= 0) {
		close(ws_take_fd(&store->lock_fd));
	}
}
