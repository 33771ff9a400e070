/* verify_child.c - the child that judges: opens the files of the order once and judges them in each
 * place. A wheel that cannot be read gets a verdict, too. */
#include "base/fs.h"
#include "judge/order.h"
#include "sys/child.h"
#include "wheelfile/label_check.h"

struct judging {
	struct ws_arena *a;
	struct ws_judge_order order;
	struct ws_wheel_facts facts;      /* of a wheel, or of the subject of an order for facts */
	const struct ws_wheel_name *name; /* NULL: not a wheel, or not a wheel's name */
	const struct ws_metadata_info *metadata; /* NULL: not a wheel, or not readable */
	struct ws_modules modules;               /* of others; our own are in the subject alone */
	const char **imports;                    /* import name of each module */
	struct ws_subject subject;               /* the modules that could be opened */
	ws_finding_list findings;                /* about the wheel, in every place */
};

/* Without @text it adds nothing. */
static void
add(struct judging *j, ws_finding_list *list, enum ws_finding_verdict verdict, const char *cause,
	const char *text)
{
	if (text) {
		*ws_vec_push(list, j->a) =
			(struct ws_finding){.verdict = verdict, .cause = cause, .text = text};
	}
}

/* ---- the files of the order ---- */

/* Reads the wheel, compares METADATA and WHEEL with its file name, and opens its libraries. A
 * damaged wheel is a finding, because no installer accepts it. */
static bool
open_wheel(struct judging *j, struct ws_err *err)
{
	const char *name = j->order.name;
	const struct ws_facts_order wheel = {
		.name = name ? name : j->order.wheel, .path = j->order.wheel};
	struct ws_wheel_facts *f = &j->facts;
	bool read = ws_wheel_read(&wheel, j->a, f, err);
	j->name = name ? f->name : NULL;
	if (name && !f->name && f->problems.kept.len > 0) {
		add(j, &j->findings, WS_VERDICT_FAILS, "tags", f->problems.kept.at[0].text);
	}
	if (!read) {
		add(j, &j->findings, WS_VERDICT_FAILS, "damaged", ws_arena_strdup(j->a, err->text));
		return err->kind == WS_ERR_FETCH;
	}
	j->metadata = f->wheel ? f->metadata : NULL;
	if (j->metadata && j->name) {
		add(j, &j->findings, WS_VERDICT_FAILS, "label",
			ws_label_check_name(j->name, j->metadata, j->a));
	}
	add(j, &j->findings, WS_VERDICT_FAILS, "replaces", f->replaces);
	if (j->metadata && j->name) {
		add(j, &j->findings, WS_VERDICT_OK, "label", ws_label_check_tags(j->name, f->wheel, j->a));
	}
	add(j, &j->findings, WS_VERDICT_FAILS, "damaged", f->damaged);
	if (f->changed && !f->damaged) {
		add(j, &j->findings, WS_VERDICT_UNKNOWN, "damaged",
			ws_arena_printf(j->a, "it was changed after it was packed: %s", f->changed));
	}
	return true;
}

