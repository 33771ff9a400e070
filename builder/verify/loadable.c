/* loadable.c - flags of the dynamic section, room for thread-local variables, one symbol. The rules
 * are glibc's dlopen (elf/dl-load.c, elf/dl-open.c) and CPython's _PyImport_FindSharedFuncptr. */
#include "verify/loadable.h"

#include "base/arena.h"
#include "verify/manylinux_tag.h"

#include <inttypes.h>
#include <string.h>

/* What glibc keeps for modules that are loaded later and want static room, all of them together
 * (TLS_STATIC_SURPLUS of 2.17 to 2.41; since 2.32 it can be set with rtld.optional_static_tls). */
#define STATIC_TLS_SURPLUS 1664

typedef WS_VEC(struct ws_finding) finding_list;

WS_PRINTF(4, 5)
static void
add(finding_list *list, struct ws_arena *a, enum ws_finding_verdict verdict, const char *format,
	...)
{
	va_list values;
	va_start(values, format);
	*ws_vec_push(list, a) = (struct ws_finding){
		.verdict = verdict, .cause = "loader", .text = ws_arena_vprintf(a, format, values)};
	va_end(values);
}

/* Is there a function of that name that Python's dlsym finds? It asks for no version. */
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

/* What needs libc must ask it for the version that stands for DT_RELR (glibc 2.36,
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

/* elf/dl-execstack.c; the tunable glibc.rtld.execstack gives it back. */
static bool
refuses_exec_stack(const struct ws_load_place *place, struct ws_arena *a)
{
	const char *glibc =
		place->glibc ? place->glibc : ws_floor_glibc_of(place->libraries, place->library_count, a);
	return glibc && strverscmp(glibc, "2.41") >= 0;
}

const struct ws_finding *
ws_loadable_findings(const struct ws_subject_module *module, const struct ws_load_place *place,
	struct ws_arena *a, size_t *count)
{
	finding_list list = {0};
	const struct ws_elf *elf = module->elf;
	if (elf->executable) {
		add(&list, a, WS_VERDICT_FAILS,
			"%s is a program, not a shared library: nothing can load it", module->name);
	}
	if (elf->no_dlopen) {
		add(&list, a, WS_VERDICT_FAILS,
			"%s says that it must not be loaded (linked with -z nodlopen)", module->name);
	}
	if (elf->relr && is_relr_unsaid(elf)) {
		add(&list, a, WS_VERDICT_FAILS,
			"%s has packed relocations and does not ask for a glibc that reads them "
			"(GLIBC_ABI_DT_RELR)",
			module->name);
	}
	if (elf->exec_stack && refuses_exec_stack(place, a)) {
		add(&list, a, WS_VERDICT_FAILS,
			"%s asks for an executable stack, which glibc gives to no library since 2.41 (linked "
			"from assembler without .note.GNU-stack)",
			module->name);
	}
	if (elf->static_tls && elf->tls_bytes > STATIC_TLS_SURPLUS) {
		add(&list, a, WS_VERDICT_FAILS,
			"%s has %" PRIu64 " bytes of static thread-local variables; the loader has room for "
			"%d (compiled with -ftls-model=initial-exec)",
			module->name, elf->tls_bytes, STATIC_TLS_SURPLUS);
	}
	if (module->init && !starts_with(elf, module->init)) {
		add(&list, a, WS_VERDICT_FAILS, "%s exports no function '%s', by which Python starts it",
			module->name, module->init);
	}
	if (module->promised && !starts_with(elf, module->promised)) {
		add(&list, a, WS_VERDICT_UNKNOWN,
			"%s is named as what Python imports and exports no function '%s': who else loads it is "
			"not known",
			module->name, module->promised);
	}
	*count = list.len;
	return list.at;
}
