/* place.c - writing a place into an order, and opening one. */
#include "judge/place.h"

#include "base/fs.h"

#include <string.h>

/* The number of the mount of a folder, which is added when it is new. */
static size_t
mount_of(struct ws_judge_place_mounts *m, const char *folder, struct ws_arena *a)
{
	size_t i = 0;
	while (i < m->mounts.len && !ws_same(m->mounts.at[i].path, folder)) {
		i++;
	}
	if (i == m->mounts.len) {
		*ws_vec_push(&m->mounts, a) = (struct ws_mount){
			.name = ws_arena_printf(a, "in%zu", i), .path = ws_arena_strdup(a, folder)};
	}
	return i;
}

/* As the action sees it: "in3/libc.so.6". */
static const char *
seen(const char *path, struct ws_judge_place_mounts *m, struct ws_arena *a)
{
	return ws_arena_printf(a, "in%zu/%s", mount_of(m, ws_path_dir(a, path), a), ws_path_base(path));
}

static void
add_seed(const char *path, struct ws_judge_place_mounts *m, struct ws_arena *a)
{
	const char *name = seen(path, m, a);
	for (size_t i = 0; i < m->seeds.len; i++) {
		if (ws_same(m->seeds.at[i], name)) {
			return;
		}
	}
	*ws_vec_push(&m->seeds, a) = name;
}

void
ws_judge_place_mount(
	const struct ws_judge_place *place, struct ws_judge_place_mounts *mounts, struct ws_arena *a)
{
	for (size_t i = 0; i < place->list_count; i++) {
		add_seed(place->lists[i], mounts, a);
	}
	for (size_t i = 0; i < place->library_count; i++) {
		add_seed(place->libraries[i], mounts, a);
	}
	if (place->python) {
		add_seed(place->python, mounts, a);
	}
}

void
ws_judge_place_attach(const struct ws_judge_place_mounts *mounts, struct ws_action *action)
{
	action->mounts = mounts->mounts.at;
	action->mount_count = mounts->mounts.len;
	action->seeds = mounts->seeds.at;
	action->seed_count = mounts->seeds.len;
}

static void
write_paths(struct ws_json_writer *w, const char *key, const char *const *paths, size_t count,
	struct ws_judge_place_mounts *mounts, struct ws_arena *a)
{
	ws_json_open_list(w, key);
	for (size_t i = 0; i < count; i++) {
		ws_json_add_text(w, NULL, mounts ? seen(paths[i], mounts, a) : paths[i]);
	}
	ws_json_close(w);
}

void
ws_judge_place_write(struct ws_json_writer *w, const struct ws_judge_place *place,
	const struct ws_judge_place_mounts *mounts, struct ws_arena *a)
{
	struct ws_judge_place_mounts known = mounts ? *mounts : (struct ws_judge_place_mounts){0};
	struct ws_judge_place_mounts *m = mounts ? &known : NULL;
	write_paths(w, "lists", place->lists, place->list_count, m, a);
	write_paths(w, "libraries", place->libraries, place->library_count, m, a);
	if (!mounts) {
		ws_json_add_texts(w, "folders", place->folders, place->folder_count);
	}
	ws_json_add_text(w, "python", place->python && m ? seen(place->python, m, a) : place->python);
	ws_json_add_text(w, "python_tag", place->python_tag);
	if (place->python_count > 0) {
		ws_json_add_texts(w, "pythons", place->pythons, place->python_count);
	}
	ws_json_add_text(w, "stable_python", place->stable_python);
	ws_json_add_text(w, "for", place->archs.count ? ws_arch_set_text(&place->archs, a) : NULL);
	ws_json_add_text(w, "driver", place->driver);
	ws_json_open_object(w, "families");
	for (size_t i = 0; place->facts && place->archs.count && i < place->facts->family_count; i++) {
		const struct ws_arch_alias *family = &place->facts->families[i];
		ws_json_add_text(w, family->name, ws_arch_set_text(&family->archs, a));
	}
	ws_json_close(w);
	ws_json_add_text(w, "ptx",
		place->facts && place->driver ? ws_facts_ptx_of_driver(place->facts, place->driver) : NULL);
	ws_json_add_text(w, "glibc", place->glibc);
	bool other = place->machine && place->machine != ws_machine_host();
	ws_json_add_text(w, "machine", other ? place->machine->name : NULL);
	ws_json_add_bool(w, "strict", place->strict);
}

/* ---- the child ---- */

static const struct ws_arch_alias *
families_of(const struct ws_json *object, struct ws_arena *a, size_t *count)
{
	const char *why;
	struct ws_arch_alias *families = WS_NEW_N(a, struct ws_arch_alias, object ? object->count : 0);
	*count = 0;
	for (const struct ws_json *item = object ? object->first : NULL; item; item = item->next) {
		struct ws_arch_alias *family = &families[(*count)++];
		family->name = item->key;
		if (!ws_arch_set_parse(item->text, a, &family->archs, &why)) {
			family->archs.count = 0;
		}
	}
	return families;
}

