/* judge_run.c - the child of judge.c: opens what the order names, has it judged, and applies what a build
 * asks of a verdict. Judging is verify/'s. */
#include "base/fs.h"
#include "base/json.h"
#include "base/json_write.h"
#include "base/vec.h"
#include "elf/elf.h"
#include "judge/judge.h"
#include "verify/judge.h"

#include <string.h>

struct judging {
	struct ws_arena *a;
	struct ws_json_doc order;
	const struct ws_out *out;
	WS_VEC(struct ws_subject_module) modules;
	struct ws_opened_judge_place place;
	struct ws_verdict verdict;
	enum ws_finding_verdict worst; /* by this build's rules */
};

static bool
is_true(const struct ws_json *object, const char *key)
{
	const struct ws_json *value = ws_json_find(object, key);
	return value && value->truth;
}

/* "PyInit_c" of "a.b.c". */
static const char *
init_of(const char *module, struct ws_arena *a)
{
	const char *dot = strrchr(module, '.');
	return ws_arena_printf(a, "PyInit_%s", dot ? dot + 1 : module);
}

static bool
open_modules(struct judging *j, struct ws_err *err)
{
	const struct ws_json *modules = ws_json_find(j->order.root, "modules");
	for (WS_JSON_EACH(module, modules)) {
		const char *name = ws_json_text(module, "module");
		const char *file = ws_arena_printf(j->a, "mod/%zu.so", j->modules.len);
		struct ws_subject_module *m = ws_vec_push(&j->modules, j->a);
		*m = (struct ws_subject_module){.name = name,
			.elf = ws_elf_open_as(file, name, j->a, err),
			.required = true,
			.init = is_true(module, "imported") ? init_of(name, j->a) : NULL};
		if (!m->elf) {
			j->modules.len--;
			return false;
		}
	}
	return true;
}

static void
close_all(struct judging *j)
{
	for (size_t i = 0; i < j->modules.len; i++) {
		ws_elf_close((struct ws_elf *)(uintptr_t)j->modules.at[i].elf);
	}
	ws_judge_place_close(&j->place);
}

static bool
judge(struct judging *j, struct ws_err *err)
{
	struct ws_subject subject = {j->modules.at, j->modules.len};
	return ws_judge(&subject, &j->place.around, j->a, &j->verdict, err);
}

static void
tell_finding(struct judging *j, const struct ws_finding *finding)
{
	j->worst = finding->verdict > j->worst ? finding->verdict : j->worst;
	ws_out_result(j->out, "%-8s%s\n", ws_finding_word(finding->verdict), finding->text);
	for (size_t k = 0; k < finding->evidence_count; k++) {
		ws_out_result(j->out, "        %s\n", finding->evidence[k]);
	}
}

/* A module with kernels must hold code for the archs that were asked for and no others. */
static bool
tell_archs(struct judging *j, const struct ws_module_verdict *m, struct ws_err *err)
{
	struct ws_arch_set wanted;
	const char *why, *name = m->module->name;
	const char *text = ws_json_text(j->order.root, "archs");
	if (!ws_arch_set_parse(text, j->a, &wanted, &why)) {
		return ws_err_set(err, WS_ERR_INTERNAL, "the archs '%s' of the order: %s", text, why);
	}
	const struct ws_arch_set *archs = &m->gpu.archs;
	bool same = ws_arch_set_eq(archs, &wanted);
	struct ws_finding finding = {
		.verdict = same ? WS_VERDICT_OK : WS_VERDICT_FAILS,
		.text = same ? ws_arena_printf(j->a, "%s has code for %s", name, text)
					 : ws_arena_printf(j->a, "%s has code for %s, not for %s", name,
						 archs->count ? ws_arch_set_text(archs, j->a) : "no GPU", text),
	};
	tell_finding(j, &finding);
	return true;
}

