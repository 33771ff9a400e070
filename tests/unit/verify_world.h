/* verify_world.h - a host whose libraries are those of this process, with an interpreter of one
 * function, for tests that judge modules. */
#ifndef WS_TESTS_VERIFY_WORLD_H
#define WS_TESTS_VERIFY_WORLD_H

#include "compile.h"
#include "verify/subject.h"

#include <link.h>

struct world {
	struct ws_arena *a;
	const char *dir;
	struct ws_elf *opened[48];
	size_t opened_count;
	const struct ws_elf *libraries[16], *globals[2];
	struct ws_load_place place;
	const char *list;             /* of torch */
	const struct ws_elf *sibling; /* of the same wheel; NULL: none */
};

static const struct ws_elf *
open_elf(struct world *w, const char *path)
{
	struct ws_err err = {0};
	struct ws_elf *elf = ws_elf_open(path, w->a, &err);
	assert_ok(elf, err);
	w->opened[w->opened_count++] = elf;
	return elf;
}

static void
add_library(struct world *w, const char *path)
{
	w->libraries[w->place.library_count++] = open_elf(w, path);
}

/* Adds this process's own libraries: those of this host. */
static int
add_system(struct dl_phdr_info *info, size_t size WS_UNUSED, void *world)
{
	static const char *const names[] = {
		"libstdc++.so.6", "libgcc_s.so.1", "libm.so.6", "libc.so.6", "ld-linux-x86-64.so.2"};
	for (size_t i = 0; i < WS_LEN(names); i++) {
		if (ws_ends_with(info->dlpi_name, names[i])) {
			add_library(world, info->dlpi_name);
		}
	}
	return 0;
}

static struct world
make_host(struct ws_arena *a)
{
	struct world w = {.a = a, .dir = ws_test_dir(a), .place = {.python = "cp311"}};
	dl_iterate_phdr(add_system, &w);
	assert_int_equal(w.place.library_count, 5);
	w.globals[w.place.global_count++] = open_elf(&w,
		ws_test_library(a, w.dir, "python3.11",
			"void *PyModule_Create2(void *x, int y) { return x + y; }", NULL));
	return w;
}

static void
leave(struct world *w)
{
	for (size_t i = 0; i < w->opened_count; i++) {
		ws_elf_close(w->opened[i]);
	}
}

#define WS_AUTO_WORLD __attribute__((cleanup(leave)))

static void
write_text(const char *dir, const char *name, const char *text, struct ws_arena *a)
{
	struct ws_err err = {0};
	assert_ok(ws_fs_write(ws_path_join(a, dir, name, NULL), text, strlen(text), 0644, &err), err);
}

#endif
