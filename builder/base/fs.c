/* fs.c - paths as text, reading, removing, walking. fs_write.c writes whole files. */
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <sys/statvfs.h>

/* ---- paths as text ---- */

char *
ws_path_join(struct ws_arena *a, ...)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	va_list parts;
	va_start(parts, a);
	for (const char *part; (part = va_arg(parts, const char *));) {
		if (part[0] == '/') {
			ws_buf_clear(&b);
		} else if (b.len > 0 && b.data[b.len - 1] != '/') {
			ws_buf_putc(&b, '/');
		}
		ws_buf_puts(&b, part);
	}
	va_end(parts);
	return ws_buf_copy(&b, a);
}

const char *
ws_path_base(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

char *
ws_path_dir(struct ws_arena *a, const char *path)
{
	const char *slash = strrchr(path, '/');
	if (!slash) {
		return ws_arena_strdup(a, ".");
	}
	return slash == path ? ws_arena_strdup(a, "/") : ws_arena_copy(a, path, (size_t)(slash - path));
}

char *
ws_path_normal(struct ws_arena *a, const char *path)
{
	WS_VEC(struct ws_str) kept = {0};
	bool absolute = path[0] == '/';
	struct ws_str rest = ws_str_of(path);
	while (rest.s) {
		struct ws_str part = ws_str_cut(&rest, '/');
		if (part.n == 0 || ws_str_is(part, ".")) {
			continue;
		}
		if (!ws_str_is(part, "..")) {
			*ws_vec_push(&kept, a) = part;
		} else if (kept.len > 0 && !ws_str_is(kept.at[kept.len - 1], "..")) {
			kept.len--;
		} else if (!absolute) {
			*ws_vec_push(&kept, a) = part;
		}
	}
	WS_AUTO_BUF struct ws_buf b = {0};
	for (size_t i = 0; i < kept.len; i++) {
		if (i > 0 || absolute) {
			ws_buf_putc(&b, '/');
		}
		ws_buf_add(&b, kept.at[i].s, kept.at[i].n);
	}
	if (b.len == 0) {
		ws_buf_putc(&b, absolute ? '/' : '.');
	}
	return ws_buf_copy(&b, a);
}

bool
ws_path_is_inside(const char *path)
{
	if (path[0] == '\0' || path[0] == '/') {
		return false;
	}
	for (const char *c = path; *c; c++) {
		if ((unsigned char)*c < 0x20 || *c == 0x7f || *c == '\\') {
			return false;
		}
	}
	struct ws_str rest = ws_str_of(path);
	while (rest.s) {
		struct ws_str part = ws_str_cut(&rest, '/');
		if (part.n == 0 || ws_str_is(part, ".") || ws_str_is(part, "..")) {
			return false;
		}
	}
	return true;
}

/*
 * Each ".." in front goes up one folder, since the folders above the link are real ones. A ".."
 * behind a name could go up from the target of a link.
 */
bool
ws_path_link_is_inside(const char *path, const char *target)
{
	size_t depth = 0;
	for (const char *c = path; *c; c++) {
		depth += *c == '/';
	}
	while (strncmp(target, "./", 2) == 0) {
		target += 2;
	}
	while (strncmp(target, "../", 3) == 0) {
		if (depth == 0) {
			return false;
		}
		depth--;
		target += 3;
	}
	if (strcmp(target, "..") == 0) {
		return depth > 1;
	}
	return ws_path_is_inside(target);
}

/* ---- files and folders ---- */

bool
ws_fs_exists(const char *path)
{
	struct stat status;
	return lstat(path, &status) == 0;
}

bool
ws_fs_is_dir(const char *path)
{
	struct stat status;
	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

bool
ws_fs_is_link(const char *path)
{
	struct stat status;
	return lstat(path, &status) == 0 && S_ISLNK(status.st_mode);
}

bool
ws_fs_mkdirs(const char *path, struct ws_err *err)
{
	if (path[0] == '\0') {
		return ws_err_set(err, WS_ERR_IO, "'' names no folder");
	}
	if (mkdir(path, 0777) == 0 || (errno == EEXIST && ws_fs_is_dir(path))) {
		return true; /* its parents exist, as they mostly do */
	}
	bool orphan = errno == ENOENT;
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const char *parent = ws_path_dir(a, path);
	if (orphan && strlen(parent) < strlen(path) && !ws_fs_mkdirs(parent, err)) {
		return false;
	}
	if (mkdir(path, 0777) < 0 && errno != EEXIST) {
		return ws_err_sys(err, WS_ERR_IO, "cannot make the folder '%s'", path);
	}
	if (!ws_fs_is_dir(path)) {
		return ws_err_set(err, WS_ERR_IO, "'%s' exists and is not a folder", path);
	}
	return true;
}

int
ws_fs_open_regular(const char *path, int flags, struct stat *status, struct ws_err *err)
{
	struct stat own;
	status = status ? status : &own;
	WS_AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags);
	if (fd < 0) {
		ws_err_sys(err, WS_ERR_IO, "cannot open '%s'", path);
		return -1;
	}
	if (fstat(fd, status) < 0) {
		ws_err_sys(err, WS_ERR_IO, "cannot read '%s'", path);
		return -1;
	}
	if (!S_ISREG(status->st_mode)) {
		ws_err_set(err, WS_ERR_IO, "'%s' is %s", path,
			S_ISDIR(status->st_mode) ? "a folder" : "not a regular file");
		return -1;
	}
	return ws_take_fd(&fd);
}

static bool
read_rest(int fd, const char *path, size_t size, size_t limit, struct ws_buf *b, struct ws_err *err)
{
	size_t start = b->len;
	size_t step = size > 0 ? size + 1 : 4096;
	step = step > limit ? limit + 1 : step; /* one more than it may be is enough to see */
	for (;;) {
		char *end = ws_buf_reserve(b, step);
		ssize_t got = read(fd, end, step);
		if (got < 0 && errno == EINTR) {
			continue;
		}
		if (got < 0) {
			return ws_err_sys(err, WS_ERR_IO, "cannot read '%s'", path);
		}
		b->len += (size_t)got;
		b->data[b->len] = '\0';
		if (got == 0) {
			return true;
		}
		if (b->len - start > limit) {
			return ws_err_set(
				err, WS_ERR_IO, "'%s' is larger than %zu bytes, which is unexpected", path, limit);
		}
		step = 65536;
	}
}

bool
ws_fs_read_at_most(const char *path, size_t limit, struct ws_buf *b, struct ws_err *err)
{
	struct stat status;
	WS_AUTO_FD int fd = ws_fs_open_regular(path, 0, &status, err);
	return fd >= 0 && read_rest(fd, path, (size_t)status.st_size, limit, b, err);
}

void
ws_fs_read_end(const char *path, size_t most, struct ws_buf *b)
{
	struct stat status;
	WS_AUTO_FD int fd = ws_fs_open_regular(path, 0, &status, NULL);
	if (fd < 0) {
		return;
	}
	off_t from = status.st_size > (off_t)most ? status.st_size - (off_t)most : 0;
	char *end = ws_buf_reserve(b, most);
	ssize_t got = pread(fd, end, most, from);
	end[got > 0 ? got : 0] = '\0';
	b->len += got > 0 ? (size_t)got : 0;
}

bool
ws_fs_read_stream(const char *path, size_t limit, struct ws_buf *b, struct ws_err *err)
{
	if (ws_fs_is_dir(path)) {
		return ws_err_set(err, WS_ERR_IO, "'%s' is a folder", path);
	}
	/* A pipe may never get a writer. Input that a person names is read before any work starts, so
	 * a signal may end the program here. */
	sigset_t none, before;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, &before);
	WS_AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool done = fd >= 0 ? read_rest(fd, path, 0, limit, b, err)
						: ws_err_sys(err, WS_ERR_IO, "cannot open '%s'", path);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return done;
}

