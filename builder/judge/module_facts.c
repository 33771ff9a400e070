/* module_facts.c - the facts of libraries: what elf/ and verify/manylinux_tag.h read of them, paths
 * and instructions in their bytes, and the releases that have their names. */
#include "base/fs.h"
#include "elf/exports.h"
#include "judge/wheel_facts.h"

#include <elf.h>

#include <fcntl.h>

#define LONGEST_LEAK 200 /* bytes of a path */
#define MOST_LEAKS 1000
#define STABLE_ABI "python3" /* what the list of Python's stable ABI calls itself */

typedef WS_VEC(const char *) text_list;

/* ---- names ---- */

/* The C functions of torch's stable ABI (torch/csrc/stable/c/shim.h, aoti_torch/c/shim.h). */
static bool
is_torch_shim(const char *name)
{
	return ws_starts_with(name, "aoti_torch_") || ws_starts_with(name, "torch_");
}

static void
read_names(const struct ws_elf *elf, struct ws_arena *a, struct ws_module_facts *facts)
{
	text_list python = {0}, torch = {0};
	bool mangled = false;
	struct ws_elf_symbol symbol;
	for (size_t at = 0; ws_elf_next_symbol(elf, &at, &symbol);) {
		if (symbol.defined || symbol.binding == WS_ELF_WEAK) {
			continue;
		}
		mangled = mangled || ws_is_torch_name(symbol.name);
		if (ws_starts_with(symbol.name, "Py") || ws_starts_with(symbol.name, "_Py")) {
			*ws_vec_push(&python, a) = ws_arena_strdup(a, symbol.name);
		} else if (is_torch_shim(symbol.name)) {
			*ws_vec_push(&torch, a) = ws_arena_strdup(a, symbol.name);
		}
	}
	python.len = ws_sort_once(python.at, python.len);
	torch.len = ws_sort_once(torch.at, torch.len);
	facts->python_names = python.at;
	facts->python_name_count = python.len;
	facts->python = python.len ? WS_PYTHON_VERSION : WS_PYTHON_NONE;
	facts->torch_names = torch.at;
	facts->torch_name_count = torch.len;
	facts->torch = mangled ? WS_TORCH_CXX : torch.len ? WS_TORCH_STABLE : WS_TORCH_NONE;
}

/* ---- GPU code ---- */

static int
by_image(const void *x, const void *y)
{
	const struct ws_fatbin_image *p = x, *q = y;
	const unsigned left[] = {p->sm, (unsigned)p->suffix, p->kind, p->major, p->minor, p->packing};
	const unsigned right[] = {q->sm, (unsigned)q->suffix, q->kind, q->major, q->minor, q->packing};
	for (size_t i = 0; i < WS_LEN(left); i++) {
		if (left[i] != right[i]) {
			return left[i] < right[i] ? -1 : 1;
		}
	}
	return 0;
}

static void
read_gpu_code(const struct ws_elf *elf, struct ws_arena *a, struct ws_module_facts *facts)
{
	static const char *const sections[] = {WS_FATBIN_SECTION, "__nv_relfatbin"};
	WS_VEC(struct ws_image_facts) list = {0};
	for (size_t s = 0; s < WS_LEN(sections); s++) {
		struct ws_str bytes = ws_elf_section(elf, sections[s]);
		struct ws_fatbin fatbin = {0};
		struct ws_err err = {0};
		if (bytes.n > 0 && !ws_fatbin_read(bytes.s, bytes.n, a, &fatbin, &err)) {
			facts->gpu_refused = ws_arena_printf(a, "%s: %s", sections[s], err.text);
			continue;
		}
		struct ws_fatbin_image *sorted = WS_NEW_N(a, struct ws_fatbin_image, fatbin.image_count);
		if (fatbin.image_count > 0) {
			memcpy(sorted, fatbin.images, fatbin.image_count * sizeof(*sorted));
			qsort(sorted, fatbin.image_count, sizeof(*sorted), by_image);
		}
		for (size_t i = 0; i < fatbin.image_count; i++) {
			const struct ws_fatbin_image *image = &sorted[i];
			const struct ws_arch arch = {.number = image->sm, .suffix = image->suffix};
			bool ptx = image->kind == WS_FATBIN_PTX;
			if (i == 0 || by_image(image, &sorted[i - 1]) != 0) {
				*ws_vec_push(&list, a) = (struct ws_image_facts){.section = sections[s],
					.kind = ptx                          ? "ptx"
						: image->kind == WS_FATBIN_CUBIN ? "code"
						: image->kind == WS_FATBIN_LTO
						? "lto"
						: ws_arena_printf(a, "%u", (unsigned)image->kind),
					.arch = ws_arch_text(&arch, a),
					.ptx_isa = ptx ? ws_arena_printf(a, "%u.%u", image->major, image->minor) : NULL,
					.packing = image->packing};
			}
			struct ws_image_facts *last = &list.at[list.len - 1];
			last->count++;
			last->stored_bytes += image->stored_bytes;
			last->raw_bytes += image->raw_bytes;
		}
	}
	facts->images = list.at;
	facts->image_count = list.len;
}

