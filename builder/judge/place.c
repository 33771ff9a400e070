/* place.c - opens the files of a place, and the libraries that modules need from its folders. */
#include "base/fs.h"
#include "judge/verify_child.h"

static const struct ws_elf *
open_file(const char *path, struct ws_arena *a, struct ws_err *err)
{
	return ws_elf_open(path, a, err);
}

static void
set_files(struct ws_opened_place *opened)
{
	opened->load.libraries = opened->libraries.at;
	opened->load.library_count = opened->libraries.len;
	opened->load.globals = opened->globals.at;
	opened->load.global_count = opened->globals.len;
}

bool
ws_place_open(const struct ws_judge_place *place, struct ws_arena *a,
	struct ws_opened_place *opened, struct ws_err *err)
{
	*opened = (struct ws_opened_place){.folders = place->folders,
		.folder_count = place->folder_count,
		.load = {.lists = place->lists,
			.list_count = place->list_count,
			.python = place->python_tag,
			.stable_python = place->stable_python,
			.driver = place->driver,
			.archs = place->archs,
			.machine = place->machine ? place->machine : ws_machine_host(),
			.glibc = place->glibc,
			.ptx = place->ptx,
			.families = place->families,
			.family_count = place->family_count,
			.strict = place->strict,
			.complete = place->folder_count > 0}};
	for (size_t i = 0; i < place->library_count; i++) {
		const struct ws_elf *elf = open_file(place->libraries[i], a, err);
		if (!elf) {
			return false;
		}
		*ws_vec_push(&opened->libraries, a) = elf;
	}
	if (place->python) {
		const struct ws_elf *elf = open_file(place->python, a, err);
		if (!elf) {
			return false;
		}
		*ws_vec_push(&opened->globals, a) = elf;
	}
	set_files(opened);
	return true;
}

static bool
is_open(const struct ws_opened_place *opened, const char *name)
{
	for (size_t i = 0; i < opened->libraries.len; i++) {
		if (ws_same(ws_elf_library_name(opened->libraries.at[i]), name)) {
			return true;
		}
	}
	return false;
}

/* The first folder that has a library of that name decides, as for the loader. */
static void
open_needed(struct ws_opened_place *opened, const struct ws_elf *elf, struct ws_arena *a)
{
	for (size_t k = 0; k < elf->needed_count; k++) {
		const char *name = elf->needed[k];
		for (size_t i = 0; i < opened->folder_count && !strchr(name, '/') && !is_open(opened, name);
			 i++) {
			const char *path = ws_path_join(a, opened->folders[i], name, NULL);
			const struct ws_elf *found = ws_fs_exists(path) ? open_file(path, a, NULL) : NULL;
			if (found) {
				*ws_vec_push(&opened->libraries, a) = found;
			}
		}
	}
}

void
ws_place_complete(
	struct ws_opened_place *opened, const struct ws_subject *modules, struct ws_arena *a)
{
	for (size_t i = 0; i < modules->count; i++) {
		open_needed(opened, modules->modules[i].elf, a);
	}
	/* The list grows while it is walked. */
	for (size_t i = 0; i < opened->libraries.len && opened->folder_count > 0; i++) {
		open_needed(opened, opened->libraries.at[i], a);
	}
	set_files(opened);
}

void
ws_place_close(struct ws_opened_place *opened)
{
	for (size_t i = 0; i < opened->libraries.len; i++) {
		ws_elf_close((struct ws_elf *)(uintptr_t)opened->libraries.at[i]);
	}
	for (size_t i = 0; i < opened->globals.len; i++) {
		ws_elf_close((struct ws_elf *)(uintptr_t)opened->globals.at[i]);
	}
	opened->libraries.len = opened->globals.len = 0;
}