bool
ws_fs_read(const char *path, struct ws_buf *b, struct ws_err *err)
{
	return ws_fs_read_at_most(path, SIZE_MAX / 8, b, err);
}

bool
ws_fs_write_all(int fd, const void *bytes, size_t len)
{
	const char *next = bytes;
	while (len > 0) {
		ssize_t put = write(fd, next, len);
		if (put < 0 && errno == EINTR) {
			continue;
		}
		if (put < 0) {
			return false;
		}
		next += put;
		len -= (size_t)put;
	}
	return true;
}

static int
remove_visited(const char *path, const struct stat *status WS_UNUSED, int type WS_UNUSED,
	struct FTW *place WS_UNUSED)
{
	return remove(path);
}

/* Immutable trees have folders without write permission, from which only root may remove. */
static int
open_folder(const char *path, const struct stat *status, int type, struct FTW *place WS_UNUSED)
{
	if (type == FTW_D && (status->st_mode & 0700) != 0700) {
		return chmod(path, 0700);
	}
	return 0;
}

bool
ws_fs_remove(const char *path, struct ws_err *err)
{
	struct stat status;
	if (lstat(path, &status) < 0) {
		return errno == ENOENT ? true : ws_err_sys(err, WS_ERR_IO, "cannot remove '%s'", path);
	}
	if (!S_ISDIR(status.st_mode)) {
		return unlink(path) == 0 || ws_err_sys(err, WS_ERR_IO, "cannot remove '%s'", path);
	}
	if (nftw(path, remove_visited, 16, FTW_DEPTH | FTW_PHYS) != 0
		&& (nftw(path, open_folder, 16, FTW_PHYS) != 0
			|| nftw(path, remove_visited, 16, FTW_DEPTH | FTW_PHYS) != 0)) {
		return ws_err_sys(err, WS_ERR_IO, "cannot remove '%s'", path);
	}
	return true;
}