/* Libraries that were unpacked, or files of an installed package. */
static void
open_modules(struct judging *j)
{
	const struct ws_wheel_facts *f = &j->facts;
	const struct ws_judge_order *order = &j->order;
	WS_VEC(struct ws_module) files = {0};
	for (size_t i = 0; i < f->library_count && !f->damaged; i++) {
		struct ws_module file = f->libraries[i];
		if (ws_module_is_named(file.name)) {
			file.name = ws_module_installed_name(file.name);
			*ws_vec_push(&files, j->a) = file;
		}
	}
	for (size_t i = 0; i < order->file_count && !order->wheel; i++) {
		*ws_vec_push(&files, j->a) = (struct ws_module){.name = order->files[i],
			.file = ws_path_join(j->a, order->root, order->files[i], NULL)};
	}
	ws_modules_open(files.at, files.len, j->a, &j->modules);
	j->imports = WS_NEW_N(j->a, const char *, files.len);
	for (size_t i = 0; i < files.len; i++) {
		/* "a.b._C" of "a/b/_C.cpython-311-x86_64-linux-gnu.so". */
		const char *name = files.at[i].name, *base = ws_path_base(name);
		char *text = ws_arena_copy(j->a, name, (size_t)(base - name) + strcspn(base, "."));
		for (char *c = text; *c; c++) {
			*c = *c == '/' ? '.' : *c;
		}
		j->imports[i] = text;
	}
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
		const char *name = module->module, *dot = strrchr(name, '.');
		char *place = ws_arena_strdup(j->a, name); /* its folder tells where run paths start */
		for (char *c = place; *c; c++) {
			*c = *c == '.' ? '/' : *c;
		}
		made[i] = (struct ws_subject_module){.name = name,
			.place = place,
			.elf = ws_elf_open_as(ws_arena_printf(j->a, "mod/%zu.so", i), name, false, j->a, err),
			.required = true,
			.init =
				module->imported ? ws_arena_printf(j->a, "PyInit_%s", dot ? dot + 1 : name) : NULL};
		if (!made[i].elf) {
			return false;
		}
		j->subject.count++;
	}
	return true;
}

/* ---- a place, opened ---- */

struct opened_place {
	struct ws_load_place load;
	WS_VEC(const struct ws_elf *) libraries; /* open files */
	const struct ws_elf *python;             /* the interpreter, or its library; NULL: none */
	const struct ws_judge_place *place;
};

/* Close it in both cases. */
static bool
open_place(const struct ws_judge_place *place, struct ws_arena *a, struct opened_place *opened,
	struct ws_err *err)
{
	*opened = (struct opened_place){.place = place,
		.load = {.lists = place->lists,
			.list_count = place->list_count,
			.python = place->python_tag,
			.stable_python = place->stable_python,
			.driver = place->driver,
			.archs = place->archs,
			.machine = place->machine ? ws_machine_named(place->machine) : ws_machine_host(),
			.glibc = place->glibc,
			.ptx = place->ptx,
			.families = place->families,
			.family_count = place->family_count,
			.strict = place->strict,
			.complete = place->folder_count > 0}};
	for (size_t i = 0; i < place->library_count; i++) {
		const struct ws_elf *elf = ws_elf_open(place->libraries[i], a, err);
		if (!elf) {
			return false;
		}
		*ws_vec_push(&opened->libraries, a) = elf;
	}
	opened->python = place->python ? ws_elf_open(place->python, a, err) : NULL;
	opened->load.libraries = opened->libraries.at;
	opened->load.library_count = opened->libraries.len;
	opened->load.globals = &opened->python;
	opened->load.global_count = opened->python ? 1 : 0;
	return opened->python || !place->python;
}

/* The first folder that has a library of that name decides, as for the loader. */
static void
open_needed(struct opened_place *opened, const struct ws_elf *elf, struct ws_arena *a)
{
	for (size_t k = 0; k < elf->needed_count && opened->place->folder_count > 0; k++) {
		const char *name = elf->needed[k];
		bool known = strchr(name, '/');
		for (size_t i = 0; i < opened->libraries.len && !known; i++) {
			known = ws_same(ws_elf_library_name(opened->libraries.at[i]), name);
		}
		for (size_t i = 0; i < opened->place->folder_count && !known; i++) {
			const char *path = ws_path_join(a, opened->place->folders[i], name, NULL);
			const struct ws_elf *found = ws_fs_exists(path) ? ws_elf_open(path, a, NULL) : NULL;
			if (found) {
				*ws_vec_push(&opened->libraries, a) = found;
				known = true;
			}
		}
	}
}

static void
close_elf(const struct ws_elf *elf)
{
	ws_elf_close((struct ws_elf *)(uintptr_t)elf);
}

/* ---- the modules of a wheel in a place ---- */

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

/* Modules that the recipe imports in this Python decide; if there are none (false), all modules
 * except those for other Pythons. Each place has a subject of its own, which its verdict keeps. */
