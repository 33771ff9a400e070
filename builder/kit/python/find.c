/* find.c - which interpreter serves a tag. An interpreter takes 20 ms to ask, so names are
 * believed as far as they leave a choice open: asked are those that may be the answer. */
#include "base/fs.h"
#include "base/map.h"
#include "kit/python/places.h"
#include "kit/python/python.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool
same_tag(const struct ws_python_tag *x, const struct ws_python_tag *y)
{
	return x->major == y->major && x->minor == y->minor && x->free_threaded == y->free_threaded;
}

/* <0, 0, >0; texts that are no versions (there are none) are equal. */
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
ws_python_list_all(const struct ws_python_places *places, struct ws_arena *a, ws_python_list *list)
{
	ws_python_candidates candidates = {0};
	struct ws_map seen = {0}; /* what a shim starts may be listed already */
	ws_python_gather(places, a, &candidates);
	for (size_t i = 0; i < candidates.len; i++) {
		const struct ws_python_candidate *candidate = &candidates.at[i];
		struct ws_python_kit kit = {
			.tag = candidate->tag, .version = candidate->version, .interpreter = candidate->path};
		if (!kit.version && (!ws_python_ask(candidate->path, a, &kit, NULL) || !kit.interpreter)) {
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
	const struct ws_python_tag *tag;
	struct ws_arena *a;
	struct ws_python_kit best; /* version NULL: none yet */
	struct ws_err broken;      /* the first that should have been it and failed; kind NONE: none */
};

/* Asks @a candidate unless its name says that it cannot be better than what was found. */
static void
consider(struct finding *f, const struct ws_python_candidate *candidate)
{
	const char *best = f->best.version;
	if (best && candidate->version && has_headers(&f->best)
		&& cmp_versions(candidate->version, best) <= 0) {
		return;
	}
	struct ws_python_kit kit;
	struct ws_err err = {0};
	if (!ws_python_ask(candidate->path, f->a, &kit, &err)) {
		f->broken = f->broken.kind == WS_ERR_NONE ? err : f->broken;
		return;
	}
	if (!same_tag(&kit.tag, f->tag)) {
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
	const struct ws_python_candidate *left = x, *right = y;
	int order = (left->version == NULL) - (right->version == NULL);
	if (order == 0 && left->version) {
		order = cmp_versions(right->version, left->version);
	}
	return order ? order : strcmp(left->path, right->path);
}

static bool
refuse(const struct ws_python_places *places, const struct finding *f, struct ws_err *err)
{
	struct ws_arena *a = f->a;
	const char *wanted = ws_python_version_text(f->tag, a);
	ws_python_list all = {0};
	ws_python_list_all(places, a, &all);
	WS_AUTO_BUF struct ws_buf there = {0};
	for (size_t i = 0; i < all.len; i++) {
		if (i == 0 || !same_tag(&all.at[i].tag, &all.at[i - 1].tag)) {
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
	return ws_err_cure(
		err, "or name one by its path (\"python\": [\"/path/to/python%s\"])", wanted);
}

bool
ws_python_find(const struct ws_python_places *places, const struct ws_python_tag *tag,
	struct ws_arena *a, struct ws_python_kit *kit, struct ws_err *err)
{
	struct finding f = {.tag = tag, .a = a};
	ws_python_candidates all = {0};
	ws_python_gather(places, a, &all);
	if (all.len > 1) {
		qsort(all.at, all.len, sizeof(*all.at), cmp_newest_first);
	}
	for (size_t i = 0; i < all.len; i++) {
		if (same_tag(&all.at[i].tag, tag)) {
			consider(&f, &all.at[i]);
		}
	}
	/* Names that do not say, and "python3.13" on PATH, which may be a free-threaded one. */
	for (size_t i = 0; i < all.len && !f.best.version; i++) {
		const struct ws_python_candidate *candidate = &all.at[i];
		bool open = candidate->tag.major == 0
			|| (!candidate->version && candidate->tag.minor == tag->minor);
		if (open && !same_tag(&candidate->tag, tag)) {
			struct ws_err before = f.broken;
			consider(&f, candidate);
			f.broken = before;
		}
	}
	if (!f.best.version) {
		return refuse(places, &f, err);
	}
	*kit = f.best;
	return true;
}

bool
ws_python_find_host(const struct ws_python_places *places, struct ws_arena *a,
	struct ws_python_kit *kit, struct ws_err *err)
{
	static const char *const names[] = {"python3", "python"};
	for (size_t i = 0; i < WS_LEN(names); i++) {
		struct ws_str rest = ws_str_of(places->path_variable);
		while (rest.s) {
			const char *folder = ws_str_copy(ws_str_cut(&rest, ':'), a);
			const char *path = ws_path_join(a, folder, names[i], NULL);
			if (folder[0] == '/' && access(path, X_OK) == 0 && !ws_fs_is_dir(path)) {
				return ws_python_ask(path, a, kit, err);
			}
		}
	}
	ws_err_set(err, WS_ERR_CONFIG, "no python3 on PATH");
	return ws_err_cure(err, "name a version (\"python\": [\"3.12\"]) or an interpreter's path");
}

bool
ws_python_find_meant(const char *path, bool host, const struct ws_python_tag *tag,
	struct ws_arena *a, struct ws_python_kit *kit, struct ws_err *err)
{
	if (path) {
		return ws_python_ask(path, a, kit, err);
	}
	struct ws_python_places places = ws_python_places_standard(a);
	return host ? ws_python_find_host(&places, a, kit, err)
				: ws_python_find(&places, tag, a, kit, err);
}