char *
ws_fs_temp_dir(const char *dir, const char *prefix, struct ws_arena *a, struct ws_err *err)
{
	char *path = ws_arena_printf(a, "%s/%sXXXXXX", dir, prefix);
	if (!mkdtemp(path)) {
		ws_err_sys(err, WS_ERR_IO, "cannot make a folder in '%s'", dir);
		return NULL;
	}
	return path;
}

bool
ws_fs_free_bytes(const char *path, uint64_t *bytes)
{
	struct statvfs status;
	if (statvfs(path, &status) < 0) {
		return false;
	}
	*bytes = (uint64_t)status.f_bavail * status.f_frsize;
	return true;
}

bool
ws_fs_sync_dir(const char *path, struct ws_err *err)
{
	WS_AUTO_FD int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || (fsync(fd) < 0 && errno != EINVAL)) {
		return ws_err_sys(err, WS_ERR_IO, "cannot sync '%s'", path);
	}
	return true;
}

/* ---- walking ---- */

struct walk {
	const char *root;
	ws_fs_visit visit;
	void *self;
};

typedef WS_VEC(char *) name_list;

static bool
list_names(const char *path, name_list *names, struct ws_arena *a, struct ws_err *err)
{
	WS_AUTO_DIR DIR *dir = opendir(path);
	if (!dir) {
		return ws_err_sys(err, WS_ERR_IO, "cannot list '%s'", path);
	}
	for (;;) {
		errno = 0;
		const struct dirent *entry = readdir(dir);
		if (!entry) {
			break;
		}
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
			*ws_vec_push(names, a) = ws_arena_strdup(a, entry->d_name);
		}
	}
	if (errno != 0) {
		return ws_err_sys(err, WS_ERR_IO, "cannot list '%s'", path);
	}
	if (names->len > 1) {
		qsort(names->at, names->len, sizeof(*names->at), ws_cmp_strings);
	}
	return true;
}

static bool
walk_below(const struct walk *w, const char *below, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	name_list names = {0};
	if (!list_names(ws_path_join(a, w->root, below, NULL), &names, a, err)) {
		return false;
	}
	for (size_t i = 0; i < names.len; i++) {
		struct ws_fs_entry entry;
		entry.name = below[0] ? ws_path_join(a, below, names.at[i], NULL) : names.at[i];
		entry.path = ws_path_join(a, w->root, entry.name, NULL);
		if (lstat(entry.path, &entry.status) < 0) {
			return ws_err_sys(err, WS_ERR_IO, "cannot look at '%s'", entry.path);
		}
		if (!w->visit(w->self, &entry, err)) {
			return false;
		}
		if (S_ISDIR(entry.status.st_mode) && !walk_below(w, entry.name, err)) {
			return false;
		}
	}
	return true;
}

bool
ws_fs_walk(const char *root, ws_fs_visit visit, void *self, struct ws_err *err)
{
	struct walk w = {root, visit, self};
	return walk_below(&w, "", err);
}