/* ---- paths of the machine that made it ---- */

/* Ends a path in a text: what no path of a build has. */
static bool
is_path_byte(char c)
{
	return c > ' ' && c < 0x7f && !strchr("\"'<>|;:,()*", c);
}

static void
find_leaks(struct ws_str bytes, const char *start, text_list *list, struct ws_arena *a)
{
	size_t wanted = strlen(start);
	const char *end = bytes.s + bytes.n;
	for (const char *at = bytes.s; at && list->len < MOST_LEAKS;) {
		at = memmem(at, (size_t)(end - at), start, wanted);
		if (!at) {
			return;
		}
		size_t len = wanted;
		while (at + len < end && len < LONGEST_LEAK && is_path_byte(at[len])) {
			len++;
		}
		/* "/opt/home/x" is another folder, and "/home/" alone names no user. */
		if (len > wanted && (at == bytes.s || !is_path_byte(at[-1]))) {
			*ws_vec_push(list, a) = ws_arena_copy(a, at, len);
		}
		at += len;
	}
}

static void
read_leaks(const struct ws_elf *elf, struct ws_arena *a, struct ws_module_facts *facts)
{
	static const char *const sections[] = {".rodata", ".data", ".data.rel.ro", ".strtab", ".dynstr",
		".comment", ".debug_str", ".debug_line_str", ".debug_line"};
	static const char *const starts[] = {"/home/", "/root/", "/Users/", "/tmp/pip-", "/tmp/build",
		"/var/lib/jenkins/", "/__w/", "/github/", "/workspace/"};
	text_list list = {0};
	for (size_t s = 0; s < WS_LEN(sections); s++) {
		struct ws_str bytes = ws_elf_section(elf, sections[s]);
		for (size_t i = 0; bytes.n > 0 && i < WS_LEN(starts); i++) {
			find_leaks(bytes, starts[i], &list, a);
		}
	}
	list.len = ws_sort_once(list.at, list.len);
	facts->leaked = list.at;
	facts->leaked_count = list.len;
}

/* ---- the CPU that the code is for ----
 * Compilers write certain instructions into every function that needs a newer CPU. The code is not
 * disassembled: a sequence of three bytes counts only if it is much more frequent than chance. */

static size_t
count_in(struct ws_str code, const char *bytes, size_t len)
{
	size_t count = 0;
	const char *end = code.s + code.n;
	for (const char *at = code.s; (at = memmem(at, (size_t)(end - at), bytes, len)); at += len) {
		count++;
	}
	return count;
}

/* vzeroupper, and moves and sums of one number that is VEX coded: all of -mavx, or of
 * -march=native. */
static bool
is_avx(struct ws_str code)
{
	static const char words[][4] = {
		"\xc5\xf8\x77", "\xc5\xfa\x10", "\xc5\xfa\x58", "\xc5\xfb\x10", "\xc5\xfb\x58"};
	size_t count = 0;
	for (size_t i = 0; i < WS_LEN(words); i++) {
		count += count_in(code, words[i], 3);
	}
	return count >= 2 + (code.n >> 18); /* chance: 5 in 2^24 bytes */
}

