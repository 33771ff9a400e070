/* doctor_tools.c - what builds: compilers, toolkits, Pythons; and torch and GPUs, which building does
 * not need and running does. */
#include "base/fs.h"
#include "cli/cure.h"
#include "cli/doctor.h"
#include "kit/hostcc/hostcc.h"

#include <string.h>

/* Whether the toolkit takes the compiler, as far as the facts tell: they do not know the oldest clang
 * that its header takes. */
static bool
takes(const struct ws_doctor *d, const struct ws_cuda_toolkit *cuda, const struct ws_hostcc *cc)
{
	const struct ws_hostcc_wish wish = {
		.limits = {.gcc_max = cuda->gcc_max, .clang_max = cuda->clang_max},
		.gcc_min = d->s->facts.gcc_min,
	};
	return ws_hostcc_fits(cc, &wish);
}

/* "12.0 and newer", "11.8 to 12.3, 13.0", "none". */
static const char *
versions_that_take(const struct ws_doctor *d, const struct ws_hostcc *cc)
{
	const struct ws_facts *facts = &d->s->facts;
	WS_AUTO_BUF struct ws_buf b = {0};
	for (size_t i = 0; i < facts->cuda_count;) {
		size_t end = i;
		while (end < facts->cuda_count && takes(d, &facts->cuda[end], cc)) {
			end++;
		}
		if (end == i) {
			i++;
			continue;
		}
		ws_buf_printf(&b, "%s%s", b.len > 0 ? ", " : "", facts->cuda[i].version.text);
		if (end == facts->cuda_count) {
			ws_buf_puts(&b, " and newer");
		} else if (end > i + 1) {
			ws_buf_printf(&b, " to %s", facts->cuda[end - 1].version.text);
		}
		i = end;
	}
	return b.len > 0 ? ws_buf_copy(&b, d->a) : facts->cuda_count > 0 ? "none" : "";
}

static bool
is_served(const struct ws_doctor *d, const struct ws_cuda_toolkit *cuda)
{
	for (size_t i = 0; i < d->compilers.len; i++) {
		if (takes(d, cuda, &d->compilers.at[i].cc)) {
			return true;
		}
	}
	return false;
}

/* The toolkits that could be used here and for which there is no compiler. */
static void
list_unserved(struct ws_doctor *d, size_t *served)
{
	const struct ws_facts *facts = &d->s->facts;
	WS_AUTO_BUF struct ws_buf b = {0};
	*served = 0;
	for (size_t i = 0; i < facts->cuda_count; i++) {
		if (is_served(d, &facts->cuda[i])) {
			++*served;
		} else {
			ws_buf_printf(&b, "%s%s", b.len > 0 ? ", " : "", facts->cuda[i].version.text);
		}
	}
	d->cuda_without = ws_buf_copy(&b, d->a);
}

static void
look_at_compilers(struct ws_doctor *d)
{
	const struct ws_facts *facts = &d->s->facts;
	ws_hostcc_list found = {0};
	size_t served;
	ws_hostcc_list_all("", getenv("PATH"), d->a, &found);
	for (size_t i = 0; i < found.len; i++) {
		*ws_vec_push(&d->compilers, d->a) =
			(struct ws_doctor_compiler){found.at[i], versions_that_take(d, &found.at[i])};
	}
	list_unserved(d, &served);
	if (served > 0 || facts->cuda_count == 0) {
		return;
	}
	const struct ws_cuda_toolkit *newest = &facts->cuda[facts->cuda_count - 1];
	const struct ws_hostcc_wish wish = {.limits = {.gcc_max = newest->gcc_max},
		.cuda = newest->version.text,
		.gcc_min = facts->gcc_min};
	struct ws_err err = {0};
	ws_err_set(&err, WS_ERR_BUILD, "there is no C++ compiler here that any known CUDA takes");
	ws_hostcc_install_cure(&wish, &d->s->host, &err);
	ws_doctor_complain_err(d, WS_DOCTOR_COMPILERS, true, &err);
}

/* Some tree of the store has this name before its digest. */
static bool
has_tree(const char *trees, const char *name)
{
	WS_AUTO_DIR DIR *dir = opendir(trees);
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

static const char *
lacks_text(const struct ws_doctor *d, const struct ws_cuda_kit *kit)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	for (size_t i = 0; i < kit->missing_count; i++) {
		ws_buf_printf(&b, "%s%s", i > 0 ? ", " : "", kit->missing[i]);
	}
	return ws_buf_copy(&b, d->a);
}

