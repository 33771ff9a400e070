/* places.c - the folders of pyenv (versions/3.11.7), uv (cpython-3.13.1+freethreaded-linux-
 * x86_64-gnu), the manylinux images (/opt/python/cp313-cp313t, a link to a folder cpython-3.13.1) and
 * the names python3, python3.11, python3.13t on PATH. */
#include "kit/python/places.h"

#include "base/fs.h"
#include "base/map.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct ws_python_places
ws_python_places_standard(struct ws_arena *a)
{
	const char *home = getenv("HOME");
	const char *pyenv = getenv("PYENV_ROOT");
	const char *uv = getenv("UV_PYTHON_INSTALL_DIR");
	const char *data = getenv("XDG_DATA_HOME");
	struct ws_python_places places = {
		.path_variable = ws_arena_strdup(a, getenv("PATH")),
		.pyenv = ws_arena_strdup(a, pyenv),
		.uv = ws_arena_strdup(a, uv),
		.opt = "/opt/python",
	};
	if (home && !pyenv) {
		places.pyenv = ws_path_join(a, home, ".pyenv", NULL);
	}
	if (!uv && (data || home)) {
		const char *base = data ? data : ws_path_join(a, home, ".local/share", NULL);
		places.uv = ws_path_join(a, base, "uv/python", NULL);
	}
	return places;
}

/* The gathering: what was seen, and where the texts go. */
struct gathering {
	const struct ws_python_places *places;
	ws_python_candidates *list;
	struct ws_map seen; /* real paths */
	struct ws_arena *a;
};

static void
add(struct gathering *g, const char *path, const struct ws_python_tag *tag, const char *version)
{
	WS_AUTO_FREE char *real = realpath(path, NULL);
	if (!real || access(real, X_OK) != 0 || ws_fs_is_dir(real)
		|| !ws_map_add(&g->seen, ws_arena_strdup(g->a, real), g->a)) {
		return;
	}
	struct ws_python_candidate *candidate = ws_vec_push(g->list, g->a);
	*candidate = (struct ws_python_candidate){.path = path, .version = version};
	if (tag) {
		candidate->tag = *tag;
	}
}

/* "3.11.7" or "3.13.0rc1" at the front of @a name, and what follows it; NULL when there is none. */
static const char *
read_release(const char *name, struct ws_arena *a, const char **rest, struct ws_python_tag *tag)
{
	size_t len = strspn(name, "0123456789.");
	size_t level = strspn(name + len, "abrc");
	size_t serial = level ? strspn(name + len + level, "0123456789") : 0;
	const char *version = ws_arena_copy(a, name, len + (serial ? level + serial : 0));
	const char *first = strchr(version, '.');
	struct ws_version parsed;
	if (!first || !strchr(first + 1, '.') || !ws_version_parse(version, a, &parsed)
		|| ws_version_number(&parsed, 0) != 3) {
		return NULL;
	}
	*tag = (struct ws_python_tag){.major = 3, .minor = ws_version_number(&parsed, 1)};
	*rest = name + strlen(version);
	return version;
}

/* The interpreter of an installation: bin/python3.11, else bin/python. */
static const char *
interpreter_of(const char *folder, const struct ws_python_tag *tag, struct ws_arena *a)
{
	const char *name = ws_arena_printf(a, "bin/python%s", ws_python_version_text(tag, a));
	const char *path = ws_path_join(a, folder, name, NULL);
	return access(path, X_OK) == 0 ? path : ws_path_join(a, folder, "bin/python", NULL);
}

/* "python3", "python", and with a tag "python3.11", "python3.13t". */
static bool
is_interpreter_name(const char *name, struct ws_python_tag *tag)
{
	*tag = (struct ws_python_tag){0};
	if (!ws_starts_with(name, "python")) {
		return false;
	}
	const char *version = name + strlen("python");
	return version[0] == '\0' || strcmp(version, "3") == 0
		|| (strchr(version, '.') == strrchr(version, '.') && ws_python_tag_parse(version, tag));
}

static void
gather_bin(struct gathering *g, const char *folder)
{
	WS_AUTO_DIR DIR *dir = opendir(folder);
	const struct dirent *entry;
	WS_VEC(const char *) plain = {0};
	while (dir && (entry = readdir(dir))) {
		struct ws_python_tag tag;
		if (is_interpreter_name(entry->d_name, &tag)) {
			const char *path = ws_path_join(g->a, folder, entry->d_name, NULL);
			if (tag.major) {
				add(g, path, &tag, NULL);
			} else {
				*ws_vec_push(&plain, g->a) = path;
			}
		}
	}
	/* After the others: python3 is most often a link to one of them, and says less. */
	for (size_t i = 0; i < plain.len; i++) {
		add(g, plain.at[i], NULL, NULL);
	}
}

