/* verify_child.c - the child that judges: opens the files of the order once and judges them in each
 * place. A wheel that cannot be read gets a verdict, too. */
#include "judge/verify_child.h"

#include "base/fs.h"
#include "sys/child.h"
#include "wheelfile/label_check.h"
#include "wheelfile/modules.h"
#include "wheelfile/record_check.h"

struct judging {
	struct ws_arena *a;
	struct ws_judge_order order;
	struct ws_opened_wheel wheel;
	struct ws_modules modules;
	struct ws_subject subject;      /* the modules that could be opened */
	struct ws_subject_module *made; /* them */
	struct ws_wheel_name name;      /* when has_name */
	struct ws_dist_info info;       /* when has_info: of the wheel */
	bool has_name, has_info;
	WS_VEC(struct ws_finding) findings; /* about the wheel, in every place */
};

static void
find(struct judging *j, enum ws_finding_verdict verdict, const char *cause, const char *text)
{
	*ws_vec_push(&j->findings, j->a) = (struct ws_finding){
		.verdict = verdict, .cause = cause, .text = ws_arena_strdup(j->a, text)};
}

static void
add(struct judging *j, struct ws_judge_outcome *o, enum ws_finding_verdict verdict,
	const char *cause, const char *text)
{
	*ws_vec_push(&o->findings, j->a) =
		(struct ws_finding){.verdict = verdict, .cause = cause, .text = text};
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

static bool
is_of_torch(const struct ws_elf *elf)
{
	for (size_t i = 0; i < elf->needed_count; i++) {
		if (ws_starts_with(elf->needed[i], "libtorch")
			|| ws_starts_with(elf->needed[i], "libc10")) {
			return true;
		}
	}
	return false;
}

/* The modules that could be opened, with what is known of each. */
static void
make_subject(struct judging *j)
{
	j->made = WS_NEW_N(j->a, struct ws_subject_module, j->modules.count);
	for (size_t i = 0; i < j->modules.count; i++) {
		const struct ws_module *m = &j->modules.modules[i];
		if (m->elf) {
			/* torch loads libraries, too, that are named so: torch.ops.load_library. */
			bool promised = m->python && !m->exports_init && !is_of_torch(m->elf);
			j->made[j->subject.count++] = (struct ws_subject_module){.name = m->name,
				.place = m->name,
				.elf = m->elf,
				.promised = promised ? m->init : NULL};
		}
	}
	j->subject.modules = j->made;
	j->subject.installed = true;
}

/* True if the Python of that place imports this file. */
static bool
opens_in(const struct ws_module *m, const struct ws_load_place *place)
{
	return ws_module_opens_in(m->name, place->python, place->machine);
}

/* True if this Python opens @m for that import name. */
static bool
opens(const struct judging *j, const struct ws_module *m, const struct ws_load_place *place,
	const char *import)
{
	return opens_in(m, place) && ws_same(import_name(m->name, j->a), import);
}

static bool
is_required(const struct judging *j, const struct ws_module *m)
{
	return ws_is_among(import_name(m->name, j->a), j->order.required, j->order.required_count);
}

static bool
is_for_another(const struct ws_module *m, const struct ws_load_place *place)
{
	return m->python && !opens_in(m, place);
}

/* Modules that the recipe imports in this Python decide; if there are none (false), all modules
 * except those for other Pythons. */
static bool
select_modules(struct judging *j, const struct ws_load_place *place, struct ws_judge_outcome *o)
{
	const struct ws_module *other = NULL;
	bool any = false, own = false;
	for (size_t i = 0; i < j->modules.count; i++) {
		const struct ws_module *m = &j->modules.modules[i];
		bool another = is_for_another(m, place);
		own = own || (m->python && !another);
		other = another && !other ? m : other;
		any = any || (opens_in(m, place) && is_required(j, m));
	}
	if (other && !own && !any) {
		add(j, o, WS_VERDICT_FAILS, "module",
			ws_arena_printf(j->a, "it has modules for other Pythons than %s only: '%s'",
				place->python, other->name));
	}
	for (size_t i = 0, k = 0; i < j->modules.count; i++) {
		const struct ws_module *m = &j->modules.modules[i];
		bool needed = opens_in(m, place) && is_required(j, m);
		bool decides = any ? needed : !is_for_another(m, place) || !own;
		if (m->elf) {
			j->made[k].required = decides;
			j->made[k++].init = needed || m->exports_init ? m->init : NULL;
		} else if (decides) {
			add(j, o, WS_VERDICT_FAILS, "unreadable", m->refused);
		}
	}
	return any;
}

/* "'m'", or "'m', but 'm.cpython-312-x86_64-linux-gnu.so' for another Python". */
static const char *
word_lack(const struct judging *j, const char *import, const char *python)
{
	for (size_t i = 0; i < j->modules.count; i++) {
		const struct ws_module *m = &j->modules.modules[i];
		if (ws_same(import_name(m->name, j->a), import)) {
			return ws_arena_printf(j->a, "no module '%s' that %s opens, but '%s'", import,
				python ? python : "Python", m->name);
		}
	}
	return ws_arena_printf(j->a, "no module '%s'", import);
}

static void
add_lack(struct judging *j, struct ws_judge_outcome *o, const char *import, const char *python)
{
	add(j, o, WS_VERDICT_FAILS, "module",
		ws_arena_printf(j->a, "it has %s, which its recipe imports", word_lack(j, import, python)));
}

/* Is it a module that this Python opens, in the package of that import name? */
static bool
is_part_of(const struct judging *j, const struct ws_module *m, const struct ws_load_place *place,
	const char *import)
{
	const char *name = import_name(m->name, j->a);
	return opens_in(m, place) && ws_starts_with(name, import) && name[strlen(import)] == '.';
}

/* Modules that the wheel must have are there; of a package that is imported, one is enough. */
static void
judge_modules(struct judging *j, const struct ws_load_place *place, struct ws_judge_outcome *o)
{
	const struct ws_judge_order *order = &j->order;
	bool one = order->must_any && order->required_count > 0;
	for (size_t r = 0; r < order->required_count; r++) {
		const char *import = order->required[r];
		bool found = false;
		for (size_t i = 0; i < j->modules.count; i++) {
			const struct ws_module *m = &j->modules.modules[i];
			found = found || opens(j, m, place, import);
			one = one && !is_part_of(j, m, place, import);
		}
		if (!found && ws_is_among(import, order->must, order->must_count)) {
			add_lack(j, o, import, place->python);
		}
		one = one && !found;
	}
	if (one) {
		add_lack(j, o, order->required[0], place->python);
	}
}

static void
judge_kernels(struct judging *j, struct ws_judge_outcome *o)
{
	size_t images = 0;
	for (size_t i = 0; i < o->judged.count; i++) {
		images += o->judged.modules[i].gpu.image_count;
	}
	if (j->order.kernels && o->judged.count > 0 && images == 0) {
		add(j, o, WS_VERDICT_FAILS, "gpu",
			"no module of it has GPU code; its recipe compiles kernels");
	}
}

/* A damaged wheel is a finding, because no installer accepts it. */
static bool
report_damage(struct judging *j, struct ws_err *err)
{
	if (err->kind != WS_ERR_FETCH) {
		return false;
	}
	find(j, WS_VERDICT_FAILS, "damaged", err->text);
	return true;
}

/* Compares the wheel's METADATA and WHEEL with its file name. */
static bool
read_labels(struct judging *j, struct ws_err *err)
{
	if (!ws_dist_info_read(&j->wheel.zip, j->a, &j->info, err)) {
		return false;
	}
	j->has_info = true;
	const char *why = j->has_name ? ws_label_check_name(&j->name, &j->info, j->a) : NULL;
	if (why) {
		find(j, WS_VERDICT_FAILS, "label", why);
	}
	const char *replaced = ws_label_check_files(&j->info.metadata, &j->wheel.zip, j->a);
	if (replaced) {
		find(j, WS_VERDICT_FAILS, "replaces", replaced);
	}
	const char *other = j->has_name ? ws_label_check_tags(&j->name, &j->info, j->a) : NULL;
	if (other) {
		find(j, WS_VERDICT_OK, "label", other);
	}
	return true;
}

/* For modules that are unpacked. */
static const char *
make_folder(struct ws_arena *a, struct ws_err *err)
{
	const char *folder = ws_path_join(a, getcwd((char[4096]){0}, 4096), "modules", NULL);
	return ws_fs_mkdirs(folder, err) ? folder : NULL;
}

static bool
open_wheel(struct judging *j, const char *path, struct ws_err *err)
{
	const char *name = j->order.name, *why;
	j->has_name = ws_wheel_name_parse(name ? name : "", j->a, &j->name, &why);
	if (name && !j->has_name) {
		find(j, WS_VERDICT_FAILS, "tags", ws_arena_printf(j->a, "'%s': %s", name, why));
	}
	const char *folder = make_folder(j->a, err);
	if (!folder) {
		return false;
	}
	if (!ws_opened_wheel_read(path, name ? name : path, j->a, &j->wheel, err)
		|| !read_labels(j, err) || !ws_modules_take(&j->wheel, folder, j->a, &j->modules, err)
		|| !ws_record_held(
			&j->wheel.zip, ws_buf_str(&j->wheel.record), ws_module_is_named, j->a, &why, err)) {
		return report_damage(j, err);
	}
	if (why) {
		find(j, WS_VERDICT_UNKNOWN, "damaged",
			ws_arena_printf(j->a, "it was changed after it was packed: %s", why));
	}
	return true;
}

/* "PyInit_c" of "a.b.c". */
static const char *
init_of(const char *module, struct ws_arena *a)
{
	const char *dot = strrchr(module, '.');
	return ws_arena_printf(a, "PyInit_%s", dot ? dot + 1 : module);
}

/* "a/b/c" of "a.b.c": its folder tells where run paths start. */
static const char *
place_of(const char *module, struct ws_arena *a)
{
	char *text = ws_arena_strdup(a, module);
	for (char *c = text; *c; c++) {
		*c = *c == '.' ? '/' : *c;
	}
	return text;
}

/* The order is about our own modules, which were just linked. */
static bool
is_own(const struct judging *j)
{
	return j->order.module_count > 0;
}

static bool
open_own(struct judging *j, struct ws_err *err)
{
	struct ws_subject_module *made =
		WS_NEW_N(j->a, struct ws_subject_module, j->order.module_count);
	j->subject.modules = made;
	for (size_t i = 0; i < j->order.module_count; i++) {
		const struct ws_judge_module *module = &j->order.modules[i];
		const char *name = module->module;
		made[i] = (struct ws_subject_module){.name = name,
			.place = place_of(name, j->a),
			.elf = ws_elf_open_as(ws_arena_printf(j->a, "mod/%zu.so", i), name, false, j->a, err),
			.required = true,
			.init = module->imported ? init_of(name, j->a) : NULL};
		if (!made[i].elf) {
			return false;
		}
		j->subject.count++;
	}
	return true;
}

static bool
open_subject(struct judging *j, struct ws_err *err)
{
	const struct ws_judge_order *order = &j->order;
	if (is_own(j)) {
		return open_own(j, err);
	}
	if (order->wheel && !open_wheel(j, order->wheel, err)) {
		return false;
	}
	if (!order->wheel && order->file_count > 0) {
		ws_modules_open(order->root, order->files, order->file_count, j->a, &j->modules);
	}
	make_subject(j);
	return true;
}

static void
close_subject(struct judging *j)
{
	for (size_t i = 0; is_own(j) && i < j->subject.count; i++) {
		ws_elf_close((struct ws_elf *)(uintptr_t)j->subject.modules[i].elf);
	}
	ws_modules_close(&j->modules);
	ws_opened_wheel_close(&j->wheel);
}

/* ---- one place ---- */

/* A module that fails because a library of its own wheel fails: the finding on that one decides. */
static bool
is_consequence(const struct ws_finding *f)
{
	return f && f->verdict == WS_VERDICT_FAILS && ws_same(f->cause, "sibling");
}

static void
decide(struct ws_judge_outcome *o)
{
	const struct ws_finding *decisive = NULL;
	for (size_t i = 0; i < o->findings.len; i++) {
		const struct ws_finding *f = &o->findings.at[i];
		bool root =
			f->verdict == o->place.verdict && is_consequence(decisive) && !is_consequence(f);
		if (f->verdict > o->place.verdict || root) {
			o->place.verdict = f->verdict;
			o->place.why = f->text;
			o->place.cause = f->cause;
			decisive = f;
		}
	}
}

/* glibc's version there: as it was given, else of the libc that was read. */
static void
glibc_of(const struct ws_load_place *place, unsigned *major, unsigned *minor, struct ws_arena *a)
{
	const char *text =
		place->glibc ? place->glibc : ws_floor_glibc_of(place->libraries, place->library_count, a);
	*major = 2;
	*minor = 17;
	if (text) {
		(void)sscanf(text, "%u.%u", major, minor);
	}
}

static void
judge_tags(struct judging *j, const struct ws_load_place *place, struct ws_judge_outcome *o)
{
	struct ws_python_tag python;
	unsigned major, minor;
	if (!j->has_name || !place->python || !ws_python_tag_parse(place->python, &python)) {
		return;
	}
	glibc_of(place, &major, &minor, j->a);
	if (ws_wheel_fit(&j->name, &python, place->machine, major, minor) == 0) {
		add(j, o, WS_VERDICT_FAILS, "tags",
			ws_arena_printf(j->a, "the tags of its file name are not for %s on %s with glibc %u.%u",
				place->python, place->machine->name, major, minor));
	}
}

static const char *
refuses_python(const struct judging *j, const char *text)
{
	struct ws_python_tag python;
	return j->has_info && text && ws_python_tag_parse(text, &python)
		? ws_label_check_python(&j->info.metadata, &python, j->a)
		: NULL;
}

/* Requirements of METADATA: an installer refuses the wheel, or replaces torch. */
static void
judge_ranges(struct judging *j, struct ws_judge_outcome *o)
{
	const char *text = o->place.torch;
	struct ws_version torch;
	const char *refuses = j->has_info && text && ws_version_parse(text, j->a, &torch)
		? ws_label_check_torch(&j->info.metadata, &torch, j->a)
		: NULL;
	if (refuses) {
		add(j, o, WS_VERDICT_EXCLUDED, "requires-torch", refuses);
	}
	refuses = refuses_python(j, o->place.python);
	if (refuses) {
		add(j, o, WS_VERDICT_EXCLUDED, "requires-python", refuses);
	}
}

/* The first that METADATA allows. */
static const char *
choose_python(const struct judging *j, const struct ws_judge_place *place)
{
	for (size_t i = 0; i < place->python_count; i++) {
		if (!refuses_python(j, place->pythons[i])) {
			return place->pythons[i];
		}
	}
	return place->python_tag;
}

/* A shared rule: the file does not show it. */
static void
judge_known_bad(struct judging *j, const struct ws_wheel_place *place, struct ws_judge_outcome *o)
{
	if (place->known_bad) {
		*ws_vec_push(&o->findings, j->a) = (struct ws_finding){.verdict = WS_VERDICT_FAILS,
			.cause = "known-bad",
			.text = ws_arena_printf(j->a, "known to be bad: %s", place->known_bad),
			.evidence = &place->known_bad_see,
			.evidence_count = place->known_bad_see ? 1 : 0};
	}
}

/* A module with kernels must hold code for the archs that were asked for and no others. */
static void
judge_own_archs(struct judging *j, struct ws_judge_outcome *o)
{
	const struct ws_arch_set *wanted = &j->order.archs;
	for (size_t i = 0; i < o->judged.count; i++) {
		const struct ws_module_verdict *m = &o->judged.modules[i];
		const struct ws_arch_set *archs = &m->gpu.archs;
		if (!j->order.modules[i].cuda) {
			continue;
		}
		const char *has = archs->count ? ws_arch_set_text(archs, j->a) : "no GPU";
		bool same = ws_arch_set_eq(archs, wanted);
		add(j, o, same ? WS_VERDICT_OK : WS_VERDICT_FAILS, "gpu",
			ws_arena_printf(j->a, "%s has code for %s%s%s", m->module->name, has,
				same ? "" : ", not for ", same ? "" : ws_arch_set_text(wanted, j->a)));
	}
}

/* Each place has its own deciding modules, and its verdict keeps a pointer to them. */
static void
copy_modules(struct judging *j)
{
	struct ws_subject_module *made = WS_NEW_N(j->a, struct ws_subject_module, j->subject.count + 1);
	for (size_t i = 0; i < j->subject.count; i++) {
		made[i] = j->made[i];
	}
	j->subject.modules = j->made = made;
}

/* torch has no wheel for that Python: that is a finding. */
static bool
is_without_python(struct judging *j, struct ws_judge_outcome *o, struct ws_err *err)
{
	if (err->kind != WS_ERR_UNKNOWN) {
		return false;
	}
	add(j, o, WS_VERDICT_FAILS, "no-python", ws_arena_strdup(j->a, err->text));
	*err = (struct ws_err){0};
	return true;
}

static bool
judge_in(struct judging *j, const struct ws_wheel_place *place, struct ws_judge_outcome *o,
	struct ws_err *err)
{
	struct ws_opened_place opened;
	bool fine = ws_place_open(&place->place, j->a, &opened, err), named = true;
	for (size_t i = 0; i < j->findings.len; i++) {
		*ws_vec_push(&o->findings, j->a) = j->findings.at[i];
	}
	judge_known_bad(j, place, o);
	o->place.torch = place->torch;
	o->place.python = opened.load.python = choose_python(j, &place->place);
	judge_tags(j, &opened.load, o);
	if (!is_own(j)) {
		copy_modules(j);
		named = select_modules(j, &opened.load, o);
		judge_modules(j, &opened.load, o);
	}
	if (fine) {
		ws_place_complete(&opened, &j->subject, j->a);
		fine = ws_judge(&j->subject, &opened.load, j->a, &o->judged, err);
	}
	struct ws_finding doubt = {0};
	if (!fine) {
		o->judged = (struct ws_verdict){0};
		fine = is_without_python(j, o, err);
	} else if (!named) {
		ws_find_uncertain(
			&o->judged, j->made, j->has_info ? &j->info.metadata : NULL, j->a, &doubt);
	}
	for (size_t i = 0; i < o->judged.count; i++) {
		const struct ws_module_verdict *m = &o->judged.modules[i];
		for (size_t k = 0; m->module->required && k < m->finding_count; k++) {
			*ws_vec_push(&o->findings, j->a) = m->findings[k];
		}
	}
	if (doubt.text) {
		*ws_vec_push(&o->findings, j->a) = doubt;
	}
	judge_kernels(j, o);
	judge_ranges(j, o); /* after the symbols: a missing one says more */
	if (is_own(j)) {
		judge_own_archs(j, o);
	}
	ws_place_close(&opened);
	decide(o);
	return fine;
}

/* ---- the policy for modules of ours ---- */

/* For the log of the action. */
static void
report_place(struct judging *j, const struct ws_judge_outcome *o, const struct ws_out *out)
{
	const char *torch = o->place.torch;
	struct ws_finding floor = ws_floor_finding(&o->judged.floor, j->a);
	if (torch) {
		ws_out_result(out, "in torch %s:\n", torch);
	}
	for (size_t i = 0; i <= o->findings.len; i++) {
		const struct ws_finding *finding = i < o->findings.len ? &o->findings.at[i] : &floor;
		ws_out_result(out, "%-8s%s\n", ws_finding_words[finding->verdict], finding->text);
		for (size_t k = 0; k < finding->evidence_count; k++) {
			ws_out_result(out, "        %s\n", finding->evidence[k]);
		}
	}
}

/* Another package's wheel may be unknown; our own module must be known to load. */
static bool
pass_own(struct judging *j, const struct ws_judge_outcome *outcomes, size_t count,
	const struct ws_out *out, struct ws_err *err)
{
	enum ws_finding_verdict worst = WS_VERDICT_OK;
	for (size_t i = 0; i < count; i++) {
		report_place(j, &outcomes[i], out);
		worst = outcomes[i].place.verdict > worst ? outcomes[i].place.verdict : worst;
	}
	return worst == WS_VERDICT_OK
		|| ws_err_set(err, WS_ERR_VERIFY,
			worst == WS_VERDICT_UNKNOWN ? "%s is not known to load" : "%s would not load",
			j->order.subject);
}

/* ---- the whole ---- */

static bool
collect_facts(struct judging *j, struct ws_wheel_facts *facts, struct ws_err *err)
{
	const char *folder = make_folder(j->a, err);
	return folder && ws_wheel_facts_read(j->order.facts, folder, j->a, facts, err);
}

bool
ws_judge_run(const struct ws_out *out, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	WS_AUTO_BUF struct ws_buf text = {0};
	struct judging j = {.a = a, .wheel.file.fd = -1};
	struct ws_wheel_verdict verdict;
	struct ws_wheel_facts facts;
	bool fine = ws_table_read_file(WS_CHILD_ORDER, &ws_judge_order_table, a, &j.order, err)
		&& (j.order.facts ? collect_facts(&j, &facts, err) : open_subject(&j, err));
	size_t count = fine ? j.order.place_count : 0;
	struct ws_judge_outcome *outcomes = WS_NEW_N(a, struct ws_judge_outcome, count);
	for (size_t i = 0; i < count && fine; i++) {
		fine = judge_in(&j, &j.order.places[i], &outcomes[i], err);
	}
	if (fine) {
		bool own = is_own(&j);
		ws_verdict_make(outcomes, count, j.order.name, own, a, &verdict);
		verdict.facts = j.order.facts ? &facts : NULL;
		ws_table_text(
			own ? &ws_own_verdict_table : &ws_verdict_file_table, &verdict, WS_JSON_PRETTY, &text);
		fine = ws_fs_write(WS_VERDICT_FILE, text.data, text.len, 0644, err)
			&& (!own || pass_own(&j, outcomes, count, out, err));
	}
	close_subject(&j);
	return fine;
}
