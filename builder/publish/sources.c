#include "publish/sources.h"

#include "base/arena.h"
#include "base/fs.h"

#include <dirent.h>
#include <stdlib.h>

typedef WS_VEC(const char *) names;

static bool
list_wheels(const char *folder, struct ws_arena *a, names *found, struct ws_err *err)
{
	WS_AUTO_DIR DIR *dir = opendir(folder);
	const struct dirent *entry;
	if (!dir) {
		return ws_err_sys(err, WS_ERR_PUBLISH, "cannot read the folder '%s'", folder);
	}
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] != '.' && ws_ends_with(entry->d_name, ".whl")) {
			*ws_vec_push(found, a) = ws_path_join(a, folder, entry->d_name, NULL);
		}
	}
	if (found->len > 0) {
		qsort(found->at, found->len, sizeof(*found->at), ws_cmp_strings);
	}
	return true;
}

bool
ws_index_source_find(
	const char *named, struct ws_arena *a, struct ws_index_source *source, struct ws_err *err)
{
	names found = {0};
	char *real = realpath(named, NULL); /* the memory of digests is by absolute names */
	const char *path = ws_arena_strdup(a, real);
	free(real);
	if (!path) {
		return ws_err_sys(err, WS_ERR_PUBLISH, "cannot read '%s'", named);
	}
	bool is_folder = ws_fs_is_dir(path);
	if (is_folder && !list_wheels(path, a, &found, err)) {
		return false;
	}
	if (!is_folder) {
		*ws_vec_push(&found, a) = path;
	} else if (found.len == 0) {
		return ws_err_set(err, WS_ERR_PUBLISH, "'%s' has no wheels", named);
	}
	*source =
		(struct ws_index_source){is_folder ? path : ws_path_dir(a, path), found.at, found.len};
	return true;
}
