/* find.c - the interpreter for a tag, among the files of this host that look like one. A name can
 * be wrong and an interpreter broken, and asking one takes 20 ms: names rule candidates out, and
 * only those that remain are asked. */
#include "base/fs.h"
#include "kit/python/python.h"

/* ---- candidates: python3, python3.11 and python3.13t on PATH, and the versions of pyenv, which
 * puts only shims on PATH. ---- */

struct candidate {
	const char *path;         /* absolute */
	struct ws_python_tag tag; /* major 0: the name does not say */
	const char *version;      /* "3.11.7" when a folder says so; else NULL */
};

typedef WS_VEC(struct candidate) candidate_list;

struct gathering {
	candidate_list *list;
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
	struct candidate *candidate = ws_vec_push(g->list, g->a);
	*candidate = (struct candidate){.path = path, .version = version};
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
		|| parsed.major != 3) {
		return NULL;
	}
	*tag = (struct ws_python_tag){.major = 3, .minor = parsed.minor};
	*rest = name + strlen(version);
	return version;
}

/* Takes "python3", "python", and with a tag "python3.11", "python3.13t". */
static void
gather_bin(struct gathering *g, const char *folder)
{
	WS_AUTO_DIR DIR *dir = opendir(folder);
	const struct dirent *entry;
	WS_VEC(const char *) plain = {0};
	while (dir && (entry = readdir(dir))) {
		const char *name = entry->d_name, *version = name + strlen("python");
		struct ws_python_tag tag;
		if (!ws_starts_with(name, "python")) {
			continue;
		}
		if (version[0] == '\0' || strcmp(version, "3") == 0) {
			*ws_vec_push(&plain, g->a) = ws_path_join(g->a, folder, name, NULL);
		} else if (strchr(version, '.') == strrchr(version, '.')
			&& ws_python_tag_parse(version, &tag)) {
			add(g, ws_path_join(g->a, folder, name, NULL), &tag, NULL);
		}
	}
	/* After the others: python3 is most often a link to one of them, and says less. */
	for (size_t i = 0; i < plain.len; i++) {
		add(g, plain.at[i], NULL, NULL);
	}
}

/* Every version of pyenv, in byte order. */
static void
gather_versions(struct gathering *g, const char *root)
{
	static const char *const others[] = {
		"2.", "pypy", "graalpy", "jython", "ironpython", "micropython", "stackless", "pyston"};
	WS_VEC(const char *) names = {0};
	WS_AUTO_DIR DIR *dir = opendir(root);
	const struct dirent *entry;
	while (dir && (entry = readdir(dir))) {
		bool taken = entry->d_name[0] != '.';
		for (size_t i = 0; i < WS_LEN(others); i++) {
			taken = taken && !ws_starts_with(entry->d_name, others[i]);
		}
		if (taken) {
			*ws_vec_push(&names, g->a) = ws_arena_strdup(g->a, entry->d_name);
		}
	}
	if (names.len > 1) {
		qsort(names.at, names.len, sizeof(*names.at), ws_cmp_strings);
	}
	for (size_t i = 0; i < names.len; i++) {
		struct ws_python_tag tag;
		const char *rest, *version = read_release(names.at[i], g->a, &rest, &tag);
		const char *bin = ws_path_join(g->a, root, names.at[i], "bin", NULL);
		if (!version) {
			gather_bin(g, bin); /* miniconda3-latest, 3.14-dev */
		} else if (rest[0] == '\0' || strcmp(rest, "t") == 0) {
			tag.free_threaded = rest[0] == 't';
			const char *name =
				ws_arena_printf(g->a, "python%s", ws_python_version_text(&tag, g->a));
			const char *path = ws_path_join(g->a, bin, name, NULL);
			bool named = access(path, X_OK) == 0;
			add(g, named ? path : ws_path_join(g->a, bin, "python", NULL), &tag, version);
		}
	}
}

/* Each real file once, those with a version first. pyenv's shims are left out: the versions behind
 * them are listed. */
