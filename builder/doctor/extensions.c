/* extensions.c - the CUDA extensions that are installed in a Python, judged against the torch
 * there. */
#include "base/fs.h"
#include "doctor/doctor.h"
#include "explain/explain.h"
#include "judge/torch_place.h"
#include "sys/child.h"

/* ---- installed packages ----
 * Their lists (struct ws_site_entry) are read loosely: pip lists compiled Python files without a
 * digest, and programs outside the folder. An extension has a
 * module that needs libraries of torch or CUDA, or GPU code of its own; torch itself and NVIDIA's
 * own packages are none. */

struct site_package {
	const char *name;         /* normalised: "flash-attn" */
	const char *version;      /* as its folder says, without the label: "2.8.3" */
	const char *label;        /* "cu12torch2.6"; NULL: none */
	const char *const *files; /* its shared libraries below the folder, sorted */
	size_t file_count;
};

#define RECORD_MOST ((size_t)16 << 20) /* bytes; torch's own has 1.5 MB */

static void
list_libraries(const char *folder, const char *name, const struct ws_site_entry *entry,
	struct ws_arena *a, struct site_package *package)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	WS_VEC(const char *) files = {0};
	if (!ws_fs_read_at_most(
			ws_path_join(a, folder, name, entry->list, NULL), RECORD_MOST, &text, NULL)) {
		return;
	}
	struct ws_str rest = ws_buf_str(&text);
	while (rest.s) {
		struct ws_str line = ws_str_cut(&rest, '\n');
		const char *file = ws_str_copy(ws_str_trim(ws_str_cut(&line, ',')), a);
		file += ws_starts_with(file, "../") ? strlen("../") : 0; /* of installed-files.txt */
		if (ws_module_is_named(file) && ws_path_is_inside(file)) {
			*ws_vec_push(&files, a) =
				entry->in_own ? ws_arena_printf(a, "%s/%s", name, file) : file;
		}
	}
	if (files.len > 0) {
		qsort(files.at, files.len, sizeof(*files.at), ws_cmp_strings);
	}
	package->files = files.at;
	package->file_count = files.len;
}

/* Whether a module of the package needs torch or CUDA, or has GPU code. */
static bool
is_extension(const char *folder, const struct site_package *package, struct ws_arena *a)
{
	static const char *const stems[] = {
		"libc10", "libtorch", "libcudart", "libcublas", "libcuda.so", "libnvrtc"};
	struct ws_module *files = WS_NEW_N(a, struct ws_module, package->file_count);
	struct ws_modules modules = {0};
	bool is = false;
	for (size_t i = 0; i < package->file_count; i++) {
		const char *name = package->files[i];
		files[i] = (struct ws_module){.name = name, .file = ws_path_join(a, folder, name, NULL)};
	}
	ws_modules_open(files, package->file_count, a, &modules);
	for (size_t i = 0; i < modules.count && !is; i++) {
		const struct ws_elf *elf = modules.modules[i].elf;
		for (size_t j = 0; elf && j < elf->needed_count * WS_LEN(stems); j++) {
			is = is || ws_starts_with(elf->needed[j / WS_LEN(stems)], stems[j % WS_LEN(stems)]);
		}
		is = is || (elf && ws_elf_section(elf, ".nv_fatbin").n > 0);
	}
	ws_modules_close(&modules);
	return is;
}

static int
compare_packages(const void *x, const void *y)
{
	const struct site_package *a = x, *b = y;
	return strcmp(a->name, b->name);
}

/* The packages in @folder that extend torch or CUDA, by name. Skips unreadable ones. Returns how
 * many. */
static size_t
list_site(const char *folder, struct ws_arena *a, const struct site_package **packages)
{
	static const char *const theirs[] = {"torch", "triton", "cuda-python", "cuda-bindings"};
	WS_VEC(struct site_package) found = {0};
	WS_AUTO_DIR DIR *dir = opendir(folder);
	const struct dirent *entry;
	while (dir && (entry = readdir(dir))) {
		const char *name = ws_arena_strdup(a, entry->d_name);
		struct ws_site_entry site;
		if (!ws_site_entry_of(name, a, &site) || ws_is_among(site.package, theirs, WS_LEN(theirs))
			|| ws_starts_with(site.package, "nvidia-")) {
			continue;
		}
		struct site_package package = {
			.name = site.package, .version = site.version.public_text, .label = site.version.local};
		list_libraries(folder, name, &site, a, &package);
		if (package.file_count > 0 && is_extension(folder, &package, a)) {
			*ws_vec_push(&found, a) = package;
		}
	}
	if (found.len > 0) {
		qsort(found.at, found.len, sizeof(*found.at), compare_packages);
	}
	*packages = found.at;
	return found.len;
}