static bool
select_modules(struct judging *j, const struct ws_load_place *place, struct ws_judge_outcome *o,
	struct ws_subject_module *made)
{
	size_t count = j->modules.count;
	const struct ws_module *other = NULL;
	bool any = false, own = false;
	bool *needed = WS_NEW_N(j->a, bool, count), *foreign = WS_NEW_N(j->a, bool, count);
	for (size_t i = 0; i < count; i++) {
		const struct ws_module *m = &j->modules.modules[i];
		bool opens = ws_module_opens_in(m->name, place->python, place->machine);
		needed[i] = opens && ws_is_among(j->imports[i], j->order.required, j->order.required_count);
		foreign[i] = m->python && !opens;
		own = own || (m->python && opens);
		other = foreign[i] && !other ? m : other;
		any = any || needed[i];
	}
	if (other && !own && !any) {
		add(j, &o->findings, WS_VERDICT_FAILS, "module",
			ws_arena_printf(j->a, "it has modules for other Pythons than %s only: '%s'",
				place->python, other->name));
	}
	j->subject = (struct ws_subject){.modules = made, .installed = true};
	for (size_t i = 0; i < count; i++) {
		const struct ws_module *m = &j->modules.modules[i];
		bool decides = any ? needed[i] : !foreign[i] || !own;
		/* torch loads libraries, too, that are named so: torch.ops.load_library. */
		bool promised = m->elf && m->python && !m->exports_init && !is_of_torch(m->elf);
		if (m->elf) {
			made[j->subject.count++] = (struct ws_subject_module){.name = m->name,
				.place = m->name,
				.elf = m->elf,
				.required = decides,
				.init = needed[i] || m->exports_init ? m->init : NULL,
				.promised = promised ? m->init : NULL};
		} else if (decides) {
			add(j, &o->findings, WS_VERDICT_FAILS, "unreadable", m->refused);
		}
	}
	return any;
}

