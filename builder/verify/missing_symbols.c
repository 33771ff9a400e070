/* missing_symbols.c - each module looks for its names along its own libraries. The messages are
 * made in missing_symbols_text.c. */
#include "verify/missing_symbols.h"

#include "elf/demangle.h"
#include "verify/libraries.h"
#include "verify/manylinux_tag.h"
#include "verify/other_abi.h"
#include "verify/scope.h"

#define MOST_COMPARED 64 /* enough to know the reason; each is compared with every export */

/* A name that one module leaves undefined. */
struct want {
	const char *name;
	const struct ws_elf_version *version; /* NULL: none asked for */
	bool tls;
};

/* One module that is judged. */
struct judging {
	struct ws_scope *s;
	struct ws_arena *a;
	const struct ws_subject_module *module;
	const struct ws_subject_module *wanting; /* it, or one that it loads: whose names are judged */
	const struct judging *all;               /* of the subject's modules, this one among them */
	struct ws_symbols *result;
	bool *visible; /* of each library: the module's symbols are looked for in it */
	bool outside;  /* a library is absent that is neither torch's nor of the wheel */
	WS_VEC(struct want) wants;
	WS_VEC(struct ws_missing) missing;
	WS_VEC(const char *) unread;
};

static int
by_name(const void *x, const void *y)
{
	return strcmp(((const struct want *)x)->name, ((const struct want *)y)->name);
}

static void
gather_wants(struct judging *j)
{
	struct ws_elf_symbol symbol;
	for (size_t at = 0; ws_elf_next_symbol(j->module->elf, &at, &symbol);) {
		if (!symbol.defined && symbol.asked && symbol.binding != WS_ELF_WEAK) {
			*ws_vec_push(&j->wants, j->a) = (struct want){
				.name = symbol.name,
				.version = symbol.version,
				.tls = symbol.type == WS_ELF_TLS,
			};
			ws_scope_want(j->s, symbol.name);
		}
	}
	if (j->wants.len > 0) {
		qsort(j->wants.at, j->wants.len, sizeof(j->wants.at[0]), by_name);
	}
	j->result->wanted_count = j->wants.len;
}

/* ---- which libraries there are ---- */

/* True if the library will exist: it was read, `import torch` loads it, every driver has it, or
 * every system has it and this host was not searched. */
static bool
is_dependency(const struct ws_scope *s, const struct ws_scope_library *library)
{
	static const char python[] = "cp3";
	const char *tag = s->place->python;
	if (ws_scope_is_read(library) || library->loaded || ws_library_is_drivers(library->name)
		|| (ws_floor_is_system_library(library->name) && !s->place->complete)) {
		return true;
	}
	/* Where the interpreter could not be read, a libpython of its version may be there. */
	return tag && s->place->global_count == 0 && ws_starts_with(tag, python)
		&& ws_same(
			library->name, ws_arena_printf(s->a, "libpython3.%s.so.1.0", tag + strlen(python)));
}

/* True if torch's wheel, or one that it requires, has the library and nothing loads it. */
static bool
is_aside(const struct ws_scope *s, const char *name)
{
	for (size_t i = 0; i < s->libraries.len; i++) {
		const struct ws_scope_library *known = &s->libraries.at[i];
		if (known->aside && known->listed && ws_same(known->name, name)) {
			return true;
		}
	}
	return false;
}

/* torch's version of the same CUDA library: "libcudart.so.12" for "libcudart.so.13"; or NULL. */
static const char *
dependency_instead(const struct ws_scope *s, const char *name)
{
	const char *end = ws_library_is_cuda(name) ? strstr(name, ".so") : NULL;
	const char *stem = end ? ws_arena_copy(s->a, name, (size_t)(end - name)) : NULL;
	for (size_t i = 0; stem && i < s->libraries.len; i++) {
		const struct ws_scope_library *known = &s->libraries.at[i];
		if ((known->loaded || known->listed) && ws_library_is_of(known->name, stem)) {
			return known->name;
		}
	}
	return NULL;
}

/* ---- what one module sees ---- */

