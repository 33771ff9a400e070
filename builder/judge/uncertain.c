/* uncertain.c - the four reasons, over the modules that fail. */
#include "judge/verify_child.h"

static bool
fails(const struct ws_module_verdict *m)
{
	return m->verdict == WS_VERDICT_FAILS;
}

static bool
loads(const struct ws_module_verdict *m)
{
	return m->verdict == WS_VERDICT_OK;
}

/* True if another module, which loads, loads this one. */
static bool
is_brought_along(const struct ws_verdict *v, size_t i)
{
	bool brought = false;
	for (size_t k = 0; k < v->count; k++) {
		const struct ws_module_verdict *other = &v->modules[k];
		brought = brought || (k != i && loads(other) && other->symbols.reaches[i]);
	}
	return brought;
}

/* True if the names differ by numbers only. */
static bool
are_alike(const char *x, const char *y)
{
	static const char digits[] = "0123456789";
	while (*x && *y) {
		size_t of_x = strspn(x, digits), of_y = strspn(y, digits);
		if ((of_x > 0) != (of_y > 0) || (of_x == 0 && *x != *y)) {
			return false;
		}
		x += of_x ? of_x : 1;
		y += of_y ? of_y : 1;
	}
	return *x == *y;
}

/* A module whose name differs by numbers, and that loads; NULL: none. */
static const char *
find_choice(const struct ws_verdict *v, size_t i)
{
	const char *found = NULL;
	for (size_t k = 0; k < v->count && !found; k++) {
		const struct ws_module_verdict *other = &v->modules[k];
		found = loads(other) && are_alike(other->module->name, v->modules[i].module->name)
			? other->module->name
			: NULL;
	}
	return found;
}

/* Where the suffix begins: ".cpython-311-x86_64-linux-gnu.so". */
static const char *
suffix_of(const char *name)
{
	const char *slash = strrchr(name, '/');
	const char *base = slash ? slash + 1 : name;
	return base + strcspn(base, ".");
}

/* True if another module for the same Python differs by numbers: "pg_2_11_0", "pg_2_12_0". */
static bool
is_one_of_several(const struct ws_verdict *v, size_t i)
{
	const char *name = v->modules[i].module->name;
	bool several = false;
	for (size_t k = 0; k < v->count; k++) {
		const char *other = v->modules[k].module->name;
		several = several
			|| (k != i && are_alike(other, name) && ws_same(suffix_of(other), suffix_of(name)));
	}
	return several;
}

#define DEEPEST 8 /* siblings that need siblings; they may go in circles */

/* The first library that is missing, if nothing else is wrong with the module and the libraries of
 * its wheel; a library that no known package has goes before one that torch has and does not load.
 * */
static const struct ws_absent_library *
find_lack(const struct ws_verdict *v, const struct ws_module_verdict *m, unsigned depth)
{
	const struct ws_absent_library *lack = NULL;
	bool only = depth < DEEPEST;
	for (size_t i = 0; only && i < m->symbols.absent_count; i++) {
		const struct ws_absent_library *absent = &m->symbols.absent[i];
		const struct ws_absent_library *found = absent->sibling || absent->brought ? NULL : absent;
		for (size_t k = 0; k < v->count && absent->sibling; k++) {
			const struct ws_module_verdict *sibling = &v->modules[k];
			if (fails(sibling) && ws_same(sibling->symbols.module, absent->sibling->module)) {
				found = find_lack(v, sibling, depth + 1);
				only = only && found;
			}
		}
		lack = !lack || (found && lack->aside && !found->aside) ? found : lack;
	}
	for (size_t i = 0; only && i < m->finding_count; i++) {
		const struct ws_finding *f = &m->findings[i];
		only = f->verdict != WS_VERDICT_FAILS || ws_same(f->cause, "library")
			|| ws_same(f->cause, "sibling");
	}
	for (size_t i = 0; only && i < m->symbols.missing_count; i++) {
		only = m->symbols.missing[i].verdict != WS_VERDICT_FAILS;
	}
	return only ? lack : NULL;
}

/* True if a module loads that is not a copy of a system library. */
static bool
has_more(const struct ws_verdict *v)
{
	bool more = false;
	for (size_t k = 0; k < v->count; k++) {
		more = more || (loads(&v->modules[k]) && !strstr(v->modules[k].module->name, ".libs/"));
	}
	return more;
}

/* "apache-tvm-ffi, cloudpickle": required wheels that may have libraries; NULL: none. */
static const char *
others_required(const struct ws_metadata_info *metadata, struct ws_arena *a)
{
	static const char *const bare[] = {"torch", "triton", "numpy", "packaging", "einops", "ninja",
		"typing-extensions", "setuptools", "tqdm"};
	WS_AUTO_BUF struct ws_buf text = {0};
	for (size_t i = 0; metadata && i < metadata->require_count; i++) {
		const struct ws_requirement *r = &metadata->requires[i];
		if (!r->marker && !ws_is_among(r->package, bare, WS_LEN(bare))) {
			ws_buf_printf(&text, "%s%s", text.len ? ", " : "", r->package);
		}
	}
	return text.len ? ws_buf_copy(&text, a) : NULL;
}

/* The reason why the wheel may not need the module; NULL: it needs the module. */
static const char *
find_doubt(const struct ws_verdict *v, size_t i, const char *required, struct ws_arena *a)
{
	const struct ws_module_verdict *m = &v->modules[i];
	const struct ws_absent_library *lack = find_lack(v, m, 0);
	const char *name = m->module->name;
	if (lack && required && !lack->aside) {
		return ws_arena_printf(a,
			"%s needs the library '%s', which a wheel that METADATA requires may have: %s", name,
			lack->name, required);
	}
	const char *choice = m->module->init ? NULL : find_choice(v, i);
	if (choice) {
		return ws_arena_printf(
			a, "%s does not load, and %s does; the package may use either", name, choice);
	}
	if (!has_more(v)) {
		return NULL;
	}
	if (m->module->init && is_one_of_several(v, i)) {
		return ws_arena_printf(a,
			"%s does not load, and others differ from it by a number only; the package may use "
			"another",
			name);
	}
	if (!lack) {
		return NULL;
	}
	return ws_arena_printf(a, "%s needs the library '%s', which %s", name, lack->name,
		lack->aside ? "torch brings and does not load; the package may load it first, or not use "
					  "this module"
					: "nothing provides; the package may not use this module");
}

void
ws_find_uncertain(const struct ws_verdict *verdict, struct ws_subject_module *modules,
	const struct ws_metadata_info *metadata, struct ws_arena *a, struct ws_finding *unknown)
{
	const char *required = others_required(metadata, a);
	*unknown = (struct ws_finding){.verdict = WS_VERDICT_UNKNOWN, .cause = "optional"};
	for (size_t i = 0; i < verdict->count; i++) {
		const struct ws_module_verdict *m = &verdict->modules[i];
		if (!modules[i].required || loads(m)) {
			continue;
		}
		if (!modules[i].init && is_brought_along(verdict, i)) {
			modules[i].required = false;
			continue;
		}
		const char *doubt = fails(m) ? find_doubt(verdict, i, required, a) : NULL;
		modules[i].required = !doubt;
		unknown->text = unknown->text ? unknown->text : doubt;
	}
}
