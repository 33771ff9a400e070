/* python.c - the include folder as a tree. Headers of an installed Python may change under us, so
 * they are copied; which copy belongs to which files is remembered by their sizes and times. */
#include "kit/python/python.h"

#include "base/fs.h"
#include "sys/clock.h"
#include "sys/host.h"
#include "wheel/wheel.h"

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
	const int64_t seen[] = {status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
		status.st_ctim.tv_sec, status.st_ctim.tv_nsec};
	ws_hasher_add_field(h->hasher, file->path);
	ws_hasher_add(h->hasher, seen, sizeof(seen));
	if (status.st_ctim.tv_sec > h->newest_s) {
		h->newest_s = status.st_ctim.tv_sec;
	}
	return true;
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

bool
ws_python_check_headers(
	const struct ws_python_kit *kit, const struct ws_host *host, struct ws_err *err)
{
	/* The texts around the minor version; one text where the package has none. */
	static const char *const commands[][2] = {
		[WS_DISTRO_DEBIAN] = {"apt-get install python3.", "-dev"},
		[WS_DISTRO_RHEL] = {"dnf install python3.", "-devel"},
		[WS_DISTRO_FEDORA] = {"dnf install python3.", "-devel"},
		[WS_DISTRO_SUSE] = {"zypper install python3", "-devel"},
		[WS_DISTRO_ARCH] = {"pacman -S python"},
		[WS_DISTRO_ALPINE] = {"apk add python3-dev"},
	};
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	if (ws_fs_exists(ws_path_join(a, kit->include, "Python.h", NULL))
		&& ws_fs_exists(ws_path_join(a, kit->include, "pyconfig.h", NULL))) {
		return true;
	}
	ws_err_set(err, WS_ERR_BUILD, "Python %s%s has no headers: no Python.h and pyconfig.h in '%s'",
		kit->version, kit->tag.free_threaded ? "t" : "", kit->include);
	if (!ws_starts_with(kit->include, "/usr/include/")) {
		return ws_err_cure(err, "install that Python again with its headers, or name another one");
	}
	const char *const *command = commands[ws_distro_of(host)];
	if (!command[0]) {
		return ws_err_cure(err, "install the development package of Python 3.%u", kit->tag.minor);
	}
	const char *named = command[1] ? ws_arena_printf(a, "%u%s", kit->tag.minor, command[1]) : "";
	return ws_err_cure(err, "install them:  %s%s", command[0], named);
}

bool
ws_python_open(const struct ws_store *store, const struct ws_host *host, struct ws_python_kit *kit,
	struct ws_arena *a, struct ws_err *err)
{
	const char *threads = kit->tag.free_threaded ? "t" : "";
	const char *name = ws_arena_printf(a, "python-%s%s", kit->version, threads);
	if (!ws_python_check_headers(kit, host, err)) {
		return false;
	}
	/* The tag follows from the version; the suffix of modules has more. */
	struct ws_wheel_tags tags = {.abi = ws_python_tag_text(&kit->tag, true, a)};
	const char *usual = ws_wheel_module_path("", NULL, &tags, a);
	if (!ws_same(kit->ext_suffix, usual)) {
		ws_err_set(err, WS_ERR_CONFIG,
			"the modules of '%s' end in '%s', those of a wheel for %s in '%s'",
			kit->interpreter ? kit->interpreter : kit->include, kit->ext_suffix, tags.abi, usual);
		return ws_err_cure(
			err, "it is a debug build, or one for another libc: name an ordinary one");
	}
	WS_AUTO_ARENA struct ws_arena *scratch = ws_arena_make();
	struct headers h = {.hasher = ws_hasher_make(), .a = scratch};
	ws_hasher_add_field(h.hasher, "wheelsmith.python/2");
	ws_hasher_add_field(h.hasher, name);
	h.prefix = "include";
	bool gathered = ws_fs_walk(kit->include, visit, &h, err);
	if (gathered && kit->platform_include) {
		const char *above = ws_path_dir(scratch, kit->include);
		h.prefix =
			ws_path_join(scratch, "include", kit->platform_include + strlen(above) + 1, NULL);
		gathered = ws_fs_walk(kit->platform_include, visit, &h, err);
	}
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