/* The first library, visible and not read, whose name starts so; NULL: there is none. */
static const char *
find_unread(const struct judging *j, const char *start)
{
	for (size_t i = 0; i < j->s->libraries.len; i++) {
		const struct ws_scope_library *library = &j->s->libraries.at[i];
		if (j->visible[i] && !ws_scope_is_read(library)
			&& !ws_same(library->name, WS_SCOPE_STABLE_ABI)
			&& ws_starts_with(library->name, start)) {
			return library->name;
		}
	}
	return NULL;
}

/* The first library that the module itself names, a system's, which was not read; NULL: none. */
static const char *
unread_system(const struct judging *j)
{
	const struct ws_elf *elf = j->wanting->elf;
	for (size_t i = 0; i < j->s->libraries.len; i++) {
		const struct ws_scope_library *library = &j->s->libraries.at[i];
		if (j->visible[i] && !ws_scope_is_read(library) && ws_floor_is_system_library(library->name)
			&& ws_is_among(library->name, elf->needed, elf->needed_count)) {
			return library->name;
		}
	}
	return NULL;
}

/* The visible library of that stem, one that was read first; NULL: there is none. */
static const struct ws_scope_library *
visible_of(const struct judging *j, const char *stem)
{
	const struct ws_scope_library *found = NULL;
	for (size_t i = 0; i < j->s->libraries.len; i++) {
		const struct ws_scope_library *library = &j->s->libraries.at[i];
		if (j->visible[i] && ws_library_is_of(library->name, stem)
			&& !(found && ws_scope_is_read(found))) {
			found = library;
		}
	}
	return found;
}

/* ---- why a name is missing ---- */

static void
miss(struct judging *j, const struct want *want, enum ws_missing_reason reason, const char *library)
{
	bool unknown = reason == WS_MISSING_SIBLING || reason == WS_MISSING_UNREAD;
	const char *text = ws_demangle_short(want->name, j->a);
	bool version = reason == WS_MISSING_VERSION && want->version;
	*ws_vec_push(&j->missing, j->a) = (struct ws_missing){
		.name = want->name,
		.text = version ? ws_arena_printf(j->a, "%s@%s", text, want->version->name) : text,
		.library = library,
		.by = j->wanting == j->module ? NULL : j->wanting->name,
		.reason = reason,
		.verdict = unknown ? WS_VERDICT_UNKNOWN : WS_VERDICT_FAILS,
	};
}

/* Assumed to be in @library, which torch brings and which was not read. */
static void
assume(struct judging *j, const char *library)
{
	j->result->assumed_count++;
	if (!ws_is_among(library, j->unread.at, j->unread.len)) {
		*ws_vec_push(&j->unread, j->a) = library;
	}
}

static void
explain_family(struct judging *j, const struct want *want, const struct ws_library_family *family)
{
	/* An unread library excuses names of its own families and no others. */
	for (const struct ws_library_family *f = family; f; f = ws_library_family_next(f)) {
		const struct ws_scope_library *library = visible_of(j, f->stem);
		if (library && !ws_scope_is_read(library)) {
			assume(j, library->name);
			return;
		}
	}
	const struct ws_scope_library *library = visible_of(j, family->stem);
	if (library) {
		miss(j, want, WS_MISSING_CUDA, library->name);
	} else {
		miss(j, want, ws_same(family->stem, "libcuda") ? WS_MISSING_DRIVER : WS_MISSING_CUDA,
			family->stem);
	}
}

/* No library exports the name: find its owner by its prefix. */
static void
explain(struct judging *j, const struct want *want)
{
	const char *unread;
	if (ws_starts_with(want->name, "Py") || ws_starts_with(want->name, "_Py")) {
		unread = find_unread(j, "libpython");
		bool known = j->s->place->global_count > 0 || j->s->python_listed;
		if (j->s->place->stable_python || (known && !unread)) {
			miss(j, want, WS_MISSING_PYTHON, NULL);
		} else {
			assume(j, unread ? unread : "Python");
		}
		return;
	}
	if (ws_is_torch_name(want->name) || ws_starts_with(want->name, "THP")
		|| ws_starts_with(want->name, "aoti_torch_")) {
		if (j->s->release) {
			miss(j, want, WS_MISSING_TORCH, NULL);
			return;
		}
		/* No list has torch's names: perhaps one of its libraries that was not read. */
		unread = find_unread(j, "libtorch");
		unread = unread ? unread : find_unread(j, "libc10");
		if (unread) {
			assume(j, unread);
			return;
		}
	}
	const char *newer = ws_scope_newer(j->s, want->name);
	if (newer) {
		miss(j, want, WS_MISSING_FLOOR, newer);
		return;
	}
	const struct ws_library_family *family = ws_library_family_of(want->name);
	const char *system = unread_system(j);
	if (family) {
		explain_family(j, want, family);
	} else if (system || !j->outside) { /* else it is said once, of the library */
		miss(j, want, system ? WS_MISSING_UNREAD : WS_MISSING_OTHER, system);
	}
}