/* ---- judging them ---- */

/* The command lines that build the package for `kit`; @version NULL: unknown. */
static const char *
cure_by_building(const struct ws_doctor *d, const char *package, const char *version)
{
	const struct ws_remedy remedy = {
		.package = package,
		.version = version,
		.python = d->kit.interpreter,
		.recipes = d->recipes,
	};
	const char *draft = ws_remedy_draft(d->catalog, &remedy, d->a);
	const char *build = ws_remedy_command(d->catalog, &remedy, d->a);
	return ws_arena_printf(d->a, "%s%s%sbuild it for this torch:  %s",
		draft ? "it has no recipe yet; first:  " : "", draft ? draft : "", draft ? "\n" : "",
		build);
}

static bool
find_place(struct ws_doctor *d, const struct ws_fetch **fetch, struct ws_wheel_place *place,
	struct ws_err *err)
{
	struct ws_torch_kit torch;
	const struct ws_verify_asked asked = {
		.facts = d->data->facts,
		.world = d->facts,
		.python = &d->kit.tag,
		.kit = &d->kit,
		.archs = ws_gpu_archs(&d->gpus, d->a),
		.driver = d->gpus.driver,
	};
	return ws_torch_open_installed(d->facts, &d->kit, NULL, d->a, &torch, err)
		&& (*fetch = d->open(d->self, err))
		&& ws_torch_place_installed(&asked, *fetch, d->program, &torch, d->a, place, err);
}

static bool
judge(const struct ws_doctor *d, const struct site_package *package, const struct ws_fetch *fetch,
	const struct ws_wheel_place *place, struct ws_wheel_verdict *verdict, struct ws_err *err)
{
	WS_AUTO_SCRATCH struct ws_scratch folder = {.fd = -1};
	const struct ws_judge_order order = {
		.root = d->kit.purelib,
		.files = package->files,
		.file_count = package->file_count,
		.places = place,
		.place_count = 1,
		.subject = package->name,
	};
	return ws_scratch_make(
			   ws_store_path(fetch->store, d->a, "partial"), "doctor-", d->a, &folder, err)
		&& ws_judge_now(&order, d->program, folder.path, d->a, verdict, err);
}

static void
add_extension(struct ws_doctor *d, const struct site_package *package,
	const struct ws_wheel_place *place, const struct ws_wheel_verdict *verdict)
{
	static const char *const texts[] = {
		[WS_VERDICT_OK] = "{package} {version}[ ({label})]  loads with torch {.torch}",
		[WS_VERDICT_FAILS] = ("{package} {version}[ ({label})]  does not load with torch {.torch}: "
							  "{why}[: {evidence}]"),
		[WS_VERDICT_EXCLUDED] = "{package} {version}[ ({label})]  is for another place: {why}",
		[WS_VERDICT_UNKNOWN] = "{package} {version}[ ({label})]  is not known to load: {why}",
	};
	static const enum ws_row_problem problems[] = {[WS_VERDICT_FAILS] = WS_PROBLEM_FAILS,
		[WS_VERDICT_EXCLUDED] = WS_PROBLEM_NOTE,
		[WS_VERDICT_UNKNOWN] = WS_PROBLEM_NOTE};
	const struct ws_finding *decisive = ws_place_decisive(&verdict->places[0]);
	const char *evidence =
		decisive ? ws_join(decisive->evidence, decisive->evidence_count, "; ", d->a) : "";
	bool fails = verdict->verdict == WS_VERDICT_FAILS;
	const char *cure = fails
		? ws_arena_printf(d->a, "%s\n", cure_by_building(d, package->name, package->version))
		: "";
	struct ws_row *row = ws_rows_add(&d->rows, "extensions[]", texts[verdict->verdict],
		"package %s version %s label %s verdict %s cause %s why %s evidence %s cure %s .torch %s",
		package->name, package->version, package->label, ws_verdict_words[verdict->verdict],
		verdict->cause, verdict->why, evidence, cure, place->torch);
	row->problem = problems[verdict->verdict];
	row->cure = cure;
}

