/* scope.c - exports through a filter of the wanted names, and the libraries that dlopen loads. */
#include "verify/scope.h"

#include "base/fs.h"
#include "elf/exports.h"
#include "verify/libraries.h"
#include "verify/manylinux_tag.h"

/* A name that a module needs. */
struct ws_scope_name {
	const char *text;
	const struct ws_scope_offer *offers;
	const char *newer; /* the version of one that is newer than the place's glibc; NULL: none */
};

/* ---- libraries ---- */

size_t
ws_scope_number(struct ws_scope *s, const char *name)
{
	for (size_t i = 0; i < s->libraries.len; i++) {
		if (!s->libraries.at[i].aside && ws_same(s->libraries.at[i].name, name)) {
			return i;
		}
	}
	ws_vec_push(&s->libraries, s->a)->name = ws_arena_strdup(s->a, name);
	return s->libraries.len - 1;
}

static void
add_need(struct ws_scope *s, size_t library, const char *needed)
{
	size_t next = ws_scope_number(s, needed);
	*ws_vec_push(&s->libraries.at[library].needed, s->a) = ws_arena_strdup(s->a, needed);
	*ws_vec_push(&s->libraries.at[library].next, s->a) = next;
}

static void
add_version(struct ws_scope *s, size_t library, const char *version)
{
	struct ws_scope_library *known = &s->libraries.at[library];
	known->versioned = true;
	if (!ws_is_among(version, known->versions.at, known->versions.len)) {
		*ws_vec_push(&known->versions, s->a) = ws_arena_strdup(s->a, version);
	}
}

bool
ws_scope_is_read(const struct ws_scope_library *library)
{
	return library->elf || library->listed;
}

/* ---- what is wanted ---- */

static int
by_text(const void *x, const void *y)
{
	return strcmp(((const struct ws_scope_name *)x)->text, ((const struct ws_scope_name *)y)->text);
}

#define FILTER_BITS 65536

/* The bit of a name, by its length, its last bytes and those in the middle. */
static size_t
mark_of(const char *text, size_t len)
{
	uint64_t last = 0, middle = 0;
	if (len >= sizeof(last)) {
		memcpy(&last, text + len - sizeof(last), sizeof(last));
		memcpy(&middle, text + (len - sizeof(middle)) / 2, sizeof(middle));
	} else {
		memcpy(&last, text, len);
	}
	uint64_t mixed = (last ^ (middle * 31) ^ ((uint64_t)len << 40)) * 11400714819323198485u;
	return (size_t)(mixed >> 48);
}

/* Sorts the wanted names, each once, and marks them in the filter. */
static void
sort_names(struct ws_scope *s)
{
	size_t count = ws_sort_once(s->wanted.at, s->wanted.len);
	s->filter = WS_NEW_N(s->a, uint64_t, FILTER_BITS / 64);
	s->names = WS_NEW_N(s->a, struct ws_scope_name, count);
	s->name_count = count;
	for (size_t i = 0; i < count; i++) {
		const char *text = s->wanted.at[i];
		size_t mark = mark_of(text, strlen(text));
		s->names[i].text = text;
		s->filter[mark / 64] |= (uint64_t)1 << mark % 64;
	}
}

static bool
may_be_wanted(const struct ws_scope *s, const char *text, size_t len)
{
	size_t mark = mark_of(text, len);
	return s->filter[mark / 64] >> mark % 64 & 1;
}

static struct ws_scope_name *
find_name(const struct ws_scope *s, const char *text)
{
	struct ws_scope_name key = {.text = text};
	return s->name_count == 0 ? NULL : bsearch(&key, s->names, s->name_count, sizeof(key), by_text);
}

void
ws_scope_want(struct ws_scope *s, const char *name)
{
	*ws_vec_push(&s->wanted, s->a) = name;
}

const struct ws_scope_offer *
ws_scope_offers(const struct ws_scope *s, const char *name)
{
	const struct ws_scope_name *found = find_name(s, name);
	return found ? found->offers : NULL;
}

