/* torch_place.c - which lists and which files. Making lists is kit/'s. */
#include "judge/torch_place.h"

#include "base/fs.h"
#include "judge/host_libraries.h"
#include "kit/floor/floor.h"
#include "kit/torch/exports.h"

#include <gnu/libc-version.h>

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

void
ws_judge_place_move(struct ws_judge_place *place, ws_list_paths *lists, const char *facts,
	const struct ws_machine *machine, struct ws_arena *a)
{
	const char *here = gnu_get_libc_version();
	*ws_vec_push(lists, a) = ws_floor_list_path(facts, machine, a);
	place->machine = machine;
	place->lists = lists->at;
	place->list_count = lists->len;
	place->library_count = place->folder_count = 0;
	place->python = NULL;
	if (!place->glibc) {
		place->glibc = ws_glibc_is_floor(here) ? ws_arena_strdup(a, here) : "2.28";
	}
}

bool
ws_torch_place_release(const struct ws_verify_asked *asked, const struct ws_version *torch,
	struct ws_arena *a, struct ws_wheel_place *place, struct ws_err *err)
{
	ws_list_paths lists = {0};
	const struct ws_machine *machine = asked->machine ? asked->machine : ws_machine_host();
	if (torch) {
		const char *path = ws_torch_exports_shipped(asked->facts, torch->text, machine, a);
		if (!path) {
			return ws_err_set(err, WS_ERR_UNKNOWN, "what torch %s%s exports is not known here",
				torch->text, machine->mark);
		}
		*ws_vec_push(&lists, a) = path;
	}
	if (!ws_torch_dependencies(asked->facts, torch, a, &lists, err)) {
		return false;
	}
	fill(asked, &lists, a, place);
	if (machine != ws_machine_host()) {
		ws_judge_place_move(&place->place, &lists, asked->facts, machine, a);
	}
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