/* Moves of 32 and 64 bytes that are EVEX coded, aligned or not. */
static bool
is_avx512(struct ws_str code)
{
	static const char kinds[] = "\x7c\x7d\x7e\x7f\xfc\xfd\xfe\xff",
					  opcodes[] = "\x10\x11\x28\x29\x6f\x7f";
	size_t count = 0;
	for (size_t i = 0; i + 5 <= code.n;) {
		const char *at = memmem(code.s + i, code.n - i - 3, "\x62\xf1", 2);
		if (!at) {
			break;
		}
		bool wide = at[3] == '\x28' || at[3] == '\x48';
		count += wide && memchr(kinds, at[2], 8) && memchr(opcodes, at[4], 6);
		i = (size_t)(at - code.s) + 1;
	}
	return count > code.n >> 26; /* chance: 96 in 2^40 bytes */
}

static const char *
needed_cpu(const struct ws_elf *elf)
{
	struct ws_str code = ws_elf_section(elf, ".text");
	if (elf->machine != EM_X86_64 || code.n < 8) {
		return NULL;
	}
	/* xgetbv: it asks whether the system keeps these registers, and has other code where not. */
	if (count_in(code, "\x0f\x01\xd0", 3) > 0) {
		return NULL;
	}
	return is_avx512(code) ? "AVX-512" : is_avx(code) ? "AVX" : NULL;
}

/* ---- one file ---- */

/* @own are names of libraries that the same wheel carries. */
static void
read_module(const struct ws_module *library, const char *const *own, size_t own_count,
	struct ws_arena *a, struct ws_module_facts *facts)
{
	struct ws_err err = {0};
	struct stat status = {0};
	char head[WS_MACHINE_BYTES];
	WS_AUTO_FD int fd = ws_fs_open_regular(library->file, 0, &status, NULL);
	ssize_t len = fd < 0 ? 0 : pread(fd, head, sizeof(head), 0);
	*facts = (struct ws_module_facts){.name = library->name,
		.size_bytes = fd < 0 ? 0 : (uint64_t)status.st_size,
		.machine = len > 0 ? ws_machine_of(head, (size_t)len, a) : NULL,
		.python_suffix = ws_module_python_of(library->name, a)};
	struct ws_elf *elf = ws_elf_open_as(library->file, library->name, true, a, &err);
	if (!elf) {
		facts->refused = ws_arena_strdup(a, err.text);
		return;
	}
	text_list needed = {0}, versions = {0};
	for (size_t i = 0; i < elf->needed_count; i++) {
		*ws_vec_push(&needed, a) = ws_arena_strdup(a, elf->needed[i]);
	}
	for (size_t i = 0; i < elf->version_count; i++) {
		const struct ws_elf_version *version = &elf->versions[i];
		if (version->library) {
			*ws_vec_push(&versions, a) =
				ws_arena_printf(a, "%s %s", version->library, version->name);
		}
	}
	facts->soname = ws_arena_strdup(a, elf->soname);
	facts->rpath = ws_arena_strdup(a, elf->rpath);
	facts->runpath = ws_arena_strdup(a, elf->runpath);
	facts->needed = needed.at;
	facts->needed_count = needed.len;
	facts->versions = versions.at;
	facts->version_count = ws_sort_once(versions.at, versions.len);
	ws_floor_add(&facts->floor, elf, own, own_count, a);
	facts->platform = facts->floor.machine ? ws_floor_tag(&facts->floor) : NULL;
	facts->cxx11abi = ws_cxx11abi_of_module(elf);
	facts->internals = ws_pybind11_internals(elf, a);
	read_names(elf, a, facts);
	read_gpu_code(elf, a, facts);
	facts->cpu = needed_cpu(elf);
	read_leaks(elf, a, facts);
	ws_elf_close(elf);
}

/* ---- since when there are its names ---- */

/* Reads an export list. Python's stable ABI (@number 0) adds its names to @names, each with its
 * first version, "3.9". A torch release sets @number at the names that it has. */
