/* programs.c - C++ compilers and CUDA toolkits, which takes which, Pythons and their torch. */
#include "base/fs.h"
#include "doctor/doctor.h"
#include "kit/cuda/cuda.h"
#include "kit/torch/torch.h"

/* Whether the toolkit takes the compiler, as far as the facts tell: they do not know the oldest
 * clang that its header takes. */
static bool
accepts(const struct ws_doctor *d, const struct ws_cuda_toolkit *cuda, const struct ws_hostcc *cc)
{
	const struct ws_hostcc_wish wish = {
		.limits = {.gcc_max = cuda->gcc_max, .clang_max = cuda->clang_max},
		.gcc_min = d->facts->gcc_min,
	};
	return ws_hostcc_fits(cc, &wish);
}

static const char *
comma(const struct ws_buf *list)
{
	return list->len > 0 ? ", " : "";
}

/* "12.0 and newer", "11.8 to 12.3, 13.0", "none". */
static const char *
accepting(const struct ws_doctor *d, const struct ws_hostcc *cc)
{
	const struct ws_facts *facts = d->facts;
	WS_AUTO_BUF struct ws_buf list = {0};
	for (size_t i = 0, end; i < facts->cuda_count; i = end + 1) {
		for (end = i; end < facts->cuda_count && accepts(d, &facts->cuda[end], cc);) {
			end++;
		}
		if (end == i) {
			continue;
		}
		ws_buf_printf(&list, "%s%s", comma(&list), facts->cuda[i].version.text);
		if (end == facts->cuda_count) {
			ws_buf_puts(&list, " and newer");
		} else if (end > i + 1) {
			ws_buf_printf(&list, " to %s", facts->cuda[end - 1].version.text);
		}
	}
	return list.len > 0 ? ws_buf_copy(&list, d->a) : facts->cuda_count > 0 ? "none" : "";
}

static bool
has_compiler(const struct ws_doctor *d, const struct ws_cuda_toolkit *cuda)
{
	for (size_t i = 0; i < d->compilers.len; i++) {
		if (accepts(d, cuda, &d->compilers.at[i])) {
			return true;
		}
	}
	return false;
}

/* @a machine: that it compiles for, where that is not this host's; NULL. */
static void
add_compiler(struct ws_doctor *d, const struct ws_hostcc *cc, const char *machine)
{
	ws_rows_add(&d->rows, "compilers[]",
		"{kind:5} {version:9} {path}[  for {machine}][  for CUDA {cuda}]",
		"kind %s version %s path %s machine %s cuda %s",
		cc->kind == WS_HOSTCC_GCC ? "gcc" : "clang", cc->version, cc->path, machine,
		accepting(d, cc));
}

void
ws_doctor_compilers(struct ws_doctor *d)
{
	ws_hostcc_list cross = {0};
	const char *path = ws_user_env_get(d->env, "PATH");
	const struct ws_facts *facts = d->facts;
	WS_AUTO_BUF struct ws_buf without = {0};
	bool any = false;
	ws_hostcc_list_all(NULL, "", path, NULL, d->a, &d->compilers);
	ws_hostcc_list_cross(NULL, "", path, d->a, &cross);
	ws_rows_list(&d->rows, "compilers[]");
	for (size_t i = 0; i < d->compilers.len; i++) {
		add_compiler(d, &d->compilers.at[i], NULL);
	}
	for (size_t i = 0; i < cross.len; i++) {
		const struct ws_machine *machine = ws_hostcc_machine(&cross.at[i]);
		add_compiler(d, &cross.at[i], machine ? machine->name : cross.at[i].machine);
	}
	for (size_t i = 0; i < facts->cuda_count; i++) {
		if (has_compiler(d, &facts->cuda[i])) {
			any = true;
		} else {
			ws_buf_printf(&without, "%s%s", comma(&without), facts->cuda[i].version.text);
		}
	}
	bool lacks = d->compilers.len > 0 && without.len > 0;
	ws_rows_add(&d->rows, "", lacks ? "no compiler for CUDA {cuda_without_compiler}" : NULL,
		"cuda_without_compiler %s", ws_buf_copy(&without, d->a));
	if (!any && facts->cuda_count > 0) {
		const struct ws_cuda_toolkit *newest = &d->facts->cuda[d->facts->cuda_count - 1];
		const struct ws_hostcc_wish wish = {.limits = {.gcc_max = newest->gcc_max},
			.cuda = &newest->version,
			.gcc_min = d->facts->gcc_min};
		struct ws_err err = {0};
		ws_err_set(
			&err, WS_ERR_BUILD, "no installed C++ compiler is supported by a known CUDA version");
		ws_hostcc_install_cure(&wish, d->host, &err);
		ws_rows_problem_err(&d->rows, WS_PROBLEM_BLOCKS, &err);
	}
}