void
ws_doctor_extensions(struct ws_doctor *d)
{
	const struct site_package *packages;
	const struct ws_fetch *fetch;
	struct ws_wheel_place place = {0};
	struct ws_err err = {0};
	if (!d->kit.version) {
		return;
	}
	size_t count = d->kit.purelib ? list_site(d->kit.purelib, d->a, &packages) : 0;
	ws_rows_list(&d->rows, "extensions[]");
	if (count == 0) {
		ws_rows_note(&d->rows, "no extension for torch or CUDA is installed");
	}
	bool placed = count > 0 && find_place(d, &fetch, &place, &err);
	if (count > 0 && !placed) {
		ws_rows_problem_err(&d->rows, WS_PROBLEM_NOTE, &err);
	}
	for (size_t i = 0; i < count; i++) {
		struct ws_wheel_verdict verdict;
		if (!placed) {
			ws_rows_note(&d->rows, "%s %s  was not judged", packages[i].name, packages[i].version);
		} else if (!judge(d, &packages[i], fetch, &place, &verdict, &err)) {
			ws_rows_problem_err(&d->rows, WS_PROBLEM_NOTE, &err);
		} else {
			add_extension(d, &packages[i], &place, &verdict);
		}
	}
}

/* ---- functions that models look for ---- */

/* Importing torch took 3 s on 2 cores; Triton compiles what it has not compiled before. */
#define TIMEOUT_MS 240000

static const char *const states[] = {"works", "imported", "absent", "fails", "wrong", NULL};

/* A line of entry_points.py. */
static const struct ws_field entry_fields[] = {
	WS_VALUE("name", struct ws_entry_point, name, WS_ALWAYS, NULL),
	WS_WORD("state", struct ws_entry_point, state, states, WS_ALWAYS, NULL),
	WS_VALUE("text", struct ws_entry_point, text, WS_OR_NULL, NULL),
};
static const struct ws_table entry_table = {NULL, entry_fields, WS_LEN(entry_fields)};

/* PYTHON* variables have no say; the environment's own files do. */
static const char *const *
environment(const struct ws_doctor *d)
{
	static const char *const kept[] = {"PATH", "HOME", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES",
		"CUDA_HOME", "TRITON_CACHE_DIR", "TMPDIR", "CONDA_PREFIX"};
	const char **vars = WS_NEW_N(d->a, const char *, WS_LEN(kept) + 2);
	size_t count = 0;
	vars[count++] = "LANG=C.UTF-8";
	for (size_t i = 0; i < WS_LEN(kept); i++) {
		const char *value = ws_user_env_get(d->env, kept[i]);
		if (value) {
			vars[count++] = ws_arena_printf(d->a, "%s=%s", kept[i], value);
		}
	}
	return vars;
}

static void
call_group(struct ws_doctor *d, const char *group, const char *model)
{
	const char *const argv[] = {
		d->kit.interpreter, "-E", "-B", d->data->entry_points, group, model, NULL};
	const struct ws_child_order command = {
		.argv = argv, .env = environment(d), .limits.timeout_ms = TIMEOUT_MS};
	WS_AUTO_BUF struct ws_buf answer = {0};
	struct ws_err err = {0};
	size_t before = d->entry_points.len;
	bool done = ws_child_ask(&command, &answer, &err);
	struct ws_str rest = ws_buf_str(&answer);
	while (rest.s && rest.n > 0) {
		struct ws_str line = ws_str_cut(&rest, '\n');
		struct ws_entry_point entry = {.group = group};
		if (ws_table_parse("entry_points.py", line, &entry_table, d->a, &entry, NULL)) {
			*ws_vec_push(&d->entry_points, d->a) = entry;
		}
	}
	if (!done) {
		size_t count = d->entry_points.len;
		const char *name = count > before
			? ws_arena_printf(d->a, "after %s", d->entry_points.at[count - 1].name)
			: "its first function";
		*ws_vec_push(&d->entry_points, d->a) =
			(struct ws_entry_point){group, name, WS_ENTRY_FAILS, ws_arena_strdup(d->a, err.text)};
	}
}

/* ---- causes and cures ---- */

/* The last line is the error, the lines before it are its traceback. */
static const char *
last_line(const char *text)
{
	const char *line = strrchr(text, '\n');
	return line ? line + 1 : text;
}

/* The cause of a known error; else NULL. */
static const char *
explained(const struct ws_doctor *d, const char *text)
{
	const struct ws_explaining with = {
		.facts = d->facts, .catalog = d->catalog, .recipes = d->recipes};
	const struct ws_found_sign *found;
	struct ws_explanation e;
	struct ws_signs signs;
	if (!text || !ws_signs_read(d->data->facts, d->a, &signs, NULL)) {
		return NULL;
	}
	struct ws_finder *finder = ws_finder_open(&signs, d->a);
	ws_finder_add(finder, text, strlen(text));
	return ws_finder_end(finder, &found) > 0 && ws_explain(&with, found, d->a, &e, NULL) ? e.cause
																						 : NULL;
}

