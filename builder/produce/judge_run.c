/* judge_run.c - the child of judge.c: opens the modules and what they will find, and judges. Findings
 * are verify/'s; what they cost a build is decided here. */
#include "base/fs.h"
#include "base/json.h"
#include "base/json_write.h"
#include "base/vec.h"
#include "inspect/gpu_code.h"
#include "produce/judge.h"
#include "verify/floor.h"
#include "verify/symbols.h"

#include <string.h>

typedef WS_VEC(struct ws_elf *) elf_list;

struct judging {
	struct ws_arena *a;
	struct ws_json_doc order;
	const struct ws_out *out;
	elf_list modules, libraries, globals;
	struct ws_floor floor;
	WS_VEC(struct ws_symbols) symbols; /* of each module */
	WS_VEC(struct ws_finding) findings;
	struct ws_arch_set archs; /* measured */
	enum ws_cxx11abi abi;
};

static bool
open_one(struct judging *j, elf_list *list, const char *path, struct ws_err *err)
{
	struct ws_elf *elf = ws_elf_open(path, j->a, err);
	if (elf) {
		*ws_vec_push(list, j->a) = elf;
	}
	return elf != NULL;
}

static bool
open_all(struct judging *j, struct ws_err *err)
{
	const struct ws_json *root = j->order.root;
	const struct ws_json *modules = ws_json_find(root, "modules");
	for (size_t i = 0; i < modules->count; i++) {
		if (!open_one(j, &j->modules, ws_arena_printf(j->a, "mod/%zu.so", i), err)) {
			return false;
		}
	}
	const struct ws_json *libraries = ws_json_find(root, "libraries");
	for (WS_JSON_EACH(library, libraries)) {
		if (!open_one(j, &j->libraries, library->text, err)) {
			return false;
		}
	}
	const char *python = ws_json_text(root, "python");
	return !python || open_one(j, &j->globals, python, err);
}

static void
close_all(struct judging *j)
{
	elf_list *lists[] = {&j->modules, &j->libraries, &j->globals};
	for (size_t i = 0; i < WS_LEN(lists); i++) {
		for (size_t k = 0; k < lists[i]->len; k++) {
			ws_elf_close(lists[i]->at[k]);
		}
	}
}

static bool
judge_symbols(struct judging *j, const struct ws_elf *module, const char *name, struct ws_err *err)
{
	struct ws_surroundings around = {
		.exports = ws_json_text(j->order.root, "exports"),
		.python = ws_json_text(j->order.root, "python_tag"),
		.libraries = (const struct ws_elf *const *)j->libraries.at,
		.library_count = j->libraries.len,
		.globals = (const struct ws_elf *const *)j->globals.at,
		.global_count = j->globals.len,
		.siblings = (const struct ws_elf *const *)j->modules.at,
		.sibling_count = j->modules.len,
	};
	struct ws_symbols symbols;
	if (!ws_symbols_judge(module, &around, j->a, &symbols, err)) {
		return false;
	}
	symbols.module = name; /* the file's is a number */
	size_t count;
	const struct ws_finding *findings = ws_symbols_findings(&symbols, j->a, &count);
	for (size_t i = 0; i < count; i++) {
		*ws_vec_push(&j->findings, j->a) = findings[i];
	}
	*ws_vec_push(&j->symbols, j->a) = symbols;
	j->abi = symbols.module_abi != WS_CXX11ABI_SILENT ? symbols.module_abi : j->abi;
	return true;
}

static bool
judge_gpu_code(struct judging *j, const struct ws_elf *module, const char *name, struct ws_err *err)
{
	struct ws_gpu_code code;
	struct ws_arch_set wanted;
	const char *why;
	if (!ws_gpu_code_read(module, j->a, &code, err)) {
		return false;
	}
	const char *text = ws_json_text(j->order.root, "archs");
	if (!ws_arch_set_parse(text, j->a, &wanted, &why)) {
		return ws_err_set(err, WS_ERR_INTERNAL, "the archs '%s' of the order: %s", text, why);
	}
	j->archs = code.archs;
	bool same = ws_arch_set_eq(&code.archs, &wanted);
	*ws_vec_push(&j->findings, j->a) = (struct ws_finding){
		.verdict = same ? WS_VERDICT_OK : WS_VERDICT_FAILS,
		.text = same ? ws_arena_printf(j->a, "%s has code for %s", name, text)
					 : ws_arena_printf(j->a, "%s has code for %s, not for %s", name,
						 code.archs.count ? ws_arch_set_text(&code.archs, j->a) : "no GPU", text),
	};
	return true;
}

