/* modules.c - which members are libraries. The rules of names are CPython's EXTENSION_SUFFIXES. */
#include "wheelfile/modules.h"

#include "base/fs.h"

#include <ctype.h>

typedef WS_VEC(struct ws_module) module_list;

bool
ws_module_is_named(const char *name)
{
	static const char digits[] = ".0123456789";
	const char *base = ws_path_base(name);
	const char *end = strstr(base, ".so");
	while (end && strstr(end + 1, ".so")) {
		end = strstr(end + 1, ".so");
	}
	if (!end || end == base) {
		return false;
	}
	/* libaws-c-s3-1c5ac285.so.0unstable */
	const char *rest = end + strlen(".so");
	size_t len = strspn(rest, digits);
	return rest[len] == '\0' || (len > 1 && ws_same(rest + len, "unstable"));
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

bool
ws_module_opens_in(const char *name, const char *python, const struct ws_machine *machine)
{
	static const char cpython[] = ".cpython-";
	const char *base = ws_path_base(name);
	const char *suffix = base + strcspn(base, ".");
	bool threads = python && ws_ends_with(python, "t");
	if (!ws_starts_with(suffix, cpython)) {
		return ws_same(suffix, ".so") || ws_same(suffix, threads ? ".abi3t.so" : ".abi3.so");
	}
	const char *version = suffix + strlen(cpython);
	size_t len = strcspn(version, "-");
	size_t system = strlen(machine->multiarch);
	return version[len] == '-' && strncmp(version + len + 1, machine->multiarch, system) == 0
		&& strcmp(version + len + 1 + system, ".so") == 0
		&& (!python || (strlen(python) == len + 2 && strncmp(version, python + 2, len) == 0));
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
		struct ws_module *m = &list->at[i];
		struct ws_err err = {0};
		const char *base = ws_path_base(m->name);
		m->elf = ws_elf_open_as(m->file, m->name, false, a, &err);
		m->refused = m->elf ? NULL : ws_arena_strdup(a, err.text);
		m->python = ws_module_python_of(m->name, a);
		m->init = ws_arena_printf(a, "PyInit_%.*s", (int)strcspn(base, "."), base);
		struct ws_elf_symbol symbol;
		for (size_t at = 0;
			 m->elf && !m->exports_init && ws_elf_next_symbol(m->elf, &at, &symbol);) {
			m->exports_init = symbol.defined && ws_same(symbol.name, m->init);
		}
	}
	*modules = (struct ws_modules){list->at, list->len};
}

bool
ws_modules_take(struct ws_opened_wheel *wheel, const char *folder, struct ws_arena *a,
	struct ws_modules *modules, struct ws_err *err)
{
	static const char *const parts[] = {".data/platlib/", ".data/purelib/"};
	module_list list = {0};
	WS_VEC(struct ws_pick) picks = {0};
	*modules = (struct ws_modules){0};
	for (size_t i = 0; i < wheel->zip.count; i++) {
		const struct ws_zip_entry *entry = &wheel->zip.entries[i];
		if (!entry->is_dir && ws_module_is_named(entry->name)) {
			const char *file = ws_arena_printf(a, "%s/%zu.so", folder, list.len);
			/* "x-1.0.data/platlib/a/b.so" is installed as "a/b.so". */
			const char *name = entry->name, *slash = strchr(name, '/');
			for (size_t k = 0; k < WS_LEN(parts); k++) {
				const char *found = strstr(entry->name, parts[k]);
				if (found && slash == found + strlen(".data")) {
					name = found + strlen(parts[k]);
				}
			}
			*ws_vec_push(&picks, a) = (struct ws_pick){entry, file};
			*ws_vec_push(&list, a) = (struct ws_module){.name = name, .file = file};
		}
	}
	struct ws_member_sink sink = ws_member_sink_make(NULL, wheel->name, NULL);
	if (!ws_opened_wheel_take(wheel, picks.at, picks.len, &sink, err)) {
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