static void
gather_all(const struct ws_user_env *env, struct ws_arena *a, candidate_list *list)
{
	struct gathering g = {.list = list, .a = a};
	const char *home = ws_user_env_get(env, "HOME"), *pyenv = ws_user_env_get(env, "PYENV_ROOT");
	const char *shims = NULL;
	if (!pyenv && home) {
		pyenv = ws_path_join(a, home, ".pyenv", NULL);
	}
	if (pyenv) {
		gather_versions(&g, ws_path_join(a, pyenv, "versions", NULL));
		shims = ws_path_join(a, pyenv, "shims", NULL);
	}
	struct ws_str rest = ws_str_of(ws_user_env_get(env, "PATH"));
	while (rest.s) {
		const char *folder = ws_str_copy(ws_str_cut(&rest, ':'), a);
		if (folder[0] == '/' && !ws_same(folder, shims)) {
			gather_bin(&g, folder);
		}
	}
}

/* ---- the one that serves a tag ---- */

/* <0, 0, >0; texts that are not versions (there are none) are equal. */
static int
cmp_versions(const char *x, const char *y)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_version left, right;
	return ws_version_parse(x, a, &left) && ws_version_parse(y, a, &right)
		? ws_version_cmp(&left, &right)
		: 0;
}

/* By tag, then by version: 3.13.0, 3.13.7, 3.13.1t. */
static int
cmp_kits(const void *x, const void *y)
{
	const struct ws_python_kit *left = x, *right = y;
	int order = (int)left->tag.minor - (int)right->tag.minor;
	order = order ? order : (int)left->tag.free_threaded - (int)right->tag.free_threaded;
	order = order ? order : cmp_versions(left->version, right->version);
	return order ? order : strcmp(left->interpreter, right->interpreter);
}

void
ws_python_list_all(const struct ws_user_env *env, struct ws_arena *a, ws_python_list *list)
{
	candidate_list candidates = {0};
	struct ws_map seen = {0}; /* what a shim starts may be listed already */
	gather_all(env, a, &candidates);
	for (size_t i = 0; i < candidates.len; i++) {
		const struct candidate *candidate = &candidates.at[i];
		struct ws_python_kit kit = {
			.tag = candidate->tag, .version = candidate->version, .interpreter = candidate->path};
		if (!kit.version
			&& (!ws_python_ask(env, candidate->path, a, &kit, NULL) || !kit.interpreter)) {
			continue;
		}
		WS_AUTO_FREE char *real = realpath(kit.interpreter, NULL);
		if (real && ws_map_add(&seen, ws_arena_strdup(a, real), a)) {
			*ws_vec_push(list, a) = (struct ws_python_kit){
				.tag = kit.tag, .version = kit.version, .interpreter = kit.interpreter};
		}
	}
	if (list->len > 1) {
		qsort(list->at, list->len, sizeof(*list->at), cmp_kits);
	}
}

static bool
has_headers(const struct ws_python_kit *kit)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	return ws_fs_exists(ws_path_join(a, kit->include, "Python.h", NULL));
}

/* The finding of one tag. */
struct finding {
	const struct ws_user_env *env;
	const struct ws_python_tag *tag;
	struct ws_arena *a;
	struct ws_python_kit best; /* version NULL: none yet */
	struct ws_err broken;      /* the first that should have been it and failed; kind NONE: none */
};

/* Asks @a candidate, unless by its name it is not newer than the best one. */
static void
consider(struct finding *f, const struct candidate *candidate)
{
	const char *best = f->best.version;
	if (best && candidate->version && has_headers(&f->best)
		&& cmp_versions(candidate->version, best) <= 0) {
		return;
	}
	struct ws_python_kit kit;
	struct ws_err err = {0};
	if (!ws_python_ask(f->env, candidate->path, f->a, &kit, &err)) {
		f->broken = f->broken.kind == WS_ERR_NONE ? err : f->broken;
		return;
	}
	if (!ws_python_tag_same(&kit.tag, f->tag)) {
		return;
	}
	bool better = !best || has_headers(&kit) > has_headers(&f->best)
		|| (has_headers(&kit) == has_headers(&f->best) && cmp_versions(kit.version, best) > 0);
	if (better) {
		f->best = kit;
	}
}

