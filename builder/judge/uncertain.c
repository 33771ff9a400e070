/* uncertain.c - modules that do not load, and that the package may never load
 *
 * No check runs the package, so it is unknown which libraries it loads besides those that Python
 * imports. A wheel does not fail because of these modules alone:
 * 1. a library that another module loads (both are judged together);
 * 2. a module whose name differs from others by numbers (libx_cuda118.so, libx_cuda128.so;
 *    pg_2_11_0 for torch 2.11.0): the package chooses one;
 * 3. a module that needs the library of a second package;
 * 4. a module whose library may be in a wheel that METADATA requires. */
#include "base/fs.h"
#include "judge/verdict.h"
#include "wheelfile/dist_info.h"

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
			if (sibling->verdict == WS_VERDICT_FAILS
				&& ws_same(sibling->symbols.module, absent->sibling->module)) {
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

/* One module beside the others. */
struct others {
	bool loader;        /* one that loads loads this module */
	const char *choice; /* one that loads, and whose name differs by numbers; NULL: none */
	bool several;       /* one for the same Python differs by numbers: "pg_2_11_0", "pg_2_12_0" */
	bool more;          /* one loads that is not a copy of a system library */
};

static struct others
compare_others(const struct ws_verdict *v, size_t i)
{
	struct others o = {0};
	const char *name = v->modules[i].module->name, *base = ws_path_base(name);
	for (size_t k = 0; k < v->count; k++) {
		const struct ws_module_verdict *other = &v->modules[k];
		const char *its_name = other->module->name, *its_base = ws_path_base(its_name);
		bool alike = are_alike(its_name, name), loads = other->verdict == WS_VERDICT_OK;
		o.loader = o.loader || (k != i && loads && other->symbols.reaches[i]);
		o.choice = !o.choice && alike && loads ? its_name : o.choice;
		/* The suffix begins at the first dot: ".cpython-311-x86_64-linux-gnu.so". */
		o.several = o.several
			|| (k != i && alike
				&& ws_same(base + strcspn(base, "."), its_base + strcspn(its_base, ".")));
		o.more = o.more || (loads && !strstr(its_name, ".libs/"));
	}
	return o;
}

/* The reason why the wheel may not need the module; NULL: it needs the module. */
static const char *
find_doubt(const struct ws_verdict *v, size_t i, const struct others *others, const char *required,
	struct ws_arena *a)
{
	const struct ws_module_verdict *m = &v->modules[i];
	const struct ws_absent_library *lack = find_lack(v, m, 0);
	const char *name = m->module->name;
	if (lack && required && !lack->aside) {
		return ws_arena_printf(a,
			"%s needs the library '%s', which a wheel that METADATA requires may have: %s", name,
			lack->name, required);
	}
	if (!m->module->init && others->choice) {
		return ws_arena_printf(
			a, "%s does not load, and %s does; the package may use either", name, others->choice);
	}
	if (others->more && m->module->init && others->several) {
		return ws_arena_printf(a,
			"%s does not load, and others differ from it by a number only; the package may use "
			"another",
			name);
	}
	if (!others->more || !lack) {
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
		if (!modules[i].required || m->verdict == WS_VERDICT_OK) {
			continue;
		}
		struct others others = compare_others(verdict, i);
		if (!modules[i].init && others.loader) {
			modules[i].required = false;
			continue;
		}
		const char *doubt =
			m->verdict == WS_VERDICT_FAILS ? find_doubt(verdict, i, &others, required, a) : NULL;
		modules[i].required = !doubt;
		unknown->text = unknown->text ? unknown->text : doubt;
	}
}