static void
add_lack(struct judging *j, struct ws_judge_outcome *o, const char *import, const char *python)
{
	const char *lack = NULL;
	for (size_t i = 0; i < j->modules.count && !lack; i++) {
		if (ws_same(j->imports[i], import)) {
			lack = ws_arena_printf(j->a, "no module '%s' that %s opens, but '%s'", import,
				python ? python : "Python", j->modules.modules[i].name);
		}
	}
	add(j, &o->findings, WS_VERDICT_FAILS, "module",
		ws_arena_printf(j->a, "it has %s, which its recipe imports",
			lack ? lack : ws_arena_printf(j->a, "no module '%s'", import)));
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
			const char *name = j->imports[i];
			bool opens =
				ws_module_opens_in(j->modules.modules[i].name, place->python, place->machine);
			found = found || (opens && ws_same(name, import));
			one = one && !(opens && ws_starts_with(name, import) && name[strlen(import)] == '.');
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
judge_tags(struct judging *j, const struct ws_load_place *place, struct ws_judge_outcome *o)
{
	struct ws_python_tag python;
	unsigned major = 2, minor = 17;
	if (!j->name || !place->python || !ws_python_tag_parse(place->python, &python)) {
		return;
	}
	const char *glibc = place->glibc
		? place->glibc
		: ws_floor_glibc_of(place->libraries, place->library_count, j->a);
	if (glibc) {
		(void)sscanf(glibc, "%u.%u", &major, &minor);
	}
	if (ws_wheel_fit(j->name, &python, place->machine, major, minor) == 0) {
		add(j, &o->findings, WS_VERDICT_FAILS, "tags",
			ws_arena_printf(j->a, "the tags of its file name are not for %s on %s with glibc %u.%u",
				place->python, place->machine->name, major, minor));
	}
}

static const char *
refuses_python(const struct judging *j, const char *text)
{
	struct ws_python_tag python;
	return j->metadata && text && ws_python_tag_parse(text, &python)
		? ws_label_check_python(j->metadata, &python, j->a)
		: NULL;
}

/* Requirements of METADATA: an installer refuses the wheel, or replaces torch. GPU code that a
 * recipe compiles. A module of ours with kernels must hold code for the archs that were asked for
 * and no others. */
static void
judge_promises(struct judging *j, struct ws_judge_outcome *o)
{
	const struct ws_arch_set *wanted = &j->order.archs;
	const char *text = o->place.torch;
	struct ws_version torch;
	size_t images = 0;
	for (size_t i = 0; i < o->judged.count; i++) {
		images += o->judged.modules[i].gpu.image_count;
	}
	if (j->order.kernels && o->judged.count > 0 && images == 0) {
		add(j, &o->findings, WS_VERDICT_FAILS, "gpu",
			"no module of it has GPU code; its recipe compiles kernels");
	}
	if (j->metadata && text && ws_version_parse(text, j->a, &torch)) {
		add(j, &o->findings, WS_VERDICT_EXCLUDED, "requires-torch",
			ws_label_check_torch(j->metadata, &torch, j->a));
	}
	add(j, &o->findings, WS_VERDICT_EXCLUDED, "requires-python",
		refuses_python(j, o->place.python));
	for (size_t i = 0; i < o->judged.count && is_own(j); i++) {
		const struct ws_module_verdict *m = &o->judged.modules[i];
		const struct ws_arch_set *archs = &m->gpu.archs;
		if (j->order.modules[i].cuda) {
			const char *has = archs->count ? ws_arch_set_text(archs, j->a) : "no GPU";
			bool same = ws_arch_set_eq(archs, wanted);
			add(j, &o->findings, same ? WS_VERDICT_OK : WS_VERDICT_FAILS, "gpu",
				ws_arena_printf(j->a, "%s has code for %s%s%s", m->module->name, has,
					same ? "" : ", not for ", same ? "" : ws_arch_set_text(wanted, j->a)));
		}
	}
}

/* Symbols, loader, GPU code and floor of the modules. @made NULL: the modules are required. */
static bool
judge_files(struct judging *j, struct opened_place *opened, struct ws_subject_module *made,
	struct ws_judge_outcome *o, struct ws_err *err)
{
	struct ws_finding doubt = {0};
	/* The libraries that the modules need, and those that these need: the list grows. */
	for (size_t i = 0; i < j->subject.count; i++) {
		open_needed(opened, j->subject.modules[i].elf, j->a);
	}
	for (size_t i = 0; i < opened->libraries.len; i++) {
		open_needed(opened, opened->libraries.at[i], j->a);
	}
	opened->load.libraries = opened->libraries.at;
	opened->load.library_count = opened->libraries.len;
	if (!ws_judge(&j->subject, &opened->load, j->a, &o->judged, err)) {
		return false;
	}
	if (made) {
		ws_find_uncertain(&o->judged, made, j->metadata, j->a, &doubt);
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
	return true;
}

static bool
judge_in(struct judging *j, const struct ws_wheel_place *place, struct ws_judge_outcome *o,
	struct ws_err *err)
{
	struct ws_subject_module *made = WS_NEW_N(j->a, struct ws_subject_module, j->modules.count + 1);
	struct opened_place opened;
	bool fine = open_place(&place->place, j->a, &opened, err), named = true;
	for (size_t i = 0; i < j->findings.len; i++) {
		*ws_vec_push(&o->findings, j->a) = j->findings.at[i];
	}
	if (place->known_bad) { /* a shared rule: the file does not show it */
		*ws_vec_push(&o->findings, j->a) = (struct ws_finding){.verdict = WS_VERDICT_FAILS,
			.cause = "known-bad",
			.text = ws_arena_printf(j->a, "known to be bad: %s", place->known_bad),
			.evidence = &place->known_bad_see,
			.evidence_count = place->known_bad_see ? 1 : 0};
	}
	/* The first Python that METADATA allows. */
	const char *python = NULL;
	for (size_t i = 0; i < place->place.python_count && !python; i++) {
		const char *tag = place->place.pythons[i];
		python = refuses_python(j, tag) ? NULL : tag;
	}
	o->place.torch = place->torch;
	o->place.python = opened.load.python = python ? python : place->place.python_tag;
	judge_tags(j, &opened.load, o);
	if (!is_own(j)) {
		named = select_modules(j, &opened.load, o, made);
		judge_modules(j, &opened.load, o);
	}
	fine = fine && judge_files(j, &opened, named ? NULL : made, o, err);
	if (!fine) {
		o->judged = (struct ws_verdict){0};
	}
	if (!fine && err->kind == WS_ERR_UNKNOWN) { /* torch has no wheel for that Python */
		add(j, &o->findings, WS_VERDICT_FAILS, "no-python", ws_arena_strdup(j->a, err->text));
		*err = (struct ws_err){0};
		fine = true;
	}
	judge_promises(j, o); /* after the symbols: a missing one says more */
	for (size_t i = 0; i < opened.libraries.len; i++) {
		close_elf(opened.libraries.at[i]);
	}
	close_elf(opened.python);
	decide(o);
	return fine;
}

/* ---- the whole ---- */

/* The log of the action. Another package's wheel may be unknown; our own module must be known to
 * load. */
static bool
pass_own(struct judging *j, const struct ws_judge_outcome *outcomes, const struct ws_out *out,
	enum ws_finding_verdict worst, struct ws_err *err)
{
	for (size_t i = 0; i < j->order.place_count; i++) {
		const struct ws_judge_outcome *o = &outcomes[i];
		struct ws_finding floor = ws_floor_finding(&o->judged.floor, j->a);
		if (o->place.torch) {
			ws_out_result(out, "in torch %s:\n", o->place.torch);
		}
		for (size_t k = 0; k <= o->findings.len; k++) {
			const struct ws_finding *finding = k < o->findings.len ? &o->findings.at[k] : &floor;
			ws_out_result(out, "%-8s%s\n", ws_finding_words[finding->verdict], finding->text);
			for (size_t n = 0; n < finding->evidence_count; n++) {
				ws_out_result(out, "        %s\n", finding->evidence[n]);
			}
		}
	}
	return worst == WS_VERDICT_OK
		|| ws_err_set(err, WS_ERR_VERIFY,
			worst == WS_VERDICT_UNKNOWN ? "%s is not known to load" : "%s would not load",
			j->order.subject);
}

/* Opens the subject of the order, or collects its facts. */
static bool
read_subject(struct judging *j, struct ws_err *err)
{
	const struct ws_facts_order *asked = j->order.facts;
	if (asked) {
		return ws_wheel_read(asked, j->a, &j->facts, err)
			&& ws_module_facts_read(&j->facts, asked, j->a, err);
	}
	if (is_own(j)) {
		return open_own(j, err);
	}
	if (j->order.wheel && !open_wheel(j, err)) {
		return false;
	}
	open_modules(j);
	return true;
}

bool
ws_judge_run(const struct ws_out *out, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	WS_AUTO_BUF struct ws_buf text = {0};
	struct judging j = {.a = a};
	struct ws_wheel_verdict verdict;
	bool fine = ws_table_read_file(WS_CHILD_ORDER, &ws_judge_order_table, a, &j.order, err)
		&& read_subject(&j, err);
	size_t count = fine ? j.order.place_count : 0;
	struct ws_judge_outcome *outcomes = WS_NEW_N(a, struct ws_judge_outcome, count);
	for (size_t i = 0; i < count && fine; i++) {
		fine = judge_in(&j, &j.order.places[i], &outcomes[i], err);
	}
	if (fine) {
		bool own = is_own(&j);
		ws_verdict_make(outcomes, count, j.order.name, own, a, &verdict);
		verdict.facts = j.order.facts ? &j.facts : NULL;
		ws_table_text(
			own ? &ws_own_verdict_table : &ws_verdict_file_table, &verdict, WS_JSON_PRETTY, &text);
		fine = ws_fs_write(WS_VERDICT_FILE, text.data, text.len, 0644, err)
			&& (!own || pass_own(&j, outcomes, out, verdict.verdict, err));
	}
	for (size_t i = 0; i < j.subject.count && is_own(&j); i++) {
		close_elf(j.subject.modules[i].elf);
	}
	ws_modules_close(&j.modules);
	return fine;
}
