/* inspect_page.c - a label for each part, a line for each fact. What is wrong comes last. */
#include "cli/inspect_page.h"

#include "base/text.h"
#include "report/format.h"
#include "report/page.h"

#include <inttypes.h>

struct printing {
	struct ws_page page;
	struct ws_arena *a;
};

static void
label(struct printing *p, const char *text)
{
	ws_page_label(&p->page, text);
}

static uint64_t
number(const struct ws_json *object, const char *key)
{
	uint64_t value = 0;
	return ws_json_u64(object, key, &value) ? value : 0;
}

static const char *
size(const struct ws_json *object, const char *key, struct ws_arena *a)
{
	char words[WS_FORMAT_BYTES];
	return ws_arena_strdup(a, ws_format_size(number(object, key), words));
}

static bool
is(const struct ws_json *object, const char *key, const char *text)
{
	return ws_same(ws_json_text(object, key), text);
}

/* "a, b, c", the first @most of them. */
static const char *
joined(const struct ws_json *list, size_t most, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	size_t i = 0;
	for (const struct ws_json *item = list ? list->first : NULL; item && i < most;
		 item = item->next, i++) {
		ws_buf_printf(&text, "%s%s", i ? ", " : "", item->text);
	}
	if (list && list->count > i) {
		ws_buf_printf(&text, " and %zu more", list->count - i);
	}
	return ws_buf_copy(&text, a);
}

static size_t
length(const struct ws_json *object, const char *key)
{
	const struct ws_json *list = ws_json_find(object, key);
	return list ? list->count : 0;
}

/* ---- the wheel ---- */

static void
print_subject(struct printing *p, const struct ws_json *facts)
{
	const struct ws_json *zip = ws_json_find(facts, "zip");
	label(p, ws_json_text(facts, "kind"));
	ws_page_line(&p->page, WS_PAGE_PLAIN, "%s", ws_json_text(facts, "subject"));
	if (zip && number(zip, "entries") > 0) {
		ws_page_line(&p->page, WS_PAGE_PLAIN, "%s, %" PRIu64 " entries, %s unpacked",
			size(facts, "bytes", p->a), number(zip, "entries"), size(zip, "bytes", p->a));
	}
	if (zip && number(zip, "descriptors") > 0) {
		ws_page_line(&p->page, WS_PAGE_ADVICE,
			"%" PRIu64 " data descriptors, the first at '%s': some indexes refuse them",
			number(zip, "descriptors"), ws_json_text(zip, "first_descriptor"));
	}
	if (!ws_json_is_true(facts, "whole") && number(facts, "read_bytes") < number(facts, "bytes")) {
		ws_page_line(&p->page, WS_PAGE_ADVICE,
			"%s were read: no digest was recomputed, no library opened (--whole)",
			size(facts, "read_bytes", p->a));
	}
}

static void
print_names(struct printing *p, const struct ws_json *facts)
{
	const struct ws_json *name = ws_json_find(facts, "file_name");
	const struct ws_json *wheel = ws_json_find(facts, "wheel");
	const struct ws_json *metadata = ws_json_find(facts, "metadata");
	if (name) {
		label(p, "file name");
		ws_page_line(&p->page, WS_PAGE_PLAIN, "%s %s  %s  %s  %s", ws_json_text(name, "package"),
			ws_json_text(name, "version"), joined(ws_json_find(name, "python"), 8, p->a),
			joined(ws_json_find(name, "abi"), 8, p->a),
			joined(ws_json_find(name, "platform"), 8, p->a));
	}
	if (wheel) {
		const char *generator = ws_json_text(wheel, "generator");
		label(p, "WHEEL");
		ws_page_line(&p->page, WS_PAGE_PLAIN, "%s", joined(ws_json_find(wheel, "tags"), 8, p->a));
		ws_page_line(&p->page, WS_PAGE_PLAIN, "made by %s", generator ? generator : "?");
	}
	if (metadata) {
		const char *python = ws_json_text(metadata, "requires_python");
		label(p, "METADATA");
		ws_page_line(&p->page, WS_PAGE_PLAIN, "%s %s  Python %s", ws_json_text(metadata, "name"),
			ws_json_text(metadata, "version"), python ? python : "any");
		if (length(metadata, "requires") > 0) {
			ws_page_line(&p->page, WS_PAGE_PLAIN, "requires %s",
				joined(ws_json_find(metadata, "requires"), 12, p->a));
		}
	}
}

