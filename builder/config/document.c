#include "config/document.h"

#include "base/fs.h"

#include <limits.h>

#define LARGEST ((size_t)4 << 20)

bool
ws_document_read(const char *path, const char *what, struct ws_arena *a,
	struct ws_document *document, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	struct ws_json_doc *doc = WS_NEW(a, struct ws_json_doc);
	if (!ws_fs_exists(path)) {
		/* The cure names the file in the folder whose name is nearest. */
		WS_VEC(const char *) names = {0};
		WS_AUTO_DIR DIR *dir = opendir(ws_path_dir(a, path));
		const struct dirent *entry;
		while (dir && (entry = readdir(dir))) {
			if (ws_ends_with(entry->d_name, ".json")) {
				*ws_vec_push(&names, a) = ws_arena_strdup(a, entry->d_name);
			}
		}
		ws_err_set(err, WS_ERR_CONFIG, "the %s '%s' does not exist", what, path);
		const char *near = ws_suggest(ws_path_base(path), names.at, names.len);
		near = near ? ws_path_join(a, ws_path_dir(a, path), near, NULL) : NULL;
		return near && ws_err_cure(err, "did you mean '%s'?", near);
	}
	struct stat status;
	if (stat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > (off_t)LARGEST) {
		return ws_err_set(err, WS_ERR_CONFIG, "the %s '%s' is larger than 4 MiB", what, path);
	}
	if (!ws_fs_read_stream(path, LARGEST, &b, err)) {
		return ws_err_wrap(err, "reading the %s", what);
	}
	WS_AUTO_FREE char *folder = realpath(ws_path_dir(a, path), NULL);
	if (!folder) {
		return ws_err_sys(err, WS_ERR_IO, "cannot find the folder of '%s'", path);
	}
	document->doc = doc;
	document->folder = ws_arena_strdup(a, folder);
	document->digest = ws_digest_bytes(ws_buf_text(&b), b.len);
	return ws_json_parse(path, ws_buf_text(&b), b.len, WS_JSON_RELAXED, a, doc, err);
}

/* ---- where the program's data lies ---- */

bool
ws_data_locate(const char *executable, struct ws_arena *a, struct ws_data *data, struct ws_err *err)
{
	char self[PATH_MAX];
	if (!executable) {
		ssize_t len = readlink("/proc/self/exe", self, sizeof(self));
		executable = ws_arena_copy(a, self, len > 0 ? (size_t)len : 0);
	}
	/* An installation that was moved: <prefix>/bin/wheelsmith and <prefix>/share/wheelsmith. */
	const char *bin = ws_path_dir(a, executable);
	const char *beside = ws_path_normal(a, ws_path_join(a, bin, "../share/wheelsmith", NULL));
	const char *root = ws_starts_with(executable, WS_BUILD_DIR "/") ? WS_SOURCE_DATA_DIR
		: executable[0] == '/' && ws_fs_is_dir(beside)              ? beside
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
