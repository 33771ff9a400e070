/* judge.c - all checks of each module: symbols, loader, GPU code, floor. */
#include "verify/judge.h"

#include <inttypes.h>

/* Adds findings to those of a module. */
static void
add_findings(struct ws_module_verdict *m, const struct ws_finding *findings, size_t count,
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

/* GPU code that cannot be read is not a failure: the loader does not read it. */
static void
judge_gpu_code(struct ws_module_verdict *m, const struct ws_load_place *place, struct ws_arena *a)
{
	struct ws_err err = {0};
	struct ws_finding finding = {.verdict = WS_VERDICT_UNKNOWN, .cause = "gpu"};
	size_t count;
	bool read = ws_gpu_code_read(m->module->elf, a, &m->gpu, &err);
	ws_elf_forget(m->module->elf); /* headers of images, everywhere in a section of a gigabyte */
	if (!read) {
		m->gpu = (struct ws_gpu_code){0};
		finding.text = ws_arena_strdup(a, err.text);
		add_findings(m, &finding, 1, a);
		return;
	}
	const struct ws_finding *gpus = ws_runs_on(&m->gpu, m->module->name, place, a, &count);
	add_findings(m, gpus, count, a);
	if (ws_gpu_code_driver(&m->gpu, m->module->name, place->driver, a, &finding)) {
		add_findings(m, &finding, 1, a);
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
	size_t count;
	struct ws_floor floor = {0};
	struct ws_finding finding;
	if (refuses_machine(m->module, place->machine, a, &finding)) {
		add_findings(m, &finding, 1, a);
		return; /* further missing names add nothing */
	}
	const struct ws_finding *findings = ws_loadable_findings(m->module, place, a, &count);
	add_findings(m, findings, count, a);
	findings = ws_symbols_findings(&m->symbols, a, &count);
	add_findings(m, findings, count, a);
	add_floor(&floor, m, own, own_count, a);
	if (place->glibc && ws_floor_against(&floor, m->module->name, place->glibc, a, &finding)) {
		add_findings(m, &finding, 1, a);
	}
	judge_gpu_code(m, place, a);
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
		merge_abi(&verdict->cxx11abi, m->symbols.module_abi);
	}
	return true;
}

/* ---- the loader and Python
 * The rules are glibc's dlopen (elf/dl-load.c, elf/dl-open.c) and CPython's
 * _PyImport_FindSharedFuncptr. ---- */

/* The static room that glibc keeps for the thread-local variables of all modules loaded later
 * (TLS_STATIC_SURPLUS of 2.17 to 2.41; rtld.optional_static_tls sets it since 2.32). */
#define STATIC_TLS_SURPLUS 1664

typedef WS_VEC(struct ws_finding) finding_list;

WS_PRINTF(4, 5)
static void
add_against(finding_list *list, struct ws_arena *a, enum ws_finding_verdict verdict,
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

/* elf/dl-execstack.c; the tunable glibc.rtld.execstack allows it again. */
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
		add_against(&list, a, WS_VERDICT_FAILS,
			"%s is a program, not a shared library: nothing can load it", module->name);
	}
	if (elf->no_dlopen) {
		add_against(&list, a, WS_VERDICT_FAILS,
			"%s says that it must not be loaded (linked with -z nodlopen)", module->name);
	}
	if (elf->relr && is_relr_unsaid(elf)) {
		add_against(&list, a, WS_VERDICT_FAILS,
			"%s has packed relocations and does not ask for a glibc that reads them "
			"(GLIBC_ABI_DT_RELR)",
			module->name);
	}
	if (elf->exec_stack && refuses_exec_stack(place, a)) {
		add_against(&list, a, WS_VERDICT_FAILS,
			"%s asks for an executable stack, which glibc gives to no library since 2.41 (linked "
			"from assembler without .note.GNU-stack)",
			module->name);
	}
	if (elf->static_tls && elf->tls_bytes > STATIC_TLS_SURPLUS) {
		add_against(&list, a, WS_VERDICT_FAILS,
			"%s has %" PRIu64 " bytes of static thread-local variables; the loader has room for "
			"%d (compiled with -ftls-model=initial-exec)",
			module->name, elf->tls_bytes, STATIC_TLS_SURPLUS);
	}
	if (module->init && !starts_with(elf, module->init)) {
		add_against(&list, a, WS_VERDICT_FAILS,
			"%s exports no function '%s', by which Python starts it", module->name, module->init);
	}
	if (module->promised && !starts_with(elf, module->promised)) {
		add_against(&list, a, WS_VERDICT_UNKNOWN,
			"%s looks like an extension module but has no function '%s'; ctypes may load it",
			module->name, module->promised);
	}
	*count = list.len;
	return list.at;
}

/* ---- each image against each GPU, unit by unit ---- */

/* How one unit, or one image, serves a GPU; the better the larger. */
enum runs { RUNS_NOT, RUNS_BY_TOO_NEW_PTX, RUNS_BY_PTX, RUNS_BY_CODE };

/* The sum over all images for one GPU. */
struct service {
	size_t by_code, by_ptx, too_new; /* units */
	size_t with_ptx;                 /* units that have PTX for later GPUs */
	const char *ptx;                 /* the newest version that is needed, "8.4" */
};

static bool
is_of_family(const struct ws_load_place *place, const struct ws_fatbin_image *image, unsigned gpu)
{
	struct ws_arch family = {.number = image->sm, .suffix = 'f'};
	WS_AUTO_ARENA struct ws_arena *scratch = ws_arena_make();
	const char *name = ws_arch_text(&family, scratch);
	for (size_t i = 0; i < place->family_count; i++) {
		const struct ws_arch_alias *known = &place->families[i];
		for (size_t k = 0; ws_same(known->name, name) && k < known->archs.count; k++) {
			if (known->archs.at[k].number == gpu) {
				return true;
			}
		}
	}
	return image->sm == gpu;
}