/* ---- judging ---- */

/* Does the offer serve a want, as the loader sees it? */
static bool
fits(const struct judging *j, const struct ws_scope_offer *offer, const struct want *want)
{
	if (!want->version) {
		return !offer->hidden;
	}
	/* Where the library that is asked for has no versions at all, ld.so ends the process. */
	const struct ws_scope_library *library = &j->s->libraries.at[offer->library];
	return library->versioned ? ws_same(offer->version, want->version->name)
							  : !ws_same(library->name, want->version->library);
}

static size_t
library_of_version(const struct judging *j, const struct want *want)
{
	size_t found = j->s->libraries.len;
	for (size_t i = 0; want->version && i < j->s->libraries.len; i++) {
		bool first = found == j->s->libraries.len || (j->visible[i] && !j->visible[found]);
		found = first && ws_same(j->s->libraries.at[i].name, want->version->library) ? i : found;
	}
	return found;
}

/* This host's libraries replace those of a system with another glibc, if no list has them; their
 * versions are judged by manylinux_tag.h. */
static bool
is_of_another_system(const struct judging *j, const struct ws_scope_library *library)
{
	return j->s->place->glibc && !library->listed && ws_floor_is_system_library(library->name);
}

/* Judges a want of a version by the library that it names; false when that decides nothing. */
static bool
judge_version_of(struct judging *j, const struct want *want, bool offered)
{
	size_t number = library_of_version(j, want);
	if (!want->version || !want->version->library) {
		return false;
	}
	const char *name = want->version->library;
	const struct ws_scope_library *library =
		number < j->s->libraries.len ? &j->s->libraries.at[number] : NULL;
	if (!library || !j->visible[number]) {
		miss(j, want, WS_MISSING_NOT_NEEDED, name);
	} else if (ws_scope_is_read(library)) {
		if (library->versioned && !want->version->weak
			&& !ws_is_among(want->version->name, library->versions.at, library->versions.len)) {
			if (is_of_another_system(j, library)) {
				assume(j, name);
			}
			return true; /* said once, of the version */
		}
		if (!offered) {
			return false;
		}
		miss(j, want, WS_MISSING_VERSION, name);
	} else if (library->loaded) {
		assume(j, name);
	} else if (!is_dependency(j->s, library)) {
		return true; /* said once, of the library */
	} else {
		miss(j, want, WS_MISSING_UNREAD, name);
	}
	return true;
}

static void
judge_want(struct judging *j, const struct want *want)
{
	const struct ws_scope_offer *tls = NULL, *other = NULL, *out_of_sight = NULL;
	for (const struct ws_scope_offer *o = ws_scope_offers(j->s, want->name); o; o = o->next) {
		bool visible = j->visible[o->library];
		if (visible && o->tls == want->tls && fits(j, o, want)) {
			return;
		}
		tls = visible && o->tls != want->tls ? o : tls;
		other = visible && o->tls == want->tls ? o : other;
		bool mine = j->s->libraries.at[o->library].elf == j->wanting->elf;
		bool better = !out_of_sight || j->s->libraries.at[out_of_sight->library].sibling;
		out_of_sight = visible || mine || !better ? out_of_sight : o;
	}
	if (judge_version_of(j, want, other != NULL)) {
		return;
	}
	if (tls || other) {
		const char *library = j->s->libraries.at[(tls ? tls : other)->library].name;
		miss(j, want, tls ? WS_MISSING_TLS : WS_MISSING_VERSION, library);
	} else if (out_of_sight) {
		const struct ws_scope_library *library = &j->s->libraries.at[out_of_sight->library];
		miss(j, want,
			library->sibling                             ? WS_MISSING_SIBLING
				: ws_same(library->name, "libcuda.so.1") ? WS_MISSING_DRIVER
														 : WS_MISSING_NOT_NEEDED,
			library->name);
	} else {
		explain(j, want);
	}
}