static void
look_at_cuda(struct ws_doctor *d)
{
	const struct ws_facts *facts = &d->s->facts;
	const char *trees = ws_path_join(d->a, d->store.path, "trees", NULL);
	ws_cuda_list_host("", getenv("CUDA_HOME"), getenv("PATH"), NULL, d->a, &d->cuda);
	for (size_t i = 0; i < d->cuda.len; i++) {
		const struct ws_cuda_kit *kit = &d->cuda.at[i];
		const struct ws_cuda_toolkit *known = ws_facts_cuda(facts, &kit->version);
		if (kit->missing_count > 0) {
			ws_doctor_complain(d, WS_DOCTOR_CUDA, false,
				"nothing needs to be done: an archive kit is used in its place",
				"CUDA %s in '%s' is not complete: it lacks %s", kit->release, kit->path,
				lacks_text(d, kit));
		} else if (known && !is_served(d, known)) {
			ws_doctor_complain(d, WS_DOCTOR_CUDA, false, NULL,
				"no compiler here for CUDA %s: it takes gcc up to %u", known->version.text,
				known->gcc_max);
		}
	}
	for (size_t i = 0; i < facts->cuda_count; i++) {
		const struct ws_cuda_toolkit *cuda = &facts->cuda[i];
		if (cuda->kit) {
			*ws_vec_push(&d->kits, d->a) =
				(struct ws_doctor_kit){cuda->version.text, has_tree(trees, cuda->kit)};
		}
	}
}

static struct ws_doctor_python
ask_python(struct ws_doctor *d, const char *path, struct ws_err *err)
{
	struct ws_doctor_python python = {.kit = {.interpreter = path}, .cure = ""};
	python.has_headers = ws_python_ask(path, d->a, &python.kit, err)
		&& ws_python_check_headers(&python.kit, &d->s->host, err);
	if (!python.has_headers) {
		python.wrong = ws_arena_strdup(d->a, err->text);
		ws_cures_word(d->s, err);
		python.cure = ws_arena_strdup(d->a, err->cure);
	}
	return python;
}

static void
look_at_pythons(struct ws_doctor *d)
{
	struct ws_python_places places = ws_python_places_standard(d->a);
	ws_python_list found = {0};
	struct ws_err err = {0};
	bool any = false;
	if (d->python) {
		*ws_vec_push(&d->pythons, d->a) = ask_python(d, d->python, &err);
	} else {
		ws_python_list_all(&places, d->a, &found);
	}
	for (size_t i = found.len; i-- > 0;) { /* the newest first */
		struct ws_doctor_python python = ask_python(d, found.at[i].interpreter, &err);
		if (!python.kit.version) {
			python.kit = found.at[i];
		}
		*ws_vec_push(&d->pythons, d->a) = python;
	}
	for (size_t i = 0; i < d->pythons.len; i++) {
		any = any || d->pythons.at[i].has_headers;
	}
	if (!any && d->python) {
		ws_doctor_complain_err(d, WS_DOCTOR_PYTHONS, true, &err);
	} else if (!any) {
		ws_doctor_complain(d, WS_DOCTOR_PYTHONS, true,
			d->pythons.len > 0 ? "install the headers of one of them, as said above" : NULL,
			"there is no Python here with headers to build for");
	}
}

static void
look_at_torch(struct ws_doctor *d)
{
	struct ws_python_places places = ws_python_places_standard(d->a);
	struct ws_python_kit host;
	struct ws_err err = {0};
	bool known = d->python ? ws_python_ask(d->python, d->a, &host, &err)
						   : ws_python_find_host(&places, d->a, &host, &err);
	d->torch_python = known ? host.interpreter : NULL;
	d->has_torch = known && ws_torch_open_installed(&d->s->facts, &host, d->a, &d->torch, &err);
	d->why_no_torch = d->has_torch ? NULL : ws_arena_strdup(d->a, err.text);
}

void
ws_doctor_look_at_tools(struct ws_doctor *d)
{
	look_at_compilers(d);
	look_at_cuda(d);
	look_at_pythons(d);
	look_at_torch(d);
	ws_gpu_list("", getenv("PATH"), d->a, &d->gpus);
}
