/* judge.c - asks each question of each module and gathers the answers. */
#include "verify/judge.h"

#include "base/vec.h"
#include "verify/loadable.h"

const char *
ws_finding_word(enum ws_finding_verdict verdict)
{
	static const char *const words[] = {
		[WS_VERDICT_OK] = "ok", [WS_VERDICT_UNKNOWN] = "unknown", [WS_VERDICT_FAILS] = "fails"};
	return words[verdict];
}

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

static bool
judge_module(struct ws_module_verdict *m, const struct ws_surroundings *around, struct ws_arena *a,
	struct ws_err *err)
{
	size_t count;
	struct ws_finding driver;
	const struct ws_finding *findings = ws_loadable_findings(m->module, a, &count);
	add(m, findings, count, a);
	findings = ws_symbols_findings(&m->symbols, a, &count);
	add(m, findings, count, a);
	if (!ws_gpu_code_read(m->module->elf, a, &m->gpu, err)) {
		return false;
	}
	if (ws_gpu_code_driver(&m->gpu, m->module->name, around->driver, a, &driver)) {
		add(m, &driver, 1, a);
	}
	return true;
}

bool
ws_judge(const struct ws_subject *subject, const struct ws_surroundings *place, struct ws_arena *a,
	struct ws_verdict *verdict, struct ws_err *err)
{
	struct ws_module_verdict *modules = WS_NEW_N(a, struct ws_module_verdict, subject->count);
	struct ws_symbols *symbols = WS_NEW_N(a, struct ws_symbols, subject->count);
	*verdict = (struct ws_verdict){.modules = modules, .count = subject->count};
	if (!ws_symbols_judge(subject, place, a, symbols, err)) {
		return false;
	}
	for (size_t i = 0; i < subject->count; i++) {
		struct ws_module_verdict *m = &modules[i];
		*m = (struct ws_module_verdict){.module = &subject->modules[i], .symbols = symbols[i]};
		if (!judge_module(m, place, a, err)) {
			return false;
		}
		ws_floor_add(&verdict->floor, m->module->elf, NULL, 0, a);
		if (m->module->required && m->verdict > verdict->verdict) {
			verdict->verdict = m->verdict;
		}
		enum ws_cxx11abi abi = m->symbols.module_abi;
		verdict->cxx11abi = abi != WS_CXX11ABI_SILENT ? abi : verdict->cxx11abi;
	}
	return true;
}