/* A library that was read must define each version that is asked of it. */
static void
judge_versions(struct judging *j)
{
	const struct ws_elf *elf = j->wanting->elf;
	for (size_t i = 0; i < elf->version_count; i++) {
		const struct ws_elf_version *asked = &elf->versions[i];
		struct want want = {.name = asked->name, .version = asked};
		size_t number =
			asked->library && !asked->weak ? library_of_version(j, &want) : j->s->libraries.len;
		const struct ws_scope_library *library =
			number < j->s->libraries.len ? &j->s->libraries.at[number] : NULL;
		/* The loader only warns about a library without versions. */
		if (library && library->versioned && !is_of_another_system(j, library)
			&& !ws_is_among(asked->name, library->versions.at, library->versions.len)) {
			want.version = NULL;
			miss(j, &want, WS_MISSING_VERSION, asked->library);
		}
	}
}

static void
judge_libraries(struct judging *j)
{
	const struct ws_scope *s = j->s;
	WS_VEC(struct ws_absent_library) absent = {0};
	for (size_t i = 0; i < s->libraries.len; i++) {
		const struct ws_scope_library *library = &s->libraries.at[i];
		if (!j->visible[i] || ws_same(library->name, WS_SCOPE_STABLE_ABI)
			|| is_dependency(s, library)) {
			continue;
		}
		struct ws_absent_library one = {.name = library->name,
			.aside = is_aside(s, library->name),
			.verdict = WS_VERDICT_UNKNOWN};
		for (size_t k = 0; s->subject->installed && k < s->subject->count && !one.sibling; k++) {
			bool same = ws_same(ws_elf_library_name(j->all[k].module->elf), library->name);
			one.sibling = same ? j->all[k].result : NULL;
		}
		if (!one.aside && !one.sibling) {
			one.brought = dependency_instead(s, library->name);
			j->outside = j->outside || (s->place->complete && !one.brought);
		}
		if (!one.sibling && (one.brought || s->place->complete)) {
			one.verdict = WS_VERDICT_FAILS;
		}
		*ws_vec_push(&absent, j->a) = one;
	}
	j->result->absent = absent.at;
	j->result->absent_count = absent.len;
}

/* Names that the module needs, that `import torch` has loaded, and that a library of torch's wheel
 * needs. */
static void
list_loaded(struct judging *j)
{
	const struct ws_scope *s = j->s;
	const struct ws_elf *elf = j->module->elf;
	const char **list = WS_NEW_N(j->a, const char *, elf->needed_count);
	for (size_t i = 0; i < elf->needed_count && s->release; i++) {
		const char *name = elf->needed[i];
		bool needed = false, loaded = false;
		for (size_t k = 0; k < s->libraries.len && !ws_floor_is_system_library(name); k++) {
			const struct ws_scope_library *library = &s->libraries.at[k];
			loaded = loaded || (library->loaded && ws_same(library->name, name));
			needed = needed
				|| (library->listed && library->loaded
					&& ws_is_among(name, library->needed.at, library->needed.len));
		}
		if (loaded && needed) {
			list[j->result->loaded_count++] = ws_arena_strdup(j->a, name);
		}
	}
	j->result->loaded = list;
}

static int
by_reason(const void *x, const void *y)
{
	const struct ws_missing *p = x, *q = y;
	if (p->reason != q->reason) {
		return p->reason < q->reason ? -1 : 1;
	}
	int order = strcmp(p->by ? p->by : "", q->by ? q->by : "");
	order = order ? order : strcmp(p->library ? p->library : "", q->library ? q->library : "");
	order = order ? order : strcmp(p->name, q->name);
	return order ? order : strcmp(p->text, q->text);
}

static void
conclude(struct judging *j)
{
	struct ws_symbols *result = j->result;
	if (j->missing.len > 0) {
		qsort(j->missing.at, j->missing.len, sizeof(j->missing.at[0]), by_reason);
	}
	result->missing = j->missing.at;
	result->missing_count = j->missing.len;
	result->unread = j->unread.at;
	result->unread_count = j->unread.len;
	for (size_t i = 0; i < j->missing.len + result->absent_count; i++) {
		enum ws_finding_verdict verdict = i < j->missing.len
			? j->missing.at[i].verdict
			: result->absent[i - j->missing.len].verdict;
		result->verdict = verdict > result->verdict ? verdict : result->verdict;
	}
}

