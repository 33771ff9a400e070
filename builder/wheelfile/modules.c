/* modules.c - which members are libraries, and where the RPATH of each leads inside of the wheel.
 * The rules of names are CPython's EXTENSION_SUFFIXES, those of RPATH ld.so(8)'s. */
#include "wheelfile/modules.h"

#include "base/fs.h"
#include "base/map.h"
#include "base/vec.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define ORIGIN "$ORIGIN"

typedef WS_VEC(struct ws_module) module_list;

bool
ws_module_is_named(const char *name)
{
	const char *base = ws_path_base(name);
	const char *end = strstr(base, ".so");
	while (end && strstr(end + 1, ".so")) {
		end = strstr(end + 1, ".so");
	}
	return end && end > base && end[3 + strspn(end + 3, ".0123456789")] == '\0';
}

/* Where a member is installed: "x-1.0.data/platlib/a/b.so" is "a/b.so". */
static const char *
installed_name(const char *member)
{
	static const char *const parts[] = {".data/platlib/", ".data/purelib/"};
	const char *slash = strchr(member, '/');
	for (size_t i = 0; i < WS_LEN(parts); i++) {
		const char *found = strstr(member, parts[i]);
		if (found && slash == found + strlen(".data")) {
			return found + strlen(parts[i]);
		}
	}
	return member;
}

const char *
ws_module_python_of(const char *name, struct ws_arena *a)
{
	const char *base = ws_path_base(name);
	static const char cpython[] = ".cpython-";
	const char *found = strstr(base, cpython);
	if (found) {
		const char *digits = found + strlen(cpython);
		size_t len = strspn(digits, "0123456789t");
		return ws_arena_printf(a, "cp%.*s", (int)len, digits);
	}
	return ws_ends_with(base, ".abi3.so") ? "abi3"
		: ws_ends_with(base, ".abi3t.so") ? "abi3t"
										  : NULL;
}

static bool
exports(const struct ws_elf *elf, const char *name)
{
	struct ws_elf_symbol symbol;
	for (size_t at = 0; ws_elf_next_symbol(elf, &at, &symbol);) {
		if (symbol.defined && ws_same(symbol.name, name)) {
			return true;
		}
	}
	return false;
}

static void
open_module(struct ws_module *m, struct ws_arena *a)
{
	struct ws_err err = {0};
	const char *base = ws_path_base(m->name);
	const char *init = ws_arena_printf(a, "PyInit_%.*s", (int)strcspn(base, "."), base);
	m->elf = ws_elf_open_as(m->file, m->name, a, &err);
	m->refused = m->elf ? NULL : ws_arena_strdup(a, err.text);
	m->python = ws_module_python_of(m->name, a);
	m->init = init;
	m->exports_init = m->elf && exports(m->elf, init);
}

/* ---- where RPATH leads ---- */

/* The folder that one part of an RPATH names, below site-packages; NULL: it leads elsewhere. */
static const char *
folder_of(const struct ws_module *m, struct ws_str part, struct ws_arena *a)
{
	const char *text = ws_str_copy(part, a);
	const char *rest = ws_starts_with(text, ORIGIN) ? text + strlen(ORIGIN)
		: ws_starts_with(text, "${ORIGIN}")         ? text + strlen("${ORIGIN}")
													: NULL;
	if (!rest || (*rest && *rest != '/')) {
		return NULL;
	}
	/* A root of its own keeps ".." from being lost at the top. */
	const char *path = ws_path_normal(
		a, ws_path_join(a, "/site", ws_path_dir(a, m->name), *rest ? rest + 1 : ".", NULL));
	return ws_same(path, "/site") ? "" : ws_starts_with(path, "/site/") ? path + 6 : NULL;
}

static size_t
find_along(const struct ws_module *m, const char *rpath, const char *needed,
	const struct ws_map *places, const struct ws_module *first, struct ws_arena *a)
{
	struct ws_str rest = {rpath, rpath ? strlen(rpath) : 0};
	while (rest.s) {
		const char *folder = folder_of(m, ws_str_cut(&rest, ':'), a);
		const struct ws_module *found = !folder
			? NULL
			: ws_map_get(places, *folder ? ws_arena_printf(a, "%s/%s", folder, needed) : needed);
		if (found && found->elf) {
			return (size_t)(found - first);
		}
	}
	return WS_MODULE_NONE;
}

static void
follow(module_list *list, struct ws_arena *a)
{
	struct ws_map places = {0};
	for (size_t i = 0; i < list->len; i++) {
		ws_map_put(&places, list->at[i].name, &list->at[i], a);
	}
	for (size_t i = 0; i < list->len; i++) {
		struct ws_module *m = &list->at[i];
		size_t *leads_to = WS_NEW_N(a, size_t, m->elf ? m->elf->needed_count : 0);
		for (size_t k = 0; m->elf && k < m->elf->needed_count; k++) {
			const char *rpath = m->elf->runpath ? m->elf->runpath : m->elf->rpath;
			leads_to[k] = find_along(m, rpath, m->elf->needed[k], &places, list->at, a);
		}
		m->leads_to = leads_to;
	}
}

/* ---- of a wheel, of a folder ---- */

static int
by_name(const void *x, const void *y)
{
	return strcmp(((const struct ws_module *)x)->name, ((const struct ws_module *)y)->name);
}

static void
finish(module_list *list, struct ws_arena *a, struct ws_modules *modules)
{
	if (list->len > 0) {
		qsort(list->at, list->len, sizeof(list->at[0]), by_name);
	}
	for (size_t i = 0; i < list->len; i++) {
		open_module(&list->at[i], a);
	}
	follow(list, a);
	*modules = (struct ws_modules){list->at, list->len};
}

bool
ws_modules_take(struct ws_opened_wheel *wheel, const char *folder, struct ws_arena *a,
	struct ws_modules *modules, struct ws_err *err)
{
	module_list list = {0};
	WS_VEC(struct ws_pick) picks = {0};
	*modules = (struct ws_modules){0};
	for (size_t i = 0; i < wheel->zip.count; i++) {
		const struct ws_zip_entry *entry = &wheel->zip.entries[i];
		if (!entry->is_dir && ws_module_is_named(entry->name)) {
			const char *file = ws_arena_printf(a, "%s/%zu.so", folder, list.len);
			*ws_vec_push(&picks, a) = (struct ws_pick){entry, file};
			*ws_vec_push(&list, a) =
				(struct ws_module){.name = installed_name(entry->name), .file = file};
		}
	}
	struct ws_landing landing = ws_landing_make(NULL, wheel->name, NULL);
	if (!ws_opened_wheel_take(wheel, picks.at, picks.len, &landing, err)) {
		return false;
	}
	finish(&list, a, modules);
	return true;
}

void
ws_modules_open(const char *root, const char *const *names, size_t count, struct ws_arena *a,
	struct ws_modules *modules)
{
	module_list list = {0};
	for (size_t i = 0; i < count; i++) {
		*ws_vec_push(&list, a) =
			(struct ws_module){.name = names[i], .file = ws_path_join(a, root, names[i], NULL)};
	}
	finish(&list, a, modules);
}

void
ws_modules_close(struct ws_modules *modules)
{
	for (size_t i = 0; i < modules->count; i++) {
		ws_elf_close((struct ws_elf *)(uintptr_t)modules->modules[i].elf);
	}
	modules->count = 0;
}
