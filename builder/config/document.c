#include "config/document.h"

#include "base/arena.h"
#include "base/fs.h"
#include "base/text.h"

#define LARGEST ((size_t)4 << 20)

/* The file in @a path's folder whose name is nearest to it; NULL when none is near. */
static const char *
near_file(const char *path, struct ws_arena *a)
{
	WS_VEC(const char *) names = {0};
	WS_AUTO_DIR DIR *dir = opendir(ws_path_dir(a, path));
	const struct dirent *entry;
	while (dir && (entry = readdir(dir))) {
		if (ws_ends_with(entry->d_name, ".json")) {
			*ws_vec_push(&names, a) = ws_arena_strdup(a, entry->d_name);
		}
	}
	const char *near = ws_suggest(ws_path_base(path), names.at, names.len);
	return near ? ws_path_join(a, ws_path_dir(a, path), near, NULL) : NULL;
}

static bool
fail_missing(const char *path, const char *what, struct ws_arena *a, struct ws_err *err)
{
	ws_err_set(err, WS_ERR_CONFIG, "there is no %s '%s'", what, path);
	const char *near = near_file(path, a);
	return near ? ws_err_cure(err, "did you mean '%s'?", near) : false;
}

bool
ws_document_read(const char *path, const char *what, struct ws_arena *a,
	struct ws_document *document, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	struct ws_json_doc *doc = WS_NEW(a, struct ws_json_doc);
	if (!ws_fs_exists(path)) {
		return fail_missing(path, what, a, err);
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
