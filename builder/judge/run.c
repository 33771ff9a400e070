/* run.c - the child of order.c: opens the wheel once, has it judged in each place, and
 * writes what came of it. What cannot be read is a verdict here. Judging is verify/'s. */
#include "base/fs.h"
#include "base/vec.h"
#include "judge/order.h"
#include "model/tag.h"
#include "verify/judge.h"
#include "wheelfile/claims.h"
#include "wheelfile/modules.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct judging {
	struct ws_arena *a;
	struct ws_json_doc order;
	struct ws_opened_wheel wheel;
	struct ws_modules modules;
	struct ws_subject subject; /* the modules that could be opened */
	struct ws_wheel_name name; /* when has_name */
	struct ws_dist_info info;  /* when has_info: of the wheel */
	bool has_name, has_info;
	WS_VEC(struct ws_finding) findings; /* about the wheel, whatever the place */
	struct ws_verdict measured;         /* of the first place that was judged */
};

/* What came of one place. */
struct outcome {
	enum ws_finding_verdict verdict;
	const struct ws_finding *decisive; /* the first that is as bad; NULL: none is bad */
	WS_VEC(struct ws_finding) findings;
	struct ws_verdict judged; /* no modules: nothing was */
};

static void
find(struct judging *j, enum ws_finding_verdict verdict, const char *cause, const char *text)
{
	*ws_vec_push(&j->findings, j->a) = (struct ws_finding){
		.verdict = verdict, .cause = cause, .text = ws_arena_strdup(j->a, text)};
}

static bool
lists(const struct ws_json *list, const char *text)
{
	for (const struct ws_json *item = list ? list->first : NULL; item; item = item->next) {
		if (ws_same(item->text, text)) {
			return true;
		}
	}
	return false;
}

/* "a.b._C" of "a/b/_C.cpython-311-x86_64-linux-gnu.so". */
static const char *
import_name(const char *name, struct ws_arena *a)
{
	const char *base = ws_path_base(name);
	char *text = ws_arena_copy(a, name, (size_t)(base - name) + strcspn(base, "."));
	for (char *c = text; *c; c++) {
		*c = *c == '/' ? '.' : *c;
	}
	return text;
}

/* The modules that could be opened, with what is known of each. */
static void
make_subject(struct judging *j)
{
	const struct ws_json *required = ws_json_find(j->order.root, "required");
	struct ws_subject_module *made = WS_NEW_N(j->a, struct ws_subject_module, j->modules.count);
	size_t *number = WS_NEW_N(j->a, size_t, j->modules.count);
	bool any = false;
	for (size_t i = 0; i < j->modules.count; i++) {
		const struct ws_module *m = &j->modules.modules[i];
		bool needed = lists(required, import_name(m->name, j->a));
		any = any || needed;
		number[i] = j->subject.count;
		if (m->elf) {
			made[j->subject.count++] = (struct ws_subject_module){.name = m->name,
				.elf = m->elf,
				.init = needed || m->exports_init ? m->init : NULL,
				.required = needed};
		}
	}
	for (size_t i = 0; i < j->modules.count; i++) {
		const struct ws_module *m = &j->modules.modules[i];
		struct ws_subject_module *to = &made[number[i]];
		size_t *leads_to = WS_NEW_N(j->a, size_t, m->elf ? m->elf->needed_count : 0);
		for (size_t k = 0; m->elf && k < m->elf->needed_count; k++) {
			leads_to[k] =
				m->leads_to[k] == WS_MODULE_NONE ? WS_SUBJECT_NONE : number[m->leads_to[k]];
		}
		if (m->elf) {
			to->leads_to = leads_to;
			to->required = to->required || !any;
		} else if (!any || lists(required, import_name(m->name, j->a))) {
			find(j, WS_VERDICT_FAILS, "unreadable", m->refused);
		}
	}
	j->subject.modules = made;
}

/* What is not a sound wheel is a finding: nothing installs it. */
static bool
take_error(struct judging *j, struct ws_err *err)
{
	if (err->kind != WS_ERR_FETCH) {
		return false;
	}
	find(j, WS_VERDICT_FAILS, "damaged", err->text);
	return true;
}

