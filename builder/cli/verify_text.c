/* verify_text.c - pages of verdicts. */
#include "cli/verify_text.h"

#include "model/wheel_name.h"
#include "report/page.h"

#include <inttypes.h>

#define LIBRARY " needs the library '"
#define LAYOUTS "layouts of torch's classes were not compared"

static const char *
python_text(const struct ws_wheel_place_verdict *v, struct ws_arena *a)
{
	struct ws_python_tag tag;
	const char *text = v->json ? ws_json_text(v->json, "python") : NULL;
	return text && ws_python_tag_parse(text, &tag)
		? ws_arena_printf(a, ", Python %s", ws_python_version_text(&tag, a))
		: "";
}

static void
write_finding(struct ws_page *page, const struct ws_json *finding)
{
	const struct ws_json *evidence = ws_json_find(finding, "evidence");
	ws_page_label(page, ws_json_text(finding, "finding"));
	ws_page_line(page, WS_PAGE_PLAIN, "%s", ws_json_text(finding, "text"));
	for (const struct ws_json *e = evidence ? evidence->first : NULL; e; e = e->next) {
		ws_page_line(page, WS_PAGE_MORE, "%s", e->text);
	}
}

/* Whether @y is @x, "m needs the library 'libx.so.1', which ...", of another library. */
static bool
differs_by_library(const struct ws_json *x, const struct ws_json *y)
{
	const char *one = ws_json_text(x, "text"), *other = y ? ws_json_text(y, "text") : "";
	const char *name = strstr(one, LIBRARY);
	size_t head = name ? (size_t)(name - one) + strlen(LIBRARY) : 0;
	return y && name && ws_same(ws_json_text(x, "finding"), ws_json_text(y, "finding"))
		&& strncmp(one, other, head) == 0
		&& ws_same(strchr(one + head, '\''), strchr(other + head, '\''));
}

/* What a module lacks of libraries in one finding; returns the last that is in it. */
static const struct ws_json *
write_libraries(struct ws_page *page, const struct ws_json *first)
{
	WS_AUTO_BUF struct ws_buf names = {0};
	const struct ws_json *last = first;
	const char *text = ws_json_text(first, "text");
	size_t head = (size_t)(strstr(text, LIBRARY) - text), name = head + strlen(LIBRARY);
	size_t end = name + strcspn(text + name, "'");
	while (differs_by_library(first, last->next)) {
		last = last->next;
		const char *other = ws_json_text(last, "text") + name;
		ws_buf_printf(&names, "', '%.*s", (int)strcspn(other, "'"), other);
	}
	ws_page_label(page, ws_json_text(first, "finding"));
	ws_page_line(page, WS_PAGE_PLAIN, "%.*s needs the libraries '%.*s%s%s", (int)head, text,
		(int)(end - name), text + name, ws_buf_text(&names), text + end);
	return last;
}

/* The findings of one kind, but for one that "why" has said. */
static void
write_findings(struct ws_page *page, const struct ws_wheel_place_verdict *v, const char *kind)
{
	const struct ws_json *list = ws_json_find(v->json, "findings");
	for (const struct ws_json *f = list ? list->first : NULL; f; f = f->next) {
		if (!ws_same(ws_json_text(f, "finding"), kind) || !ws_json_text(f, "cause")) {
			continue;
		}
		const char *text = ws_json_text(f, "text");
		const struct ws_json *evidence = ws_json_find(f, "evidence");
		if (differs_by_library(f, f->next)) {
			f = write_libraries(page, f);
		} else if (!ws_same(text, v->why) || (evidence && evidence->first)) {
			write_finding(page, f);
		}
	}
}

/* Modules that find all of their names, and nothing else is to be said of it. */
static void
write_found(struct ws_page *page, const struct ws_wheel_place_verdict *v, bool of_torch)
{
	const struct ws_json *list = ws_json_find(v->json, "modules");
	uint64_t modules = 0, symbols = 0, of_one, trusted;
	for (const struct ws_json *m = list ? list->first : NULL; m; m = m->next) {
		const struct ws_json *missing = ws_json_find(m, "missing");
		if (missing && missing->count == 0 && ws_json_u64(m, "symbols", &of_one)
			&& ws_json_u64(m, "assumed", &trusted) && trusted == 0) {
			modules++;
			symbols += of_one;
		}
	}
	if (modules > 0) {
		ws_page_label(page, "ok");
		ws_page_line(page, WS_PAGE_PLAIN,
			"%" PRIu64 " of %zu modules find all of their %" PRIu64 " symbols%s", modules,
			list->count, symbols, of_torch ? "; " LAYOUTS : "");
	}
}

/* Modules on which the verdict does not depend, and that are not well. */
static void
write_others(struct ws_page *page, const struct ws_wheel_place_verdict *v)
{
	const struct ws_json *list = ws_json_find(v->json, "modules");
	ws_page_label(page, "others");
	for (const struct ws_json *m = list ? list->first : NULL; m; m = m->next) {
		const struct ws_json *required = ws_json_find(m, "required");
		if (required && !required->truth && !ws_same(ws_json_text(m, "verdict"), "loads")) {
			ws_page_line(
				page, WS_PAGE_PLAIN, "%s: %s", ws_json_text(m, "verdict"), ws_json_text(m, "why"));
		}
	}
}