static bool
judge_module(struct judging *j, size_t index, const struct ws_json *module, struct ws_err *err)
{
	const struct ws_elf *elf = j->modules.at[index];
	const struct ws_json *cuda = ws_json_find(module, "cuda");
	const char *name = ws_json_text(module, "module");
	ws_floor_add(&j->floor, elf, NULL, 0, j->a);
	return judge_symbols(j, elf, name, err) && (!cuda->truth || judge_gpu_code(j, elf, name, err));
}

static const char *
abi_text(enum ws_cxx11abi abi)
{
	return abi == WS_CXX11ABI_0 ? "0" : abi == WS_CXX11ABI_1 ? "1" : NULL;
}

static bool
write_measured(const struct judging *j, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_json_writer *w = ws_json_begin();
	ws_json_open_object(w, NULL);
	ws_json_add_text(w, "platform", ws_floor_tag(&j->floor));
	ws_json_add_text(w, "glibc", j->floor.asked[WS_FLOOR_GLIBC].text);
	ws_json_add_text(w, "glibcxx", j->floor.asked[WS_FLOOR_GLIBCXX].text);
	ws_json_add_text(w, "archs", j->archs.count ? ws_arch_set_text(&j->archs, j->a) : NULL);
	ws_json_add_text(w, "cxx11abi", abi_text(j->abi));
	ws_json_open_list(w, "modules");
	size_t index = 0;
	const struct ws_json *modules = ws_json_find(j->order.root, "modules");
	for (WS_JSON_EACH(module, modules)) {
		const struct ws_elf *elf = j->modules.at[index];
		const struct ws_symbols *symbols = &j->symbols.at[index++];
		ws_json_open_object(w, NULL);
		ws_json_add_text(w, "module", ws_json_text(module, "module"));
		ws_json_add_texts(w, "needed", elf->needed, elf->needed_count);
		ws_json_add_u64(w, "assumed", symbols->assumed_count);
		ws_json_add_texts(w, "unread", symbols->unread, symbols->unread_count);
		ws_json_close(w);
	}
	ws_json_close(w);
	ws_json_close(w);
	ws_json_finish(w, WS_JSON_PRETTY, &text);
	return ws_fs_write("check.json", text.data, text.len, 0644, err);
}

/* A stranger's wheel may be unknown; a module of ours must be known to load, or the promise is empty. */
static bool
tell(const struct judging *j, struct ws_err *err)
{
	static const char *const words[] = {
		[WS_VERDICT_OK] = "ok", [WS_VERDICT_UNKNOWN] = "unknown", [WS_VERDICT_FAILS] = "fails"};
	enum ws_finding_verdict worst = WS_VERDICT_OK;
	for (size_t i = 0; i < j->findings.len; i++) {
		const struct ws_finding *finding = &j->findings.at[i];
		worst = finding->verdict > worst ? finding->verdict : worst;
		ws_out_result(j->out, "%-8s%s\n", words[finding->verdict], finding->text);
		for (size_t k = 0; k < finding->evidence_count; k++) {
			ws_out_result(j->out, "        %s\n", finding->evidence[k]);
		}
	}
	const char *subject = ws_json_text(j->order.root, "subject");
	if (worst == WS_VERDICT_UNKNOWN) {
		return ws_err_set(err, WS_ERR_VERIFY, "%s is not known to load", subject);
	}
	return worst == WS_VERDICT_OK || ws_err_set(err, WS_ERR_VERIFY, "%s would not load", subject);
}

bool
ws_judge_run(const struct ws_out *out, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct judging j = {.a = a, .out = out};
	bool done = ws_json_read("order.json", WS_JSON_STRICT, a, &j.order, err) && open_all(&j, err);
	size_t index = 0;
	const struct ws_json *modules = done ? ws_json_find(j.order.root, "modules") : NULL;
	for (const struct ws_json *m = modules ? modules->first : NULL; m && done; m = m->next) {
		done = judge_module(&j, index++, m, err);
	}
	if (done) {
		struct ws_finding floor = ws_floor_finding(&j.floor, a);
		*ws_vec_push(&j.findings, a) = floor;
		done = write_measured(&j, err) && tell(&j, err);
	}
	close_all(&j);
	return done;
}