/* ---- CUDA ---- */

/* Some tree of the store has this name before its digest. */
static bool
has_tree(const char *store, const char *name, struct ws_arena *a)
{
	WS_AUTO_DIR DIR *dir = store ? opendir(ws_path_join(a, store, "trees", NULL)) : NULL;
	const struct dirent *entry;
	size_t len = strlen(name);
	while (dir && (entry = readdir(dir))) {
		if (strncmp(entry->d_name, name, len) == 0 && entry->d_name[len] == '-'
			&& !ws_ends_with(entry->d_name, ".list")) {
			return true;
		}
	}
	return false;
}

void
ws_doctor_cuda(struct ws_doctor *d)
{
	const struct ws_facts *facts = d->facts;
	WS_AUTO_BUF struct ws_buf all = {0};
	WS_AUTO_BUF struct ws_buf stored = {0};
	ws_cuda_list found = {0};
	ws_cuda_list_host(d->env, NULL, d->a, &found);
	ws_rows_list(&d->rows, "cuda[]");
	if (found.len == 0) {
		ws_rows_note(&d->rows, "not installed (not required)");
	}
	for (size_t i = 0; i < found.len; i++) {
		const struct ws_cuda_toolkit *known = ws_facts_cuda(d->facts, &found.at[i].version);
		bool whole = found.at[i].missing_count == 0;
		struct ws_row *row = ws_rows_add(&d->rows, "cuda[]",
			whole ? "{release:9} {path}  complete"
				  : "CUDA {release} in '{path}' is not complete: it lacks {missing}",
			"version %s release %s path %s missing %p %zu", found.at[i].version.text,
			found.at[i].release, found.at[i].path, (const void *)found.at[i].missing,
			found.at[i].missing_count);
		if (!whole) {
			row->problem = WS_PROBLEM_NOTE;
			row->cure = "no action needed: an archive kit replaces it\n";
		}
		if (whole && known && !has_compiler(d, known)) {
			ws_rows_problem(&d->rows, WS_PROBLEM_NOTE, NULL,
				"no compiler here for CUDA %s: it takes gcc up to %u", known->version.text,
				known->gcc_max);
		}
	}
	ws_rows_list(&d->rows, "archive_kits[]");
	for (size_t i = 0; i < facts->cuda_count; i++) {
		const struct ws_cuda_toolkit *cuda = &facts->cuda[i];
		if (!cuda->kit) {
			continue;
		}
		bool in_store = has_tree(d->store, cuda->kit, d->a);
		ws_buf_printf(&all, "%s%s", comma(&all), cuda->version.text);
		if (in_store) {
			ws_buf_printf(&stored, "%s%s", comma(&stored), cuda->version.text);
		}
		ws_rows_add(
			&d->rows, "archive_kits[]", NULL, "cuda %s in_store %d", cuda->version.text, in_store);
	}
	if (all.len > 0) {
		ws_rows_note(&d->rows, "archive kits for %s%s%s", ws_buf_text(&all),
			stored.len > 0 ? ";  in the store: " : "", ws_buf_text(&stored));
	}
	ws_rows_note(&d->rows, "other releases from NVIDIA's redistributables");
}

/* ---- Pythons ---- */

/* True if no torch of the facts has wheels for a Python this old. */
static bool
is_too_old(const struct ws_facts *facts, const struct ws_python_tag *tag)
{
	for (size_t i = 0; i < facts->torch_count; i++) {
		for (size_t j = 0; j < facts->torch[i].python_count; j++) {
			const struct ws_python_tag *known = &facts->torch[i].pythons[j];
			if (known->major < tag->major
				|| (known->major == tag->major && known->minor <= tag->minor)) {
				return false;
			}
		}
	}
	return facts->torch_count > 0;
}