static bool
read_list(const char *path, struct ws_map *names, size_t number, const char **release,
	struct ws_arena *a, struct ws_err *err)
{
	static const char start[] = "python";
	WS_AUTO_EXPORTS struct ws_exports *list = ws_exports_open(path, NULL, a, err);
	struct ws_export line;
	*release = list ? ws_arena_strdup(a, list->release) : NULL;
	while (list && ws_exports_next(list, &line, err)) {
		if (line.kind == WS_EXPORT_END) {
			return true;
		}
		if (line.kind != WS_EXPORT_NAME && line.kind != WS_EXPORT_TLS) {
			continue;
		}
		size_t *seen = number && is_torch_shim(line.text) ? ws_map_get(names, line.text) : NULL;
		if (seen) {
			*seen = number;
		} else if (!number && ws_same(line.library, STABLE_ABI) && line.version
			&& ws_starts_with(line.version, start)) {
			ws_map_put(names, ws_arena_strdup(a, line.text),
				ws_arena_strdup(a, line.version + strlen(start)), a);
		}
	}
	return false;
}

static void
date_python(struct ws_module_facts *m, const struct ws_map *stable, struct ws_arena *a)
{
	text_list outside = {0};
	const char *since = "3.2"; /* PEP 384 */
	for (size_t i = 0; i < m->python_name_count; i++) {
		const char *version = ws_map_get(stable, m->python_names[i]);
		if (!version) {
			*ws_vec_push(&outside, a) = m->python_names[i];
		} else if (strverscmp(version, since) > 0) {
			since = version;
		}
	}
	if (m->python_name_count > 0 && outside.len == 0) {
		m->python = WS_PYTHON_STABLE;
		m->python_since = since;
	}
	m->python_outside = outside.at;
	m->python_outside_count = outside.len;
}

static bool
date_names(struct ws_module_facts *modules, size_t count, const struct ws_facts_order *lists,
	struct ws_arena *a, struct ws_err *err)
{
	struct ws_map stable = {0}, shims = {0}; /* name -> "3.9"; name -> number of a list */
	const char *release;
	size_t open = 0, pythons = 0;
	for (size_t i = 0; i < count; i++) {
		pythons += modules[i].python_name_count > 0;
		open += modules[i].torch == WS_TORCH_STABLE;
		for (size_t k = 0; k < modules[i].torch_name_count; k++) {
			ws_map_put(&shims, modules[i].torch_names[k], WS_NEW(a, size_t), a);
		}
	}
	for (size_t i = 0; pythons > 0 && i < lists->stable_count; i++) {
		if (!read_list(lists->stable[i], &stable, 0, &release, a, err)) {
			return false;
		}
	}
	for (size_t i = 0; stable.count > 0 && i < count; i++) {
		date_python(&modules[i], &stable, a);
	}
	for (size_t number = 1; open > 0 && number <= lists->torch_count; number++) {
		if (!read_list(lists->torch[number - 1], &shims, number, &release, a, err)) {
			return false;
		}
		for (size_t i = 0; i < count; i++) {
			struct ws_module_facts *m = &modules[i];
			bool has_all = m->torch == WS_TORCH_STABLE && !m->torch_since;
			for (size_t k = 0; k < m->torch_name_count && has_all; k++) {
				has_all = *(const size_t *)ws_map_get(&shims, m->torch_names[k]) == number;
			}
			if (has_all) {
				m->torch_since = release;
				open--;
			}
		}
	}
	return true;
}

bool
ws_module_facts_read(struct ws_wheel_facts *facts, const struct ws_facts_order *lists,
	struct ws_arena *a, struct ws_err *err)
{
	size_t count = facts->library_count;
	struct ws_module_facts *modules = WS_NEW_N(a, struct ws_module_facts, count);
	const char **own = WS_NEW_N(a, const char *, count);
	for (size_t i = 0; i < count; i++) {
		own[i] = ws_path_base(facts->libraries[i].name);
	}
	for (size_t i = 0; i < count; i++) {
		read_module(&facts->libraries[i], own, count, a, &modules[i]);
	}
	if (!date_names(modules, count, lists, a, err)) {
		return false;
	}
	facts->modules = modules;
	facts->module_count = count;
	if (facts->kind == WS_FACTS_LIBRARY) {
		facts->size_bytes = facts->read_bytes = modules[0].size_bytes;
	}
	ws_expected_tags_check(facts);
	return true;
}