/* What it says of itself: for whom it is, and whether that is what its file name says. */
static bool
read_claims(struct judging *j, struct ws_err *err)
{
	if (!ws_dist_info_read(&j->wheel.zip, j->a, &j->info, err)) {
		return false;
	}
	j->has_info = true;
	const char *why = j->has_name ? ws_claims_contradict(&j->name, &j->info, j->a) : NULL;
	if (why) {
		find(j, WS_VERDICT_FAILS, "label", why);
	}
	return true;
}

static bool
open_wheel(struct judging *j, const char *path, struct ws_err *err)
{
	const char *name = ws_json_text(j->order.root, "name"), *why;
	j->has_name = ws_wheel_name_parse(name ? name : "", j->a, &j->name, &why);
	if (name && !j->has_name) {
		find(j, WS_VERDICT_FAILS, "tags", ws_arena_printf(j->a, "'%s': %s", name, why));
	}
	char *folder = ws_path_join(j->a, getcwd((char[4096]){0}, 4096), "modules", NULL);
	if (!ws_fs_mkdirs(folder, err)) {
		return false;
	}
	if (!ws_opened_wheel_read(path, name ? name : path, j->a, &j->wheel, err)
		|| !read_claims(j, err) || !ws_modules_take(&j->wheel, folder, j->a, &j->modules, err)) {
		return take_error(j, err);
	}
	return true;
}

static bool
open_subject(struct judging *j, struct ws_err *err)
{
	const char *path = ws_json_text(j->order.root, "wheel");
	if (path && !open_wheel(j, path, err)) {
		return false;
	}
	const struct ws_json *files = ws_json_find(j->order.root, "files");
	if (!path && files) {
		size_t count;
		const char *const *names = ws_json_texts(files, j->a, &count);
		ws_modules_open(ws_json_text(j->order.root, "root"), names, count, j->a, &j->modules);
	}
	make_subject(j);
	return true;
}

/* ---- one place ---- */

static void
count(struct outcome *o)
{
	for (size_t i = 0; i < o->findings.len; i++) {
		const struct ws_finding *f = &o->findings.at[i];
		if (f->verdict > o->verdict) {
			o->verdict = f->verdict;
			o->decisive = f;
		}
	}
}

/* glibc's version there: as it was given, else of the libc that was read. */
static void
glibc_of(const struct ws_surroundings *around, unsigned *major, unsigned *minor, struct ws_arena *a)
{
	const char *text = around->glibc
		? around->glibc
		: ws_floor_glibc_of(around->libraries, around->library_count, a);
	*major = 2;
	*minor = 17;
	if (text) {
		(void)sscanf(text, "%u.%u", major, minor);
	}
}

static void
judge_tags(struct judging *j, const struct ws_surroundings *around, struct outcome *o)
{
	struct ws_python_tag python;
	unsigned major, minor;
	if (!j->has_name || !around->python || !ws_python_tag_parse(around->python, &python)) {
		return;
	}
	const char *refuses =
		j->has_info ? ws_claims_refuse_python(&j->info.metadata, &python, j->a) : NULL;
	if (refuses) {
		*ws_vec_push(&o->findings, j->a) = (struct ws_finding){
			.verdict = WS_VERDICT_FAILS, .cause = "requires-python", .text = refuses};
	}
	glibc_of(around, &major, &minor, j->a);
	if (ws_wheel_fit(&j->name, &python, major, minor) == 0) {
		*ws_vec_push(&o->findings, j->a) = (struct ws_finding){.verdict = WS_VERDICT_FAILS,
			.cause = "tags",
			.text = ws_arena_printf(j->a,
				"the tags of its file name are not for %s on x86-64 with glibc %u.%u",
				around->python, major, minor)};
	}
}

/* Whatever installs it would replace the torch of the place. */
static void
judge_torch(struct judging *j, const struct ws_json *order, struct outcome *o)
{
	const char *text = ws_json_text(order, "torch");
	struct ws_version torch;
	const char *refuses = j->has_info && text && ws_version_parse(text, j->a, &torch)
		? ws_claims_refuse_torch(&j->info.metadata, &torch, j->a)
		: NULL;
	if (refuses) {
		*ws_vec_push(&o->findings, j->a) = (struct ws_finding){
			.verdict = WS_VERDICT_FAILS, .cause = "requires-torch", .text = refuses};
	}
}