/* One Python; returns whether wheels can be built for it. Pythons too old for any torch are
 * listed in @old. */
static bool
add_python(
	struct ws_doctor *d, const struct ws_python_kit *listed, struct ws_buf *old, struct ws_err *err)
{
	struct ws_python_kit kit = {0};
	bool headers = ws_python_ask(d->env, listed->interpreter, d->a, &kit, err)
		&& ws_python_check_headers(&kit, d->host, err);
	bool answers = kit.version != NULL;
	/* The torch that it would import; it is not imported. */
	struct ws_torch_kit torch;
	struct ws_err none = {0};
	bool has_torch = answers && ws_torch_open_installed(d->facts, &kit, NULL, d->a, &torch, &none);
	if (d->python) {
		d->kit = kit;
	}
	if (!answers) {
		kit = *listed;
	}
	bool too_old = answers && !d->python && is_too_old(d->facts, &kit.tag);
	if (too_old) {
		ws_buf_printf(old, "%s%s", old->len > 0 ? ", " : "", kit.version);
	}
	/* A Python that was named or does not run gets a problem instead of a row. */
	bool shown = answers && !too_old && (headers || !d->python);
	const char *cure = headers ? "" : ws_rows_cure(&d->rows, err);
	struct ws_row *row = ws_rows_add(&d->rows, "pythons[]",
		shown ? "{.label:9} {path}{.include}[  torch {torch}]{.flaw}" : NULL,
		"version %s free_threaded %d path %s torch %s has_headers %d wrong %s cure %s"
		" .label %s .include %s .flaw %s",
		kit.version, kit.tag.free_threaded, kit.interpreter, has_torch ? torch.version.text : NULL,
		headers, headers ? NULL : ws_arena_strdup(d->a, err->text), cure,
		ws_arena_printf(d->a, "%s%s", kit.version, kit.tag.free_threaded ? "t" : ""),
		kit.interpreter ? NULL : kit.include, headers ? NULL : "  no headers");
	row->problem = headers ? WS_PROBLEM_NONE : WS_PROBLEM_HINT;
	row->cure = cure;
	return headers;
}

void
ws_doctor_pythons(struct ws_doctor *d)
{
	WS_AUTO_BUF struct ws_buf old = {0};
	ws_python_list found = {0};
	struct ws_err err = {0};
	bool any = false;
	if (d->python) {
		*ws_vec_push(&found, d->a) = (struct ws_python_kit){.interpreter = d->python};
	} else {
		ws_python_list_all(d->env, d->a, &found);
	}
	ws_rows_list(&d->rows, "pythons[]");
	for (size_t i = found.len; i-- > 0;) { /* the newest first */
		any = add_python(d, &found.at[i], &old, &err) || any;
	}
	if (old.len > 0) {
		ws_rows_note(&d->rows, "older than any torch here: %s", ws_buf_text(&old));
	}
	if (!any && d->python) {
		ws_rows_problem_err(&d->rows, WS_PROBLEM_BLOCKS, &err);
	} else if (!any) {
		ws_rows_problem(&d->rows, WS_PROBLEM_BLOCKS,
			found.len > 0 ? "install the headers of one of them, as said above" : NULL,
			"no Python here has headers to build for");
	}
}

void
ws_doctor_torch(struct ws_doctor *d)
{
	struct ws_python_kit host;
	struct ws_torch_kit torch;
	struct ws_err err = {0};
	bool known = d->python ? ws_python_ask(d->env, d->python, d->a, &host, &err)
						   : ws_python_find_host(d->env, d->a, &host, &err);
	bool has = known && ws_torch_open_installed(d->facts, &host, NULL, d->a, &torch, &err);
	const char *why = ws_arena_strdup(d->a, err.text);
	ws_rows_add(&d->rows, "torch", has ? NULL : "{why_none}\nbuilding does not need it",
		"python %s version %s why_none %s", known ? host.interpreter : NULL,
		has ? torch.version.text : NULL, has ? NULL : why);
	if (has) {
		ws_rows_add(&d->rows, "torch", "{.version}, CUDA {cuda|none}, cxx11abi {cxx11abi}  {path}",
			".version %s cuda %s cxx11abi %ju path %s", torch.version.text, torch.cuda,
			(uintmax_t)torch.cxx11abi, torch.path);
	}
}