/* ---- what is offered ---- */

static void
add_offer(struct ws_scope *s, const char *text, struct ws_scope_offer offer)
{
	struct ws_scope_name *name = find_name(s, text);
	if (name) {
		struct ws_scope_offer *made = WS_NEW(s->a, struct ws_scope_offer);
		*made = offer;
		made->version = ws_arena_strdup(s->a, offer.version);
		made->next = name->offers;
		name->offers = made;
	}
}

/* The needs and definitions of a library that is on this host. */
static void
read_elf(struct ws_scope *s, size_t number, const struct ws_elf *elf)
{
	struct ws_elf_symbol symbol;
	s->libraries.at[number].elf = elf;
	for (size_t i = 0; i < elf->needed_count; i++) {
		add_need(s, number, elf->needed[i]);
	}
	for (size_t i = 0; i < elf->version_count; i++) {
		if (!elf->versions[i].library) {
			add_version(s, number, elf->versions[i].name);
		}
	}
	for (size_t at = 0; ws_elf_next_symbol(elf, &at, &symbol);) {
		if (symbol.defined) {
			struct ws_scope_offer offer = {.library = number,
				.version = symbol.version ? symbol.version->name : NULL,
				.tls = symbol.type == WS_ELF_TLS,
				.hidden = symbol.hidden};
			add_offer(s, symbol.name, offer);
		}
	}
}

/* A library that is found by its name: the first of that name counts. */
static size_t
read_library(struct ws_scope *s, const struct ws_elf *elf)
{
	size_t number = ws_scope_number(s, ws_elf_library_name(elf));
	if (!ws_scope_is_read(&s->libraries.at[number])) {
		read_elf(s, number, elf);
	}
	return number;
}

/* Where no place is known they are found by their names. */
static void
read_subject(struct ws_scope *s)
{
	const struct ws_subject *subject = s->subject;
	size_t *own = WS_NEW_N(s->a, size_t, subject->count);
	for (size_t i = 0; i < subject->count; i++) {
		const struct ws_elf *elf = subject->modules[i].elf;
		size_t named = subject->installed ? 0 : read_library(s, elf);
		own[i] = named;
		if (subject->installed || s->libraries.at[named].elf != elf) {
			own[i] = s->libraries.len;
			*ws_vec_push(&s->libraries, s->a) =
				(struct ws_scope_library){.name = ws_elf_library_name(elf), .aside = true};
			read_elf(s, own[i], elf);
		}
		s->libraries.at[own[i]].sibling = &subject->modules[i];
	}
	s->own = own;
}

/* A name of a list. */
static void
add_export(struct ws_scope *s, size_t number, const struct ws_export *line)
{
	static const char python[] = "python";
	const char *oldest = s->place->stable_python, *version = line->version, *rest;
	enum ws_floor_kind kind;
	if (ws_same(line->library, WS_SCOPE_STABLE_ABI)) {
		/* Only names that the place's oldest Python has: "python3.10". */
		if (!oldest || !version || !ws_starts_with(version, python)
			|| strverscmp(version + strlen(python), oldest) > 0) {
			return;
		}
	} else if (s->floor && version && ws_floor_version_split(version, &kind, &rest)
		&& !ws_manylinux_allows(s->floor, version)) {
		/* Systems with the place's glibc do not have it. Lists have the oldest version first. */
		bool may = may_be_wanted(s, line->text, line->len);
		struct ws_scope_name *name = may ? find_name(s, line->text) : NULL;
		if (name && !name->newer) {
			name->newer = ws_arena_strdup(s->a, version);
		}
		return;
	} else if (version) {
		add_version(s, number, version);
	}
	if (s->torch_abi == WS_CXX11ABI_SILENT && ws_same(line->library, "libc10.so")) {
		s->torch_abi = ws_cxx11abi_of_export(line->text);
	}
	if (may_be_wanted(s, line->text, line->len)) {
		struct ws_scope_offer offer = {
			.library = number, .version = version, .tls = line->kind == WS_EXPORT_TLS};
		add_offer(s, line->text, offer);
	}
}

