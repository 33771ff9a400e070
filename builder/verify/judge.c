/* judge.c - all checks of each module: symbols, loader, GPU code, floor. */
#include "verify/judge.h"

#include <inttypes.h>

/* ---- the loader and Python
 * The rules are glibc's dlopen (elf/dl-load.c, elf/dl-open.c) and CPython's
 * _PyImport_FindSharedFuncptr. ---- */

/* The static room that glibc keeps for the thread-local variables of all modules loaded later
 * (TLS_STATIC_SURPLUS of 2.17 to 2.41; rtld.optional_static_tls sets it since 2.32). */
#define STATIC_TLS_SURPLUS 1664

WS_PRINTF(4, 5)
static void
add_against(ws_finding_list *list, struct ws_arena *a, enum ws_finding_verdict verdict,
	const char *format, ...)
{
	va_list values;
	va_start(values, format);
	*ws_vec_push(list, a) = (struct ws_finding){
		.verdict = verdict, .cause = "loader", .text = ws_arena_vprintf(a, format, values)};
	va_end(values);
}

/* Does Python's dlsym, which has no version, find a function of that name? */
static bool
starts_with(const struct ws_elf *elf, const char *init)
{
	struct ws_elf_symbol symbol;
	for (size_t at = 0; ws_elf_next_symbol(elf, &at, &symbol);) {
		if (symbol.defined && !symbol.not_default && ws_same(symbol.name, init)) {
			bool data = symbol.type == WS_ELF_OBJECT || symbol.type == WS_ELF_TLS;
			return symbol.address != 0 && !data;
		}
	}
	return false;
}

/* A library that needs libc must ask for GLIBC_ABI_DT_RELR to have DT_RELR (glibc 2.36,
 * elf/dl-version.c). */
static bool
is_relr_unsaid(const struct ws_elf *elf)
{
	for (size_t i = 0; i < elf->version_count; i++) {
		const struct ws_elf_version *version = &elf->versions[i];
		if (version->library && ws_same(version->name, "GLIBC_ABI_DT_RELR")) {
			return false;
		}
	}
	return ws_is_among("libc.so.6", elf->needed, elf->needed_count);
}

static void
judge_loader(const struct ws_subject_module *module, const struct ws_load_place *place,
	struct ws_arena *a, ws_finding_list *list)
{
	const struct ws_elf *elf = module->elf;
	/* elf/dl-execstack.c; the tunable glibc.rtld.execstack allows it again. */
	const char *glibc = !elf->exec_stack ? NULL
		: place->glibc                   ? place->glibc
					   : ws_floor_glibc_of(place->libraries, place->library_count, a);
	if (elf->executable) {
		add_against(list, a, WS_VERDICT_FAILS,
			"%s is a program, not a shared library: nothing can load it", module->name);
	}
	if (elf->no_dlopen) {
		add_against(list, a, WS_VERDICT_FAILS,
			"%s says that it must not be loaded (linked with -z nodlopen)", module->name);
	}
	if (elf->relr && is_relr_unsaid(elf)) {
		add_against(list, a, WS_VERDICT_FAILS,
			"%s has packed relocations and does not ask for a glibc that reads them "
			"(GLIBC_ABI_DT_RELR)",
			module->name);
	}
	if (glibc && strverscmp(glibc, "2.41") >= 0) {
		add_against(list, a, WS_VERDICT_FAILS,
			"%s asks for an executable stack, which glibc gives to no library since 2.41 (linked "
			"from assembler without .note.GNU-stack)",
			module->name);
	}
	if (elf->static_tls && elf->tls_bytes > STATIC_TLS_SURPLUS) {
		add_against(list, a, WS_VERDICT_FAILS,
			"%s has %" PRIu64 " bytes of static thread-local variables; the loader has room for "
			"%d (compiled with -ftls-model=initial-exec)",
			module->name, elf->tls_bytes, STATIC_TLS_SURPLUS);
	}
	if (module->init && !starts_with(elf, module->init)) {
		add_against(list, a, WS_VERDICT_FAILS,
			"%s exports no function '%s', by which Python starts it", module->name, module->init);
	}
	if (module->promised && !starts_with(elf, module->promised)) {
		add_against(list, a, WS_VERDICT_UNKNOWN,
			"%s looks like an extension module but has no function '%s'; ctypes may load it",
			module->name, module->promised);
	}
}

/* ---- one module ---- */