static void
print_record(struct printing *p, const struct ws_json *facts)
{
	const struct ws_json *record = ws_json_find(facts, "record");
	if (!record) {
		return;
	}
	label(p, "RECORD");
	if (ws_json_is_true(facts, "whole")) {
		ws_page_line(&p->page, WS_PAGE_PLAIN,
			"%" PRIu64 " lines, %" PRIu64 " digests recomputed and right", number(record, "lines"),
			number(record, "hashed"));
	} else {
		ws_page_line(&p->page, WS_PAGE_PLAIN, "%" PRIu64 " lines", number(record, "lines"));
	}
	if (number(record, "outside") > 0) {
		ws_page_line(&p->page, WS_PAGE_PLAIN,
			"%" PRIu64 " files outside of site-packages, not read", number(record, "outside"));
	}
}

/* ---- modules ---- */

static void
print_python(struct printing *p, const struct ws_json *module)
{
	const struct ws_json *python = ws_json_find(module, "python");
	const char *suffix = ws_json_text(python, "suffix");
	const char *named = suffix ? ws_arena_printf(p->a, ", named for %s", suffix) : "";
	if (is(python, "abi", "stable")) {
		ws_page_line(&p->page, WS_PAGE_PLAIN, "Python: stable ABI of %s%s",
			ws_json_text(python, "since"), named);
	} else if (is(python, "abi", "version")) {
		ws_page_line(&p->page, WS_PAGE_PLAIN,
			"Python: of one version%s; %zu of %" PRIu64 " names are not in the stable ABI", named,
			length(python, "outside"), number(python, "names"));
	} else {
		ws_page_line(&p->page, WS_PAGE_PLAIN, "Python: none%s", named);
	}
}

static void
print_torch(struct printing *p, const struct ws_json *module)
{
	const struct ws_json *torch = ws_json_find(module, "torch");
	const char *abi = ws_json_text(torch, "cxx11abi");
	const char *since = ws_json_text(torch, "since");
	const char *pybind = ws_json_text(torch, "pybind11");
	if (is(torch, "abi", "c++")) {
		ws_page_line(
			&p->page, WS_PAGE_PLAIN, "torch: C++ names, cxx11abi %s", abi ? abi : "unsaid");
	} else if (is(torch, "abi", "stable")) {
		ws_page_line(&p->page, WS_PAGE_PLAIN, "torch: stable ABI, %s",
			since ? ws_arena_printf(p->a, "%s or newer", since) : "newer than any that is known");
	}
	if (pybind) {
		ws_page_line(&p->page, WS_PAGE_PLAIN, "pybind11: %s", pybind);
	}
}

static void
print_system(struct printing *p, const struct ws_json *module)
{
	const struct ws_json *floor = ws_json_find(module, "floor");
	const char *rpath = ws_json_text(module, "rpath"), *runpath = ws_json_text(module, "runpath");
	const char *glibc = ws_json_text(floor, "glibc"), *platform = ws_json_text(floor, "platform");
	const char *cxx = ws_json_text(floor, "glibcxx"), *outside = ws_json_text(floor, "outside");
	ws_page_line(&p->page, WS_PAGE_PLAIN, "needs %s",
		length(module, "needed") ? joined(ws_json_find(module, "needed"), 30, p->a) : "no library");
	if (rpath || runpath) {
		ws_page_line(&p->page, WS_PAGE_PLAIN, "%s %s", runpath ? "RUNPATH" : "RPATH",
			runpath ? runpath : rpath);
	}
	if (platform) {
		ws_page_line(&p->page, WS_PAGE_PLAIN, "glibc %s%s: %s%s%s", glibc ? glibc : "any",
			cxx ? ws_arena_printf(p->a, ", GLIBCXX %s", cxx) : "", platform,
			outside ? ", for the sake of " : "", outside ? outside : "");
	}
}

static bool
is_alike(const struct ws_json *x, const struct ws_json *y)
{
	static const char *const keys[] = {"section", "arch", "kind", "ptx_isa"};
	bool alike = true;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		alike = alike && is(x, keys[i], ws_json_text(y, keys[i]));
	}
	return alike;
}