/* Is the code for this GPU, or for an older one that this GPU includes? */
static bool
is_for(const struct ws_load_place *place, const struct ws_fatbin_image *image, unsigned gpu)
{
	if (image->suffix == 'f') {
		return is_of_family(place, image, gpu);
	}
	bool code = image->kind == WS_FATBIN_CUBIN;
	return image->suffix == 'a' ? image->sm == gpu
		: code                  ? image->sm / 10 == gpu / 10 && image->sm <= gpu
								: image->sm <= gpu;
}

static const char *
ptx_version(const struct ws_fatbin_image *image, struct ws_arena *a)
{
	return ws_arena_printf(a, "%u.%u", image->major, image->minor);
}

static enum runs
runs_of(const struct ws_load_place *place, const struct ws_fatbin_image *image, unsigned gpu,
	struct ws_arena *a)
{
	bool ptx = image->kind == WS_FATBIN_PTX;
	if ((!ptx && image->kind != WS_FATBIN_CUBIN) || !is_for(place, image, gpu)) {
		return RUNS_NOT;
	}
	bool read = !place->ptx || strverscmp(ptx_version(image, a), place->ptx) <= 0;
	return !ptx ? RUNS_BY_CODE : read ? RUNS_BY_PTX : RUNS_BY_TOO_NEW_PTX;
}

static void
count_unit(struct service *s, enum runs best, bool has_ptx, const char *ptx)
{
	s->by_code += best == RUNS_BY_CODE;
	s->by_ptx += best == RUNS_BY_PTX;
	s->too_new += best == RUNS_BY_TOO_NEW_PTX;
	s->with_ptx += has_ptx;
	bool newer = ptx && best != RUNS_BY_CODE && (!s->ptx || strverscmp(ptx, s->ptx) > 0);
	s->ptx = newer ? ptx : s->ptx;
}

/* Images come unit by unit. */
static struct service
serve(const struct ws_gpu_code *code, const struct ws_load_place *place, const struct ws_arch *gpu,
	struct ws_arena *a)
{
	struct service s = {0};
	for (size_t i = 0, next; i < code->image_count; i = next) {
		enum runs best = RUNS_NOT;
		bool has_ptx = false;
		const char *ptx = NULL;
		for (next = i;
			 next < code->image_count && code->images[next].container == code->images[i].container;
			 next++) {
			const struct ws_fatbin_image *image = &code->images[next];
			enum runs runs = runs_of(place, image, gpu->number, a);
			bool is_ptx = image->kind == WS_FATBIN_PTX;
			has_ptx = has_ptx || (is_ptx && !image->suffix && image->sm <= gpu->number);
			ptx = is_ptx && runs != RUNS_NOT ? ptx_version(image, a) : ptx;
			best = runs > best ? runs : best;
		}
		count_unit(&s, best, has_ptx, ptx);
	}
	return s;
}

static const char *
all_archs(const struct ws_gpu_code *code, struct ws_arena *a)
{
	return code->archs.count && code->ptx_only.count ? ws_arena_printf(a, "%s, and PTX for %s",
			   ws_arch_set_text(&code->archs, a), ws_arch_set_text(&code->ptx_only, a))
		: code->archs.count
		? ws_arch_set_text(&code->archs, a)
		: ws_arena_printf(a, "PTX for %s", ws_arch_set_text(&code->ptx_only, a));
}

static struct ws_finding
judge_gpu(const struct ws_gpu_code *code, const char *name, const struct ws_load_place *place,
	const struct ws_arch *gpu, struct ws_arena *a)
{
	struct service s = serve(code, place, gpu, a);
	size_t units = code->container_count, served = s.by_code + s.by_ptx;
	const char *on = ws_arch_text(&(struct ws_arch){.number = gpu->number}, a);
	struct ws_finding f = {.verdict = WS_VERDICT_FAILS, .cause = "gpu"};
	if (served == 0 && s.too_new > 0) {
		f.text = ws_arena_printf(a, "%s has PTX %s for %s; the driver here reads PTX %s at most",
			name, s.ptx, on, place->ptx);
	} else if (served == 0) {
		f.text = ws_arena_printf(
			a, "%s has no code that runs on %s, only for %s", name, on, all_archs(code, a));
	} else if (gpu->ptx && s.with_ptx == 0) {
		f.text = ws_arena_printf(a, "%s has no PTX for GPUs later than %s", name, on);
	} else {
		f.verdict = WS_VERDICT_OK;
		const char *part =
			served < units ? ws_arena_printf(a, ", in %zu of %zu units", served, units) : "";
		f.text = s.by_ptx > 0
			? ws_arena_printf(
				a, "%s runs on %s, compiled from PTX %s when it is loaded%s", name, on, s.ptx, part)
			: ws_arena_printf(a, "%s has code that runs on %s%s", name, on, part);
	}
	return f;
}

const struct ws_finding *
ws_runs_on(const struct ws_gpu_code *code, const char *name, const struct ws_load_place *place,
	struct ws_arena *a, size_t *count)
{
	size_t gpus = code->image_count > 0 ? place->archs.count : 0;
	struct ws_finding *findings = WS_NEW_N(a, struct ws_finding, gpus);
	for (size_t i = 0; i < gpus; i++) {
		findings[i] = judge_gpu(code, name, place, &place->archs.at[i], a);
	}
	*count = gpus;
	return findings;
}
