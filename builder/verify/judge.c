/* judge.c - asks each question of each module and gathers the answers. */
#include "verify/judge.h"

#include "verify/loadable.h"
#include "verify/runs_on.h"

#include <string.h>

/* Adds findings to those of a module. */
static void
add(struct ws_module_verdict *m, const struct ws_finding *findings, size_t count,
	struct ws_arena *a)
{
	struct ws_finding *all = WS_NEW_N(a, struct ws_finding, m->finding_count + count);
	for (size_t i = 0; i < m->finding_count + count; i++) {
		all[i] = i < m->finding_count ? m->findings[i] : findings[i - m->finding_count];
		m->verdict = all[i].verdict > m->verdict ? all[i].verdict : m->verdict;
	}
	m->findings = all;
	m->finding_count += count;
}

/* The measured GPU code; one that cannot be read is not refused: the loader does not read it. */
static void
judge_gpu(struct ws_module_verdict *m, const struct ws_load_place *place, struct ws_arena *a)
{
	struct ws_err err = {0};
	struct ws_finding finding = {.verdict = WS_VERDICT_UNKNOWN, .cause = "gpu"};
	size_t count;
	bool read = ws_gpu_code_read(m->module->elf, a, &m->gpu, &err);
	ws_elf_forget(m->module->elf); /* headers of images, everywhere in a section of a gigabyte */
	if (!read) {
		m->gpu = (struct ws_gpu_code){0};
		finding.text = ws_arena_strdup(a, err.text);
		add(m, &finding, 1, a);
		return;
	}
	const struct ws_finding *gpus = ws_runs_on(&m->gpu, m->module->name, place, a, &count);
	add(m, gpus, count, a);
	if (ws_gpu_code_driver(&m->gpu, m->module->name, place->driver, a, &finding)) {
		add(m, &finding, 1, a);
	}
}

static bool
refuses_machine(const struct ws_subject_module *module, const struct ws_machine *machine,
	struct ws_arena *a, struct ws_finding *finding)
{
	unsigned is = module->elf->machine;
	if (!machine || is == machine->elf) {
		return false;
	}
	const struct ws_machine *other = ws_machine_of_elf(is);
	*finding = (struct ws_finding){.verdict = WS_VERDICT_FAILS,
		.cause = "machine",
		.text = ws_arena_printf(a, "%s is for another machine (%s), not for %s", module->name,
			other ? other->name : "unknown", machine->name)};
	return true;
}

static void
merge_abi(enum ws_cxx11abi *all, enum ws_cxx11abi one)
{
	if (*all == WS_CXX11ABI_SILENT) {
		*all = one;
	} else if (one != WS_CXX11ABI_SILENT && one != *all) {
		*all = WS_CXX11ABI_MIXED;
	}
}

/* Exempt is what no system has to bring: @own, of the same wheel, and what torch has loaded. */
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
	size_t count;
	struct ws_floor floor = {0};
	struct ws_finding finding;
	if (refuses_machine(m->module, place->machine, a, &finding)) {
		add(m, &finding, 1, a);
		return; /* what else it lacks there says nothing more */
	}
	const struct ws_finding *findings = ws_loadable_findings(m->module, place, a, &count);
	add(m, findings, count, a);
	findings = ws_symbols_findings(&m->symbols, a, &count);
	add(m, findings, count, a);
	add_floor(&floor, m, own, own_count, a);
	if (place->glibc && ws_floor_against(&floor, m->module->name, place->glibc, a, &finding)) {
		add(m, &finding, 1, a);
	}
	judge_gpu(m, place, a);
}

bool
ws_judge(const struct ws_subject *subject, const struct ws_load_place *place, struct ws_arena *a,
	struct ws_verdict *verdict, struct ws_err *err)
{
	struct ws_module_verdict *modules = WS_NEW_N(a, struct ws_module_verdict, subject->count);
	struct ws_symbols *symbols = WS_NEW_N(a, struct ws_symbols, subject->count);
	size_t own_count = 2 * subject->count; /* by DT_SONAME, and as files are called */
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
		ws_elf_forget(subject->modules[i].elf); /* its names were read; GPU code comes next */
	}
	for (size_t i = 0; i < subject->count; i++) {
		struct ws_module_verdict *m = &modules[i];
		*m = (struct ws_module_verdict){.module = &subject->modules[i], .symbols = symbols[i]};
		judge_module(m, place, own, own_count, a);
		add_floor(&verdict->floor, m, own, own_count, a);
		if (m->module->required && m->verdict > verdict->verdict) {
			verdict->verdict = m->verdict;
		}
		merge_abi(&verdict->cxx11abi, m->symbols.module_abi);
	}
	return true;
}
