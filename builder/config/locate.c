/* locate.c - two compiled-in folders: WS_DATA_DIR where `cmake --install` puts the data, and
 * WS_SOURCE_DATA_DIR for programs that run below WS_BUILD_DIR. */
#include "config/locate.h"

#include "base/fs.h"

#include <limits.h>
#include <string.h>

static const char *
running_program(struct ws_arena *a)
{
	char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path));
	return len > 0 && (size_t)len < sizeof(path) ? ws_arena_copy(a, path, (size_t)len) : "";
}

static bool
is_below(const char *path, const char *folder)
{
	size_t len = strlen(folder);
	return strncmp(path, folder, len) == 0 && path[len] == '/';
}

/* An installation that was moved: <prefix>/bin/wheelsmith and <prefix>/share/wheelsmith. */
static const char *
share_beside(const char *executable, struct ws_arena *a)
{
	const char *bin = ws_path_dir(a, executable);
	return ws_path_normal(a, ws_path_join(a, bin, "../share/wheelsmith", NULL));
}

bool
ws_data_locate(const char *executable, struct ws_arena *a, struct ws_data *data, struct ws_err *err)
{
	if (!executable) {
		executable = running_program(a);
	}
	const char *beside = share_beside(executable, a);
	const char *root = is_below(executable, WS_BUILD_DIR) ? WS_SOURCE_DATA_DIR
		: executable[0] == '/' && ws_fs_is_dir(beside)    ? beside
														  : WS_DATA_DIR;
	data->root = ws_arena_strdup(a, root);
	data->facts = ws_path_join(a, root, "matrix/facts", NULL);
	data->kits = ws_path_join(a, root, "matrix/kits", NULL);
	data->draft_reader = ws_path_join(a, root, "builder/draft/reader", NULL);
	data->entry_points = ws_path_join(a, root, "builder/doctor/entry_points.py", NULL);
	if (!ws_fs_is_dir(data->facts)) {
		ws_err_set(err, WS_ERR_CONFIG, "the program's data is not in '%s'", root);
		return ws_err_cure(err, "install it again: cmake --install puts it there");
	}
	return true;
}

const char *const *
ws_data_recipe_folders(const struct ws_data *data, const char *option, const char *matrix,
	const char *const *configured, size_t configured_count, struct ws_arena *a, size_t *count)
{
	const char **folders = WS_NEW_N(a, const char *, configured_count + 3);
	*count = 0;
	if (option) {
		folders[(*count)++] = option;
	}
	if (matrix) {
		folders[(*count)++] = matrix;
	}
	for (size_t i = 0; i < configured_count; i++) {
		folders[(*count)++] = configured[i];
	}
	folders[(*count)++] = ws_path_join(a, data->root, "recipes", NULL);
	return folders;
}
