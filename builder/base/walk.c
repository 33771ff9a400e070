/* walk.c - a sorted walk below a folder. Declared in fs.h. */
#include "base/fs.h"
#include "base/vec.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

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
