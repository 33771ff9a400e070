/* symbols.c - the names a module wants are held; everybody's exports pass by. Why a name is
 * missing is missing.c's, words for people are symbols_text.c's. */
#include "verify/symbols.h"

#include "base/fs.h"
#include "elf/demangle.h"
#include "elf/exports.h"
#include "verify/closure.h"
#include "verify/missing.h"

#include <stdlib.h>
#include <string.h>

/* A library that exports a wanted name. */
struct offer {
	size_t library;
	bool tls;
	const struct offer *next;
};

/* A name that the module leaves undefined. */
struct want {
	const char *name;
	const struct ws_elf_version *version; /* NULL: none asked for */
	bool tls;
	const struct offer *offers;
};

struct judging {
	struct ws_arena *a;
	const struct ws_elf *module;
	const struct ws_surroundings *around;
	struct ws_symbols *result;
	struct ws_closure closure;
	WS_VEC(struct want) wants; /* sorted by name once complete */
	WS_VEC(size_t) siblings;   /* their numbers in the closure */
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
	for (size_t at = 0; ws_elf_next_symbol(j->module, &at, &symbol);) {
		if (!symbol.defined && symbol.binding != WS_ELF_WEAK) {
			*ws_vec_push(&j->wants, j->a) = (struct want){
				.name = symbol.name,
				.version = symbol.version,
				.tls = symbol.type == WS_ELF_TLS,
			};
		}
	}
	if (j->wants.len > 0) {
		qsort(j->wants.at, j->wants.len, sizeof(j->wants.at[0]), by_name);
	}
	j->result->wanted_count = j->wants.len;
}

static void
offer(struct judging *j, size_t library, const char *name, bool tls)
{
	struct want key = {.name = name};
	struct want *want =
		j->wants.len == 0 ? NULL : bsearch(&key, j->wants.at, j->wants.len, sizeof(key), by_name);
	/* Two versions of one symbol are two wants of one name: they lie side by side. */
	while (want && want > j->wants.at && by_name(want - 1, &key) == 0) {
		want--;
	}
	for (; want && want < j->wants.at + j->wants.len && by_name(want, &key) == 0; want++) {
		struct offer *made = WS_NEW(j->a, struct offer);
		*made = (struct offer){library, tls, want->offers};
		want->offers = made;
	}
}

static size_t
read_library(struct judging *j, const struct ws_elf *elf)
{
	size_t library = ws_closure_add(&j->closure, elf);
	struct ws_elf_symbol symbol;
	for (size_t at = 0; ws_elf_next_symbol(elf, &at, &symbol);) {
		if (symbol.defined) {
			offer(j, library, symbol.name, symbol.type == WS_ELF_TLS);
		}
	}
	return library;
}

static void
note_abi(struct judging *j, const char *name)
{
	enum ws_cxx11abi abi = ws_cxx11abi_of_export(name);
	if (abi != WS_CXX11ABI_SILENT) {
		j->result->torch_abi = abi;
	}
}

static bool
read_list(struct judging *j, struct ws_err *err)
{
	const struct ws_surroundings *around = j->around;
	WS_AUTO_EXPORTS struct ws_exports *list =
		ws_exports_open(around->exports, around->python, j->a, err);
	struct ws_export line = {0};
	const char *current = NULL;
	size_t library = 0;
	while (list && ws_exports_next(list, &line, err)) {
		if (line.kind == WS_EXPORT_END) {
			j->result->release = list->release;
			return true;
		}
		if (line.library != current) {
			current = line.library;
			library = ws_closure_library(&j->closure, current);
			j->closure.libraries.at[library].listed = true;
		}
		if (line.kind == WS_EXPORT_NEEDED) {
			ws_closure_need(&j->closure, library, line.text);
		} else if (line.kind != WS_EXPORT_INTERNALS) {
			note_abi(j, line.text);
			offer(j, library, line.text, line.kind == WS_EXPORT_TLS);
		}
	}
	return false;
}

