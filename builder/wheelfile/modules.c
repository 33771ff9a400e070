/* modules.c - which members are libraries. The rules of names are CPython's EXTENSION_SUFFIXES. */
#include "wheelfile/modules.h"

#include "base/fs.h"

#include <ctype.h>

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
ws_module_installed_name(const char *member)
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

static int
by_name(const void *x, const void *y)
{
	return strcmp(((const struct ws_module *)x)->name, ((const struct ws_module *)y)->name);
}

void
ws_modules_open(
	struct ws_module *list, size_t count, struct ws_arena *a, struct ws_modules *modules)
{
	if (count > 0) {
		qsort(list, count, sizeof(*list), by_name);
	}
	for (size_t i = 0; i < count; i++) {
		struct ws_module *m = &list[i];
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
	*modules = (struct ws_modules){list, count};
}

void
ws_modules_close(struct ws_modules *modules)
{
	for (size_t i = 0; i < modules->count; i++) {
		ws_elf_close((struct ws_elf *)(uintptr_t)modules->modules[i].elf);
	}
	modules->count = 0;
}
