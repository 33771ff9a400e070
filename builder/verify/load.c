/* load.c - what is in the process, and what one more dlopen brings: ld.so(8), elf/dl-load.c of
 * glibc. */
#include "base/fs.h"
#include "verify/libraries.h"
#include "verify/manylinux_tag.h"
#include "verify/scope.h"

#define ORIGIN "$ORIGIN"
#define NONE ((size_t)-1)

/* ---- what is there already ---- */

void
ws_scope_spread(struct ws_scope *s, size_t number, bool global)
{
	WS_VEC(size_t) queue = {0};
	*ws_vec_push(&queue, s->a) = number;
	for (size_t at = 0; at < queue.len; at++) {
		struct ws_scope_library *library = &s->libraries.at[queue.at[at]];
		if (library->loaded && (library->global || !global)) {
			continue;
		}
		library->loaded = true;
		library->global = library->global || global;
		for (size_t i = 0; i < library->next.len; i++) {
			*ws_vec_push(&queue, s->a) = library->next.at[i];
		}
	}
}

void
ws_scope_mark_torch(struct ws_scope *s)
{
	static const char *const roots[] = {"libtorch_global_deps.so", "libtorch_python.so"};
	bool any = false;
	for (size_t i = 0; i < s->libraries.len; i++) {
		for (size_t r = 0; r < WS_LEN(roots); r++) {
			if (s->libraries.at[i].listed && ws_same(s->libraries.at[i].name, roots[r])) {
				ws_scope_spread(s, i, r == 0);
				any = true;
			}
		}
	}
	for (size_t i = 0; i < s->libraries.len; i++) {
		struct ws_scope_library *library = &s->libraries.at[i];
		if (!library->listed || library->loaded || ws_library_is_drivers(library->name)
			|| ws_floor_is_system_library(library->name)
			|| ws_starts_with(library->name, WS_SCOPE_C_API)) {
			continue;
		}
		if (!any || ws_library_is_preloaded(library->name, s->release)) {
			ws_scope_spread(s, i, false);
		} else {
			library->aside = true;
		}
	}
}

/* ---- one more dlopen ---- */

/* A library that is loaded. */
struct step {
	size_t number;
	size_t by;      /* number of the step that needs it; NONE: it is what was opened */
	const char *as; /* the name by which it was found */
};

struct loading {
	const struct ws_scope *s;
	bool *seen;
	WS_VEC(struct step) steps;
};

/* The folder that one part of a run path names, below site-packages; NULL: it leads elsewhere. */
static const char *
folder_of(const char *place, struct ws_str part, struct ws_arena *a)
{
	const char *text = ws_str_copy(part, a);
	const char *rest = ws_starts_with(text, ORIGIN) ? text + strlen(ORIGIN)
		: ws_starts_with(text, "${ORIGIN}")         ? text + strlen("${ORIGIN}")
													: NULL;
	if (!rest || (*rest && *rest != '/')) {
		return NULL;
	}
	rest += strspn(rest, "/");
	/* A root of its own keeps ".." from being lost at the top. */
	const char *path = ws_path_normal(
		a, ws_path_join(a, "/site", ws_path_dir(a, place), *rest ? rest : ".", NULL));
	return ws_same(path, "/site") ? "" : ws_starts_with(path, "/site/") ? path + 6 : NULL;
}

/* The library that lies there under that name. */
static size_t
find_in(const struct ws_scope *s, const char *folder, const char *name)
{
	const char *place = *folder ? ws_path_join(s->a, folder, name, NULL) : name;
	for (size_t i = 0; i < s->libraries.len; i++) {
		const struct ws_scope_library *library = &s->libraries.at[i];
		if (library->sibling ? s->subject->installed && ws_same(library->sibling->place, place)
							 : library->aside && ws_same(library->name, name)
					&& ws_library_is_in(name, folder)) {
			return i;
		}
	}
	return NONE;
}

static size_t
find_along(const struct ws_scope *s, const char *place, const char *run_path, const char *name)
{
	struct ws_str rest = {run_path, run_path ? strlen(run_path) : 0};
	size_t found = NONE;
	while (rest.s && found == NONE) {
		const char *folder = folder_of(place, ws_str_cut(&rest, ':'), s->a);
		found = folder ? find_in(s, folder, name) : NONE;
	}
	return found;
}

/* DT_RPATH is that of all who led here, unless they have DT_RUNPATH; that is for its own needs
 * alone. */
static size_t
find_by_path(const struct loading *l, size_t at, const char *name)
{
	size_t found = NONE;
	const struct ws_scope_library *self = &l->s->libraries.at[l->steps.at[at].number];
	for (size_t i = at; !self->elf->runpath && i != NONE && found == NONE; i = l->steps.at[i].by) {
		const struct ws_scope_library *library = &l->s->libraries.at[l->steps.at[i].number];
		if (library->sibling && library->sibling->place && !library->elf->runpath) {
			found = find_along(l->s, library->sibling->place, library->elf->rpath, name);
		}
	}
	return self->elf->runpath ? find_along(l->s, self->sibling->place, self->elf->runpath, name)
							  : found;
}

/* Which library is loaded for need @k of the step @at. */
static size_t
find(const struct loading *l, size_t at, size_t k)
{
	const struct ws_scope_library *library = &l->s->libraries.at[l->steps.at[at].number];
	const char *name = library->needed.at[k];
	size_t by_name = library->next.at[k];
	if (library->loaded || l->s->libraries.at[by_name].loaded) {
		return by_name;
	}
	for (size_t i = 0; i < l->steps.len; i++) {
		const struct step *step = &l->steps.at[i];
		if (ws_same(step->as, name) || ws_same(l->s->libraries.at[step->number].name, name)) {
			return step->number;
		}
	}
	size_t found = library->sibling && library->sibling->place ? find_by_path(l, at, name) : NONE;
	return found == NONE ? by_name : found;
}

bool *
ws_scope_load(const struct ws_scope *s, size_t number)
{
	struct loading l = {.s = s, .seen = WS_NEW_N(s->a, bool, s->libraries.len)};
	for (size_t i = 0; i < s->libraries.len; i++) {
		l.seen[i] = s->libraries.at[i].global;
	}
	l.seen[number] = true;
	*ws_vec_push(&l.steps, s->a) = (struct step){number, NONE, NULL};
	for (size_t at = 0; at < l.steps.len; at++) {
		const struct ws_scope_library *library = &s->libraries.at[l.steps.at[at].number];
		for (size_t k = 0; k < library->needed.len; k++) {
			size_t next = find(&l, at, k);
			if (!l.seen[next]) {
				l.seen[next] = true;
				*ws_vec_push(&l.steps, s->a) = (struct step){next, at, library->needed.at[k]};
			}
		}
	}
	return l.seen;
}
