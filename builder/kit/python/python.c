/* python.c - the include folder as a tree. Headers of an installed Python may change under us, so
 * they are copied; which copy belongs to which files is remembered by their sizes and times. */
#include "kit/python/python.h"

#include "base/fs.h"
#include "sys/clock.h"
#include "sys/host.h"
#include "wheel/wheel.h"

#include <inttypes.h>

#define LARGEST_HEADER ((size_t)16 << 20)
#define SETTLED_S 2 /* younger files may change again within one tick of their clock */

/* One header and the name it gets. */
struct header {
	const char *path;  /* where it is installed */
	const char *below; /* in the tree: "include/Python.h" */
};

/* The gathering of one Python's headers. */
struct headers {
	WS_VEC(struct header) files;
	const char *prefix; /* in the tree, for the folder being walked */
	struct ws_hasher *hasher;
	int64_t newest_s; /* latest change of any */
	struct ws_arena *a;
};

static bool
visit(void *self, const struct ws_fs_entry *entry, struct ws_err *err WS_UNUSED)
{
	struct headers *h = self;
	struct stat status;
	/* Linked files count, linked folders do not: Debian links NumPy's headers in here. */
	if (stat(entry->path, &status) < 0 || !S_ISREG(status.st_mode)) {
		return true;
	}
	struct header *file = ws_vec_push(&h->files, h->a);
	file->path = ws_arena_strdup(h->a, entry->path);
	file->below = ws_path_join(h->a, h->prefix, entry->name, NULL);
	char times[160];
	snprintf(times, sizeof(times), "%" PRIdMAX " %" PRIdMAX ".%09ld %" PRIdMAX ".%09ld",
		(intmax_t)status.st_size, (intmax_t)status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
		(intmax_t)status.st_ctim.tv_sec, status.st_ctim.tv_nsec);
	ws_hasher_add_field(h->hasher, file->path);
	ws_hasher_add_field(h->hasher, times);
	if (status.st_ctim.tv_sec > h->newest_s) {
		h->newest_s = status.st_ctim.tv_sec;
	}
	return true;
}

/* The command that installs the headers of a Python of the distribution of @a host. */
static bool
cure_headers(const struct ws_python_kit *kit, const struct ws_host *host, struct ws_err *err)
{
	unsigned minor = kit->tag.minor;
	if (!ws_starts_with(kit->include, "/usr/include/")) {
		return ws_err_cure(err, "install that Python again with its headers, or name another one");
	}
	switch (ws_distro_of(host)) {
	case WS_DISTRO_DEBIAN:
		return ws_err_cure(err, "install them:  apt-get install python3.%u-dev", minor);
	case WS_DISTRO_RHEL:
	case WS_DISTRO_FEDORA:
		return ws_err_cure(err, "install them:  dnf install python3.%u-devel", minor);
	case WS_DISTRO_SUSE:
		return ws_err_cure(err, "install them:  zypper install python3%u-devel", minor);
	case WS_DISTRO_ARCH:
		return ws_err_cure(err, "install them:  pacman -S python");
	case WS_DISTRO_ALPINE:
		return ws_err_cure(err, "install them:  apk add python3-dev");
	case WS_DISTRO_UNKNOWN:
		break;
	}
	return ws_err_cure(err, "install the development package of Python 3.%u", minor);
}

static bool
gather(struct headers *h, const struct ws_python_kit *kit, struct ws_err *err)
{
	h->prefix = "include";
	if (!ws_fs_walk(kit->include, visit, h, err)) {
		return false;
	}
	if (!kit->platform_include) {
		return true;
	}
	const char *above = ws_path_dir(h->a, kit->include);
	h->prefix = ws_path_join(h->a, "include", kit->platform_include + strlen(above) + 1, NULL);
	return ws_fs_walk(kit->platform_include, visit, h, err);
}

static bool
copy(const struct headers *h, const struct ws_store *store, const char *name, struct ws_arena *a,
	struct ws_tree *tree, struct ws_err *err)
{
	struct ws_tree_builder *b = ws_tree_begin(store, name, a, err);
	if (!b) {
		return false;
	}
	WS_AUTO_BUF struct ws_buf bytes = {0};
	for (size_t i = 0; i < h->files.len; i++) {
		const struct header *file = &h->files.at[i];
		ws_buf_clear(&bytes);
		if (!ws_fs_read_at_most(file->path, LARGEST_HEADER, &bytes, err)
			|| !ws_tree_add_file(b, file->below, ws_buf_text(&bytes), bytes.len, false, err)) {
			ws_tree_abandon(b);
			return false;
		}
	}
	return ws_tree_commit(b, a, tree, err);
}

static bool
has_file(const char *folder, const char *name, struct ws_arena *a)
{
	return ws_fs_exists(ws_path_join(a, folder, name, NULL));
}

bool
ws_python_check_headers(
	const struct ws_python_kit *kit, const struct ws_host *host, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	if (has_file(kit->include, "Python.h", a) && has_file(kit->include, "pyconfig.h", a)) {
		return true;
	}
	ws_err_set(err, WS_ERR_BUILD, "Python %s%s has no headers: no Python.h and pyconfig.h in '%s'",
		kit->version, kit->tag.free_threaded ? "t" : "", kit->include);
	return cure_headers(kit, host, err);
}

/* The tag follows from the version; the suffix of modules has more. */
static bool
check_suffix(const struct ws_python_kit *kit, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_wheel_tags tags = {.abi = ws_python_tag_text(&kit->tag, true, a)};
	const char *usual = ws_wheel_module_path("", NULL, &tags, a);
	if (ws_same(kit->ext_suffix, usual)) {
		return true;
	}
	ws_err_set(err, WS_ERR_CONFIG,
		"the modules of '%s' end in '%s', those of a wheel for %s in '%s'",
		kit->interpreter ? kit->interpreter : kit->include, kit->ext_suffix, tags.abi, usual);
	return ws_err_cure(err, "it is a debug build, or one for another libc: name an ordinary one");
}

bool
ws_python_open(const struct ws_store *store, const struct ws_host *host, struct ws_python_kit *kit,
	struct ws_arena *a, struct ws_err *err)
{
	const char *threads = kit->tag.free_threaded ? "t" : "";
	const char *name = ws_arena_printf(a, "python-%s%s", kit->version, threads);
	if (!ws_python_check_headers(kit, host, err) || !check_suffix(kit, err)) {
		return false;
	}
	WS_AUTO_ARENA struct ws_arena *scratch = ws_arena_make();
	struct headers h = {.hasher = ws_hasher_make(), .a = scratch};
	ws_hasher_add_field(h.hasher, "wheelsmith.python/1");
	ws_hasher_add_field(h.hasher, name);
	bool gathered = gather(&h, kit, err);
	struct ws_digest key = ws_hasher_finish(h.hasher);
	if (!gathered) {
		return false;
	}
	if (ws_tree_recall(store, key.hex, a, &kit->tree)) {
		return true;
	}
	if (!copy(&h, store, name, a, &kit->tree, err)) {
		return ws_err_wrap(err, "copying the headers of Python %s%s", kit->version, threads);
	}
	bool settled = ws_clock_wall_s() > h.newest_s + SETTLED_S;
	return !settled || ws_tree_remember(store, key.hex, &kit->tree, err);
}
