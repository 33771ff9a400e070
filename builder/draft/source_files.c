/* source_files.c - names alone decide what is a package's own: tests, examples and copies of other
 * projects have usual ones. */
#include "draft/source_files.h"

#include "base/fs.h"

#include <string.h>
#include <strings.h>

#define LARGEST ((size_t)1 << 20)

bool
ws_texts_add(ws_texts *list, const char *text, struct ws_arena *a)
{
	for (size_t i = 0; i < list->len; i++) {
		if (strcmp(list->at[i], text) == 0) {
			return false;
		}
	}
	*ws_vec_push(list, a) = text;
	return true;
}

const char *
ws_texts_list(const ws_texts *list, size_t most, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	for (size_t i = 0; i < list->len && i < most; i++) {
		ws_buf_printf(&b, "%s%s", i > 0 ? ", " : "", list->at[i]);
	}
	if (list->len > most) {
		ws_buf_printf(&b, " and %zu more", list->len - most);
	}
	return ws_buf_copy(&b, a);
}

bool
ws_guess_read(const struct ws_tree *tree, const char *path, struct ws_buf *text)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	return ws_tree_lookup(tree, path)
		&& ws_fs_read_at_most(ws_path_join(a, tree->path, path, NULL), LARGEST, text, NULL);
}

static const char *const side_folders[] = {"test", "tests", "testing", "example", "examples",
	"benchmark", "benchmarks", "doc", "docs", "build", "dist", "cmake", "conda", "docker",
	"scripts", "tools", "rocm", "hip", ".github"};

static const char *const others_folders[] = {"third_party", "thirdparty", "3rdparty", "external",
	"extern", "submodules", "vendor", "deps", "cutlass", "composable_kernel", "pybind11", "glm",
	"googletest"};

bool
ws_guess_is_one_of(const char *name, size_t len, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strlen(list[i]) == len && strncasecmp(list[i], name, len) == 0) {
			return true;
		}
	}
	return false;
}

/* A folder on the way to @a path is one of the list. */
static bool
lies_in(const char *path, const char *const *list, size_t count)
{
	for (const char *slash; (slash = strchr(path, '/')); path = slash + 1) {
		if (ws_guess_is_one_of(path, (size_t)(slash - path), list, count)) {
			return true;
		}
	}
	return false;
}

bool
ws_guess_is_aside(const char *path)
{
	return lies_in(path, side_folders, WS_LEN(side_folders));
}

bool
ws_guess_is_own(const char *path)
{
	return !ws_guess_is_aside(path) && !lies_in(path, others_folders, WS_LEN(others_folders));
}

bool
ws_guess_has_folder(const struct ws_tree *tree, const char *folder)
{
	size_t len = strlen(folder);
	for (size_t i = 0; i < tree->count; i++) {
		const char *path = tree->entries[i].path;
		if (strncmp(path, folder, len) == 0 && path[len] == '/') {
			return true;
		}
	}
	return strcmp(folder, ".") == 0;
}