/* Without either package, the user has chosen the slow path or has no such model. */
static bool
wants_fast_path(const struct ws_doctor *d)
{
	bool wants = d->model != NULL;
	for (size_t i = 0; i < d->entry_points.len && !wants; i++) {
		const struct ws_entry_point *entry = &d->entry_points.at[i];
		wants = entry->state != WS_ENTRY_ABSENT
			&& (strcmp(entry->group, "mamba-ssm") == 0
				|| strcmp(entry->group, "causal-conv1d") == 0);
	}
	return wants;
}

/* Where the error misses a module that the package itself does not bring, building the package
 * again would not help: install that module. */
static const char *
cure_of(const struct ws_doctor *d, const struct ws_entry_point *entry)
{
	static const char sign[] = "No module named '";
	WS_AUTO_BUF struct ws_buf line = {0};
	const char *found = entry->text ? strstr(last_line(entry->text), sign) : NULL;
	const char *module = found ? found + strlen(sign) : NULL;
	module = module ? ws_arena_copy(d->a, module, strcspn(module, ".'")) : NULL;
	if (!module || ws_starts_with(entry->name, module)
		|| ws_remedy_package(d->catalog, module, d->a)) {
		return strcmp(entry->group, "transformers") == 0 ? NULL
														 : cure_by_building(d, entry->group, NULL);
	}
	ws_buf_puts(&line, "install what has it:  ");
	ws_buf_put_quoted(&line, d->kit.interpreter);
	ws_buf_puts(&line, " -m pip install ");
	ws_buf_put_quoted(&line, module);
	return ws_buf_copy(&line, d->a);
}

/* ---- rows ---- */

/* Adds the entry at @i and those behind it of which the same is known; returns how many. */
static size_t
add_alike(struct ws_doctor *d, size_t i)
{
	const struct ws_entry_point *first = &d->entry_points.at[i];
	WS_AUTO_BUF struct ws_buf list = {0};
	size_t count = 0;
	for (; i + count < d->entry_points.len; count++) {
		const struct ws_entry_point *entry = &first[count];
		if (strcmp(entry->group, first->group) != 0 || entry->state != first->state
			|| !ws_same(entry->text, first->text)) {
			break;
		}
		ws_buf_printf(&list, "%s%s", count > 0 ? ", " : "", entry->name);
		ws_rows_add(&d->rows, "functions[]", NULL, "package %s name %s state %s text %s",
			entry->group, entry->name, states[entry->state], entry->text);
	}
	/* One line for functions of which the same is known. */
	const char *names = ws_buf_text(&list);
	bool fails = first->state == WS_ENTRY_FAILS || first->state == WS_ENTRY_WRONG;
	if (fails && strcmp(first->group, "transformers") == 0 && !wants_fast_path(d)) {
		ws_rows_note(&d->rows, "%s  runs without mamba-ssm and causal-conv1d", names);
	} else if (fails) {
		const char *last = first->text ? last_line(first->text) : "no reason reported";
		const char *cause = first->state == WS_ENTRY_FAILS ? explained(d, first->text) : NULL;
		ws_rows_problem(&d->rows, WS_PROBLEM_FAILS, cure_of(d, first), "%s  %s: %s%s%s", names,
			first->state == WS_ENTRY_WRONG ? "is wrong" : "fails", last, cause ? "; " : "",
			cause ? cause : "");
	} else if (first->state == WS_ENTRY_ABSENT) {
		ws_rows_note(&d->rows, "%s  is not installed", names);
	} else {
		bool works = first->state == WS_ENTRY_WORKS;
		ws_rows_note(&d->rows, "%s  %s: %s", names, works ? "works" : "imports; it was not called",
			first->text ? first->text : "");
	}
	return count;
}

void
ws_doctor_functions(struct ws_doctor *d)
{
	static const char *const groups[] = {"flash-attn", "causal-conv1d", "mamba-ssm"};
	if (!d->kit.version) {
		return;
	}
	for (size_t i = 0; i < WS_LEN(groups); i++) {
		call_group(d, groups[i], NULL);
	}
	call_group(d, "transformers", d->wants ? d->wants->type : NULL);
	ws_rows_list(&d->rows, "functions[]");
	for (size_t i = 0; i < d->entry_points.len;) {
		i += add_alike(d, i);
	}
}