/* What no look into the file shows. */
static void
judge_known_bad(struct judging *j, const struct ws_json *order, struct outcome *o)
{
	const char *why = ws_json_text(order, "known_bad");
	const char **evidence = WS_NEW_N(j->a, const char *, 1);
	evidence[0] = ws_json_text(order, "known_bad_see");
	if (why) {
		*ws_vec_push(&o->findings, j->a) = (struct ws_finding){.verdict = WS_VERDICT_FAILS,
			.cause = "known-bad",
			.text = ws_arena_printf(j->a, "known to be bad: %s", why),
			.evidence = evidence,
			.evidence_count = 1};
	}
}

static bool
judge_in(struct judging *j, const struct ws_json *order, struct outcome *o, struct ws_err *err)
{
	struct ws_opened_judge_place place;
	bool fine = ws_judge_place_open(order, j->a, &place, err);
	for (size_t i = 0; i < j->findings.len; i++) {
		*ws_vec_push(&o->findings, j->a) = j->findings.at[i];
	}
	judge_known_bad(j, order, o);
	if (fine) {
		ws_judge_place_complete(&place, &j->subject, j->a);
		judge_tags(j, &place.around, o);
		fine = ws_judge(&j->subject, &place.around, j->a, &o->judged, err);
	}
	o->judged = fine ? o->judged : (struct ws_verdict){0};
	if (!fine && err->kind == WS_ERR_UNKNOWN) {
		*ws_vec_push(&o->findings, j->a) = (struct ws_finding){.verdict = WS_VERDICT_FAILS,
			.cause = "no-python",
			.text = ws_arena_strdup(j->a, err->text)};
		*err = (struct ws_err){0};
		fine = true;
	}
	for (size_t i = 0; fine && i < o->judged.count; i++) {
		const struct ws_module_verdict *m = &o->judged.modules[i];
		for (size_t k = 0; m->module->required && k < m->finding_count; k++) {
			*ws_vec_push(&o->findings, j->a) = m->findings[k];
		}
	}
	judge_torch(j, order, o); /* behind the names: one that is missing says more */
	if (fine && o->judged.count > 0 && j->measured.count == 0) {
		j->measured = o->judged;
	}
	ws_judge_place_close(&place);
	count(o);
	return fine;
}

/* ---- writing ---- */

static void
write_verdict(struct ws_json_writer *w, enum ws_finding_verdict verdict, const struct ws_finding *f)
{
	ws_json_add_text(w, "verdict", ws_verdict_word(verdict));
	ws_json_add_text(w, "why", f ? f->text : NULL);
	ws_json_add_text(w, "cause", f ? f->cause : NULL);
}

static void
write_findings(struct ws_json_writer *w, const struct ws_finding *findings, size_t count)
{
	ws_json_open_list(w, "findings");
	for (size_t i = 0; i < count; i++) {
		ws_json_open_object(w, NULL);
		ws_json_add_text(w, "finding", ws_finding_word(findings[i].verdict));
		ws_json_add_text(w, "cause", findings[i].cause);
		ws_json_add_text(w, "text", findings[i].text);
		ws_json_add_texts(w, "evidence", findings[i].evidence, findings[i].evidence_count);
		ws_json_close(w);
	}
	ws_json_close(w);
}

static void
write_module(struct ws_json_writer *w, const struct ws_module_verdict *m)
{
	const struct ws_finding *decisive = NULL;
	for (size_t i = 0; i < m->finding_count && !decisive; i++) {
		decisive = m->verdict != WS_VERDICT_OK && m->findings[i].verdict == m->verdict
			? &m->findings[i]
			: NULL;
	}
	ws_json_open_object(w, NULL);
	write_verdict(w, m->verdict, decisive);
	ws_json_add_text(w, "module", m->module->name);
	ws_json_add_bool(w, "required", m->module->required);
	ws_json_add_u64(w, "symbols", m->symbols.wanted_count);
	ws_json_add_u64(w, "assumed", m->symbols.assumed_count);
	ws_json_add_texts(w, "unread", m->symbols.unread, m->symbols.unread_count);
	ws_json_open_list(w, "missing");
	for (size_t i = 0; i < m->symbols.missing_count; i++) {
		ws_json_add_text(w, NULL, m->symbols.missing[i].name);
	}
	ws_json_close(w);
	ws_json_close(w);
}

