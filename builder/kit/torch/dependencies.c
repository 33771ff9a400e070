/* dependencies.c - a table in JSON. */
#include "kit/torch/dependencies.h"

#include "base/fs.h"
#include "base/json.h"

#define SCHEMA "wheelsmith.brought/1"

static void
add_lists(const char *folder, const struct ws_json *entry, struct ws_arena *a, ws_list_paths *paths)
{
	const struct ws_json *lists = entry ? ws_json_find(entry, "lists") : NULL;
	for (const struct ws_json *list = lists ? lists->first : NULL; list; list = list->next) {
		*ws_vec_push(paths, a) = ws_arena_printf(a, "%s/brought/%s.zst", folder, list->text);
	}
}

bool
ws_torch_dependencies(const char *facts, const struct ws_version *release, struct ws_arena *a,
	ws_list_paths *paths, struct ws_err *err)
{
	struct ws_json_doc doc;
	const char *folder = ws_path_join(a, facts, "exports", NULL);
	const char *path = ws_path_join(a, folder, "brought.json", NULL);
	if (!ws_json_read(path, WS_JSON_STRICT, a, &doc, err)) {
		return false;
	}
	const struct ws_json *torch = ws_json_find(doc.root, "torch");
	if (!ws_same(ws_json_text(doc.root, "schema"), SCHEMA) || !torch) {
		return ws_err_set(err, WS_ERR_IO, "'%s' is not a table of export lists", path);
	}
	add_lists(folder, ws_json_find(doc.root, "every"), a, paths);
	add_lists(folder, ws_json_find(doc.root, "python"), a, paths);
	if (release) {
		add_lists(folder, ws_json_find(torch, release->public_text), a, paths);
	}
	return true;
}