static bool
read_surroundings(struct judging *j, struct ws_err *err)
{
	const struct ws_surroundings *around = j->around;
	for (size_t i = 0; i < around->library_count; i++) {
		read_library(j, around->libraries[i]);
	}
	for (size_t i = 0; i < around->sibling_count; i++) {
		if (around->siblings[i] != j->module) {
			*ws_vec_push(&j->siblings, j->a) = read_library(j, around->siblings[i]);
		}
	}
	for (size_t i = 0; i < around->global_count; i++) {
		read_library(j, around->globals[i]);
	}
	if (around->exports && !read_list(j, err)) {
		return false;
	}
	for (size_t i = 0; i < j->module->needed_count; i++) {
		ws_closure_show(&j->closure, j->module->needed[i]);
	}
	for (size_t i = 0; i < around->global_count; i++) {
		ws_closure_show(&j->closure, ws_elf_library_name(around->globals[i]));
	}
	return true;
}

static bool
is_sibling(const struct judging *j, size_t library)
{
	for (size_t i = 0; i < j->siblings.len; i++) {
		if (j->siblings.at[i] == library) {
			return true;
		}
	}
	return false;
}

static void
miss(struct judging *j, const struct want *want, enum ws_missing_reason reason, size_t library)
{
	*ws_vec_push(&j->missing, j->a) = (struct ws_missing){
		.name = want->name,
		.text = ws_demangle_short(want->name, j->a),
		.library = j->closure.libraries.at[library].name,
		.reason = reason,
		.verdict = reason == WS_MISSING_SIBLING ? WS_VERDICT_UNKNOWN : WS_VERDICT_FAILS,
	};
}

/* Judges a name by who offers it; false when nobody does. */
static bool
judge_offers(struct judging *j, const struct want *want)
{
	const struct offer *seen = NULL, *hidden = NULL;
	for (const struct offer *o = want->offers; o; o = o->next) {
		bool visible = j->closure.libraries.at[o->library].visible;
		if (visible && o->tls == want->tls) {
			return true;
		}
		seen = visible ? o : seen;
		hidden = visible || (hidden && !is_sibling(j, o->library)) ? hidden : o;
	}
	if (seen) {
		miss(j, want, WS_MISSING_TLS, seen->library);
	} else if (hidden) {
		bool sibling = is_sibling(j, hidden->library);
		miss(j, want, sibling ? WS_MISSING_SIBLING : WS_MISSING_NOT_NEEDED, hidden->library);
	}
	return seen || hidden;
}

/* The library, which nobody has read, that it wants this from by version; NULL: there is none. */
static const char *
unread_of_version(const struct judging *j, const struct want *want)
{
	const char *library = want->version ? want->version->library : NULL;
	for (size_t i = 0; library && i < j->closure.libraries.len; i++) {
		const struct ws_known_library *known = &j->closure.libraries.at[i];
		if (ws_same(known->name, library)) {
			return known->elf || known->listed ? NULL : library;
		}
	}
	return library;
}

static void
assume(struct judging *j, const char *library)
{
	j->result->assumed_count++;
	for (size_t i = 0; i < j->unread.len; i++) {
		if (strcmp(j->unread.at[i], library) == 0) {
			return;
		}
	}
	*ws_vec_push(&j->unread, j->a) = library;
}

static void
judge_wants(struct judging *j)
{
	for (size_t i = 0; i < j->wants.len; i++) {
		const struct want *want = &j->wants.at[i];
		if (judge_offers(j, want)) {
			continue;
		}
		struct ws_missing missing = {.name = want->name, .library = unread_of_version(j, want)};
		if (missing.library || !ws_missing_explain(&missing, &j->closure, j->around, j->a)) {
			assume(j, missing.library);
			continue;
		}
		*ws_vec_push(&j->missing, j->a) = missing;
	}
}