static const struct ws_elf *
open_one(const char *path, struct ws_arena *a, struct ws_err *err)
{
	return ws_elf_open_as(path, path, a, err);
}

static void
fill_load(struct ws_opened_judge_place *place)
{
	place->load.libraries = place->libraries.at;
	place->load.library_count = place->libraries.len;
	place->load.globals = place->globals.at;
	place->load.global_count = place->globals.len;
}

static bool
open_files(const struct ws_json *order, struct ws_arena *a, struct ws_opened_judge_place *place,
	struct ws_err *err)
{
	size_t count;
	const char *const *paths = ws_json_texts(ws_json_find(order, "libraries"), a, &count);
	const char *python = ws_json_text(order, "python");
	const struct ws_elf *elf = NULL;
	for (size_t i = 0; i < count; i++) {
		if (!(elf = open_one(paths[i], a, err))) {
			return false;
		}
		*ws_vec_push(&place->libraries, a) = elf;
	}
	if (python && !(elf = open_one(python, a, err))) {
		return false;
	}
	if (python) {
		*ws_vec_push(&place->globals, a) = elf;
	}
	return true;
}

bool
ws_judge_place_open(const struct ws_json *order, struct ws_arena *a,
	struct ws_opened_judge_place *place, struct ws_err *err)
{
	size_t lists, families;
	const char *archs = ws_json_text(order, "for"), *why;
	const char *machine = ws_json_text(order, "machine");
	*place = (struct ws_opened_judge_place){0};
	bool fine = open_files(order, a, place, err);
	place->folders = ws_json_texts(ws_json_find(order, "folders"), a, &place->folder_count);
	place->load = (struct ws_load_place){
		.lists = ws_json_texts(ws_json_find(order, "lists"), a, &lists),
		.list_count = lists,
		.python = ws_json_text(order, "python_tag"),
		.stable_python = ws_json_text(order, "stable_python"),
		.driver = ws_json_text(order, "driver"),
		.glibc = ws_json_text(order, "glibc"),
		.machine = machine ? ws_machine_named(machine) : ws_machine_host(),
		.ptx = ws_json_text(order, "ptx"),
		.families = families_of(ws_json_find(order, "families"), a, &families),
		.strict = ws_json_is_true(order, "strict"),
		.complete = place->folder_count > 0,
	};
	place->load.family_count = families;
	fill_load(place);
	return fine
		&& (!archs || ws_arch_set_parse(archs, a, &place->load.archs, &why)
			|| ws_err_set(err, WS_ERR_INTERNAL, "the archs '%s' of an order: %s", archs, why));
}

static bool
is_open(const struct ws_opened_judge_place *place, const char *name)
{
	for (size_t i = 0; i < place->libraries.len; i++) {
		if (ws_same(ws_elf_library_name(place->libraries.at[i]), name)) {
			return true;
		}
	}
	return false;
}

/* The first of the folders that has a library of that name decides, as for the loader. */
static void
open_library(struct ws_opened_judge_place *place, const char *name, struct ws_arena *a)
{
	struct ws_err ignored = {0};
	for (size_t i = 0; i < place->folder_count && !strchr(name, '/') && !is_open(place, name);
		 i++) {
		const char *path = ws_path_join(a, place->folders[i], name, NULL);
		const struct ws_elf *elf = ws_fs_exists(path) ? open_one(path, a, &ignored) : NULL;
		if (elf) {
			*ws_vec_push(&place->libraries, a) = elf;
		}
	}
}

void
ws_judge_place_complete(
	struct ws_opened_judge_place *place, const struct ws_subject *modules, struct ws_arena *a)
{
	for (size_t i = 0; i < modules->count; i++) {
		const struct ws_elf *elf = modules->modules[i].elf;
		for (size_t k = 0; k < elf->needed_count; k++) {
			open_library(place, elf->needed[k], a);
		}
	}
	for (size_t i = 0; i < place->libraries.len && place->folder_count > 0; i++) {
		const struct ws_elf *elf = place->libraries.at[i];
		for (size_t k = 0; k < elf->needed_count; k++) {
			open_library(place, elf->needed[k], a);
		}
	}
	fill_load(place);
}

void
ws_judge_place_close(struct ws_opened_judge_place *place)
{
	for (size_t i = 0; i < place->libraries.len; i++) {
		ws_elf_close((struct ws_elf *)(uintptr_t)place->libraries.at[i]);
	}
	for (size_t i = 0; i < place->globals.len; i++) {
		ws_elf_close((struct ws_elf *)(uintptr_t)place->globals.at[i]);
	}
	place->libraries.len = place->globals.len = 0;
}