/* A line for each architecture and kind, however its images are compressed. */
static void
print_gpu_code(struct printing *p, const struct ws_json *module)
{
	const struct ws_json *list = ws_json_find(module, "gpu_code");
	const char *refused = ws_json_text(module, "gpu_code_refused");
	uint64_t images = 0, stored = 0, raw = 0;
	for (const struct ws_json *image = list ? list->first : NULL; image; image = image->next) {
		const char *isa = ws_json_text(image, "ptx_isa");
		char packed[WS_FORMAT_BYTES], unpacked[WS_FORMAT_BYTES];
		images += number(image, "images");
		stored += number(image, "stored_bytes");
		raw += number(image, "bytes");
		if (image->next && is_alike(image, image->next)) {
			continue;
		}
		ws_page_line(&p->page, WS_PAGE_PLAIN, "GPU %s %s%s%s, %" PRIu64 " images, %s of %s%s",
			ws_json_text(image, "arch"), ws_json_text(image, "kind"), isa ? " ISA " : "",
			isa ? isa : "", images, ws_format_size(stored, packed), ws_format_size(raw, unpacked),
			is(image, "section", ".nv_fatbin") ? "" : ", not linked");
		images = stored = raw = 0;
	}
	if (refused) {
		ws_page_line(&p->page, WS_PAGE_ADVICE, "%s", refused);
	}
}

static void
print_module(struct printing *p, const struct ws_json *module)
{
	const char *machine = ws_json_text(module, "machine");
	const char *refused = ws_json_text(module, "refused");
	label(p, "module");
	ws_page_line(&p->page, WS_PAGE_PLAIN, "%s", ws_json_text(module, "name"));
	ws_page_line(&p->page, WS_PAGE_PLAIN, "%s, %s", machine ? machine : "not a library",
		size(module, "bytes", p->a));
	if (refused) {
		ws_page_line(&p->page, WS_PAGE_ADVICE, "%s", refused);
		return;
	}
	print_system(p, module);
	print_torch(p, module);
	print_python(p, module);
	print_gpu_code(p, module);
	const char *cpu = ws_json_text(module, "cpu");
	if (cpu) {
		ws_page_line(&p->page, WS_PAGE_ADVICE,
			"code for CPUs with %s, and nothing asks whether this one has it: on others it ends "
			"with "
			"SIGILL (-march=native?)",
			cpu);
	}
	if (length(module, "build_paths") > 0) {
		ws_page_line(&p->page, WS_PAGE_ADVICE, "paths of the machine that built it: %s",
			joined(ws_json_find(module, "build_paths"), 1, p->a));
	}
}

/* ---- all of it ---- */

static void
print_problems(struct printing *p, const struct ws_json *facts)
{
	const struct ws_json *list = ws_json_find(facts, "problems");
	uint64_t count = number(facts, "problem_count");
	label(p, "verdict");
	ws_page_line(&p->page, WS_PAGE_PLAIN, "%s",
		count == 0 && !ws_json_is_true(facts, "whole") ? "sound, as far as it was read"
			: count == 0                               ? "sound: nothing is wrong with it by itself"
			: count == 1                               ? "wrong"
						 : ws_arena_printf(p->a, "wrong in %" PRIu64 " ways", count));
	for (const struct ws_json *item = list ? list->first : NULL; item; item = item->next) {
		ws_page_line(&p->page, WS_PAGE_WRONG, "%s: %s", ws_json_text(item, "about"),
			ws_json_text(item, "text"));
	}
	if (list && count > list->count) {
		ws_page_line(&p->page, WS_PAGE_WRONG, "and %" PRIu64 " more", count - list->count);
	}
}

void
ws_inspect_page_print(const struct ws_json *facts, const struct ws_out *out)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct printing p = {ws_page_begin(out, 0), a};
	const struct ws_json *modules = ws_json_find(facts, "modules");
	const char *platform = ws_json_text(facts, "platform");
	print_subject(&p, facts);
	print_names(&p, facts);
	print_record(&p, facts);
	if (platform && !is(facts, "kind", "library")) {
		label(&p, "platform");
		ws_page_line(&p.page, WS_PAGE_PLAIN, "%s is what its modules allow", platform);
	}
	for (const struct ws_json *m = modules ? modules->first : NULL; m; m = m->next) {
		print_module(&p, m);
	}
	print_problems(&p, facts);
}