/* What pyenv also installs, and what is no CPython 3. */
static bool
is_other_python(const char *name)
{
	static const char *const others[] = {
		"2.", "pypy", "graalpy", "jython", "ironpython", "micropython", "stackless", "pyston"};
	for (size_t i = 0; i < WS_LEN(others); i++) {
		if (ws_starts_with(name, others[i])) {
			return true;
		}
	}
	return false;
}

static void
gather_pyenv(struct gathering *g, const char *folder, const char *name)
{
	struct ws_python_tag tag;
	const char *rest;
	const char *version = read_release(name, g->a, &rest, &tag);
	if (version && (rest[0] == '\0' || strcmp(rest, "t") == 0)) {
		tag.free_threaded = rest[0] == 't';
		add(g, interpreter_of(folder, &tag, g->a), &tag, version);
	} else if (!version && !is_other_python(name)) {
		gather_bin(g, ws_path_join(g->a, folder, "bin", NULL)); /* miniconda3-latest, 3.14-dev */
	}
}

static void
gather_uv(struct gathering *g, const char *folder, const char *name)
{
	struct ws_python_tag tag;
	const char *rest;
	if (!ws_starts_with(name, "cpython-") || !ws_ends_with(name, "-gnu")) {
		return;
	}
	const char *version = read_release(name + strlen("cpython-"), g->a, &rest, &tag);
	tag.free_threaded = version && ws_starts_with(rest, "+freethreaded-");
	if (version && (rest[0] == '-' || tag.free_threaded)) { /* not "+debug-" */
		add(g, interpreter_of(folder, &tag, g->a), &tag, version);
	}
}

/* cp313-cp313t; the link's target says the patch release: cpython-3.13.1, cpython-3.13.1-nogil. */
static void
gather_opt(struct gathering *g, const char *folder, const char *name)
{
	const char *abi = strchr(name, '-');
	const char *python = ws_arena_copy(g->a, name, abi ? (size_t)(abi - name) : 0);
	struct ws_python_tag tag, unused;
	if (!abi || !ws_starts_with(python, "cp3") || !ws_python_tag_parse(python, &tag)) {
		return;
	}
	tag.free_threaded = ws_ends_with(abi, "t");
	WS_AUTO_FREE char *real = realpath(folder, NULL);
	const char *target = real ? ws_path_base(real) : "";
	const char *rest;
	const char *version = ws_starts_with(target, "cpython-")
		? read_release(target + strlen("cpython-"), g->a, &rest, &unused)
		: NULL;
	add(g, interpreter_of(folder, &tag, g->a), &tag, version);
}

/* Calls @a gather for every entry of @a root in byte order. */
static void
gather_each(struct gathering *g, const char *root,
	void (*gather)(struct gathering *g, const char *folder, const char *name))
{
	WS_VEC(const char *) names = {0};
	WS_AUTO_DIR DIR *dir = root ? opendir(root) : NULL;
	const struct dirent *entry;
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] != '.') {
			*ws_vec_push(&names, g->a) = ws_arena_strdup(g->a, entry->d_name);
		}
	}
	if (names.len > 1) {
		qsort(names.at, names.len, sizeof(*names.at), ws_cmp_strings);
	}
	for (size_t i = 0; i < names.len; i++) {
		gather(g, ws_path_join(g->a, root, names.at[i], NULL), names.at[i]);
	}
}

void
ws_python_gather(
	const struct ws_python_places *places, struct ws_arena *a, ws_python_candidates *list)
{
	struct gathering g = {.places = places, .list = list, .a = a};
	const char *pyenv = places->pyenv;
	gather_each(&g, pyenv ? ws_path_join(a, pyenv, "versions", NULL) : NULL, gather_pyenv);
	gather_each(&g, places->uv, gather_uv);
	gather_each(&g, places->opt, gather_opt);
	const char *shims = pyenv ? ws_path_join(a, pyenv, "shims", NULL) : NULL;
	struct ws_str rest = ws_str_of(places->path_variable);
	while (rest.s) {
		const char *folder = ws_str_copy(ws_str_cut(&rest, ':'), a);
		if (folder[0] == '/' && !ws_same(folder, shims)) {
			gather_bin(&g, folder);
		}
	}
}