static int
cmp_newest_first(const void *x, const void *y)
{
	const struct candidate *left = x, *right = y;
	int order = (left->version == NULL) - (right->version == NULL);
	if (order == 0 && left->version) {
		order = cmp_versions(right->version, left->version);
	}
	return order ? order : strcmp(left->path, right->path);
}

static bool
refuse(const struct ws_user_env *env, const struct finding *f, struct ws_err *err)
{
	struct ws_arena *a = f->a;
	const char *wanted = ws_python_version_text(f->tag, a);
	ws_python_list all = {0};
	ws_python_list_all(env, a, &all);
	WS_AUTO_BUF struct ws_buf there = {0};
	for (size_t i = 0; i < all.len; i++) {
		if (i == 0 || !ws_python_tag_same(&all.at[i].tag, &all.at[i - 1].tag)) {
			ws_buf_printf(
				&there, "%s%s", i > 0 ? ", " : "", ws_python_version_text(&all.at[i].tag, a));
		}
	}
	ws_err_set(err, WS_ERR_CONFIG, "no Python %s on this host: there is %s", wanted,
		all.len > 0 ? ws_buf_text(&there) : "none");
	if (f->broken.kind != WS_ERR_NONE) {
		ws_err_cure(err, "%s", f->broken.text);
	}
	ws_err_cure(err, "install it:  uv python install %s   or   pyenv install %s", wanted, wanted);
	return ws_err_cure_code(err, WS_CURE_PYTHON, ws_arena_printf(a, "/path/to/python%s", wanted));
}

bool
ws_python_find(const struct ws_user_env *env, const struct ws_python_tag *tag, struct ws_arena *a,
	struct ws_python_kit *kit, struct ws_err *err)
{
	struct finding f = {.env = env, .tag = tag, .a = a};
	candidate_list all = {0};
	gather_all(env, a, &all);
	if (all.len > 1) {
		qsort(all.at, all.len, sizeof(*all.at), cmp_newest_first);
	}
	for (size_t i = 0; i < all.len; i++) {
		if (ws_python_tag_same(&all.at[i].tag, tag)) {
			consider(&f, &all.at[i]);
		}
	}
	/* Names that do not say, and "python3.13" on PATH, which may be a free-threaded one. */
	for (size_t i = 0; i < all.len && !f.best.version; i++) {
		const struct candidate *candidate = &all.at[i];
		bool open = candidate->tag.major == 0
			|| (!candidate->version && candidate->tag.minor == tag->minor);
		if (open && !ws_python_tag_same(&candidate->tag, tag)) {
			struct ws_err before = f.broken;
			consider(&f, candidate);
			f.broken = before;
		}
	}
	if (!f.best.version) {
		return refuse(env, &f, err);
	}
	*kit = f.best;
	return true;
}

bool
ws_python_find_host(const struct ws_user_env *env, struct ws_arena *a, struct ws_python_kit *kit,
	struct ws_err *err)
{
	static const char *const names[] = {"python3", "python"};
	for (size_t i = 0; i < WS_LEN(names); i++) {
		struct ws_str rest = ws_str_of(ws_user_env_get(env, "PATH"));
		while (rest.s) {
			const char *folder = ws_str_copy(ws_str_cut(&rest, ':'), a);
			const char *path = ws_path_join(a, folder, names[i], NULL);
			if (folder[0] == '/' && access(path, X_OK) == 0 && !ws_fs_is_dir(path)) {
				return ws_python_ask(env, path, a, kit, err);
			}
		}
	}
	ws_err_set(err, WS_ERR_CONFIG, "no python3 on PATH");
	return ws_err_cure_code(err, WS_CURE_PYTHON, "3.12");
}

bool
ws_python_find_meant(const struct ws_user_env *env, const char *path, bool host,
	const struct ws_python_tag *tag, struct ws_arena *a, struct ws_python_kit *kit,
	struct ws_err *err)
{
	if (path) {
		return ws_python_ask(env, path, a, kit, err);
	}
	return host ? ws_python_find_host(env, a, kit, err) : ws_python_find(env, tag, a, kit, err);
}