/* GPU code that cannot be read is not a failure: the loader does not read it. */
static void
judge_gpu_code(struct ws_module_verdict *m, const struct ws_load_place *place, struct ws_arena *a,
	ws_finding_list *list)
{
	struct ws_err err = {0};
	struct ws_finding finding = {.verdict = WS_VERDICT_UNKNOWN, .cause = "gpu"};
	bool read = ws_gpu_code_read(m->module->elf, a, &m->gpu, &err);
	ws_elf_forget(m->module->elf); /* headers of images, everywhere in a section of a gigabyte */
	if (!read) {
		m->gpu = (struct ws_gpu_code){0};
		finding.text = ws_arena_strdup(a, err.text);
		*ws_vec_push(list, a) = finding;
		return;
	}
	ws_runs_on(&m->gpu, m->module->name, place, a, list);
	if (ws_gpu_code_driver(&m->gpu, m->module->name, place->driver, a, &finding)) {
		*ws_vec_push(list, a) = finding;
	}
}

/* Exempt libraries: @own, of the same wheel, and those that torch has loaded. */
static void
add_floor(struct ws_floor *floor, const struct ws_module_verdict *m, const char *const *own,
	size_t own_count, struct ws_arena *a)
{
	size_t count = own_count + m->symbols.loaded_count;
	const char **brought = WS_NEW_N(a, const char *, count);
	for (size_t i = 0; i < count; i++) {
		brought[i] = i < own_count ? own[i] : m->symbols.loaded[i - own_count];
	}
	ws_floor_add(floor, m->module->elf, brought, count, a);
}

static void
judge_module(struct ws_module_verdict *m, const struct ws_load_place *place, const char *const *own,
	size_t own_count, struct ws_arena *a)
{
	ws_finding_list list = {0};
	struct ws_floor floor = {0};
	struct ws_finding finding;
	unsigned machine = m->module->elf->machine;
	size_t count;
	if (place->machine && machine != place->machine->elf) { /* missing names would add nothing */
		const struct ws_machine *other = ws_machine_of_elf(machine);
		*ws_vec_push(&list, a) = (struct ws_finding){.verdict = WS_VERDICT_FAILS,
			.cause = "machine",
			.text = ws_arena_printf(a, "%s is for another machine (%s), not for %s",
				m->module->name, other ? other->name : "unknown", place->machine->name)};
	} else {
		judge_loader(m->module, place, a, &list);
		const struct ws_finding *symbols = ws_symbols_findings(&m->symbols, a, &count);
		for (size_t i = 0; i < count; i++) {
			*ws_vec_push(&list, a) = symbols[i];
		}
		add_floor(&floor, m, own, own_count, a);
		if (place->glibc && ws_floor_against(&floor, m->module->name, place->glibc, a, &finding)) {
			*ws_vec_push(&list, a) = finding;
		}
		judge_gpu_code(m, place, a, &list);
	}
	m->findings = list.at;
	m->finding_count = list.len;
	for (size_t i = 0; i < list.len; i++) {
		m->verdict = list.at[i].verdict > m->verdict ? list.at[i].verdict : m->verdict;
	}
}

bool
ws_judge(const struct ws_subject *subject, const struct ws_load_place *place, struct ws_arena *a,
	struct ws_verdict *verdict, struct ws_err *err)
{
	struct ws_module_verdict *modules = WS_NEW_N(a, struct ws_module_verdict, subject->count);
	struct ws_symbols *symbols = WS_NEW_N(a, struct ws_symbols, subject->count);
	size_t own_count = 2 * subject->count; /* by DT_SONAME, and by file name */
	const char **own = WS_NEW_N(a, const char *, own_count);
	*verdict = (struct ws_verdict){.modules = modules, .count = subject->count};
	for (size_t i = 0; i < subject->count; i++) {
		own[2 * i] = ws_elf_library_name(subject->modules[i].elf);
		const char *slash = strrchr(subject->modules[i].name, '/');
		own[2 * i + 1] = slash ? slash + 1 : subject->modules[i].name;
	}
	if (!ws_symbols_judge(subject, place, a, symbols, err)) {
		return false;
	}
	for (size_t i = 0; i < subject->count; i++) {
		ws_elf_forget(subject->modules[i].elf); /* its names were read; GPU code is next */
	}
	for (size_t i = 0; i < subject->count; i++) {
		struct ws_module_verdict *m = &modules[i];
		*m = (struct ws_module_verdict){.module = &subject->modules[i], .symbols = symbols[i]};
		judge_module(m, place, own, own_count, a);
		add_floor(&verdict->floor, m, own, own_count, a);
		if (m->module->required && m->verdict > verdict->verdict) {
			verdict->verdict = m->verdict;
		}
		enum ws_cxx11abi abi = m->symbols.module_abi, *all = &verdict->cxx11abi;
		*all = *all == WS_CXX11ABI_SILENT              ? abi
			: abi == WS_CXX11ABI_SILENT || abi == *all ? *all
													   : WS_CXX11ABI_MIXED;
	}
	return true;
}