static void
write_place(struct ws_json_writer *w, const struct ws_json *order, const struct outcome *o)
{
	ws_json_open_object(w, NULL);
	write_verdict(w, o->verdict, o->decisive);
	ws_json_add_text(w, "torch", ws_json_text(order, "torch"));
	ws_json_add_text(w, "python", ws_json_text(order, "python_tag"));
	write_findings(w, o->findings.at, o->findings.len);
	ws_json_open_list(w, "modules");
	for (size_t i = 0; i < o->judged.count; i++) {
		write_module(w, &o->judged.modules[i]);
	}
	ws_json_close(w);
	ws_json_close(w);
}

static const char *
abi_text(enum ws_cxx11abi abi)
{
	return abi == WS_CXX11ABI_0    ? "0"
		: abi == WS_CXX11ABI_1     ? "1"
		: abi == WS_CXX11ABI_MIXED ? "mixed"
								   : NULL;
}

static void
write_measured(struct ws_json_writer *w, const struct judging *j)
{
	const struct ws_floor *floor = &j->measured.floor;
	ws_json_open_object(w, "measured");
	if (j->measured.count > 0) {
		ws_json_add_text(w, "platform", ws_floor_tag(floor));
		ws_json_add_text(w, "glibc", floor->asked[WS_FLOOR_GLIBC].text);
		ws_json_add_text(w, "glibcxx", floor->asked[WS_FLOOR_GLIBCXX].text);
		ws_json_add_text(w, "cxx11abi", abi_text(j->measured.cxx11abi));
	}
	ws_json_open_list(w, "gpu_code");
	for (size_t i = 0; i < j->measured.count; i++) {
		const struct ws_module_verdict *m = &j->measured.modules[i];
		if (m->gpu.image_count > 0) {
			ws_json_open_object(w, NULL);
			ws_json_add_text(w, "module", m->module->name);
			ws_json_add_text(w, "archs", ws_arch_set_text(&m->gpu.archs, j->a));
			ws_json_add_text(w, "ptx_only", ws_arch_set_text(&m->gpu.ptx_only, j->a));
			ws_json_add_text(w, "driver", m->gpu.driver);
			ws_json_close(w);
		}
	}
	ws_json_close(w);
	ws_json_close(w);
}

static bool
write_all(const struct judging *j, const struct outcome *outcomes, size_t count, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	const struct outcome *worst = &outcomes[0];
	for (size_t i = 1; i < count; i++) {
		worst = outcomes[i].verdict > worst->verdict ? &outcomes[i] : worst;
	}
	const struct ws_json *place = ws_json_find(j->order.root, "places")->first;
	struct ws_json_writer *w = ws_json_begin();
	ws_json_open_object(w, NULL);
	write_verdict(w, worst->verdict, worst->decisive);
	ws_json_add_text(w, "wheel", ws_json_text(j->order.root, "name"));
	write_measured(w, j);
	ws_json_open_list(w, "places");
	for (size_t i = 0; i < count; i++, place = place->next) {
		write_place(w, place, &outcomes[i]);
	}
	ws_json_close(w);
	ws_json_close(w);
	ws_json_finish(w, WS_JSON_PRETTY, &text);
	return ws_fs_write(WS_WHEEL_VERDICT, text.data, text.len, 0644, err);
}

bool
ws_judge_wheel_run(struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct judging j = {.a = a, .wheel.file.fd = -1};
	bool fine =
		ws_json_read("order.json", WS_JSON_STRICT, a, &j.order, err) && open_subject(&j, err);
	const struct ws_json *places = fine ? ws_json_find(j.order.root, "places") : NULL;
	struct outcome *outcomes = WS_NEW_N(a, struct outcome, places ? places->count : 0);
	size_t done = 0;
	for (const struct ws_json *p = places ? places->first : NULL; p && fine; p = p->next) {
		fine = judge_in(&j, p, &outcomes[done++], err);
	}
	fine = fine && write_all(&j, outcomes, done, err);
	ws_modules_close(&j.modules);
	ws_opened_wheel_close(&j.wheel);
	return fine;
}