static bool
read_list(struct ws_scope *s, const char *path, struct ws_err *err)
{
	WS_AUTO_EXPORTS struct ws_exports *list = ws_exports_open(path, s->place->python, s->a, err);
	struct ws_export line = {0};
	const char *current = NULL;
	size_t number = 0;
	if (list && list->python_count > 0 && !list->release) {
		/* The C API of a Python; the interpreter itself, or the promised stable ABI, goes before.
		 * */
		const struct ws_load_place *place = s->place;
		s->python_listed = place->global_count == 0 && !place->stable_python && place->python
			&& ws_is_among(place->python, list->pythons, list->python_count);
		if (!s->python_listed) {
			return true;
		}
	}
	s->release = list && list->release ? list->release : s->release;
	while (list && ws_exports_next(list, &line, err)) {
		if (line.kind == WS_EXPORT_END) {
			return true;
		}
		if (line.library != current) {
			current = line.library;
			number = ws_scope_number(s, current);
			s->libraries.at[number].listed = true;
		}
		if (line.kind == WS_EXPORT_NEEDED) {
			add_need(s, number, line.text);
		} else if (line.kind != WS_EXPORT_INTERNALS) {
			add_export(s, number, &line);
		}
	}
	return false;
}

/* The machine of the first module: all modules of a wheel are for one. */
static const struct ws_machine *
machine_of(const struct ws_scope *s)
{
	const struct ws_machine *machine =
		s->subject->count > 0 ? ws_machine_of_elf(s->subject->modules[0].elf->machine) : NULL;
	return machine ? machine : ws_machine_host();
}

const char *
ws_scope_newer(const struct ws_scope *s, const char *name)
{
	const struct ws_scope_name *found = find_name(s, name);
	return found && found->newer ? ws_manylinux_since(machine_of(s), found->newer) : NULL;
}

/* ---- loaded before ---- */

/* Marks the library and its dependencies as loaded, and with @global as global. */
static void
spread(struct ws_scope *s, size_t number, bool global)
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

/* Marks listed libraries that `import torch` loads, and those that only a run path finds. */
static void
mark_torch(struct ws_scope *s)
{
	static const char *const roots[] = {"libtorch_global_deps.so", "libtorch_python.so"};
	bool any = false;
	for (size_t i = 0; i < s->libraries.len; i++) {
		for (size_t r = 0; r < WS_LEN(roots); r++) {
			if (s->libraries.at[i].listed && ws_same(s->libraries.at[i].name, roots[r])) {
				spread(s, i, r == 0);
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
			spread(s, i, false);
		} else {
			library->aside = true;
		}
	}
}

bool
ws_scope_read(struct ws_scope *s, struct ws_err *err)
{
	const struct ws_load_place *place = s->place;
	s->floor = place->glibc ? ws_manylinux_of_glibc(machine_of(s), place->glibc) : NULL;
	sort_names(s);
	for (size_t i = 0; i < place->list_count; i++) {
		if (!read_list(s, place->lists[i], err)) {
			return false;
		}
	}
	ws_scope_number(s, WS_SCOPE_STABLE_ABI);
	mark_torch(s);
	read_subject(s);
	for (size_t i = 0; i < place->library_count; i++) {
		read_library(s, place->libraries[i]);
	}
	for (size_t i = 0; i < place->global_count; i++) {
		spread(s, read_library(s, place->globals[i]), true);
	}
	return true;
}

/* ---- one more dlopen: ld.so(8), elf/dl-load.c of glibc ---- */

#define ORIGIN "$ORIGIN"
#define NONE ((size_t)-1)

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

/* The library at that path. */
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

/* The library that need @k of the step @at loads. */
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