void
ws_verify_text_place(const struct ws_out *out, const struct ws_judge_order *order,
	const struct ws_wheel_verdict *verdict, struct ws_arena *a)
{
	const struct ws_wheel_place_verdict *v = &verdict->places[0];
	const struct ws_wheel_place *place = &order->places[0];
	struct ws_page page = ws_page_begin(out, 0);
	ws_page_label(&page, ws_verdict_word(v->verdict));
	ws_page_line(&page, WS_PAGE_PLAIN, "%s", order->name);
	ws_page_line(&page, WS_PAGE_PLAIN, "in %s%s%s%s%s", place->torch ? "torch " : "no torch",
		place->torch ? place->torch : "", python_text(v, a), place->place.glibc ? ", glibc " : "",
		place->place.glibc ? place->place.glibc : "");
	if (v->why) {
		ws_page_label(&page, "why");
		ws_page_line(&page, WS_PAGE_PLAIN, "%s", v->why);
	}
	write_findings(&page, v, "fails");
	write_findings(&page, v, "excluded");
	write_findings(&page, v, "unknown");
	write_findings(&page, v, "ok");
	write_found(&page, v, place->torch != NULL);
	write_others(&page, v);
}

/* ---- the window ---- */

/* The evidence of the finding that decided: the first symbol. */
static const char *
first_evidence(const struct ws_wheel_place_verdict *v)
{
	const struct ws_json *list = ws_json_find(v->json, "findings");
	for (const struct ws_json *f = list ? list->first : NULL; f; f = f->next) {
		const struct ws_json *evidence = ws_json_find(f, "evidence");
		if (ws_same(ws_json_text(f, "text"), v->why) && evidence && evidence->first) {
			return evidence->first->text;
		}
	}
	return NULL;
}

static const char *
row_text(const struct ws_wheel_place_verdict *v, struct ws_arena *a)
{
	const char *symbol = first_evidence(v);
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
		a, "%s  %s", ws_verdict_word(v->verdict), named && symbol ? symbol : v->why);
}

static bool
finds_the_same(const struct ws_wheel_place_verdict *one, const struct ws_wheel_place_verdict *other)
{
	const struct ws_json *x = ws_json_find(one->json, "findings");
	const struct ws_json *y = ws_json_find(other->json, "findings");
	for (x = x ? x->first : NULL, y = y ? y->first : NULL;
		 x && y && ws_same(ws_json_text(x, "text"), ws_json_text(y, "text"));
		 x = x->next, y = y->next) {
	}
	return !x && !y;
}

void
ws_verify_text_window(const struct ws_out *out, const struct ws_judge_order *order,
	const struct ws_wheel_verdict *verdict, struct ws_arena *a)
{
	struct ws_page page = ws_page_begin(out, 0);
	/* A damaged file, or a file that is not a wheel, fails everywhere for one reason. */
	const struct ws_wheel_place_verdict *first = &verdict->places[0];
	bool alike = verdict->place_count > 1 && first->why;
	for (size_t i = 0; i < verdict->place_count; i++) {
		const struct ws_wheel_place_verdict *v = &verdict->places[i];
		alike = alike && v->verdict == WS_VERDICT_FAILS && ws_same(v->why, first->why)
			&& finds_the_same(v, first);
	}
	if (alike) {
		ws_page_label(&page, ws_verdict_word(first->verdict));
		ws_page_line(&page, WS_PAGE_PLAIN, "%s", order->name);
		ws_page_line(
			&page, WS_PAGE_PLAIN, "in each of the %zu torch releases", verdict->place_count);
		ws_page_label(&page, "why");
		ws_page_line(&page, WS_PAGE_PLAIN, "%s", first->why);
		write_findings(&page, first, "fails");
		return;
	}
	ws_page_label(&page, "wheel");
	ws_page_line(&page, WS_PAGE_PLAIN, "%s", order->name);
	for (size_t i = 0; i < verdict->place_count; i++) {
		ws_page_label(&page, order->places[i].torch);
		ws_page_line(&page, WS_PAGE_PLAIN, "%s", row_text(&verdict->places[i], a));
	}
	ws_page_label(&page, "");
	ws_page_line(&page, WS_PAGE_PLAIN, "%s", "\"loads\": all names agree; " LAYOUTS);
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

void
ws_verify_text_json(
	struct ws_json_writer *w, const char *wheel, const struct ws_wheel_verdict *verdict)
{
	if (verdict->json) {
		ws_json_add_copy(w, NULL, verdict->json);
		return;
	}
	ws_json_open_object(w, NULL);
	ws_json_add_text(w, "verdict", ws_verdict_word(verdict->verdict));
	ws_json_add_text(w, "why", verdict->why);
	ws_json_add_text(w, "cause", verdict->cause);
	ws_json_add_text(w, "wheel", wheel);
	ws_json_close(w);
}
