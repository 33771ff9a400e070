/* verdict.c - verdict.json, written and read. What is in it was decided in run.c and in verify/. */
#include "judge/verdict.h"

#include "base/fs.h"
#include "base/json.h"
#include "store/cas.h"

const char *
ws_verdict_word(enum ws_finding_verdict verdict)
{
	static const char *const words[] = {[WS_VERDICT_OK] = "loads",
		[WS_VERDICT_EXCLUDED] = "excluded",
		[WS_VERDICT_UNKNOWN] = "unknown",
		[WS_VERDICT_FAILS] = "fails"};
	return words[verdict];
}

/* ---- reading ---- */

static enum ws_finding_verdict
verdict_of(const struct ws_json *object)
{
	const char *word = ws_json_text(object, "verdict");
	return ws_same(word, "loads")   ? WS_VERDICT_OK
		: ws_same(word, "excluded") ? WS_VERDICT_EXCLUDED
		: ws_same(word, "fails")    ? WS_VERDICT_FAILS
									: WS_VERDICT_UNKNOWN;
}

void
ws_verdict_of(const struct ws_json *root, struct ws_arena *a, struct ws_wheel_verdict *verdict)
{
	const struct ws_json *list = ws_json_find(root, "places");
	struct ws_wheel_place_verdict *places =
		WS_NEW_N(a, struct ws_wheel_place_verdict, list ? list->count : 0);
	*verdict = (struct ws_wheel_verdict){.verdict = verdict_of(root),
		.why = ws_json_text(root, "why"),
		.cause = ws_json_text(root, "cause"),
		.places = places,
		.json = root};
	for (const struct ws_json *p = list ? list->first : NULL; p; p = p->next) {
		places[verdict->place_count++] = (struct ws_wheel_place_verdict){
			verdict_of(p), ws_json_text(p, "why"), ws_json_text(p, "cause"), p};
	}
}