/* A library that was given must define each version that is asked of it. */
static void
judge_version(struct judging *j, const struct ws_elf_version *asked)
{
	const struct ws_elf *elf = NULL;
	for (size_t i = 0; i < j->closure.libraries.len; i++) {
		const struct ws_known_library *known = &j->closure.libraries.at[i];
		elf = ws_same(known->name, asked->library) ? known->elf : elf;
	}
	bool defines_any = false;
	for (size_t i = 0; elf && i < elf->version_count; i++) {
		if (!elf->versions[i].library) {
			defines_any = true;
			if (ws_same(elf->versions[i].name, asked->name)) {
				return;
			}
		}
	}
	if (defines_any) { /* without any, the loader only warns */
		*ws_vec_push(&j->missing, j->a) = (struct ws_missing){
			.name = asked->name,
			.text = asked->name,
			.library = asked->library,
			.reason = WS_MISSING_VERSION,
			.verdict = WS_VERDICT_FAILS,
		};
	}
}

static void
judge_versions(struct judging *j)
{
	for (size_t i = 0; i < j->module->version_count; i++) {
		const struct ws_elf_version *version = &j->module->versions[i];
		if (version->library && !version->weak) {
			judge_version(j, version);
		}
	}
}

static void
judge_libraries(struct judging *j)
{
	WS_VEC(struct ws_absent_library) absent = {0};
	for (size_t i = 0; i < j->closure.libraries.len; i++) {
		const struct ws_known_library *library = &j->closure.libraries.at[i];
		if (library->visible && !ws_closure_is_brought(&j->closure, library)) {
			*ws_vec_push(&absent, j->a) = (struct ws_absent_library){
				.name = library->name,
				.brought = ws_closure_brought_instead(&j->closure, library->name),
			};
		}
	}
	j->result->absent = absent.at;
	j->result->absent_count = absent.len;
}

static int
by_reason(const void *x, const void *y)
{
	const struct ws_missing *p = x, *q = y;
	if (p->reason != q->reason) {
		return p->reason < q->reason ? -1 : 1;
	}
	int order = strcmp(p->library ? p->library : "", q->library ? q->library : "");
	return order ? order : strcmp(p->name, q->name);
}

/* "flash_attn_2_cuda" of ".../flash_attn_2_cuda.cpython-311-x86_64-linux-gnu.so". */
static const char *
module_name(const struct ws_elf *module, struct ws_arena *a)
{
	const char *base = ws_path_base(module->path);
	return ws_arena_copy(a, base, strcspn(base, "."));
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
	for (size_t i = 0; i < j->missing.len; i++) {
		enum ws_finding_verdict verdict = j->missing.at[i].verdict;
		result->verdict = verdict > result->verdict ? verdict : result->verdict;
	}
	for (size_t i = 0; i < result->absent_count; i++) {
		enum ws_finding_verdict verdict =
			result->absent[i].brought ? WS_VERDICT_FAILS : WS_VERDICT_UNKNOWN;
		result->verdict = verdict > result->verdict ? verdict : result->verdict;
	}
}

bool
ws_symbols_judge(const struct ws_elf *module, const struct ws_surroundings *around,
	struct ws_arena *a, struct ws_symbols *symbols, struct ws_err *err)
{
	*symbols = (struct ws_symbols){
		.module = module_name(module, a),
		.module_abi = ws_cxx11abi_of_module(module),
	};
	struct judging j = {
		.a = a, .module = module, .around = around, .result = symbols, .closure = {.a = a}};
	gather_wants(&j);
	if (!read_surroundings(&j, err)) {
		return false;
	}
	judge_wants(&j);
	judge_versions(&j);
	judge_libraries(&j);
	if (!ws_missing_find_twins(j.missing.at, j.missing.len, around, a, err)) {
		return false;
	}
	conclude(&j);
	return true;
}
