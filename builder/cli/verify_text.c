/* verify_text.c - pages of verdicts. */
#include "cli/verify_text.h"

#include "report/page.h"

#define LIBRARY " needs the library '"
#define LAYOUTS "layouts of torch's classes were not compared"

/* The length of "m needs the library '" when @y differs from @x, "m needs the library 'libx.so.1',
 * which ...", by the library alone; else 0. */
static size_t
library_at(const struct ws_finding *x, const struct ws_finding *y)
{
	const char *name = strstr(x->text, LIBRARY);
	size_t head = name ? (size_t)(name - x->text) + strlen(LIBRARY) : 0;
	bool alike = name && x->verdict == y->verdict && strncmp(x->text, y->text, head) == 0
		&& ws_same(strchr(x->text + head, '\''), strchr(y->text + head, '\''));
	return alike ? head : 0;
}

/* The findings of one verdict, except one that is shown as "why" and has no evidence. */
static void
write_findings(
	struct ws_page *page, const struct ws_wheel_place_verdict *v, enum ws_finding_verdict verdict)
{
	for (size_t i = 0; i < v->finding_count; i++) {
		const struct ws_finding *f = &v->findings[i];
		if (f->verdict != verdict || !f->cause) {
			continue;
		}
		if (i + 1 < v->finding_count && library_at(f, f + 1)) {
			/* The libraries that one module lacks are one finding. */
			WS_AUTO_BUF struct ws_buf names = {0};
			const struct ws_finding *first = &v->findings[i];
			size_t head = library_at(first, first + 1),
				   end = head + strcspn(first->text + head, "'");
			while (i + 1 < v->finding_count && library_at(first, &v->findings[i + 1])) {
				const char *name = v->findings[++i].text + head;
				ws_buf_printf(&names, "', '%.*s", (int)strcspn(name, "'"), name);
			}
			ws_page_row(page, ws_finding_words[first->verdict],
				"%.*s needs the libraries '%.*s%s%s", (int)(head - strlen(LIBRARY)), first->text,
				(int)(end - head), first->text + head, ws_buf_text(&names), first->text + end);
		} else if (!ws_same(f->text, v->why) || f->evidence_count > 0) {
			ws_page_row(page, ws_finding_words[f->verdict], "%s", f->text);
			for (size_t k = 0; k < f->evidence_count; k++) {
				ws_page_line(page, WS_PAGE_MORE, "%s", f->evidence[k]);
			}
		}
	}
}

void
ws_verify_text_place(const struct ws_out *out, const struct ws_judge_order *order,
	const struct ws_wheel_verdict *verdict, struct ws_arena *a)
{
	const struct ws_wheel_place_verdict *v = &verdict->places[0];
	const struct ws_wheel_place *place = &order->places[0];
	struct ws_page page = ws_page_begin(out);
	struct ws_python_tag tag;
	const char *python = v->python && ws_python_tag_parse(v->python, &tag)
		? ws_arena_printf(a, ", Python %s", ws_python_version_text(&tag, a))
		: "";
	ws_page_row(&page, ws_verdict_words[v->verdict], "%s", order->name);
	ws_page_line(&page, WS_PAGE_PLAIN, "in %s%s%s%s%s", place->torch ? "torch " : "no torch",
		place->torch ? place->torch : "", python, place->place.glibc ? ", glibc " : "",
		place->place.glibc ? place->place.glibc : "");
	if (v->why) {
		ws_page_row(&page, "why", "%s", v->why);
	}
	write_findings(&page, v, WS_VERDICT_FAILS);
	write_findings(&page, v, WS_VERDICT_EXCLUDED);
	write_findings(&page, v, WS_VERDICT_UNKNOWN);
	write_findings(&page, v, WS_VERDICT_OK);
	/* Modules whose symbols were all found in libraries that were read. */
	size_t modules = 0, symbols = 0;
	for (size_t i = 0; i < v->module_count; i++) {
		const struct ws_wheel_module_verdict *m = &v->modules[i];
		bool found = m->missing_count == 0 && m->assumed == 0;
		modules += found;
		symbols += found ? m->symbols : 0;
	}
	if (modules > 0) {
		ws_page_row(&page, "ok", "%zu of %zu modules find all of their %zu symbols%s", modules,
			v->module_count, symbols, v->torch ? "; " LAYOUTS : "");
	}
	/* Modules on which the verdict does not depend, and that do not load. */
	ws_page_label(&page, "others");
	for (size_t i = 0; i < v->module_count; i++) {
		const struct ws_wheel_module_verdict *m = &v->modules[i];
		if (!m->required && m->verdict != WS_VERDICT_OK) {
			ws_page_line(&page, WS_PAGE_PLAIN, "%s: %s", ws_verdict_words[m->verdict], m->why);
		}
	}
}

/* ---- the window ---- */

static const char *
row_text(const struct ws_wheel_place_verdict *v, struct ws_arena *a)
{
	const struct ws_finding *decisive = ws_place_decisive(v);
	const char *symbol = decisive && decisive->evidence_count > 0 ? decisive->evidence[0] : NULL;
	if (v->verdict == WS_VERDICT_OK) {
		return "loads";
	}
	if (ws_same(v->cause, "tags") || ws_same(v->cause, "no-python")) {
		return "not for this Python";
	}
	if (ws_same(v->cause, "cxx11abi")) {
		return ws_arena_printf(a, "fails  other cxx11abi: %s", symbol ? symbol : v->why);
	}
	bool named = ws_same(v->cause, "torch") || ws_same(v->cause, "symbol");
	return ws_arena_printf(
		a, "%s  %s", ws_verdict_words[v->verdict], named && symbol ? symbol : v->why);
}

void
ws_verify_text_window(const struct ws_out *out, const struct ws_judge_order *order,
	const struct ws_wheel_verdict *verdict, struct ws_arena *a)
{
	struct ws_page page = ws_page_begin(out);
	/* A damaged file, or a file that is not a wheel, fails everywhere for one reason. */
	const struct ws_wheel_place_verdict *first = &verdict->places[0];
	bool alike = verdict->place_count > 1 && first->why;
	for (size_t i = 0; i < verdict->place_count; i++) {
		const struct ws_wheel_place_verdict *v = &verdict->places[i];
		alike = alike && v->verdict == WS_VERDICT_FAILS && ws_same(v->why, first->why)
			&& v->finding_count == first->finding_count;
		for (size_t k = 0; alike && k < v->finding_count; k++) {
			alike = ws_same(v->findings[k].text, first->findings[k].text);
		}
	}
	if (alike) {
		ws_page_row(&page, ws_verdict_words[first->verdict], "%s", order->name);
		ws_page_line(
			&page, WS_PAGE_PLAIN, "in each of the %zu torch releases", verdict->place_count);
		ws_page_row(&page, "why", "%s", first->why);
		write_findings(&page, first, WS_VERDICT_FAILS);
		return;
	}
	ws_page_row(&page, "wheel", "%s", order->name);
	for (size_t i = 0; i < verdict->place_count; i++) {
		ws_page_row(&page, order->places[i].torch, "%s", row_text(&verdict->places[i], a));
	}
	ws_page_row(&page, "", "%s", "\"loads\": all names agree; " LAYOUTS);
}

enum ws_finding_verdict
ws_verify_text_best(const struct ws_wheel_verdict *verdict)
{
	enum ws_finding_verdict best = WS_VERDICT_FAILS;
	for (size_t i = 0; i < verdict->place_count; i++) {
		best = verdict->places[i].verdict < best ? verdict->places[i].verdict : best;
	}
	return best;
}