bool
ws_verdict_recall(const struct ws_store *store, const char *digest, struct ws_arena *a,
	struct ws_wheel_verdict *verdict, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_json_doc doc;
	if (!ws_cas_read(store, digest, &text, err)
		|| !ws_json_parse(
			WS_VERDICT_FILE, ws_buf_text(&text), text.len, WS_JSON_STRICT, a, &doc, err)) {
		return false;
	}
	ws_verdict_of(doc.root, a, verdict);
	return true;
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
write_findings(struct ws_json_writer *w, const ws_finding_list *findings)
{
	ws_json_open_list(w, "findings");
	for (size_t i = 0; i < findings->len; i++) {
		const struct ws_finding *f = &findings->at[i];
		ws_json_open_object(w, NULL);
		ws_json_add_text(w, "finding", ws_finding_word(f->verdict));
		ws_json_add_text(w, "cause", f->cause);
		ws_json_add_text(w, "text", f->text);
		ws_json_add_texts(w, "evidence", f->evidence, f->evidence_count);
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
write_place(struct ws_json_writer *w, const struct ws_judge_outcome *o)
{
	ws_json_open_object(w, NULL);
	write_verdict(w, o->verdict, o->decisive);
	ws_json_add_text(w, "torch", ws_json_text(o->place, "torch"));
	ws_json_add_text(w, "python", o->python);
	write_findings(w, &o->findings);
	ws_json_open_list(w, "modules");
	for (size_t i = 0; i < o->judged.count; i++) {
		write_module(w, &o->judged.modules[i]);
	}
	ws_json_close(w);
	ws_json_close(w);
}

/* ---- what was measured ---- */

static const char *
abi_text(enum ws_cxx11abi abi)
{
	return abi == WS_CXX11ABI_0    ? "0"
		: abi == WS_CXX11ABI_1     ? "1"
		: abi == WS_CXX11ABI_MIXED ? "mixed"
								   : NULL;
}

static void
write_gpu_code(struct ws_json_writer *w, const struct ws_verdict *measured, struct ws_arena *a)
{
	ws_json_open_list(w, "gpu_code");
	for (size_t i = 0; i < measured->count; i++) {
		const struct ws_module_verdict *m = &measured->modules[i];
		if (m->gpu.image_count > 0) {
			ws_json_open_object(w, NULL);
			ws_json_add_text(w, "module", m->module->name);
			ws_json_add_text(w, "archs", ws_arch_set_text(&m->gpu.archs, a));
			ws_json_add_text(w, "ptx_only", ws_arch_set_text(&m->gpu.ptx_only, a));
			ws_json_add_text(w, "driver", m->gpu.driver);
			ws_json_close(w);
		}
	}
	ws_json_close(w);
}

/* Those of ours that have kernels have code for the same archs. */
static const char *
archs_text(const struct ws_verdict *measured, struct ws_arena *a)
{
	const struct ws_arch_set *archs = NULL;
	for (size_t i = 0; i < measured->count; i++) {
		const struct ws_arch_set *own = &measured->modules[i].gpu.archs;
		archs = own->count ? own : archs;
	}
	return archs ? ws_arch_set_text(archs, a) : NULL;
}

/* Modules of ours, as their wheel tells of them. */
static void
write_own_modules(struct ws_json_writer *w, const struct ws_verdict *measured)
{
	ws_json_open_list(w, "modules");
	for (size_t i = 0; i < measured->count; i++) {
		const struct ws_module_verdict *m = &measured->modules[i];
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
	ws_json_close(w);
}

/* The floor of the place that asks the most of a system: another torch brings other libraries. */
static const struct ws_floor *
highest_floor(const struct ws_judge_outcome *outcomes, size_t count)
{
	const struct ws_floor *highest = NULL;
	for (size_t i = 0; i < count; i++) {
		const struct ws_verdict *judged = &outcomes[i].judged;
		bool more = judged->count > 0 && !(highest && judged->floor.policy <= highest->policy);
		highest = more ? &judged->floor : highest;
	}
	return highest;
}

/* All but the floor in the first place that was judged: the files are the same in all of them. */
static void
write_measured(struct ws_json_writer *w, const struct ws_json *order,
	const struct ws_judge_outcome *outcomes, size_t count, struct ws_arena *a)
{
	const struct ws_verdict *measured = &outcomes[0].judged;
	for (size_t i = 1; i < count && measured->count == 0; i++) {
		measured = &outcomes[i].judged;
	}
	const struct ws_floor *floor = highest_floor(outcomes, count);
	bool ours = ws_json_find(order, "modules");
	ws_json_open_object(w, "measured");
	if (measured->count > 0) {
		ws_json_add_text(w, "platform", ws_floor_tag(floor));
		ws_json_add_text(w, "glibc", floor->asked[WS_FLOOR_GLIBC].text);
		ws_json_add_text(w, "glibcxx", floor->asked[WS_FLOOR_GLIBCXX].text);
		if (ours) {
			ws_json_add_text(w, "archs", archs_text(measured, a));
		}
		ws_json_add_text(w, "cxx11abi", abi_text(measured->cxx11abi));
	}
	if (ours) {
		write_own_modules(w, measured);
	} else {
		write_gpu_code(w, measured, a);
	}
	ws_json_close(w);
}

bool
ws_verdict_write(const struct ws_json *order, const struct ws_judge_outcome *outcomes, size_t count,
	struct ws_arena *a, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	const struct ws_judge_outcome *worst = &outcomes[0];
	for (size_t i = 1; i < count; i++) {
		worst = outcomes[i].verdict > worst->verdict ? &outcomes[i] : worst;
	}
	struct ws_json_writer *w = ws_json_begin();
	ws_json_open_object(w, NULL);
	write_verdict(w, worst->verdict, worst->decisive);
	ws_json_add_text(w, "wheel", ws_json_text(order, "name"));
	write_measured(w, order, outcomes, count, a);
	ws_json_open_list(w, "places");
	for (size_t i = 0; i < count; i++) {
		write_place(w, &outcomes[i]);
	}
	ws_json_finish(w, WS_JSON_PRETTY, &text);
	return ws_fs_write(WS_VERDICT_FILE, text.data, text.len, 0644, err);
}