/* Names of torch's that are missing may be in torch's list for the other ABI. */
static bool
find_other_abi(const struct ws_scope *s, struct judging *judgings, struct ws_err *err)
{
	WS_VEC(struct ws_missing *) lost = {0};
	for (size_t m = 0; m < s->subject->count; m++) {
		size_t of_this = 0;
		for (size_t i = 0; i < judgings[m].missing.len && of_this < MOST_COMPARED; i++) {
			struct ws_missing *missing = &judgings[m].missing.at[i];
			if (missing->reason == WS_MISSING_TORCH) {
				of_this++;
				*ws_vec_push(&lost, s->a) = missing;
			}
		}
	}
	return ws_other_abi_find(s->place, lost.at, lost.len, s->a, err);
}

/* @of is the module, or one that it loads: whose names are judged. */
static void
judge_wants(struct judging *j, const struct judging *of)
{
	j->wanting = of->module;
	for (size_t i = 0; i < of->wants.len; i++) {
		judge_want(j, &of->wants.at[i]);
	}
	judge_versions(j);
}

static void
judge_module(struct judging *j)
{
	static const char *const pythons[] = {WS_SCOPE_STABLE_ABI, WS_SCOPE_C_API};
	const struct ws_subject *subject = j->s->subject;
	bool *reaches = WS_NEW_N(j->a, bool, subject->count);
	j->result->release = j->s->release;
	j->result->torch_abi = j->s->torch_abi;
	j->result->reaches = reaches;
	/* It sees its own libraries, and Python's names. */
	j->visible = ws_scope_load(j->s, j->s->own[j - j->all]);
	for (size_t k = 0; k < 1 + (size_t)j->s->python_listed; k++) {
		const bool *seen = ws_scope_load(j->s, ws_scope_number(j->s, pythons[k]));
		for (size_t i = 0; i < j->s->libraries.len; i++) {
			j->visible[i] = j->visible[i] || seen[i];
		}
	}
	judge_libraries(j);
	list_loaded(j);
	judge_wants(j, j);
	for (size_t i = 0; i < subject->count; i++) {
		reaches[i] = j->visible[j->s->own[i]];
		/* Libraries of its own wheel must find their names, too, or the module does not load. */
		if (subject->installed && &j->all[i] != j && reaches[i]) {
			judge_wants(j, &j->all[i]);
		}
	}
}

bool
ws_symbols_judge(const struct ws_subject *subject, const struct ws_load_place *place,
	struct ws_arena *a, struct ws_symbols *symbols, struct ws_err *err)
{
	struct judging *judgings = WS_NEW_N(a, struct judging, subject->count);
	struct ws_scope s = {.a = a, .subject = subject, .place = place};
	for (size_t i = 0; i < subject->count; i++) {
		const struct ws_subject_module *module = &subject->modules[i];
		symbols[i] = (struct ws_symbols){
			.module = module->name,
			.python = place->stable_python,
			.strict = place->strict,
			.module_abi = ws_cxx11abi_of_module(module->elf),
		};
		judgings[i] = (struct judging){
			.s = &s, .a = a, .module = module, .all = judgings, .result = &symbols[i]};
		gather_wants(&judgings[i]);
	}
	if (!ws_scope_read(&s, err)) {
		return false;
	}
	for (size_t i = 0; i < subject->count; i++) {
		judge_module(&judgings[i]);
	}
	if (!find_other_abi(&s, judgings, err)) {
		return false;
	}
	for (size_t i = 0; i < subject->count; i++) {
		conclude(&judgings[i]);
	}
	/* A module fails when a library that is loaded before it fails. */
	for (bool changed = true; changed;) {
		changed = false;
		for (size_t i = 0; i < subject->count; i++) {
			struct ws_symbols *one = &symbols[i];
			for (size_t k = 0; k < one->absent_count && one->verdict != WS_VERDICT_FAILS; k++) {
				const struct ws_symbols *sibling = one->absent[k].sibling;
				changed = changed || (sibling && sibling->verdict == WS_VERDICT_FAILS);
				one->verdict = sibling && sibling->verdict == WS_VERDICT_FAILS ? WS_VERDICT_FAILS
																			   : one->verdict;
			}
		}
	}
	return true;
}