/* A stranger's wheel may be unknown; a module of ours must be known to load, or the promise is empty. */
static bool
tell(struct judging *j, struct ws_err *err)
{
	const struct ws_json *modules = ws_json_find(j->order.root, "modules");
	size_t index = 0;
	for (WS_JSON_EACH(module, modules)) {
		const struct ws_module_verdict *m = &j->verdict.modules[index++];
		for (size_t i = 0; i < m->finding_count; i++) {
			tell_finding(j, &m->findings[i]);
		}
		if (is_true(module, "cuda") && !tell_archs(j, m, err)) {
			return false;
		}
	}
	struct ws_finding floor = ws_floor_finding(&j->verdict.floor, j->a);
	tell_finding(j, &floor);
	const char *subject = ws_json_text(j->order.root, "subject");
	if (j->worst == WS_VERDICT_UNKNOWN) {
		return ws_err_set(err, WS_ERR_VERIFY, "%s is not known to load", subject);
	}
	return j->worst == WS_VERDICT_OK
		|| ws_err_set(err, WS_ERR_VERIFY, "%s would not load", subject);
}

static const char *
abi_text(enum ws_cxx11abi abi)
{
	return abi == WS_CXX11ABI_0 ? "0" : abi == WS_CXX11ABI_1 ? "1" : NULL;
}

static void
write_module(struct ws_json_writer *w, const struct ws_module_verdict *m)
{
	const struct ws_elf *elf = m->module->elf;
	ws_json_open_object(w, NULL);
	ws_json_add_text(w, "module", m->module->name);
	ws_json_add_texts(w, "needed", elf->needed, elf->needed_count);
	ws_json_add_u64(w, "assumed", m->symbols.assumed_count);
	ws_json_add_texts(w, "unread", m->symbols.unread, m->symbols.unread_count);
	if (m->gpu.image_count > 0) {
		ws_json_open_object(w, "gpu_code");
		ws_json_add_u64(w, "compressed_bytes", m->gpu.stored_bytes);
		ws_json_add_u64(w, "bytes", m->gpu.raw_bytes);
		ws_json_add_text(w, "driver", m->gpu.driver);
		ws_json_close(w);
	}
	ws_json_close(w);
}

/* The archs that some module has code for; those with kernels have the same. */
static const char *
archs_text(const struct judging *j)
{
	const struct ws_arch_set *archs = NULL;
	for (size_t i = 0; i < j->verdict.count; i++) {
		archs = j->verdict.modules[i].gpu.archs.count ? &j->verdict.modules[i].gpu.archs : archs;
	}
	return archs ? ws_arch_set_text(archs, j->a) : NULL;
}

static bool
write_measured(const struct judging *j, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_json_writer *w = ws_json_begin();
	const struct ws_floor *floor = &j->verdict.floor;
	ws_json_open_object(w, NULL);
	ws_json_add_text(w, "platform", ws_floor_tag(floor));
	ws_json_add_text(w, "glibc", floor->asked[WS_FLOOR_GLIBC].text);
	ws_json_add_text(w, "glibcxx", floor->asked[WS_FLOOR_GLIBCXX].text);
	ws_json_add_text(w, "archs", archs_text(j));
	ws_json_add_text(w, "cxx11abi", abi_text(j->verdict.cxx11abi));
	ws_json_open_list(w, "modules");
	for (size_t i = 0; i < j->verdict.count; i++) {
		write_module(w, &j->verdict.modules[i]);
	}
	ws_json_close(w);
	ws_json_close(w);
	ws_json_finish(w, WS_JSON_PRETTY, &text);
	return ws_fs_write("check.json", text.data, text.len, 0644, err);
}

bool
ws_judge_run(const struct ws_out *out, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct judging j = {.a = a, .out = out};
	bool done = ws_json_read("order.json", WS_JSON_STRICT, a, &j.order, err)
		&& open_modules(&j, err) && ws_judge_place_open(j.order.root, a, &j.place, err)
		&& judge(&j, err) && write_measured(&j, err) && tell(&j, err);
	close_all(&j);
	return done;
}
