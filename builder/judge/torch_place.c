/* torch_place.c - which lists and which files. Making lists is kit/'s. */
#include "judge/torch_place.h"

#include "base/fs.h"
#include "judge/host_libraries.h"
#include "kit/torch/dependencies.h"
#include "kit/torch/exports.h"

/* All but the lists. */
static void
fill(const struct ws_verify_asked *asked, const ws_list_paths *lists, struct ws_arena *a,
	struct ws_wheel_place *place)
{
	const struct ws_python_kit *kit = asked->kit;
	ws_name_list libraries = {0}, folders = {0};
	const char *bin = kit && kit->interpreter ? ws_path_dir(a, kit->interpreter) : NULL;
	const char *prefix = bin ? ws_path_dir(a, bin) : NULL;
	ws_host_libraries_usual(prefix, a, &libraries);
	if (!asked->glibc) {
		ws_host_library_folders(prefix, a, &folders);
	}
	place->place = (struct ws_judge_place){
		.lists = lists->at,
		.list_count = lists->len,
		.libraries = libraries.at,
		.library_count = libraries.len,
		.folders = folders.at,
		.folder_count = folders.len,
		.python = kit ? kit->library : NULL,
		.python_tag = asked->python ? ws_python_tag_text(asked->python, true, a) : NULL,
		.archs = asked->archs,
		.driver = asked->driver,
		.facts = asked->world,
		.glibc = asked->glibc,
		.strict = asked->strict,
	};
}

bool
ws_torch_place_release(const struct ws_verify_asked *asked, const struct ws_version *torch,
	struct ws_arena *a, struct ws_wheel_place *place, struct ws_err *err)
{
	ws_list_paths lists = {0};
	if (torch) {
		const char *file = ws_arena_printf(a, "torch-%s.zst", torch->text);
		const char *path = ws_path_join(a, asked->facts, "exports", file, NULL);
		if (!ws_fs_exists(path)) {
			return ws_err_set(
				err, WS_ERR_UNKNOWN, "what torch %s exports is not known here", torch->text);
		}
		*ws_vec_push(&lists, a) = path;
	}
	if (!ws_torch_dependencies(asked->facts, torch, a, &lists, err)) {
		return false;
	}
	fill(asked, &lists, a, place);
	place->torch = torch ? torch->text : NULL;
	return true;
}

bool
ws_torch_place_installed(const struct ws_verify_asked *asked, const struct ws_fetch *fetch,
	const char *program, const struct ws_torch_kit *torch, struct ws_arena *a,
	struct ws_wheel_place *place, struct ws_err *err)
{
	ws_list_paths lists = {0};
	const char *path =
		ws_torch_exports_find_installed(fetch, program, torch, asked->python, a, err);
	if (!path) {
		return false;
	}
	*ws_vec_push(&lists, a) = path;
	if (!ws_torch_dependencies(asked->facts, NULL, a, &lists, err)) {
		return false;
	}
	fill(asked, &lists, a, place);
	place->torch = torch->version.text;
	return true;
}
